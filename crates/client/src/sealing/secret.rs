//! The secret that seals cached tokens, or an archive.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt;
use zeroize::Zeroizing;

/// The secret that seals a customer's tokens in a [`TokenCache`](bankrail_client_assertion::token::TokenCache): 32
/// random bytes, the same after a restart and in all processes that share the cache.
///
/// - Keep it apart from the store, as the signing key is: who has both has the tokens.
/// - Use it for nothing else. An [`Archive`](crate::Archive) has a secret of the same kind, and one of its own.
/// - To replace it, start with another one. What was sealed with the old one is ignored and replaced, at the cost of
///   one token call.
/// - `Debug` shows none of it, and its memory is overwritten when it is dropped.
///
/// ```
/// use bankrail_client::TokenCacheSecret;
/// // As `openssl rand -base64 32` writes it.
/// let secret = TokenCacheSecret::from_base64("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")?;
/// assert_eq!(format!("{secret:?}"), "TokenCacheSecret(…)");
/// # Ok::<(), bankrail_client::TokenCacheSecretError>(())
/// ```
#[derive(Clone)]
pub struct TokenCacheSecret(Zeroizing<[u8; TokenCacheSecret::LEN]>);

impl TokenCacheSecret {
    /// The length of a secret, in bytes.
    pub const LEN: usize = 32;

    /// A secret made from 32 random bytes.
    #[must_use]
    pub fn from_bytes(secret: [u8; Self::LEN]) -> Self {
        Self(Zeroizing::new(secret))
    }

    /// Reads 32 bytes in standard base64 with padding (RFC 4648 section 4). White space around the text is ignored.
    ///
    /// # Errors
    /// [`TokenCacheSecretError`] for any other text. The error does not hold the text.
    pub fn from_base64(text: &str) -> Result<Self, TokenCacheSecretError> {
        let bytes = Zeroizing::new(STANDARD.decode(text.trim_ascii()).map_err(|_| TokenCacheSecretError)?);
        let mut secret = Zeroizing::new([0; Self::LEN]);
        if bytes.len() != Self::LEN {
            return Err(TokenCacheSecretError);
        }
        secret.copy_from_slice(&bytes);
        Ok(Self(secret))
    }

    pub(super) fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl fmt::Debug for TokenCacheSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("TokenCacheSecret(…)")
    }
}

/// Not the secret of a token cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the secret of a token cache: 32 bytes in base64")]
#[non_exhaustive]
pub struct TokenCacheSecretError;
