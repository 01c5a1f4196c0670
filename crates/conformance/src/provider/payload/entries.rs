//! The entries of a statement.

use super::super::checks::{Checks, Found};
use super::head::{direction, in_currency};
use super::xml::{child, children, is_date, text};
use roxmltree::Node;

pub(super) const ROWS: [(&str, &str); 4] = [
    ("S6.25", "Ntry/Amt is a decimal with the account's currency, and CdtDbtInd CRDT or DBIT"),
    ("S6.26", "Ntry/Sts is there, BOOK"),
    ("S6.27", "Ntry/BookgDt/Dt and Ntry/ValDt/Dt are YYYY-MM-DD"),
    ("S6.28", "Ntry/BkTxCd/Domn has Cd, Fmly/Cd and Fmly/SubFmlyCd"),
];

/// What not every entry has.
pub(super) const OPTIONAL_ROWS: [(&str, &str); 3] = [
    ("S6.29", "Refs/Prtry has Tp and Ref"),
    ("S6.30", "TxDtls/Amt is a decimal with its currency, and CdtDbtInd CRDT or DBIT"),
    ("S6.32", "CdtrAcct/Id/Othr of a credit has Id and Issr"),
];

pub(super) fn check(report: Node<'_, '_>, place: &str, checks: &mut Checks, optional: &mut Checks) {
    let currency = text(report, "Acct/Ccy");
    for (number, entry) in children(report, "Ntry").enumerate() {
        let place = format!("{place}, entry {}", number + 1);
        let mut enter = |id: &str, found: Found| checks.enter(id, &place, found);
        enter("S6.25", both(in_currency(entry, currency), direction(entry)));
        enter("S6.26", Found::usually("BOOK", text(entry, "Sts")));
        let date = |path: &str| {
            let found = text(entry, path);
            Found::when(found.is_some_and(is_date), &format!("YYYY-MM-DD as {path}"), found)
        };
        enter("S6.27", both(date("BookgDt/Dt"), date("ValDt/Dt")));
        let code = |path: &str| {
            let found = text(entry, &format!("BkTxCd/Domn/{path}"));
            Found::when(found.is_some_and(|text| !text.is_empty()), &format!("a code as {path}"), found)
        };
        enter("S6.28", both(code("Cd"), both(code("Fmly/Cd"), code("Fmly/SubFmlyCd"))));
        let is_credit = text(entry, "CdtDbtInd") == Some("CRDT");
        for details in children(entry, "NtryDtls") {
            for transaction in children(details, "TxDtls") {
                check_transaction(transaction, is_credit, &place, optional);
            }
        }
    }
}

fn check_transaction(transaction: Node<'_, '_>, is_credit: bool, place: &str, checks: &mut Checks) {
    checks.enter("S6.30", place, both(in_currency(transaction, None), direction(transaction)));
    let references = child(transaction, "Refs");
    for reference in references.into_iter().flat_map(|references| children(references, "Prtry")) {
        let has = |name: &str| Found::when(text(reference, name).is_some(), name, None);
        checks.enter("S6.29", place, both(has("Tp"), has("Ref")));
    }
    if let Some(account) = child(transaction, "RltdPties/CdtrAcct/Id/Othr").filter(|_| is_credit) {
        let has = |name: &str| Found::when(text(account, name).is_some(), name, None);
        checks.enter("S6.32", place, both(has("Id"), has("Issr")));
    }
}

fn both(one: Found, other: Found) -> Found {
    match one {
        Found::Right => other,
        wrong => wrong,
    }
}
