//! The secret that seals what is kept in a store.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt;
use zeroize::Zeroizing;

/// The secret that seals what is kept in a store: a customer's tokens in a
/// [`TokenCache`](bankrail_client_assertion::token::TokenCache), or the records of an
/// [`Archive`](crate::Archive). It is 32 random bytes, the same after a restart and in all
/// processes that share the store.
///
/// - Keep it apart from the store, as the signing key is: who has both can read what was sealed.
/// - Use it for one thing only: a cache of tokens and an archive have a secret each.
/// - What was sealed with another one cannot be opened any more. For tokens that costs one token
///   call; for an archive it is lost.
/// - `Debug` shows none of it, and its memory is overwritten when it is dropped.
///
/// ```
/// use bankrail_client::SealingSecret;
/// // As `openssl rand -base64 32` writes it.
/// let secret = SealingSecret::from_base64("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")?;
/// assert_eq!(format!("{secret:?}"), "SealingSecret(…)");
/// # Ok::<(), bankrail_client::SealingSecretError>(())
/// ```
#[derive(Clone)]
pub struct SealingSecret(Zeroizing<[u8; SealingSecret::LEN]>);

impl SealingSecret {
    /// The length of a secret, in bytes.
    pub const LEN: usize = 32;

    /// A secret made from 32 random bytes.
    #[must_use]
    pub fn from_bytes(secret: [u8; Self::LEN]) -> Self {
        Self(Zeroizing::new(secret))
    }

    /// Reads 32 bytes in standard base64 with padding (RFC 4648 section 4). White space around the
    /// text is ignored.
    ///
    /// # Errors
    /// [`SealingSecretError`] for any other text. The error does not hold the text.
    pub fn from_base64(text: &str) -> Result<Self, SealingSecretError> {
        let bytes = Zeroizing::new(
            STANDARD
                .decode(text.trim_ascii())
                .map_err(|_| SealingSecretError)?,
        );
        let mut secret = Zeroizing::new([0; Self::LEN]);
        if bytes.len() != Self::LEN {
            return Err(SealingSecretError);
        }
        secret.copy_from_slice(&bytes);
        Ok(Self(secret))
    }

    pub(super) fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl fmt::Debug for SealingSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SealingSecret(…)")
    }
}

/// A text that is not a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a secret of 32 bytes in base64")]
#[non_exhaustive]
pub struct SealingSecretError;
