//! Checking a document.

use super::{Message, write};
use crate::check::Checker;
use crate::finding::Finding;

/// Everything that is not as it should be: what strict reading reports of the document as it is written.
///
/// - A document with nothing beyond the schema is walked.
/// - What stands beside the schema depends on its place, which only reading knows, so such a document is written and
///   read again.
/// - A model that no document can hold is walked, too.
pub fn check<M: Message>(document: &M) -> Vec<Finding> {
    let checker = walked(document, Checker::new(M::SHAPE));
    // Whatever only reading can judge is a finding or markup.
    if !checker.is_clean()
        && !document.is_plain()
        && let Ok(Ok(again)) = write::read_back(document, true)
        && again.document == *document
    {
        let nowhere = |finding| Finding { position: None, ..finding };
        return again.findings.into_iter().map(nowhere).collect();
    }
    checker.into_findings()
}

/// The first mandatory part that is missing.
pub(super) fn first_missing<M: Message>(document: &M) -> Option<Finding> {
    checked(document, Checker::new(M::SHAPE).for_missing_parts()).into_iter().next()
}

/// The first finding of the schema in the model. Parts beyond the schema are judged by reading them back.
pub(super) fn first_of_schema<M: Message>(document: &M) -> Option<Finding> {
    checked(document, Checker::new(M::SHAPE)).into_iter().find(|finding| finding.kind.is_schema())
}

fn checked<M: Message>(document: &M, checker: Checker) -> Vec<Finding> {
    walked(document, checker).into_findings()
}

fn walked<M: Message>(document: &M, mut checker: Checker) -> Checker {
    document.check(&mut checker);
    checker
}
