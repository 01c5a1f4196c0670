//! The current place in a message, and the findings so far.

use crate::error::MessageError;
use crate::finding::{MessageFinding, Rule};
use bankrail_values::excerpt;
use bankrail_values::json::{JsonValue, push_pointer_segment};
use std::borrow::Cow;

/// The JSON pointer to the current value, and the findings so far.
#[derive(Debug, Default)]
pub(crate) struct Context {
    pointer: String,
    pub(crate) findings: Vec<MessageFinding>,
    /// The refusals so far, if reading continues after a refusal.
    pub(crate) refusals: Option<Vec<MessageError>>,
}

impl Context {
    pub(crate) fn pointer(&self) -> String {
        self.pointer.clone()
    }

    /// Runs `work` in a known member, whose name needs no escaping. For a nested member, `name` has
    /// the names separated by `/`.
    pub(crate) fn within<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(name);
        let result = work(self);
        self.pointer.truncate(length);
        result
    }

    /// Runs `work` in an unknown member.
    pub(crate) fn within_unknown<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        push_pointer_segment(&mut self.pointer, name);
        let result = work(self);
        self.pointer.truncate(length);
        result
    }

    pub(crate) fn within_index<T>(&mut self, index: usize, work: impl FnOnce(&mut Self) -> T) -> T {
        self.within(&index.to_string(), work)
    }

    pub(crate) fn find(
        &mut self,
        rule: Rule,
        expected: impl Into<Cow<'static, str>>,
        found: impl Into<String>,
    ) {
        let finding =
            MessageFinding::new(rule, self.pointer.clone(), expected.into(), found.into());
        self.findings.push(finding);
    }

    /// Returns the value that was read. A refusal ends the reading, or is kept if reading continues
    /// after one.
    pub(crate) fn go_on<T>(
        &mut self,
        read: Result<T, MessageError>,
    ) -> Result<Option<T>, MessageError> {
        match (read, &mut self.refusals) {
            (Ok(value), _) => Ok(Some(value)),
            (Err(error), None) => Err(error),
            (Err(error), Some(refusals)) => {
                refusals.push(error);
                Ok(None)
            }
        }
    }

    /// Takes the last refusal back, to return it for a value of which a part was refused.
    pub(crate) fn last_refusal(&mut self) -> MessageError {
        let last = self.refusals.as_mut().and_then(Vec::pop);
        last.unwrap_or_else(|| MessageError::Missing {
            pointer: self.pointer(),
        })
    }

    pub(crate) fn wrong_type(&self, expected: &'static str, value: &JsonValue<'_>) -> MessageError {
        MessageError::WrongType {
            pointer: self.pointer(),
            expected,
            found: value.kind(),
        }
    }

    pub(crate) fn bad_value(
        &self,
        expected: impl Into<Cow<'static, str>>,
        found: &str,
    ) -> MessageError {
        MessageError::BadValue {
            pointer: self.pointer(),
            expected: expected.into(),
            found: excerpt(found),
        }
    }
}
