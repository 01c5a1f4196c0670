//! The XML of statements (Specification: "Statement payload").

mod rows;

use super::checks::{ABSENT, combined, expect};
use super::xml::{REPORT, amount, child, children, read, text};
use super::{ProviderJudge, Statement, Statements};
use crate::row::{Verdict, listed};
use bankrail_camt052::{
    Document, FindingKind, Mode, ReadError, ReadErrorKind, ReadOptions, Version,
};
use bankrail_values::Decimal;
use rows::ROWS;
use roxmltree::Node;
use std::collections::BTreeSet;

/// A part of a payload that rows are about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The root element.
    Root,
    /// The message, `BkToCstmrAcctRpt`.
    Message,
    /// A report, `Rpt`.
    Report,
    /// A report with entries.
    Summary,
    /// A report without entries, on its only page.
    Empty,
    /// An entry, `Ntry`.
    Entry,
    /// A transaction, `TxDtls`.
    Transaction,
    /// A `Refs/Prtry` of a transaction.
    Reference,
    /// The `RltdPties/CdtrAcct/Id/Othr` of a credit.
    CreditorAccount,
}

impl Part {
    /// Returns the reason why no payload has this part.
    fn unseen(self) -> &'static str {
        match self {
            Self::Root => "the payload cannot be read",
            Self::Message | Self::Report => "the payload has no such part",
            Self::Summary | Self::Entry => "no statement has an entry; book some of today",
            Self::Empty => "no statement is without entries; name an account without",
            Self::Transaction | Self::Reference | Self::CreditorAccount => {
                "no entry has such a part"
            }
        }
    }
}

/// One part of one payload.
#[derive(Clone)]
struct View<'a> {
    part: Part,
    node: Node<'a, 'a>,
    /// The place for verdicts, such as `statement 2, entry 7`.
    place: String,
    statement: &'a Statement,
    /// The currency of the account.
    currency: Option<&'a str>,
    sums: Sums,
}

/// The sums of the entries of a report.
#[derive(Clone, Copy, Default)]
struct Sums {
    entries: u64,
    credits: Side,
    debits: Side,
    /// True if an amount or a direction cannot be read, or a sum is too large.
    unreadable: bool,
}

/// The sum and the number of the credits, or of the debits.
#[derive(Clone, Copy, Default)]
struct Side {
    count: u64,
    sum: Decimal,
}

impl Sums {
    fn of(report: Node<'_, '_>) -> Self {
        let mut sums = Self::default();
        for entry in children(report, "Ntry") {
            sums.entries += 1;
            let side = match text(entry, "CdtDbtInd") {
                Some("CRDT") => Some(&mut sums.credits),
                Some("DBIT") => Some(&mut sums.debits),
                _ => None,
            };
            let added = side.and_then(|side| {
                side.count += 1;
                side.sum = side.sum.checked_add(amount(text(entry, "Amt"))?)?;
                Some(())
            });
            sums.unreadable |= added.is_none();
        }
        sums
    }
}

/// Judges the payload of each statement.
pub(super) fn judge(judge: &mut ProviderJudge, statements: &Statements) {
    let unseen = |part: Part| match &statements.unseen {
        Verdict::NotSeen(_) if !statements.found.is_empty() => Verdict::not_seen(part.unseen()),
        unseen => unseen.clone(),
    };
    let all = || statements.before.iter().chain(&statements.found);
    let found = all().filter_map(|one| Some((one.place.as_str(), by_schema(one)?)));
    let by_schema = combined(found, &unseen(Part::Root));
    judge.row(
        (
            "S2.1",
            "the payload is a camt.052.001.06 document by its schema",
        ),
        by_schema,
    );
    let documents: Vec<_> = all()
        .filter_map(|statement| {
            Some((
                statement,
                roxmltree::Document::parse(&statement.payload).ok()?,
            ))
        })
        .collect();
    let views: Vec<View<'_>> = documents
        .iter()
        .flat_map(|(statement, root)| views(statement, root))
        .collect();
    for (id, title, part, check) in ROWS {
        let views = views.iter().filter(|view| view.part == part);
        let found = views.map(|view| match check(view) {
            // The sum covers the page if the count does, which another row checks.
            Verdict::Failed(what)
                if part == Part::Summary && id != "S6.35" && !view.counts_page() =>
            {
                (&*view.place, Verdict::Noted(what))
            }
            verdict => (&*view.place, verdict),
        });
        judge.row((id, title), combined(found, &unseen(part)));
    }
    let made = own_times(views.iter().filter(|view| view.part == Part::Message));
    judge.row(
        (
            "S6.9",
            "Rpt/CreDtTm is the time of each report, not one for all",
        ),
        made.unwrap_or_else(|| unseen(Part::Root)),
    );
}

/// The test accounts that the specification names, by currencies (Specification: "Request
/// statement", test data).
const TEST_ACCOUNTS: [(&str, &str, &[&str]); 2] = [
    ("S19.24", "there is a test account in AUD", &["AUD"]),
    (
        "S19.25",
        "there is a test account in each of USD, SBD, HKD, SGD, INR and PGK",
        &["USD", "SBD", "HKD", "SGD", "INR", "PGK"],
    ),
];

/// Judges which test accounts there are. A customer need not have them all.
pub(super) fn judge_test_accounts(judge: &mut ProviderJudge, statements: &Statements) {
    let mut currencies = BTreeSet::new();
    let mut with_decimals = Vec::new();
    for statement in &statements.found {
        read(&statement.payload, REPORT, |report| {
            let currency = text(report, "Acct/Ccy").unwrap_or_default();
            currencies.insert(currency.to_owned());
            if currency == "VND" {
                let parts = children(report, "Bal").chain(children(report, "Ntry"));
                let amounts = parts.filter_map(|part| text(part, "Amt"));
                let amounts = amounts.filter(|amount| amount.contains('.'));
                with_decimals
                    .extend(amounts.map(|amount| format!("{}: {amount}", statement.place)));
            }
        });
    }
    let unseen = |missing: &[&str]| {
        let budget = |left_out| format!("--budget: accounts that it did not last for: {left_out}");
        statements.without(budget, || {
            let missing = missing.join(", ");
            format!("--account names others: this customer has none in {missing}")
        })
    };
    for (id, title, wanted) in TEST_ACCOUNTS {
        let missing: Vec<&str> = wanted
            .iter()
            .copied()
            .filter(|currency| !currencies.contains(*currency))
            .collect();
        let verdict = if missing.is_empty() {
            Verdict::Passed
        } else {
            unseen(&missing)
        };
        judge.row((id, title), verdict);
    }
    let verdict = if currencies.contains("VND") {
        Verdict::when(with_decimals.is_empty(), || {
            let found = listed(&with_decimals);
            format!("expected amounts without decimals, found {found}")
        })
    } else {
        unseen(&["VND"])
    };
    let row = (
        "S19.26",
        "there is a test account in VND, whose amounts have no decimals",
    );
    judge.row(row, verdict);
}

/// Compares the creation times of reports that have ids of their own. `None` if there are too few.
fn own_times<'a>(messages: impl Iterator<Item = &'a View<'a>>) -> Option<Verdict> {
    let [mut ids, mut sent, mut made] = [(); 3].map(|()| BTreeSet::new());
    for message in messages {
        ids.insert(text(message.node, "Rpt/Id")?);
        sent.insert(text(message.node, "GrpHdr/CreDtTm")?);
        made.insert(text(message.node, "Rpt/CreDtTm")?);
    }
    let enough = ids.len() > 2 && sent.len() == ids.len();
    enough.then(|| {
        Verdict::when(made.len() > 1, || {
            format!(
                "expected different times, found a single one in {} reports",
                ids.len()
            )
        })
    })
}

impl View<'_> {
    /// Returns true if the summary counts the entries of its page.
    fn counts_page(&self) -> bool {
        let count =
            text(self.node, "TxsSummry/TtlNtries/NbOfNtries").and_then(|count| count.parse().ok());
        !self.statement.more || count == Some(self.sums.entries)
    }
}

/// Returns every part of a payload.
fn views<'a>(statement: &'a Statement, document: &'a roxmltree::Document<'a>) -> Vec<View<'a>> {
    let (place, root) = (statement.place.clone(), document.root_element());
    let root = View {
        part: Part::Root,
        node: root,
        place,
        statement,
        currency: None,
        sums: Sums::default(),
    };
    let mut views = vec![root.clone()];
    let Some(message) = child(root.node, "BkToCstmrAcctRpt") else {
        return views;
    };
    let currency = text(message, "Rpt/Acct/Ccy");
    let root = View { currency, ..root };
    views.push(View {
        part: Part::Message,
        node: message,
        ..root.clone()
    });
    let Some(report) = child(message, "Rpt") else {
        return views;
    };
    let sums = Sums::of(report);
    let summary = if sums.entries == 0 && !statement.more {
        Part::Empty
    } else {
        Part::Summary
    };
    views.extend([Part::Report, summary].map(|part| View {
        part,
        node: report,
        sums,
        ..root.clone()
    }));
    for (number, entry) in children(report, "Ntry").enumerate() {
        let place = format!("{}, entry {}", statement.place, number + 1);
        let mut add = |part, node| {
            views.push(View {
                part,
                node,
                place: place.clone(),
                ..root.clone()
            })
        };
        add(Part::Entry, entry);
        for details in children(entry, "NtryDtls").flat_map(|details| children(details, "TxDtls")) {
            add(Part::Transaction, details);
            let references = child(details, "Refs")
                .into_iter()
                .flat_map(|refs| children(refs, "Prtry"));
            references.for_each(|reference| add(Part::Reference, reference));
            let account = child(details, "RltdPties/CdtrAcct/Id/Othr");
            if let Some(account) = account.filter(|_| text(entry, "CdtDbtInd") == Some("CRDT")) {
                add(Part::CreditorAccount, account);
            }
        }
    }
    views
}

/// The count and the sum of a part of the summary.
fn part(view: &View<'_>, name: &str, side: Side) -> Verdict {
    let at = |path: &str| text(view.node, &format!("TxsSummry/{name}/{path}"));
    if view.sums.unreadable {
        return ABSENT;
    }
    count(side.count, at("NbOfNtries")).and(|| sum(view, side.sum, at("Sum")))
}

/// The sum of all amounts.
fn all(view: &View<'_>) -> Verdict {
    let Some(expected) = view.sums.credits.sum.checked_add(view.sums.debits.sum) else {
        return ABSENT;
    };
    sum(view, expected, text(view.node, "TxsSummry/TtlNtries/Sum"))
}

/// The net amount and its direction, which may be either for zero.
fn net(view: &View<'_>) -> Verdict {
    let Some(net) = view.sums.credits.sum.checked_sub(view.sums.debits.sum) else {
        return ABSENT;
    };
    let expected = if net.is_sign_negative() {
        "DBIT"
    } else {
        "CRDT"
    };
    sum(
        view,
        net.abs(),
        text(view.node, "TxsSummry/TtlNtries/TtlNetNtry/Amt"),
    )
    .and(|| {
        let found = text(view.node, "TxsSummry/TtlNtries/TtlNetNtry/CdtDbtInd");
        let zero = net.is_zero() && matches!(found, Some("CRDT" | "DBIT"));
        expect(zero || found == Some(expected), expected, found)
    })
}

/// Specification: "Statement payload", rules: "A report with no entries has zero counts and sums."
fn empty(view: &View<'_>) -> Verdict {
    ["TtlNtries", "TtlCdtNtries", "TtlDbtNtries"]
        .into_iter()
        .fold(Verdict::Passed, |verdict, name| {
            verdict.and(|| match part(view, name, Side::default()) {
                Verdict::Failed(what) => Verdict::Failed(format!("{name}: {what}")),
                other => other,
            })
        })
}

fn count(expected: u64, found: Option<&str>) -> Verdict {
    let same = found.and_then(|text| text.parse::<u64>().ok()) == Some(expected);
    expect(same, &expected.to_string(), found)
}

/// Another row judges an entry that cannot be added.
fn sum(view: &View<'_>, expected: Decimal, found: Option<&str>) -> Verdict {
    if view.sums.unreadable {
        return ABSENT;
    }
    expect(
        amount(found) == Some(expected),
        &expected.to_string(),
        found,
    )
}

/// Reads the payload with the library's strict reader, which refuses everything outside the schema.
fn by_schema(statement: &Statement) -> Option<Verdict> {
    let version = Version::default();
    let options = ReadOptions::default()
        .mode(Mode::Strict)
        .versions(version..=version);
    match Document::parse_with(&statement.payload, &options) {
        Ok(_) => Some(Verdict::Passed),
        Err(error) => match error.kind() {
            // Other rows fail for these errors.
            ReadErrorKind::WrongNamespace { .. }
            | ReadErrorKind::WrongRoot {
                expected: "Document",
                ..
            } => None,
            _ => Some(Verdict::Failed(without_text(&error))),
        },
    }
}

/// Returns the error's text without its quotation of the payload, which may be a name or an account
/// number.
fn without_text(error: &ReadError) -> String {
    let expected = match error.kind() {
        ReadErrorKind::Refused(FindingKind::UnexpectedText { .. }) => "elements only".to_owned(),
        ReadErrorKind::Refused(FindingKind::UnknownCode { known, .. }) => {
            format!("one of {}", known.join(" "))
        }
        ReadErrorKind::Unreadable { expected, .. }
        | ReadErrorKind::Refused(
            FindingKind::Pattern { expected, .. } | FindingKind::Unreadable { expected, .. },
        ) => (*expected).to_owned(),
        _ => return error.to_string(),
    };
    format!(
        "expected {expected} at {} ({}), found another text",
        error.path(),
        error.position()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_camt052::NAMESPACE;

    #[test]
    fn errors_of_the_schema_quote_no_text_of_the_payload() {
        const ACCOUNT: &str = "<Acct><Id><Othr><Id>1</Id></Othr></Id></Acct>";
        let made = "<CreDtTm>2026-11-22T10:00:00Z</CreDtTm>";
        let options = ReadOptions::default().mode(Mode::Strict);
        let read = |part: &str| {
            let message =
                format!("<GrpHdr><MsgId>1</MsgId>{made}</GrpHdr><Rpt><Id>1</Id>{made}{part}</Rpt>");
            let xml = format!(
                "<Document xmlns=\"{NAMESPACE}\"><BkToCstmrAcctRpt>{message}</BkToCstmrAcctRpt></Document>"
            );
            Document::parse_with(&xml, &options)
        };
        read(ACCOUNT).unwrap();
        for (part, expected) in [
            (
                format!("{ACCOUNT}JANE DOE"),
                "expected elements only at /Document/BkToCstmrAcctRpt/Rpt[1] (line 1, ",
            ),
            (
                "<Acct><Id><IBAN>JANE DOE</IBAN></Id></Acct>".to_owned(),
                "/Rpt[1]/Acct/Id/IBAN (line 1, ",
            ),
            (
                format!("<FrToDt><FrDtTm>JANE DOE</FrDtTm></FrToDt>{ACCOUNT}"),
                "/Rpt[1]/FrToDt/FrDtTm (line 1, ",
            ),
            (
                format!("<CpyDplctInd>JANE DOE</CpyDplctInd>{ACCOUNT}"),
                "expected one of CODU COPY DUPL at ",
            ),
        ] {
            let error = read(&part).unwrap_err();
            let line = without_text(&error);
            assert!(
                error.to_string().contains("JANE DOE") && !line.contains("JANE"),
                "{error}\n{line}"
            );
            assert!(
                line.contains(expected) && line.ends_with(", found another text"),
                "{line}"
            );
        }
    }
}
