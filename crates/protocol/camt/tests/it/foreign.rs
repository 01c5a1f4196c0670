//! Foreign implementations read what is written here, and the other way round, in each version that
//! they have.

use crate::family::{Schema, all, strict, write};
use crate::forms::FORMS;
use crate::tree::assert_same_leaves;
use crate::validators::rewritten;
use bankrail_camt::{AnyDocument, report::Report};
use bankrail_values::Decimal;
use sepa::camt::{AccountRef, CashEntry, EntryStatus};

/// Documents of a schema: each form, as it is written again here, and invented ones.
fn documents(schema: Schema) -> impl Iterator<Item = (String, String)> {
    let forms = FORMS.into_iter().map(move |form| {
        let (name, bytes) = form.document(schema);
        let document = AnyDocument::parse(bytes).unwrap().document;
        (format!("{}-{name}", schema.name()), write(&document))
    });
    // The other side writes a carriage return as it is, which the next reader takes for a line
    // feed.
    let invented = (0..10).map(move |seed| {
        let xml = schema.invent(seed).replace("&#13;", " ");
        (format!("{}-{seed}", schema.name()), xml)
    });
    forms.chain(invented)
}

#[test]
#[ignore = "needs python3 with pyiso20022 and xsdata"]
fn pyiso20022_reads_and_writes_each_version() {
    let documents: Vec<_> = all().flat_map(documents).collect();
    for ((name, xml), again) in documents.iter().zip(rewritten(&documents)) {
        assert_same_leaves(name, xml, &again);
        let parsed = AnyDocument::parse_with(&again, &strict())
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_same_leaves(name, xml, &write(&parsed.document));
    }
}

/// The facts about an account that both read: its number, and of each entry its signed cents, its
/// status, and of each transaction `EndToEndId` and the counterparty.
type Facts = (String, Vec<(i64, String, Vec<[String; 2]>)>);

/// `sepa` writes none of the messages, and reads reports and statements of 02, 06 and 08,
/// notifications of 08.
#[test]
fn sepa_reads_the_same_where_it_knows_the_version() {
    for schema in all() {
        let is_known = match schema.message {
            54 => schema.version == 8,
            _ => matches!(schema.version, 2 | 6 | 8),
        };
        for form in FORMS {
            let (name, bytes) = form.document(schema);
            let document = AnyDocument::parse(bytes).unwrap().document;
            let theirs = theirs(&write(&document), schema.message);
            assert_eq!(theirs.is_some(), is_known, "{} {name}", schema.name());
            let mut ours: Vec<Facts> = document
                .into_report_document()
                .reports
                .iter()
                .map(ours)
                .collect();
            // `sepa` takes the owner of the account for the counterparty of a refund, and does not
            // read ultimate parties and agents as parties.
            let other = match name {
                "reversal" => Some("Own Household"),
                "pending" => Some(""),
                "extras" if schema.version == 8 => Some(""),
                _ => None,
            };
            if let Some(other) = other {
                let (_, _, lines) = &mut ours[0].1[0];
                lines[0][1] = other.to_owned();
            }
            if let Some(theirs) = theirs {
                assert_eq!(theirs, ours, "{} {name}", schema.name());
            }
        }
    }
}

fn ours(report: &Report) -> Facts {
    let entries = report.entries.iter().map(|entry| {
        let cents = entry.signed_amount().unwrap() * Decimal::ONE_HUNDRED;
        let lines = entry.lines_on(Some(&report.account));
        let lines = lines.filter(|line| line.transaction.is_some());
        let facts = lines.map(|line| {
            [line.end_to_end_id(), line.counterparty_name()]
                .map(|text| text.unwrap_or_default().to_owned())
        });
        let cents = i64::try_from(cents).unwrap();
        (cents, entry.status.to_string(), facts.collect())
    });
    let account = report.account.id.as_str().unwrap().to_owned();
    (account, entries.collect())
}

fn theirs(xml: &str, message: u16) -> Option<Vec<Facts>> {
    Some(match message {
        52 => {
            let reports = sepa::camt052::parse_camt052(xml).ok()?.reports;
            reports
                .iter()
                .map(|one| group(&one.account, &one.entries))
                .collect()
        }
        53 => {
            let statements = sepa::camt053::parse_camt053(xml).ok()?.statements;
            statements
                .iter()
                .map(|one| group(&one.account, &one.entries))
                .collect()
        }
        _ => {
            let notifications = sepa::camt054::parse_camt054(xml).ok()?.notifications;
            notifications
                .iter()
                .map(|one| group(&one.account, &one.entries))
                .collect()
        }
    })
}

fn group(account: &AccountRef, entries: &[CashEntry]) -> Facts {
    let number = account.iban.as_ref().or(account.other_id.as_ref());
    let entries = entries.iter().map(|entry| {
        let details = entry.details.iter().map(|detail| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            [text(&detail.end_to_end_id), text(&detail.counterparty_name)]
        });
        let status = match entry.status {
            EntryStatus::Booked => "BOOK",
            EntryStatus::Pending => "PDNG",
            EntryStatus::Info => "INFO",
            ref other => panic!("{other:?}"),
        };
        (
            entry.signed_ct().unwrap(),
            status.to_owned(),
            details.collect(),
        )
    });
    (number.unwrap().clone(), entries.collect())
}
