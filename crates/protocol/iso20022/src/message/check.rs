//! Checking a document.

use super::{Message, output};
use crate::check::{CheckScope, Checker};
use crate::finding::Finding;

/// Returns the findings that strict reading of the written document would report.
///
/// - The model is walked.
/// - Parts beyond the schema depend on their place, which only reading finds. A document with such
///   parts is written and read again, and the findings of that reading are returned, unless no
///   document can hold the model.
pub fn check<M: Message>(document: &M) -> Vec<Finding> {
    findings(document, CheckScope::Everything)
}

/// Returns the first finding of the schema, as [`check`] has it.
pub fn check_schema<M: Message>(document: &M) -> Option<Finding> {
    findings(document, CheckScope::Schema)
        .into_iter()
        .find(|finding| finding.kind.is_schema())
}

/// Returns the first mandatory part that is missing.
pub(super) fn first_missing<M: Message>(document: &M) -> Option<Finding> {
    walked(document, CheckScope::MissingParts)
        .into_findings()
        .into_iter()
        .next()
}

fn findings<M: Message>(document: &M, asked: CheckScope) -> Vec<Finding> {
    let checker = walked(document, asked);
    // A clean walk met neither findings nor markup, and then reading has nothing to judge.
    if !checker.is_clean()
        && !document.is_plain(M::SHAPE.known(document.version()))
        && let Ok(Ok(again)) = output::read_back(document, true)
        && again.document == *document
    {
        // Places in a text that the caller never sees would mislead.
        let nowhere = |finding| Finding {
            position: None,
            ..finding
        };
        return again.findings.into_iter().map(nowhere).collect();
    }
    checker.into_findings()
}

fn walked<M: Message>(document: &M, asked: CheckScope) -> Checker {
    let version = document.version();
    let mut checker = Checker::new(M::SHAPE, asked, M::SHAPE.known(version));
    if let Some(kind) = M::SHAPE.newer(version) {
        checker.report_document(kind);
    }
    document.check(&mut checker);
    checker
}
