//! Checking a compact signature.

use super::{Compact, ParseError};
use crate::header::JoseHeader;
use crate::{KeyLookup, SelectError, VerifyingKey};
use zeroize::Zeroizing;

bankrail_values::options! {
    /// The bounds on the length of a token and its header.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct VerifyOptions {
        /// Sets the maximum length of a token, in bytes. Default: 64 KiB.
        pub(super) max_token_bytes: usize = 64 * 1024,
        /// Sets the maximum length of a decoded header, in bytes. Default: 4 KiB.
        pub(super) max_header_bytes: usize = 4 * 1024,
    }
}

/// Reads a token and checks its signature with the keys that its `kid` selects.
///
/// # Errors
/// [`VerifyError`] with the reason, for the log. Give a counterparty the same answer in all cases.
pub fn verify(
    token: &str,
    keys: &(impl KeyLookup<VerifyingKey> + ?Sized),
    options: &VerifyOptions,
) -> Result<Verified, VerifyError> {
    Compact::parse(token, options)?.verify(keys)
}

/// A token whose signature was verified. The payload is overwritten when it is dropped.
#[derive(Clone)]
pub struct Verified {
    header: JoseHeader,
    payload: Zeroizing<Vec<u8>>,
    signature: Vec<u8>,
    key: VerifyingKey,
}

impl Verified {
    pub(super) fn new(
        header: JoseHeader,
        payload: Zeroizing<Vec<u8>>,
        signature: Vec<u8>,
        key: VerifyingKey,
    ) -> Self {
        Self {
            header,
            payload,
            signature,
            key,
        }
    }

    /// Returns the protected header.
    #[must_use]
    pub fn header(&self) -> &JoseHeader {
        &self.header
    }

    /// Returns the payload.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Returns the bytes of the signature.
    #[must_use]
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// Returns the key that the signature is valid for.
    #[must_use]
    pub fn key(&self) -> &VerifyingKey {
        &self.key
    }

    /// Returns the payload, owned.
    #[must_use]
    pub fn into_payload(self) -> Zeroizing<Vec<u8>> {
        self.payload
    }
}

// Prints the header and the length of the payload.
bankrail_values::impl_debug!(Verified, self; header: self.header, payload_len: self.payload.len());

/// A token that could not be verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The token is not a well-formed compact RS256 signature.
    #[error(transparent)]
    Malformed(#[from] ParseError),
    /// No key was found for the token.
    #[error(transparent)]
    NoKey(#[from] SelectError),
    /// The signature is not valid for any of the keys tried.
    #[error("the signature is not valid")]
    BadSignature,
}
