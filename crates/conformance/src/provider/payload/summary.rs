//! The summary of a statement, compared with its entries.

use super::super::checks::{Checks, Found};
use super::xml::{amount, children, text};
use bankrail_values::Decimal;
use roxmltree::Node;

pub(super) const ROWS: [(&str, &str); 6] = [
    ("S6.19", "TtlNtries/NbOfNtries is a number"),
    ("S6.35", "TtlNtries/NbOfNtries is the number of Ntry"),
    ("S6.20", "TtlNtries/Sum is the sum of all amounts"),
    ("S6.21", "TtlNtries/TtlNetNtry is the net amount and its direction"),
    ("S6.22", "TtlCdtNtries has the count and the sum of the credits"),
    ("S6.23", "TtlDbtNtries has the count and the sum of the debits"),
];

pub(super) const EMPTY_ROWS: [(&str, &str); 1] = [("S6.37", "a report without entries has counts and sums of zero")];

/// What the entries of a report come to.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) entries: u64,
    credits: Side,
    debits: Side,
    /// An amount or a direction cannot be read, or the sum is too large.
    unreadable: bool,
}

#[derive(Clone, Copy, Default)]
struct Side {
    count: u64,
    sum: Decimal,
}

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

pub(super) fn check(report: Node<'_, '_>, sums: &Sums, more: bool, place: &str, checks: &mut Checks) {
    let at = |path: &str| text(report, &format!("TxsSummry/{path}"));
    let mut enter = |id: &str, found: Found| {
        let found = match found {
            // Whether a summary is of its page or of all pages is open.
            Found::Wrong(what) if more => Found::Unusual(what),
            found => found,
        };
        checks.enter(id, place, found);
    };
    let number = at("TtlNtries/NbOfNtries");
    let is_number = number.is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty());
    enter("S6.19", Found::when(is_number, "a number", number));
    if is_number {
        enter("S6.35", count(sums.entries, number));
    }
    if sums.unreadable {
        return;
    }
    let (credits, debits) = (sums.credits, sums.debits);
    let (Some(all), Some(net)) = (credits.sum.checked_add(debits.sum), credits.sum.checked_sub(debits.sum)) else {
        return;
    };
    enter("S6.20", sum(all, at("TtlNtries/Sum")));
    let direction = at("TtlNtries/TtlNetNtry/CdtDbtInd");
    let expected = if net.is_sign_negative() { "DBIT" } else { "CRDT" };
    enter(
        "S6.21",
        match sum(net.abs(), at("TtlNtries/TtlNetNtry/Amt")) {
            Found::Right if net.is_zero() => {
                Found::when(matches!(direction, Some("CRDT" | "DBIT")), expected, direction)
            }
            Found::Right => Found::when(direction == Some(expected), expected, direction),
            wrong => wrong,
        },
    );
    for (id, side, name) in [("S6.22", credits, "TtlCdtNtries"), ("S6.23", debits, "TtlDbtNtries")] {
        enter(
            id,
            match count(side.count, at(&format!("{name}/NbOfNtries"))) {
                Found::Right => sum(side.sum, at(&format!("{name}/Sum"))),
                wrong => wrong,
            },
        );
    }
}

/// Specification: "Statement payload", rules: "A report with no entries has zero counts and sums."
pub(super) fn check_empty(report: Node<'_, '_>, place: &str, checks: &mut Checks) {
    let at = |path: &str| text(report, &format!("TxsSummry/{path}"));
    let mut found = Found::Right;
    for part in ["TtlNtries", "TtlCdtNtries", "TtlDbtNtries"] {
        for one in [count(0, at(&format!("{part}/NbOfNtries"))), sum(Decimal::ZERO, at(&format!("{part}/Sum")))] {
            if let (Found::Right, Found::Wrong(what)) = (&found, one) {
                found = Found::Wrong(format!("{part}: {what}"));
            }
        }
    }
    checks.enter("S6.37", place, found);
}

fn count(expected: u64, found: Option<&str>) -> Found {
    let same = found.and_then(|text| text.parse::<u64>().ok()) == Some(expected);
    Found::when(same, &expected.to_string(), found)
}

fn sum(expected: Decimal, found: Option<&str>) -> Found {
    Found::when(amount(found) == Some(expected), &expected.to_string(), found)
}
