//! The rules about values of one message that must agree: those that the specification states, and
//! advice.

mod mandate;
mod parties;
mod payment;

pub(super) use mandate::{Expected, expected};

use crate::finding::Rule;
use crate::json::Context;

/// Reports a value that is absent.
fn absent(at: &mut Context, member: &str, rule: Rule, expected: &'static str) {
    at.within(member, |at| at.find(rule, expected, "none"));
}

/// Reports a value that is present.
fn present(at: &mut Context, member: &str, rule: Rule, expected: &'static str) {
    at.within(member, |at| at.find(rule, expected, "one"));
}
