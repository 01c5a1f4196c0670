//! The JSON object that carries a secured payload (Specification: "Secured payload envelope").

use bankrail_values::json::{self, JsonError, JsonLimits, JsonObjectWriter, JsonValue};
use std::fmt;

/// The envelope `{"secured_payload":"…"}`, the body of every webhook message.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecuredPayload {
    /// The compact JWE.
    pub secured_payload: String,
}

impl SecuredPayload {
    /// The maximum number of bytes that [`SecuredPayload::from_json`] reads: 1 MiB.
    pub const MAX_JSON_BYTES: usize = 1024 * 1024;
    /// The default maximum number of bytes of an envelope that a receiver takes: the [longest
    /// compact message](crate::OpenOptions::DEFAULT_MAX_MESSAGE_BYTES) by default, and 1 KiB around
    /// it.
    pub const DEFAULT_MAX_JSON_BYTES: usize = crate::OpenOptions::DEFAULT_MAX_MESSAGE_BYTES + 1024;

    /// Makes the envelope of a compact JWE.
    #[must_use]
    pub fn new(secured_payload: impl Into<String>) -> Self {
        Self {
            secured_payload: secured_payload.into(),
        }
    }

    /// Reads an envelope: one JSON object with the string member `secured_payload`. Other members
    /// are ignored.
    ///
    /// # Errors
    /// [`EnvelopeError`] if the text is too long, is not one JSON object, has a duplicate member,
    /// or has no such string.
    pub fn from_json(json: &[u8]) -> Result<Self, EnvelopeError> {
        let limits = JsonLimits::new()
            .max_document_bytes(Self::MAX_JSON_BYTES)
            .max_depth(16)
            .max_values(1024);
        match json::read_object(json, &limits)
            .map_err(EnvelopeError::NotObject)?
            .take("secured_payload")
        {
            Some(JsonValue::String(text)) => Ok(Self {
                secured_payload: text.into_owned(),
            }),
            Some(_) => Err(EnvelopeError::NotText),
            None => Err(EnvelopeError::Missing),
        }
    }

    /// Writes the envelope as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        JsonObjectWriter::new()
            .string("secured_payload", &self.secured_payload)
            .finish()
    }
}

/// Prints the length of the payload only.
impl fmt::Debug for SecuredPayload {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SecuredPayload")
            .field("len", &self.secured_payload.len())
            .finish()
    }
}

/// The error of a body that is not an envelope.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The body is not one JSON object within bounds.
    #[error("the body is not acceptable JSON: {0}")]
    NotObject(JsonError),
    /// The member `secured_payload` is missing.
    #[error("expected a member \"secured_payload\", found none")]
    Missing,
    /// The member is not a string.
    #[error("expected text as member \"secured_payload\"")]
    NotText,
}
