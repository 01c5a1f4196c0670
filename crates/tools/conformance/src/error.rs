//! The reason why a judge came to no judgement.

use bankrail_http::tls::TlsError;
use std::error::Error;

/// The reason why there is no judgement. A failed row is not an error, but part of the judgement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// An address cannot be called. The error does not quote it, because it may contain a password
    /// (Specification: "Authentication", rule 5).
    #[error("expected an address that begins with https:// and names no user, found another")]
    Address,
    /// No receiver has an address.
    #[error("expected the address of a receiver, found none")]
    NoAddress,
    /// The customer has no account.
    #[error("expected an account, found none")]
    NoAccount,
    /// The API key cannot be sent in a header.
    #[error("the API key: expected the value of a header, found other characters")]
    ApiKey,
    /// The key for the row about keys of 4096 bits has another size.
    #[error("expected a key of 4096 bits, found {bits}")]
    KeySize {
        /// The size of the key, in bits.
        bits: usize,
    },
    /// The certificates to trust are unusable.
    #[error("the certificates to trust are unusable")]
    Tls(#[from] TlsError),
    /// The HTTP client cannot be made.
    #[error("the HTTP client could not be made")]
    Client(#[source] Box<dyn Error + Send + Sync>),
    /// A request could not be signed, encrypted or compressed.
    #[error("a request could not be made")]
    Request(#[source] Box<dyn Error + Send + Sync>),
    /// Nobody answers at an address.
    #[error("{address}: no answer: {reason}")]
    Unreachable {
        /// The address that was called.
        address: String,
        /// The reason why there was no answer.
        reason: String,
    },
    /// No access token was requested, without which there is little to judge.
    #[error("no access token: {reason}")]
    NoToken {
        /// The reason why no token was requested.
        reason: String,
    },
    /// The list of handled messages cannot be read.
    #[error("what the receivers have handled cannot be read: {reason}")]
    Handled {
        /// The reason why the list cannot be read.
        reason: String,
    },
    /// No row is selected.
    #[error("expected a row that this judge has, found none")]
    NoRows,
}

/// Makes the error for a request or message that cannot be signed, encrypted or compressed.
pub(crate) fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> JudgeError {
    JudgeError::Request(error.into())
}
