//! The sums of the entries of a report, compared with its summary.

use super::super::checks::Found;
use super::super::xml::{amount, children, text};
use super::{Side, Sums, View};
use bankrail_values::Decimal;
use roxmltree::Node;

impl Sums {
    pub(super) fn of(report: Node<'_, '_>) -> Self {
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

/// The count and the sum of a part of the summary.
pub(super) fn part(view: &View<'_>, name: &str, side: Side) -> Found {
    let at = |path: &str| text(view.node, &format!("TxsSummry/{name}/{path}"));
    if view.sums.unreadable {
        return Found::Absent;
    }
    count(side.count, at("NbOfNtries")).and(|| sum(view, side.sum, at("Sum")))
}

/// The sum of all amounts.
pub(super) fn all(view: &View<'_>) -> Found {
    let Some(expected) = view.sums.credits.sum.checked_add(view.sums.debits.sum) else {
        return Found::Absent;
    };
    sum(view, expected, text(view.node, "TxsSummry/TtlNtries/Sum"))
}

/// The net amount and its direction, which may be either for zero.
pub(super) fn net(view: &View<'_>) -> Found {
    let Some(net) = view.sums.credits.sum.checked_sub(view.sums.debits.sum) else {
        return Found::Absent;
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
        Found::when(zero || found == Some(expected), expected, found)
    })
}

/// Specification: "Statement payload", rules: "A report with no entries has zero counts and sums."
pub(super) fn empty(view: &View<'_>) -> Found {
    ["TtlNtries", "TtlCdtNtries", "TtlDbtNtries"]
        .into_iter()
        .fold(Found::Right, |found, name| {
            found.and(|| match part(view, name, Side::default()) {
                Found::Wrong(what) => Found::Wrong(format!("{name}: {what}")),
                found => found,
            })
        })
}

pub(super) fn count(expected: u64, found: Option<&str>) -> Found {
    let same = found.and_then(|text| text.parse::<u64>().ok()) == Some(expected);
    Found::when(same, &expected.to_string(), found)
}

/// Another row judges an entry that cannot be added.
fn sum(view: &View<'_>, expected: Decimal, found: Option<&str>) -> Found {
    if view.sums.unreadable {
        return Found::Absent;
    }
    Found::when(
        amount(found) == Some(expected),
        &expected.to_string(),
        found,
    )
}
