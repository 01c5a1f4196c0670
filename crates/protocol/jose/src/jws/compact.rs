//! Reading a compact signature, before any key is used.

use crate::base64url;
use crate::header::{HeaderRules, JoseHeader, JoseHeaderError};
use crate::{KeyLookup, VerifyingKey};
use zeroize::Zeroizing;

use super::{Verified, VerifyError, VerifyOptions};

/// A well-formed compact RS256 signature. The signature has not been checked.
pub struct Compact<'a> {
    signing_input: &'a str,
    header: JoseHeader,
    payload: Zeroizing<Vec<u8>>,
    signature: Vec<u8>,
}

impl<'a> Compact<'a> {
    /// Reads a token. The checks are, in this order: length, exactly three parts, a strict RS256
    /// header, canonical base64url of payload and signature.
    ///
    /// # Errors
    /// [`ParseError`] with what was wrong.
    pub fn parse(token: &'a str, options: &VerifyOptions) -> Result<Self, ParseError> {
        if token.len() > options.max_token_bytes {
            return Err(ParseError::TooLong {
                found: token.len(),
                max: options.max_token_bytes,
            });
        }
        let [header, payload, signature] = split(token)?;
        let signing_input = token
            .get(..header.len() + 1 + payload.len())
            .unwrap_or_default();
        let header = JoseHeader::parse(header, &HeaderRules::signature(options.max_header_bytes))?;
        let payload =
            base64url::decode(payload).map_err(|_| ParseError::NotBase64url { part: "payload" })?;
        let payload = Zeroizing::new(payload);
        let signature = base64url::decode(signature)
            .map_err(|_| ParseError::NotBase64url { part: "signature" })?;
        Ok(Self {
            signing_input,
            header,
            payload,
            signature,
        })
    }

    /// Returns the header, which is not verified.
    #[must_use]
    pub fn header(&self) -> &JoseHeader {
        &self.header
    }

    /// Returns the payload, which is not verified. Use it only to find out whose keys to look up.
    #[must_use]
    pub fn unverified_payload(&self) -> &[u8] {
        &self.payload
    }

    /// Returns the bytes of the signature.
    #[must_use]
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }

    /// Checks the signature with the keys that the header's `kid` selects.
    ///
    /// # Errors
    /// [`VerifyError::NoKey`] or [`VerifyError::BadSignature`]. Give a counterparty the same answer
    /// in both cases.
    pub fn verify(
        self,
        keys: &(impl KeyLookup<VerifyingKey> + ?Sized),
    ) -> Result<Verified, VerifyError> {
        let selected = keys.select(self.header.kid())?;
        for key in selected.as_slice() {
            if key
                .verify(self.signing_input.as_bytes(), &self.signature)
                .is_ok()
            {
                return Ok(Verified::new(
                    self.header,
                    self.payload,
                    self.signature,
                    key.clone(),
                ));
            }
        }
        Err(VerifyError::BadSignature)
    }
}

bankrail_values::impl_debug!(Compact<'_>, self; header: self.header, payload_len: self.payload.len());

fn split(token: &str) -> Result<[&str; 3], ParseError> {
    let mut parts = token.split('.');
    if let (Some(header), Some(payload), Some(signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    {
        return Ok([header, payload, signature]);
    }
    Err(ParseError::Parts {
        found: token.bytes().filter(|byte| *byte == b'.').count() + 1,
    })
}

/// A token that is not a well-formed compact RS256 signature. The error may hold text from the
/// sender: log the error, and do not send it back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The token is longer than allowed.
    #[error("expected a token of at most {max} bytes, found {found}")]
    TooLong {
        /// The length found, in bytes.
        found: usize,
        /// The maximum, in bytes.
        max: usize,
    },
    /// The token does not have three parts separated by dots.
    #[error("expected three parts separated by dots, found {found}")]
    Parts {
        /// The number of parts found.
        found: usize,
    },
    /// A part that is not canonical base64url.
    #[error("expected a {part} in canonical base64url without padding")]
    NotBase64url {
        /// The name of the part.
        part: &'static str,
    },
    /// The header is refused.
    #[error(transparent)]
    Header(#[from] JoseHeaderError),
}
