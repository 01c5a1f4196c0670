//! The access token and its hash.

use bankrail_values::{HyphenatedUuid, RandomnessError, SecretString, random_bytes};
use sha2::{Digest, Sha256};

/// An access token: a hyphenated GUID (Specification: "Access token response").
///
/// - The text is a secret: it is not printed, is compared in constant time, and is overwritten when
///   dropped.
/// - The text is kept unchanged, including case, because it is sent back to the issuer.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(SecretString);

impl AccessToken {
    /// Returns a new token of 122 random bits.
    ///
    /// # Errors
    /// [`RandomnessError`] if the system gives no random bytes.
    pub fn generate() -> Result<Self, RandomnessError> {
        Ok(Self(
            HyphenatedUuid::from_random_bytes(random_bytes()?)
                .to_string()
                .into(),
        ))
    }

    /// Checks the text of a token.
    ///
    /// # Errors
    /// [`AccessTokenError`] if the text is not a hyphenated GUID. The error does not contain the
    /// text.
    pub fn parse(text: &str) -> Result<Self, AccessTokenError> {
        HyphenatedUuid::parse(text).map_err(|_| AccessTokenError)?;
        Ok(Self(text.into()))
    }

    /// Reads the value of an `Authorization` header: `Bearer`, in any case, spaces, and the token
    /// (RFC 6750 section 2.1).
    ///
    /// # Errors
    /// [`AccessTokenError`] for another scheme or a text that is not a token.
    pub fn from_authorization(header: &str) -> Result<Self, AccessTokenError> {
        let (scheme, token) = header.split_once(' ').ok_or(AccessTokenError)?;
        if !scheme.eq_ignore_ascii_case("Bearer") {
            return Err(AccessTokenError);
        }
        Self::parse(token.trim_matches(' '))
    }

    /// Returns the value of the `Authorization` header that carries this token.
    #[must_use]
    pub fn to_authorization(&self) -> SecretString {
        format!("Bearer {}", self.0.expose_secret()).into()
    }

    /// Returns the text, for the wire. Never log it.
    #[must_use]
    pub fn expose_secret(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns the hash that a store keeps in place of the token.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0.expose_secret()).into())
    }
}

bankrail_values::impl_debug!(AccessToken);

bankrail_values::hash_value! {
    /// The SHA-256 of an [`AccessToken`]'s text. Tokens are random, so no salt is needed.
    pub struct TokenHash;
}

/// The error for a text that is not an access token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an access token that is a hyphenated GUID")]
#[non_exhaustive]
pub struct AccessTokenError;
