//! The rows about payloads, as data: clause, title, the part of the payload, and the check.

use super::super::checks::{ABSENT, differs, expect};
use super::super::xml::{amount, child, children, text};
use super::{Part, View, all, count, empty, net, part};
use crate::row::Verdict;
use bankrail_camt052::{IsoDate, IsoDateTime, NAMESPACE};
use bankrail_values::{Currency, excerpt};
use roxmltree::Node;
use time::UtcOffset;

pub(super) type Row = (&'static str, &'static str, Part, fn(&View<'_>) -> Verdict);

pub(super) const ROWS: [Row; 35] = [
    (
        "S6.1",
        "the namespace is that of camt.052.001.06",
        Part::Root,
        |root| {
            let namespace = root.node.tag_name().namespace();
            expect(namespace == Some(NAMESPACE), NAMESPACE, namespace)
        },
    ),
    (
        "S6.2",
        "the root is Document, with BkToCstmrAcctRpt in it",
        Part::Root,
        |root| match (
            child(root.node, "BkToCstmrAcctRpt"),
            root.node.tag_name().name(),
        ) {
            (Some(_), "Document") => Verdict::Passed,
            (Some(_), other) => {
                Verdict::Failed(format!("expected Document, found {}", excerpt(other)))
            }
            (None, _) => {
                Verdict::Failed("expected BkToCstmrAcctRpt in the root, found none".to_owned())
            }
        },
    ),
    (
        "S6.3",
        "GrpHdr/MsgId is 32 hexadecimal characters",
        Part::Message,
        |message| hex(message.node, "GrpHdr/MsgId"),
    ),
    (
        "S6.4",
        "GrpHdr/MsgId is the request key without hyphens",
        Part::Message,
        |message| {
            let Some(key) = &message.statement.request_key else {
                return ABSENT;
            };
            match text(message.node, "GrpHdr/MsgId") {
                Some(found) if found.eq_ignore_ascii_case(&key.replace('-', "")) => Verdict::Passed,
                _ => Verdict::Noted("expected the request key, found another".to_owned()),
            }
        },
    ),
    (
        "S6.5",
        "GrpHdr/CreDtTm has fractional seconds and an offset",
        Part::Message,
        |message| {
            // The demand of the specification is stated here again, because the judged provider may
            // use `CreationTime`.
            let whole = |at: &IsoDateTime| at.fraction_digits() > 0 && at.offset().is_some();
            time(
                message,
                "GrpHdr/CreDtTm",
                whole,
                "a time with fractional seconds and an offset",
            )
        },
    ),
    (
        "S6.8",
        "Rpt/Id is 32 hexadecimal characters",
        Part::Message,
        |message| hex(message.node, "Rpt/Id"),
    ),
    ("S6.9", "Rpt/CreDtTm is a time", Part::Message, |message| {
        let found = text(message.node, "Rpt/CreDtTm");
        time(message, "Rpt/CreDtTm", |_| true, "a time").and(|| {
            let offset = found.and_then(|text| IsoDateTime::parse(text).ok()?.offset());
            let unusual = || Verdict::Noted(differs("an offset, as GrpHdr/CreDtTm has one", found));
            offset.map_or_else(unusual, |_| Verdict::Passed)
        })
    }),
    (
        "S6.9",
        "GrpHdr/CreDtTm and Rpt/CreDtTm are within five minutes of the answer",
        Part::Message,
        |message| recent(message, "GrpHdr/CreDtTm").and(|| recent(message, "Rpt/CreDtTm")),
    ),
    (
        "S6.10",
        "Rpt/RptgSrc/Prtry is there",
        Part::Message,
        |message| {
            let source = text(message.node, "Rpt/RptgSrc/Prtry");
            expect(
                source.is_some_and(|text| !text.is_empty()),
                "a code",
                source,
            )
        },
    ),
    (
        "S6.12",
        "Rpt/Acct/Id/Othr/Id is the account that was asked for",
        Part::Message,
        |message| {
            // Account numbers are not printed.
            let what = match text(message.node, "Rpt/Acct/Id/Othr/Id") {
                Some(found) if found == message.statement.account => return Verdict::Passed,
                Some(_) => "expected the account that was asked for, found another",
                None => "expected the account that was asked for, found none",
            };
            Verdict::Failed(what.to_owned())
        },
    ),
    (
        "S6.13",
        "Rpt/Acct/Ccy is an ISO 4217 code",
        Part::Message,
        |message| {
            let listed = |text: &str| Currency::parse(text).is_ok_and(|found| found.is_listed());
            expect(
                message.currency.is_some_and(listed),
                "an ISO 4217 code",
                message.currency,
            )
        },
    ),
    (
        "S6.14",
        "Rpt/Bal/Tp/CdOrPrtry/Cd is there, ITAV",
        Part::Report,
        |report| balance(report, |balance, _| is(balance, "Tp/CdOrPrtry/Cd", "ITAV")),
    ),
    (
        "S6.15",
        "Rpt/Bal/Tp/SubTp/Prtry is there, Current",
        Part::Report,
        |report| {
            balance(report, |balance, _| {
                is(balance, "Tp/SubTp/Prtry", "Current")
            })
        },
    ),
    (
        "S6.16",
        "Rpt/Bal/Amt is a decimal with the currency of the account",
        Part::Report,
        |report| balance(report, in_currency),
    ),
    (
        "S6.17",
        "Rpt/Bal/CdtDbtInd is CRDT or DBIT",
        Part::Report,
        |report| balance(report, |balance, _| direction(balance)),
    ),
    (
        "S6.18",
        "Rpt/Bal/Dt/Dt is YYYY-MM-DD",
        Part::Report,
        |report| balance(report, |balance, _| date(balance, "Dt/Dt", "YYYY-MM-DD")),
    ),
    (
        "S6.19",
        "TtlNtries/NbOfNtries is a number",
        Part::Summary,
        |report| {
            let found = number(report);
            expect(is_number(found), "a number", found)
        },
    ),
    (
        "S6.35",
        "TtlNtries/NbOfNtries is the number of Ntry",
        Part::Summary,
        |report| {
            let found = number(report);
            if is_number(found) {
                count(report.sums.entries, found)
            } else {
                ABSENT
            }
        },
    ),
    (
        "S25.36",
        "a page has at most 1000 entries",
        Part::Summary,
        |report| {
            expect(
                report.sums.entries <= 1000,
                "at most 1000",
                Some(&report.sums.entries.to_string()),
            )
        },
    ),
    (
        "S6.20",
        "TtlNtries/Sum is the sum of all amounts",
        Part::Summary,
        all,
    ),
    (
        "S6.21",
        "TtlNtries/TtlNetNtry is the net amount and its direction",
        Part::Summary,
        net,
    ),
    (
        "S6.22",
        "TtlCdtNtries has the count and the sum of the credits",
        Part::Summary,
        |report| part(report, "TtlCdtNtries", report.sums.credits),
    ),
    (
        "S6.23",
        "TtlDbtNtries has the count and the sum of the debits",
        Part::Summary,
        |report| part(report, "TtlDbtNtries", report.sums.debits),
    ),
    (
        "S6.37",
        "a report without entries has counts and sums of zero",
        Part::Empty,
        empty,
    ),
    (
        "S6.25",
        "Ntry/Amt is a decimal with the account's currency, and CdtDbtInd CRDT or DBIT",
        Part::Entry,
        |entry| in_currency(entry.node, entry.currency).and(|| direction(entry.node)),
    ),
    ("S6.26", "Ntry/Sts is there, BOOK", Part::Entry, |entry| {
        let found = text(entry.node, "Sts");
        match found {
            Some("BOOK") => Verdict::Passed,
            Some(other) if !other.is_empty() => Verdict::Noted(differs("BOOK", found)),
            _ => Verdict::Failed(differs("BOOK", found)),
        }
    }),
    (
        "S6.27",
        "Ntry/BookgDt/Dt and Ntry/ValDt/Dt are YYYY-MM-DD",
        Part::Entry,
        |entry| {
            let date = |path| date(entry.node, path, &format!("YYYY-MM-DD as {path}"));
            date("BookgDt/Dt").and(|| date("ValDt/Dt"))
        },
    ),
    (
        "S6.28",
        "Ntry/BkTxCd/Domn has Cd, Fmly/Cd and Fmly/SubFmlyCd",
        Part::Entry,
        |entry| {
            let code = |path: &str| {
                let found = text(entry.node, &format!("BkTxCd/Domn/{path}"));
                expect(
                    found.is_some_and(|text| !text.is_empty()),
                    &format!("a code as {path}"),
                    found,
                )
            };
            code("Cd")
                .and(|| code("Fmly/Cd"))
                .and(|| code("Fmly/SubFmlyCd"))
        },
    ),
    (
        "S6.28",
        "Ntry/BkTxCd/Domn has each code at its own level",
        Part::Entry,
        |entry| {
            let found = ["Cd", "Fmly/Cd", "Fmly/SubFmlyCd"]
                .map(|path| text(entry.node, &format!("BkTxCd/Domn/{path}")));
            let observed = ["PMNT", "RCDT", "DMCT"];
            let astray = |at: usize, code: &str| {
                observed
                    .iter()
                    .position(|known| *known == code)
                    .is_some_and(|own| own != at)
            };
            match found
                .iter()
                .enumerate()
                .find(|(at, code)| code.is_some_and(|code| astray(*at, code)))
            {
                Some((_, code)) => Verdict::Failed(format!(
                    "{} is the code of another level",
                    code.unwrap_or_default()
                )),
                None => Verdict::Passed,
            }
        },
    ),
    (
        "S6.29",
        "Refs/Prtry has Tp and Ref",
        Part::Reference,
        |reference| has(reference, ["Tp", "Ref"]),
    ),
    (
        "S6.30",
        "TxDtls/Amt is a decimal with its currency, and CdtDbtInd CRDT or DBIT",
        Part::Transaction,
        |transaction| in_currency(transaction.node, None).and(|| direction(transaction.node)),
    ),
    (
        "S6.30",
        "TxDtls/Amt of an entry with one transaction is the amount of the entry",
        Part::Entry,
        |entry| {
            only_transaction(entry, |node| {
                Some(amount(text(node, "Amt"))?.normalize().to_string())
            })
        },
    ),
    (
        "S6.30",
        "TxDtls/CdtDbtInd of an entry with one transaction is that of the entry",
        Part::Entry,
        |entry| only_transaction(entry, |node| text(node, "CdtDbtInd").map(str::to_owned)),
    ),
    (
        "S6.33",
        "no text has U+FFFD in place of a character",
        Part::Transaction,
        |transaction| {
            let lost =
                |node: Node<'_, '_>| node.text().is_some_and(|text| text.contains('\u{fffd}'));
            match transaction.node.descendants().any(lost) {
                true => {
                    Verdict::Failed("expected the character that was sent, found U+FFFD".to_owned())
                }
                false => Verdict::Passed,
            }
        },
    ),
    (
        "S6.32",
        "CdtrAcct/Id/Othr of a credit has Id and Issr",
        Part::CreditorAccount,
        |account| {
            has(account, ["Id", "Issr"]).and(|| match text(account.node, "Id") {
                // Account numbers are not printed.
                Some(own) if own == account.statement.account => Verdict::Failed(
                    "expected the number of a virtual account, found that of the account itself"
                        .to_owned(),
                ),
                _ => Verdict::Passed,
            })
        },
    ),
];

/// Compares a value of an entry with that of its transaction, if it has just one.
fn only_transaction(entry: &View<'_>, value: fn(Node<'_, '_>) -> Option<String>) -> Verdict {
    let mut details =
        children(entry.node, "NtryDtls").flat_map(|details| children(details, "TxDtls"));
    let (Some(transaction), None) = (details.next(), details.next()) else {
        return ABSENT;
    };
    match (value(entry.node), value(transaction)) {
        (Some(whole), Some(part)) => expect(whole == part, &whole, Some(&part)),
        _ => ABSENT,
    }
}

fn hex(node: Node<'_, '_>, path: &str) -> Verdict {
    let found = text(node, path);
    expect(
        found.is_some_and(|text| {
            text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        }),
        "32 hexadecimal characters",
        found,
    )
}

fn time(view: &View<'_>, path: &str, right: fn(&IsoDateTime) -> bool, expected: &str) -> Verdict {
    let found = text(view.node, path);
    expect(
        found.is_some_and(|text| IsoDateTime::parse(text).is_ok_and(|at| right(&at))),
        expected,
        found,
    )
}

fn recent(view: &View<'_>, path: &str) -> Verdict {
    let at = text(view.node, path).and_then(|text| {
        IsoDateTime::parse(text)
            .ok()
            .filter(|at| at.offset().is_some())?
            .to_time(UtcOffset::UTC)
    });
    let Some(at) = at else { return ABSENT };
    let late = view.statement.at.abs_diff(at.unix_timestamp());
    expect(
        late <= 300,
        "the time of the answer",
        Some(&format!("one that is {late} s from it")),
    )
}

/// A text that must be there, and this one.
fn is(node: Node<'_, '_>, path: &str, expected: &str) -> Verdict {
    let found = text(node, path);
    expect(found == Some(expected), expected, found)
}

fn date(node: Node<'_, '_>, path: &str, expected: &str) -> Verdict {
    let found = text(node, path);
    let is_date = |text: &str| text.len() == 10 && IsoDate::parse(text).is_ok();
    expect(found.is_some_and(is_date), expected, found)
}

/// The balance of the type that is usual, or else the first, with the currency of the account.
fn balance(report: &View<'_>, check: fn(Node<'_, '_>, Option<&str>) -> Verdict) -> Verdict {
    let usual =
        children(report.node, "Bal").find(|found| text(*found, "Tp/CdOrPrtry/Cd") == Some("ITAV"));
    let missing = || Verdict::Failed("expected a Bal, found none".to_owned());
    usual
        .or_else(|| child(report.node, "Bal"))
        .map_or_else(missing, |balance| check(balance, report.currency))
}

fn number<'a>(report: &View<'a>) -> Option<&'a str> {
    text(report.node, "TxsSummry/TtlNtries/NbOfNtries")
}

fn is_number(found: Option<&str>) -> bool {
    found.is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty())
}

fn has(view: &View<'_>, names: [&str; 2]) -> Verdict {
    names.into_iter().fold(Verdict::Passed, |verdict, name| {
        verdict.and(|| expect(text(view.node, name).is_some(), name, None))
    })
}

/// `Amt` below a node: a decimal without a sign, and its currency.
fn in_currency(node: Node<'_, '_>, currency: Option<&str>) -> Verdict {
    let found = child(node, "Amt");
    let value = found.and_then(|amount| amount.text()).map(str::trim);
    if amount(value).is_none() {
        return expect(false, "a decimal without a sign as Amt", value);
    }
    let found = found.and_then(|amount| amount.attribute("Ccy"));
    let expected = currency.unwrap_or("a currency");
    expect(
        found.is_some() && (currency.is_none() || found == currency),
        &format!("Ccy {expected}"),
        found,
    )
}

/// `CdtDbtInd` below a node.
fn direction(node: Node<'_, '_>) -> Verdict {
    let found = text(node, "CdtDbtInd");
    expect(
        matches!(found, Some("CRDT" | "DBIT")),
        "CRDT or DBIT",
        found,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_element(text: &str, check: impl Fn(Node<'_, '_>) -> Verdict) -> Verdict {
        let xml = format!("<a><b>{text}</b></a>");
        check(roxmltree::Document::parse(&xml).unwrap().root_element())
    }

    #[test]
    fn dates_and_ids_are_judged_as_they_are_written() {
        for (text, is_right) in [
            ("2026-11-22", true),
            ("2026-11-22Z", false),
            ("2026-13-01", false),
            ("22.11.2026", false),
        ] {
            let verdict = in_element(text, |node| date(node, "b", "a date"));
            assert_eq!(verdict == Verdict::Passed, is_right, "{text}");
        }
        for (text, is_right) in [
            ("0b7c2f6e8a1d41eb8dcd0242ac130003", true),
            ("0b7c2f6e-8a1d-41eb-8dcd-0242ac13000", false),
        ] {
            let verdict = in_element(text, |node| hex(node, "b"));
            assert_eq!(verdict == Verdict::Passed, is_right, "{text}");
        }
    }
}
