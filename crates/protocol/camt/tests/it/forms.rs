//! Ten forms of documents that banks send, in each of the 21 schemas, with the expected facts. All
//! of it is invented.

use crate::family::{Schema, all, check, strict, write};
use bankrail_camt::{AnyDocument, Balance, EntryLine, EntryStatus, report::Report};
use bankrail_values::Decimal;

/// The content of a report, statement or notification: its account, the opening and the closing
/// balance, the sum of the booked entries, and the lines.
type Group = (&'static str, [&'static str; 3], &'static [Line]);

/// The content of a line: the signed amount of its entry, its own amount in the currency of the
/// account, the status, the counterparty, `EndToEndId`, and the text.
type Line = [&'static str; 6];

/// The encoding of the bytes.
#[derive(Clone, Copy)]
enum Encoding {
    Utf8,
    /// UTF-8 with a byte order mark.
    Utf8Marked,
    /// UTF-16, little endian, with a byte order mark.
    Utf16,
}

pub(crate) struct Form {
    name: &'static str,
    encoding: Encoding,
    /// The document. A line that only some have begins with the versions or the messages.
    xml: &'static str,
    groups: &'static [Group],
}

#[rustfmt::skip]
pub(crate) const FORMS: [Form; 10] = [
    Form {
        name: "batch",
        encoding: Encoding::Utf8,
        xml: include_str!("forms/batch.xml"),
        groups: &[("DE89370400440532013000", ["9000.00 EUR", "1079.90 EUR", "-7920.10"], &[
            ["-7920.10 EUR", "-2640.00 EUR", "BOOK", "Ada Example", "W-1", "Wages January"],
            ["-7920.10 EUR", "-2640.05 EUR", "BOOK", "Bo Example", "W-2", "Wages January"],
            ["-7920.10 EUR", "-2640.05 EUR", "BOOK", "Cy Example", "W-3", "Wages January"],
        ])],
    },
    Form {
        name: "currency",
        encoding: Encoding::Utf8,
        xml: include_str!("forms/currency.xml"),
        groups: &[("062000-12345678", ["-20.00 AUD", "1489.35 AUD", "1509.35"], &[
            ["1509.35 AUD", "1509.35 AUD", "BOOK", "Example Imports Inc.", "PO 88", "Purchase order 88, less charges"],
        ])],
    },
    Form {
        name: "reversal",
        encoding: Encoding::Utf8,
        xml: include_str!("forms/reversal.xml"),
        groups: &[("GB82WEST12345698765432", ["0 GBP", "-5.5 GBP", "-5.50"], &[
            ["42.00 GBP", "42.00 GBP", "BOOK", "Example Gym", "DD-9", "May\nMD06\nRefund requested"],
            ["-47.50 GBP", "-47.50 GBP", "BOOK", "", "", "Card 4711"],
        ])],
    },
    Form {
        name: "pending",
        encoding: Encoding::Utf8,
        xml: include_str!("forms/pending.xml"),
        groups: &[("NO9386011117947", ["", "150 NOK", "150.000"], &[
            ["150.000 NOK", "150.000 NOK", "BOOK", "Example Aunt", "", ""],
            ["-150 NOK", "-150 NOK", "PDNG", "", "", "Reserved: Example Fuel"],
            ["-1.01 NOK", "-1.01 NOK", "INFO", "", "", "Interest so far"],
        ])],
    },
    Form {
        name: "prefix",
        encoding: Encoding::Utf8,
        xml: include_str!("forms/prefix.xml"),
        groups: &[("1", ["1000 JPY", "1500 JPY", "500"], &[
            ["500 JPY", "500 JPY", "BOOK", "Smith & Sons <Ltd>", "NOTPROVIDED", "ABC\nD"],
        ])],
    },
    Form {
        name: "statements",
        encoding: Encoding::Utf8,
        xml: include_str!("forms/statements.xml"),
        groups: &[
            ("CH9300762011623852957", ["10.00 CHF", "9.50 CHF", "-0.50"], &[
                ["-0.50 CHF", "-0.50 CHF", "BOOK", "", "", "Account fee"],
            ]),
            ("CH5604835012345678009", ["-3.00 EUR", "-3.00 EUR", "0"], &[]),
            ("80-2-2", ["0.00 CHF", "199.95 CHF", "199.95"], &[
                ["199.95 CHF", "100.00 CHF", "BOOK", "Muster AG", "", "210000000003139471430009017"],
                ["199.95 CHF", "99.95 CHF", "BOOK", "Beispiel GmbH", "", "RF18539007547034\nInvoice 12"],
            ]),
        ],
    },
    Form {
        name: "empty",
        encoding: Encoding::Utf8,
        xml: include_str!("forms/empty.xml"),
        groups: &[("FR1420041010050500013M02606", ["1234567890123.45 EUR", "1234567890123.45 EUR", "0"], &[])],
    },
    Form {
        name: "remittance",
        encoding: Encoding::Utf8Marked,
        xml: include_str!("forms/remittance.xml"),
        groups: &[("SE4550000000058398257466", ["0.01 SEK", "0.00 SEK", "-0.01"], &[
            ["-0.01 SEK", "-0.01 SEK", "BOOK", "Exempel Förening", "E-5", "Medlem 17\n5550\n2023\nAutogiro"],
        ])],
    },
    Form {
        name: "letters",
        encoding: Encoding::Utf16,
        xml: include_str!("forms/letters.xml"),
        groups: &[("FI2112345600000785", ["0.50 EUR", "-1.5 EUR", "-2.00"], &[
            ["-2.00 EUR", "-2.00 EUR", "BOOK", "Ärzte – Näkkileipä 👩\u{200d}🍳", "", "Přijetí\nzálohy\t№ 3"],
        ])],
    },
    Form {
        name: "extras",
        encoding: Encoding::Utf8,
        xml: include_str!("forms/extras.xml"),
        groups: &[("0001", ["100 PLN", "111.11 PLN", "11.11"], &[
            ["11.11 PLN", "11.11 PLN", "BOOK", "Przykład", "1", "  two  spaces "],
        ])],
    },
];

impl Form {
    /// Returns the document in a schema, as text.
    fn text(&self, schema: Schema) -> String {
        let [root, group, page] = match schema.message {
            52 => ["BkToCstmrAcctRpt", "Rpt", "RptPgntn"],
            53 => ["BkToCstmrStmt", "Stmt", "StmtPgntn"],
            _ => ["BkToCstmrDbtCdtNtfctn", "Ntfctn", "NtfctnPgntn"],
        };
        let is_there = |condition: &str| match condition.split_once('-') {
            Some((since, until)) => {
                let version = |text: &str| text.parse::<u8>().unwrap();
                (version(since)..=version(until)).contains(&schema.version)
            }
            None => condition
                .split(',')
                .any(|message| message == schema.message.to_string()),
        };
        let lines = self
            .xml
            .split_inclusive('\n')
            .filter_map(|line| match line.get(..6) {
                Some(start) if line.starts_with(char::is_numeric) && start.ends_with('|') => {
                    is_there(&start[..5]).then(|| &line[6..])
                }
                _ => Some(line),
            });
        let text: String = lines.collect();
        text.replace("$NAME", &schema.name())
            .replace("$ROOT", root)
            .replace("$GROUP", group)
            .replace("$PAGE", page)
    }

    /// Returns the document in a schema.
    pub(crate) fn document(&self, schema: Schema) -> (&'static str, Vec<u8>) {
        let text = self.text(schema);
        let marked = format!("\u{feff}{text}");
        let bytes = match self.encoding {
            Encoding::Utf8 => text.into_bytes(),
            Encoding::Utf8Marked => marked.into_bytes(),
            Encoding::Utf16 => marked.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        };
        (self.name, bytes)
    }
}

/// Returns the facts of a report in the order of the table.
fn facts(report: &Report) -> (String, [String; 3], Vec<[String; 6]>) {
    let balance = |balance: Option<&Balance>| {
        balance.map_or_else(String::new, |own| own.signed_money().unwrap().to_string())
    };
    let booked = report
        .entries
        .iter()
        .filter(|entry| entry.status == EntryStatus::BOOKED);
    let sum = booked
        .map(|entry| entry.signed_amount().unwrap())
        .sum::<Decimal>();
    let line = |line: EntryLine<'_>| {
        [
            line.entry.signed_money().unwrap().to_string(),
            line.account_money().unwrap().to_string(),
            line.entry.status.to_string(),
            line.counterparty_name().unwrap_or_default().to_owned(),
            line.end_to_end_id().unwrap_or_default().to_owned(),
            line.narrative(),
        ]
    };
    (
        report.account.id.as_str().unwrap().to_owned(),
        [
            balance(report.opening_balance()),
            balance(report.closing_balance()),
            sum.to_string(),
        ],
        report.lines().map(line).collect(),
    )
}

#[test]
fn each_form_says_what_is_right_in_each_version() {
    for schema in all() {
        for form in FORMS {
            let (name, bytes) = form.document(schema);
            // The transaction of this form is in a foreign currency, which version 02 cannot
            // express.
            let is_foreign = name == "currency" && schema.version > 2;
            let expected: &[_] = if is_foreign {
                &["TransactionCurrency"]
            } else {
                &[]
            };
            let name = format!("{} {name}", schema.name());
            let parsed = AnyDocument::parse_with(&bytes, &strict());
            let parsed = parsed.unwrap_or_else(|error| panic!("{name}: {error}"));
            let found: Vec<_> = parsed.findings.iter().map(|one| one.kind.name()).collect();
            assert_eq!(found, expected, "{name}");
            let document = parsed.document;
            assert_eq!(check(&document).len(), expected.len(), "{name}");
            let again = AnyDocument::parse_with(write(&document), &strict()).unwrap();
            assert_eq!(again.document, document, "{name}");
            let reports = document.into_report_document().reports;
            assert_eq!(reports.len(), form.groups.len(), "{name}");
            for (report, (account, sums, lines)) in reports.iter().zip(form.groups) {
                // Notifications have no balances.
                let [opening, closing, sum] = *sums;
                let balances = if schema.message == 54 {
                    ["", ""]
                } else {
                    [opening, closing]
                };
                let [opening, closing] = balances.map(ToOwned::to_owned);
                let lines: Vec<[String; 6]> = lines
                    .iter()
                    .map(|line| line.map(ToOwned::to_owned))
                    .collect();
                let expected = (
                    (*account).to_owned(),
                    [opening, closing, sum.to_owned()],
                    lines,
                );
                assert_eq!(facts(report), expected, "{name}");
            }
        }
    }
}
