//! Errors of reading and building messages.

use crate::finding::MessageFinding;
use crate::message::MessageKind;
use bankrail_values::json::JsonError;
use std::borrow::Cow;

/// The reason why a message is refused: it is malformed, over a bound, or against a format rule of
/// the specification.
///
/// Pointers are JSON pointers (RFC 6901); names in them are cut after 64 characters, and their
/// control characters are escaped. The `found` fields hold a piece of the message, cut and escaped:
/// keep them out of logs that must not hold payload. [`MessageError::pointer`] is safe to log,
/// except that of [`MessageError::Json`], which has names that the sender chose.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The text is not JSON by the rules of [`bankrail_values::json`], is longer than
    /// [`crate::MessageReadOptions`] allow, or has more levels or values than any message.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A required member is absent.
    #[error("{pointer}: expected a value, found none")]
    Missing {
        /// JSON pointer to the member.
        pointer: String,
    },
    /// A value has another JSON type than the specification gives.
    #[error("{pointer}: expected {expected}, found {found}")]
    WrongType {
        /// JSON pointer to the value.
        pointer: String,
        /// The type expected.
        expected: &'static str,
        /// The type found.
        found: &'static str,
    },
    /// A value breaks a format or a bound of the specification.
    #[error("{pointer}: expected {expected}, found {found}")]
    BadValue {
        /// JSON pointer to the value.
        pointer: String,
        /// The expected form, in words.
        expected: Cow<'static, str>,
        /// The value found, cut and escaped.
        found: String,
    },
    /// `details` holds more than one of its variants.
    #[error("{pointer}: expected one variant, found {found}")]
    SeveralVariants {
        /// JSON pointer to the object.
        pointer: String,
        /// The number of variants found.
        found: usize,
    },
    /// A message that was built has findings, or one that was read under
    /// [`crate::MessageReadOptions::deny_findings`] has others than those of consistency.
    #[error("expected a message without findings, found {}", findings.len())]
    Findings {
        /// All findings of the message.
        findings: Vec<MessageFinding>,
    },
    /// The message is of a kind that the receiver does not accept.
    #[error("expected a message of kind {expected}, found {found}")]
    WrongKind {
        /// The kind that the receiver accepts.
        expected: MessageKind,
        /// The kind that the message can be read as.
        found: MessageKind,
    },
}

impl MessageError {
    /// Returns the JSON pointer to the place of the error, if it has one place.
    #[must_use]
    pub fn pointer(&self) -> Option<&str> {
        match self {
            Self::Json(error) => Some(error.pointer()).filter(|pointer| !pointer.is_empty()),
            Self::Missing { pointer }
            | Self::WrongType { pointer, .. }
            | Self::BadValue { pointer, .. }
            | Self::SeveralVariants { pointer, .. } => Some(pointer),
            _ => None,
        }
    }
}
