//! The rules about values that must agree within a message, both those of the specification and
//! advice.

mod mandate;
mod parties;
mod payment;

pub(super) use mandate::{Expected, expected};

use crate::finding::Rule;
use crate::json::Context;

/// Reports that a value is absent.
fn absent(at: &mut Context, member: &str, rule: Rule, expected: &'static str) {
    at.within(member, |at| at.find(rule, expected, "none"));
}

/// Reports that a value is present.
fn present(at: &mut Context, member: &str, rule: Rule, expected: &'static str) {
    at.within(member, |at| at.find(rule, expected, "one"));
}
