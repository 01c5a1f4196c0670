//! Checking a compact signature.

use super::{Compact, Limits, ParseError};
use crate::header::Header;
use crate::{KeySource, SelectError, VerifyingKey};
use zeroize::Zeroizing;

/// What a token must be like besides its signature.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Policy {
    /// How large it may be.
    pub limits: Limits,
}

impl Policy {
    /// These bounds.
    #[must_use]
    pub const fn new(limits: Limits) -> Self {
        Self { limits }
    }
}

/// Reads a token and checks its signature with the keys that its `kid` selects.
///
/// # Errors
/// [`VerifyError`] with what was wrong, for the log; answer a counterparty alike in all cases.
pub fn verify(
    token: &str,
    keys: &(impl KeySource<VerifyingKey> + ?Sized),
    policy: &Policy,
) -> Result<Verified, VerifyError> {
    Compact::parse(token, &policy.limits)?.verify(keys)
}

/// A token whose signature was checked. The payload's buffer is overwritten when it is dropped.
#[derive(Clone)]
pub struct Verified {
    header: Header,
    payload: Zeroizing<Vec<u8>>,
    signature: Vec<u8>,
    key: VerifyingKey,
}

impl Verified {
    pub(super) fn new(header: Header, payload: Zeroizing<Vec<u8>>, signature: Vec<u8>, key: VerifyingKey) -> Self {
        Self { header, payload, signature, key }
    }

    /// The protected header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The signed octets.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The signed octets, without the rest.
    #[must_use]
    pub fn into_payload(self) -> Zeroizing<Vec<u8>> {
        self.payload
    }

    /// The signature's octets.
    #[must_use]
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// The key that the signature is valid for.
    #[must_use]
    pub fn key(&self) -> &VerifyingKey {
        &self.key
    }
}

/// Prints the header and how long the payload is.
impl std::fmt::Debug for Verified {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (header, payload_len) = (&self.header, self.payload.len());
        out.debug_struct("Verified").field("header", header).field("payload_len", &payload_len).finish_non_exhaustive()
    }
}

/// A token that is not verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// Not a well-formed compact RS256 signature.
    #[error("the token is not a well-formed RS256 signature")]
    Malformed(#[from] ParseError),
    /// No key to check it with.
    #[error("there is no key for the token")]
    NoKey(#[from] SelectError),
    /// The signature is not valid for any key that was tried.
    #[error("the signature is not valid")]
    BadSignature,
}
