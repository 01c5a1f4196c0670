//! Where in a message we are, and what was noticed there.

use super::raw;
use crate::error::MessageError;
use crate::finding::{Finding, Rule};
use bankrail_values::excerpt;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A JSON pointer under way, and the findings so far.
#[derive(Debug, Default)]
pub(crate) struct Context {
    pointer: String,
    pub(crate) findings: Vec<Finding>,
}

impl Context {
    pub(crate) fn pointer(&self) -> String {
        self.pointer.clone()
    }

    pub(crate) fn pointer_to(&self, name: &str) -> String {
        let mut pointer = self.pointer.clone();
        push_segment(&mut pointer, name);
        pointer
    }

    /// In a member that a rule names, whose name needs no care.
    pub(crate) fn within<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(name);
        let result = work(self);
        self.pointer.truncate(length);
        result
    }

    /// In a member that no rule names.
    pub(crate) fn within_unknown<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        push_segment(&mut self.pointer, name);
        let result = work(self);
        self.pointer.truncate(length);
        result
    }

    pub(crate) fn within_index<T>(&mut self, index: usize, work: impl FnOnce(&mut Self) -> T) -> T {
        self.within(&index.to_string(), work)
    }

    pub(crate) fn find(&mut self, rule: Rule, expected: impl Into<Cow<'static, str>>, found: impl Into<String>) {
        let finding = Finding::new(rule, self.pointer.clone(), expected.into(), found.into());
        self.findings.push(finding);
    }

    pub(crate) fn wrong_type(&self, expected: &'static str, value: &RawValue) -> MessageError {
        MessageError::WrongType { pointer: self.pointer(), expected, found: raw::kind(value) }
    }

    pub(crate) fn bad_value(&self, expected: impl Into<Cow<'static, str>>, found: &str) -> MessageError {
        MessageError::BadValue { pointer: self.pointer(), expected: expected.into(), found: excerpt(found) }
    }
}

/// Longer names than any rule has are cut, so that errors stay small.
fn push_segment(pointer: &mut String, name: &str) {
    const KEPT: usize = 64;
    pointer.push('/');
    for (index, character) in name.chars().enumerate() {
        match character {
            _ if index == KEPT => {
                pointer.push('…');
                break;
            }
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            control if control.is_control() => pointer.extend(control.escape_default()),
            other => pointer.push(other),
        }
    }
}
