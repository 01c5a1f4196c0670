//! The accounts that the specification names for tests (Specification: "Request statement", test
//! data).

use super::Judge;
use super::statement::Statements;
use super::xml::{REPORT, children, read, text};
use crate::row::{Verdict, listed};
use std::collections::BTreeSet;

const ROWS: [(&str, &str, &[&str]); 2] = [
    ("S19.24", "there is a test account in AUD", &["AUD"]),
    (
        "S19.25",
        "there is a test account in each of USD, SBD, HKD, SGD, INR and PGK",
        &["USD", "SBD", "HKD", "SGD", "INR", "PGK"],
    ),
];

/// Judges which accounts there are. A customer need not have them all.
pub(super) fn judge(judge: &mut Judge, statements: &Statements) {
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
    let unseen = |missing: &[&str]| match &statements.unseen {
        Verdict::NotRun(why) => Verdict::NotRun(why.clone()),
        _ if statements.left_out > 0 => Verdict::NotRun(format!(
            "--budget: accounts that it did not last for: {}",
            statements.left_out
        )),
        _ => Verdict::NotSeen(format!(
            "--account names others: this customer has none in {}",
            missing.join(", ")
        )),
    };
    for (id, title, wanted) in ROWS {
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
        judge.row(id, title, verdict);
    }
    let verdict = if currencies.contains("VND") {
        Verdict::when(with_decimals.is_empty(), || {
            let found = listed(&with_decimals);
            format!("expected amounts without decimals, found {found}")
        })
    } else {
        unseen(&["VND"])
    };
    judge.row(
        "S19.26",
        "there is a test account in VND, whose amounts have no decimals",
        verdict,
    );
}
