//! Everything of a statement before its summary: headers, account, balance.

use super::super::checks::{Checks, Found};
use super::super::statement::Statement;
use super::xml::{amount, child, children, is_date, is_hex32, text};
use bankrail_camt052::DateTime;
use bankrail_values::Currency;
use roxmltree::Node;

pub(super) const ROWS: [(&str, &str); 13] = [
    ("S6.3", "GrpHdr/MsgId is 32 hexadecimal characters"),
    ("S6.4", "GrpHdr/MsgId is the request key without hyphens"),
    ("S6.5", "GrpHdr/CreDtTm has fractional seconds and an offset"),
    ("S6.8", "Rpt/Id is 32 hexadecimal characters"),
    ("S6.9", "Rpt/CreDtTm is a time"),
    ("S6.10", "Rpt/RptgSrc/Prtry is there"),
    ("S6.12", "Rpt/Acct/Id/Othr/Id is the account that was asked for"),
    ("S6.13", "Rpt/Acct/Ccy is an ISO 4217 code"),
    ("S6.14", "Rpt/Bal/Tp/CdOrPrtry/Cd is there, ITAV"),
    ("S6.15", "Rpt/Bal/Tp/SubTp/Prtry is there, Current"),
    ("S6.16", "Rpt/Bal/Amt is a decimal with the currency of the account"),
    ("S6.17", "Rpt/Bal/CdtDbtInd is CRDT or DBIT"),
    ("S6.18", "Rpt/Bal/Dt/Dt is YYYY-MM-DD"),
];

pub(super) fn check(message: Node<'_, '_>, statement: &Statement, checks: &mut Checks) {
    let mut enter = |id: &str, found: Found| checks.enter(id, &statement.place, found);
    let at = |path: &str| text(message, path);
    let hex = |found: Option<&str>| Found::when(found.is_some_and(is_hex32), "32 hexadecimal characters", found);
    let message_id = at("GrpHdr/MsgId");
    enter("S6.3", hex(message_id));
    if let Some(key) = &statement.request_key {
        let key = key.replace('-', "").to_ascii_lowercase();
        let same = message_id.is_some_and(|found| found.eq_ignore_ascii_case(&key));
        enter(
            "S6.4",
            if same { Found::Right } else { Found::Unusual("expected the request key, found another".to_owned()) },
        );
    }
    let made = at("GrpHdr/CreDtTm");
    let whole = |at: &DateTime| at.fraction_digits() > 0 && at.offset().is_some();
    let is_whole = made.and_then(|text| DateTime::parse(text).ok()).is_some_and(|at| whole(&at));
    enter("S6.5", Found::when(is_whole, "a time with fractional seconds and an offset", made));
    enter("S6.8", hex(at("Rpt/Id")));
    let made = at("Rpt/CreDtTm");
    enter("S6.9", Found::when(made.is_some_and(|text| DateTime::parse(text).is_ok()), "a time", made));
    let source = at("Rpt/RptgSrc/Prtry");
    enter("S6.10", Found::when(source.is_some_and(|text| !text.is_empty()), "a code", source));
    let account = match at("Rpt/Acct/Id/Othr/Id") {
        Some(found) if found == statement.account => Found::Right,
        // Account numbers are not printed.
        Some(_) => Found::Wrong("expected the account that was asked for, found another".to_owned()),
        None => Found::Wrong("expected the account that was asked for, found none".to_owned()),
    };
    enter("S6.12", account);
    let currency = at("Rpt/Acct/Ccy");
    let listed = currency.and_then(|text| Currency::parse(text).ok()).is_some_and(|found| found.is_listed());
    enter("S6.13", Found::when(listed, "an ISO 4217 code", currency));
    let Some(report) = child(message, "Rpt") else { return };
    balance(report, currency, &mut enter);
}

/// The balance of the type that is usual, or else the first.
fn balance(report: Node<'_, '_>, currency: Option<&str>, enter: &mut impl FnMut(&str, Found)) {
    let usual = children(report, "Bal").find(|found| text(*found, "Tp/CdOrPrtry/Cd") == Some("ITAV"));
    let Some(balance) = usual.or_else(|| child(report, "Bal")) else {
        for id in ["S6.14", "S6.15", "S6.16", "S6.17", "S6.18"] {
            enter(id, Found::Wrong("expected a Bal, found none".to_owned()));
        }
        return;
    };
    enter("S6.14", Found::usually("ITAV", text(balance, "Tp/CdOrPrtry/Cd")));
    enter("S6.15", Found::usually("Current", text(balance, "Tp/SubTp/Prtry")));
    enter("S6.16", in_currency(balance, currency));
    enter("S6.17", direction(balance));
    let day = text(balance, "Dt/Dt");
    enter("S6.18", Found::when(day.is_some_and(is_date), "YYYY-MM-DD", day));
}

/// `Amt` below a node: a decimal without a sign, and its currency.
pub(super) fn in_currency(node: Node<'_, '_>, currency: Option<&str>) -> Found {
    let found = child(node, "Amt");
    let value = found.and_then(|amount| amount.text()).map(str::trim);
    if amount(value).is_none() {
        return Found::when(false, "a decimal without a sign as Amt", value);
    }
    let found = found.and_then(|amount| amount.attribute("Ccy"));
    let expected = currency.unwrap_or("a currency");
    Found::when(found.is_some() && (currency.is_none() || found == currency), &format!("Ccy {expected}"), found)
}

/// `CdtDbtInd` below a node.
pub(super) fn direction(node: Node<'_, '_>) -> Found {
    let found = text(node, "CdtDbtInd");
    Found::when(matches!(found, Some("CRDT" | "DBIT")), "CRDT or DBIT", found)
}
