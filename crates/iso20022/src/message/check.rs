//! Checking a document.

use super::Message;
use crate::check::Checker;
use crate::finding::Finding;

/// All findings of a document.
pub fn check<M: Message>(document: &M) -> Vec<Finding> {
    checked(document, Checker::new(M::SHAPE))
}

/// The first mandatory part that is missing.
pub(super) fn first_missing<M: Message>(document: &M) -> Option<Finding> {
    checked(document, Checker::new(M::SHAPE).for_missing_parts()).into_iter().next()
}

/// The first finding of the schema.
pub(super) fn first_of_schema<M: Message>(document: &M) -> Option<Finding> {
    check(document).into_iter().find(|finding| finding.kind.is_schema())
}

fn checked<M: Message>(document: &M, mut checker: Checker) -> Vec<Finding> {
    document.check(&mut checker);
    checker.into_findings()
}
