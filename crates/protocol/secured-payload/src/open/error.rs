//! The error of opening a message: the reason for the log, and the answer for the sender.

use bankrail_jose::SelectError;
use bankrail_jose::header::JoseHeaderError;
use bankrail_jose::remote::RemoteError;
use bankrail_values::RandomnessError;
use bankrail_values::json::JsonError;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// The reason why a message was not opened.
///
/// `Display` and the fields are for the log. Answer the sender with [`OpenError::public_message`]
/// and [`OpenError::http_status`], which are the same for every failure that a sender without keys
/// can cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The message is not a compact JWE, or out of bounds. No key was used.
    #[error(transparent)]
    Malformed(#[from] MalformedMessageError),
    /// The message is a compact JWE with a header outside the profile. No key was used.
    #[error(transparent)]
    UnsupportedHeader(JoseHeaderError),
    /// No decryption key was found for the message.
    #[error(transparent)]
    NoKey(#[from] SelectError),
    /// Decryption failed, or the signature is not valid. All causes have the same value, because a
    /// sender who learns the failed step, from the answer or a log, can decrypt messages of others
    /// step by step (RFC 7516 section 11.5).
    #[error("the message was rejected")]
    Rejected,
    /// The message was decrypted, but no verifying key has the signature's `kid`, or the signature
    /// has no `kid` and there are too many keys to try. Only the author of the encrypted message
    /// can cause this, because the tag was right, and learns nothing about messages of others.
    #[error("{reason}, found {}; the keys at hand are {known}; {}", named(kid.as_deref()), advice(reason))]
    NoSigningKey {
        /// The `kid`, cut and escaped, but not verified.
        kid: Option<String>,
        /// The `kid`s of the verifying keys, cut and escaped, separated by commas.
        known: String,
        /// The reason why there is no key.
        reason: SelectError,
    },
    /// The message was decrypted and verified, but is for another recipient
    /// ([`Recipient`](super::Recipient)).
    #[error("expected our recipient as member {name:?}, found another or none")]
    OtherRecipient {
        /// The member that names the recipient.
        name: String,
    },
    /// The message was decrypted and verified, but does not have the required `typ`
    /// ([`OpenOptions::require_typ`](super::OpenOptions::require_typ)).
    #[error("expected typ \"JWT\" in the signed header, found another or none")]
    OtherType,
    /// The message was decrypted and verified, but is not JSON as [`bankrail_values::json`] reads
    /// it. The signature proves that the fault is the sender's.
    #[error("the signed message is not acceptable JSON: {0}")]
    PayloadInvalid(JsonError),
    /// A local fault: the key service or the system's random source failed.
    #[error("the message could not be opened")]
    Unavailable {
        /// True if a retry can succeed.
        retryable: bool,
        /// The cause.
        source: Source,
    },
}

/// The kind of an [`OpenError`]: its variant without the details.
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
    /// [`OpenError::NoSigningKey`].
    NoSigningKey,
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
    /// Returns the kind of the error, for counting.
    #[must_use]
    pub fn kind(&self) -> OpenErrorKind {
        match self {
            Self::Malformed(_) => OpenErrorKind::Malformed,
            Self::UnsupportedHeader(_) => OpenErrorKind::UnsupportedHeader,
            Self::NoKey(_) => OpenErrorKind::NoKey,
            Self::Rejected => OpenErrorKind::Rejected,
            Self::NoSigningKey { .. } => OpenErrorKind::NoSigningKey,
            Self::OtherRecipient { .. } => OpenErrorKind::OtherRecipient,
            Self::OtherType => OpenErrorKind::OtherType,
            Self::PayloadInvalid(_) => OpenErrorKind::PayloadInvalid,
            Self::Unavailable { .. } => OpenErrorKind::Unavailable,
        }
    }

    /// Returns true if the same message can be opened by a retry.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Unavailable {
                retryable: true,
                ..
            }
        )
    }

    /// Returns the text for the answer to the sender.
    #[must_use]
    pub fn public_message(&self) -> &'static str {
        match self {
            Self::PayloadInvalid(_) => "the payload is not valid JSON",
            Self::Unavailable { .. } => "the payload cannot be processed at present",
            _ => "the secured payload is not valid",
        }
    }

    /// Returns the HTTP status of the answer to the sender: 400 for a fault of the message, 500 for
    /// a local fault, after which the sender delivers again.
    #[must_use]
    pub fn http_status(&self) -> u16 {
        if let Self::Unavailable { .. } = self {
            500
        } else {
            400
        }
    }
}

fn advice(reason: &SelectError) -> &'static str {
    match reason {
        SelectError::UnknownKid { .. } => {
            "if one of them is the sender's, name it (in a folder, its file) as the sender does"
        }
        _ => "remove those that the sender no longer uses",
    }
}

fn named(kid: Option<&str>) -> String {
    kid.map_or_else(|| "none".to_owned(), |kid| format!("the kid {kid}"))
}

impl From<JoseHeaderError> for OpenError {
    fn from(error: JoseHeaderError) -> Self {
        match error {
            JoseHeaderError::TooLong { .. }
            | JoseHeaderError::NotBase64url
            | JoseHeaderError::NotObject(_) => MalformedMessageError::Header(error).into(),
            _ => Self::UnsupportedHeader(error),
        }
    }
}

impl From<RandomnessError> for OpenError {
    fn from(error: RandomnessError) -> Self {
        Self::Unavailable {
            retryable: true,
            source: Box::new(error),
        }
    }
}

impl From<RemoteError> for OpenError {
    fn from(error: RemoteError) -> Self {
        Self::Unavailable {
            retryable: error.is_retryable(),
            source: Box::new(error),
        }
    }
}

/// The reason why a text is not a compact JWE of this profile, found without a key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MalformedMessageError {
    /// The text is longer than allowed.
    #[error("expected a message of at most {max} bytes, found {found}")]
    TooLong {
        /// The number of bytes found.
        found: usize,
        /// The maximum number of bytes.
        max: usize,
    },
    /// The text has three parts, as of a message that is signed and not encrypted.
    #[error("expected an encrypted message (JWE), found a bare signature (JWS)")]
    BareSignature,
    /// The text is a JSON object, and not the compact form.
    #[error("expected a compact message, found JSON")]
    JsonForm,
    /// The text has a number of parts other than five.
    #[error("expected five parts separated by dots, found {found}")]
    Parts {
        /// The number of parts found.
        found: usize,
    },
    /// A part is not canonical base64url.
    #[error("expected the {part} in canonical base64url without padding")]
    NotBase64url {
        /// The part.
        part: &'static str,
    },
    /// The header is too long, not base64url or not one JSON object without duplicate members.
    #[error(transparent)]
    Header(JoseHeaderError),
    /// A part has a length other than expected.
    #[error("expected {expected} as {part}, found {found} bytes")]
    Length {
        /// The part.
        part: &'static str,
        /// The expected length.
        expected: &'static str,
        /// The number of bytes found.
        found: usize,
    },
}
