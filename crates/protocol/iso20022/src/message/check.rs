//! Checking a document.

use super::{Message, output};
use crate::check::{CheckScope, Checker};
use crate::finding::Finding;

/// Returns the findings that strict reading of the written document would report.
///
/// - Parts of the schema are checked in the model.
/// - Parts beyond the schema can be checked only by reading, because they depend on their place. A
///   document with such parts is written and read again, and the findings of that reading are
///   returned, unless no document can hold the model.
pub fn check<M: Message>(document: &M) -> Vec<Finding> {
    findings(document, CheckScope::Everything)
}

/// Returns the first finding of the schema, in the order of [`check`].
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
    // A walk without findings and without markup leaves nothing for reading to check.
    if !checker.is_clean()
        && !document.is_plain(M::SHAPE.known(document.version()))
        && let Ok(Ok(again)) = output::read_back(document, true)
        && again.document == *document
    {
        // Removes the places, which are those of a text that the caller never sees.
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
