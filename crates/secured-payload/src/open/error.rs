//! Why a message is not opened, and what the sender may learn of it.

use bankrail_jose::header::JoseHeaderError;
use bankrail_jose::remote::RemoteError;
use bankrail_jose::{RandomError, SelectError};
use bankrail_values::json::JsonError;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// A message that is not opened.
///
/// `Display` and the fields are for our own log. What may go back to the sender is [`OpenError::public_message`] and
/// [`OpenError::http_status`], the same for all that a sender without keys can bring about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Not a compact JWE, or out of bounds: seen before any key was used.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A compact JWE with a header outside the profile: seen before any key was used.
    #[error(transparent)]
    UnsupportedHeader(JoseHeaderError),
    /// None of our keys is the one that the header names.
    #[error(transparent)]
    NoKey(#[from] SelectError),
    /// Decryption or verification failed. One value for every cause, with nothing inside: which step failed would let
    /// a sender decrypt messages of others step by step (RFC 7516 section 11.5), through the answer or through a log.
    #[error("the message was rejected")]
    Rejected,
    /// Decrypted, verified, and meant for somebody else: see [`Recipient`](super::Recipient).
    #[error("the message names another recipient, or none, as {name:?}")]
    OtherRecipient {
        /// The member looked at.
        name: String,
    },
    /// Decrypted, verified, and of another type than a message: see
    /// [`OpenOptions::require_typ`](super::OpenOptions::require_typ).
    #[error("the signed message has another typ than \"JWT\", or none")]
    OtherType,
    /// Decrypted and verified, but the text is not JSON as [`bankrail_values::json`] reads it. The sender's fault, and
    /// the sender is known.
    #[error("the signed message is not acceptable JSON: {0}")]
    PayloadInvalid(JsonError),
    /// Our own side could not do its part: the key service or the system's random source.
    #[error("the message could not be opened for now")]
    Unavailable {
        /// Whether trying again can help.
        retryable: bool,
        /// What went wrong.
        source: Source,
    },
}

/// Kinds of [`OpenError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenErrorKind {
    /// [`OpenError::Malformed`].
    Malformed,
    /// [`OpenError::UnsupportedHeader`].
    UnsupportedHeader,
    /// [`OpenError::NoKey`].
    NoKey,
    /// [`OpenError::Rejected`].
    Rejected,
    /// [`OpenError::OtherRecipient`].
    OtherRecipient,
    /// [`OpenError::OtherType`].
    OtherType,
    /// [`OpenError::PayloadInvalid`].
    PayloadInvalid,
    /// [`OpenError::Unavailable`].
    Unavailable,
}

impl OpenError {
    /// Which kind of error it is, for counting.
    #[must_use]
    pub fn kind(&self) -> OpenErrorKind {
        match self {
            Self::Malformed(_) => OpenErrorKind::Malformed,
            Self::UnsupportedHeader(_) => OpenErrorKind::UnsupportedHeader,
            Self::NoKey(_) => OpenErrorKind::NoKey,
            Self::Rejected => OpenErrorKind::Rejected,
            Self::OtherRecipient { .. } => OpenErrorKind::OtherRecipient,
            Self::OtherType => OpenErrorKind::OtherType,
            Self::PayloadInvalid(_) => OpenErrorKind::PayloadInvalid,
            Self::Unavailable { .. } => OpenErrorKind::Unavailable,
        }
    }

    /// Whether the same message can be opened later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable { retryable: true, .. })
    }

    /// What may be answered to the sender.
    #[must_use]
    pub fn public_message(&self) -> &'static str {
        match self {
            Self::PayloadInvalid(_) => "the payload is not valid JSON",
            Self::Unavailable { .. } => "the payload cannot be processed at present",
            _ => "the secured payload is not valid",
        }
    }

    /// The HTTP status to answer the sender with: 400 for the message's faults, 500 for our own, which asks the sender
    /// to deliver again.
    #[must_use]
    pub fn http_status(&self) -> u16 {
        if let Self::Unavailable { .. } = self { 500 } else { 400 }
    }
}

impl From<JoseHeaderError> for OpenError {
    fn from(error: JoseHeaderError) -> Self {
        match error {
            JoseHeaderError::TooLong { .. } | JoseHeaderError::NotBase64url | JoseHeaderError::NotObject(_) => {
                Malformed::Header(error).into()
            }
            _ => Self::UnsupportedHeader(error),
        }
    }
}

impl From<RandomError> for OpenError {
    fn from(error: RandomError) -> Self {
        Self::Unavailable { retryable: true, source: Box::new(error) }
    }
}

impl From<RemoteError> for OpenError {
    fn from(error: RemoteError) -> Self {
        Self::Unavailable { retryable: error.is_retryable(), source: Box::new(error) }
    }
}

/// A text that is not a compact JWE of this profile. All of it can be seen without a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// Longer than allowed.
    #[error("expected a message of at most {max} bytes, found {found}")]
    TooLong {
        /// The bytes found.
        found: usize,
        /// The most allowed.
        max: usize,
    },
    /// Three parts: a signed message where a signed and encrypted one is expected.
    #[error("expected an encrypted message (JWE), found a bare signature (JWS)")]
    BareSignature,
    /// A JSON object where the compact form is expected.
    #[error("expected a compact message, found JSON")]
    JsonForm,
    /// Another number of parts.
    #[error("expected five parts separated by dots, found {found}")]
    Parts {
        /// The parts found.
        found: usize,
    },
    /// A part that is not canonical base64url.
    #[error("expected the {part} in canonical base64url without padding")]
    NotBase64url {
        /// Which part.
        part: &'static str,
    },
    /// The header is too long, not base64url or not one JSON object without duplicates.
    #[error(transparent)]
    Header(JoseHeaderError),
    /// A part of another length than its place asks for.
    #[error("expected {expected} as {part}, found {found} bytes")]
    Length {
        /// Which part.
        part: &'static str,
        /// The length that is right.
        expected: &'static str,
        /// The bytes found.
        found: usize,
    },
}
