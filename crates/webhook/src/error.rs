//! Why a received message is refused.

use crate::finding::MessageFinding;
use crate::message::MessageKind;
use bankrail_values::json::JsonError;
use std::borrow::Cow;

/// A message that cannot be read: malformed, over a bound, or against a format rule of the specification.
///
/// Pointers are JSON pointers (RFC 6901); names longer than 64 characters are cut in them and control characters
/// escaped. `found` fields hold a piece of the message, cut and escaped: keep them out of logs that must not hold
/// payload. [`MessageError::pointer`] is safe to log unless the sender chooses member names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// Not JSON as [`bankrail_values::json`] reads it, longer than [`crate::ReadOptions`] allow, or deeper or larger
    /// than any message.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A required member is absent.
    #[error("{pointer}: expected a value, found none")]
    Missing {
        /// The member.
        pointer: String,
    },
    /// A value of another JSON type than the specification gives.
    #[error("{pointer}: expected {expected}, found {found}")]
    WrongType {
        /// The value.
        pointer: String,
        /// The type expected.
        expected: &'static str,
        /// The type found.
        found: &'static str,
    },
    /// A value that breaks a format or a bound of the specification.
    #[error("{pointer}: expected {expected}, found {found}")]
    BadValue {
        /// The value.
        pointer: String,
        /// What was expected.
        expected: Cow<'static, str>,
        /// What was found, cut and escaped.
        found: String,
    },
    /// `details` holds more than one of its variants.
    #[error("{pointer}: expected one variant, found {found}")]
    SeveralVariants {
        /// The object.
        pointer: String,
        /// How many were found.
        found: usize,
    },
    /// [`crate::ReadOptions::deny_findings`] is set and there are findings of form.
    #[error("expected a message without findings, found {}", findings.len())]
    Findings {
        /// All findings.
        findings: Vec<MessageFinding>,
    },
    /// A message of another kind than the receiver takes.
    #[error("expected a {expected}, found a {found}")]
    WrongKind {
        /// What the receiver takes.
        expected: MessageKind,
        /// What the message looks like.
        found: MessageKind,
    },
}

/// A message that was built and has findings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a message without findings, found {}", findings.len())]
#[non_exhaustive]
pub struct FindingsError {
    /// What `validate` says.
    pub findings: Vec<MessageFinding>,
}

impl MessageError {
    /// Where in the message, when it is at one place.
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
