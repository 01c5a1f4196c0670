//! The XML of statements (Specification: "Statement payload").

mod entries;
mod head;
mod summary;
pub(super) mod xml;

use super::checks::{Checks, Found};
use super::judge::Judge;
use super::statement::{Statement, Statements};
use crate::row::Verdict;
use bankrail_camt052::{Document, FindingKind, Mode, NAMESPACE, ReadError, ReadErrorKind, ReadOptions};
use bankrail_values::excerpt;
use roxmltree::Node;
use xml::child;

const SCHEMA: [(&str, &str); 3] = [
    ("S2.1", "the payload is a camt.052.001.06 document by its schema"),
    ("S6.1", "the namespace is that of camt.052.001.06"),
    ("S6.2", "the root is Document, with BkToCstmrAcctRpt in it"),
];

const NO_ENTRY: &str = "no statement has an entry; book some of today";

/// Judges the payload of each statement.
pub(super) fn judge(judge: &mut Judge, statements: &Statements) {
    let mut schema = Checks::new(&SCHEMA);
    let mut head = Checks::new(&head::ROWS);
    let mut summary = Checks::new(&summary::ROWS);
    let mut empty = Checks::new(&summary::EMPTY_ROWS);
    let mut entries = Checks::new(&entries::ROWS);
    let mut refs = Checks::new(&entries::OPTIONAL_ROWS);
    for statement in &statements.found {
        let place = statement.place.as_str();
        by_schema(statement, &mut schema);
        let Ok(document) = roxmltree::Document::parse(&statement.payload) else { continue };
        let root = document.root_element();
        names(root, place, &mut schema);
        let Some(message) = child(root, "BkToCstmrAcctRpt") else { continue };
        head::check(message, statement, &mut head);
        let Some(report) = child(message, "Rpt") else { continue };
        let sums = summary::Sums::of(report);
        if sums.entries == 0 && !statement.more {
            summary::check_empty(report, place, &mut empty);
        } else {
            summary::check(report, &sums, statement.more, place, &mut summary);
        }
        entries::check(report, place, &mut entries, &mut refs);
    }
    let shown = |reason: &str| match &statements.unseen {
        not_run @ Verdict::NotRun(_) => not_run.clone(),
        _ if statements.found.is_empty() => statements.unseen.clone(),
        _ => Verdict::NotSeen(reason.to_owned()),
    };
    schema.rows(judge, &shown("the payload cannot be read"));
    head.rows(judge, &shown("the payload has no such part"));
    summary.rows(judge, &shown(NO_ENTRY));
    empty.rows(judge, &shown("no statement is without entries; name an account without"));
    entries.rows(judge, &shown(NO_ENTRY));
    refs.rows(judge, &shown("no entry has such a part"));
}

/// The library's strict reader, which refuses whatever the schema does not allow.
fn by_schema(statement: &Statement, checks: &mut Checks) {
    let options = ReadOptions::default().mode(Mode::Strict);
    let found = match Document::read_with(statement.payload.as_bytes(), &options) {
        Ok(_) => Found::Right,
        Err(error) => match error.kind() {
            // A row of its own says so.
            ReadErrorKind::WrongNamespace { .. } | ReadErrorKind::WrongRoot { .. } => return,
            _ => Found::Wrong(without_text(&error)),
        },
    };
    checks.enter("S2.1", &statement.place, found);
}

/// The error without what it quotes of the payload, which may be a name or the number of an account.
fn without_text(error: &ReadError) -> String {
    let expected = match error.kind() {
        ReadErrorKind::Refused(FindingKind::UnexpectedText { .. }) => "elements only".to_owned(),
        ReadErrorKind::Refused(FindingKind::UnknownCode { known, .. }) => format!("one of {}", known.join(" ")),
        ReadErrorKind::Refused(FindingKind::EnvelopeDocument { .. }) => "a valid document".to_owned(),
        ReadErrorKind::Unreadable { expected, .. }
        | ReadErrorKind::Refused(
            FindingKind::Pattern { expected, .. }
            | FindingKind::Unreadable { expected, .. }
            | FindingKind::EnvelopeType { expected, .. },
        ) => (*expected).to_owned(),
        _ => return error.to_string(),
    };
    format!("expected {expected} at {} ({}), found another text", error.path(), error.position())
}

fn names(root: Node<'_, '_>, place: &str, checks: &mut Checks) {
    let namespace = root.tag_name().namespace();
    checks.enter("S6.1", place, Found::when(namespace == Some(NAMESPACE), NAMESPACE, namespace));
    let found = match child(root, "BkToCstmrAcctRpt") {
        Some(_) if root.tag_name().name() == "Document" => Found::Right,
        Some(_) => Found::Wrong(format!("expected Document, found {}", excerpt(root.tag_name().name()))),
        None => Found::Wrong("expected BkToCstmrAcctRpt in the root, found none".to_owned()),
    };
    checks.enter("S6.2", place, found);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_schema_quote_no_text_of_the_payload() {
        const ACCOUNT: &str = "<Acct><Id><Othr><Id>1</Id></Othr></Id></Acct>";
        let made = "<CreDtTm>2026-11-22T10:00:00Z</CreDtTm>";
        let options = ReadOptions::default().mode(Mode::Strict);
        let read = |part: &str| {
            let message = format!("<GrpHdr><MsgId>1</MsgId>{made}</GrpHdr><Rpt><Id>1</Id>{made}{part}</Rpt>");
            let xml =
                format!("<Document xmlns=\"{NAMESPACE}\"><BkToCstmrAcctRpt>{message}</BkToCstmrAcctRpt></Document>");
            Document::read_with(xml.as_bytes(), &options)
        };
        read(ACCOUNT).unwrap();
        for (part, expected) in [
            (format!("{ACCOUNT}JANE DOE"), "expected elements only at /Document/BkToCstmrAcctRpt/Rpt[1] (line 1, "),
            ("<Acct><Id><IBAN>JANE DOE</IBAN></Id></Acct>".to_owned(), "/Rpt[1]/Acct/Id/IBAN (line 1, "),
            (format!("<FrToDt><FrDtTm>JANE DOE</FrDtTm></FrToDt>{ACCOUNT}"), "/Rpt[1]/FrToDt/FrDtTm (line 1, "),
            (format!("<CpyDplctInd>JANE DOE</CpyDplctInd>{ACCOUNT}"), "expected one of CODU COPY DUPL at "),
        ] {
            let error = read(&part).unwrap_err();
            let line = without_text(&error);
            assert!(error.to_string().contains("JANE DOE") && !line.contains("JANE"), "{error}\n{line}");
            assert!(line.contains(expected) && line.ends_with(", found another text"), "{line}");
        }
    }
}
