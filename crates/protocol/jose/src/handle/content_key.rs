//! The key that encrypts one message.

use crate::algorithm::CONTENT_KEY_LEN;
use bankrail_values::{RandomnessError, fill_random};
use zeroize::Zeroizing;

/// The content encryption key of one message: 64 bytes, of which the first half is the MAC key and
/// the second the encryption key (RFC 7518 section 5.2.5). Overwritten when dropped.
#[derive(Clone)]
pub struct ContentKey(Zeroizing<[u8; ContentKey::LEN]>);

impl ContentKey {
    /// The length of a content key, in bytes.
    pub const LEN: usize = CONTENT_KEY_LEN;

    /// Returns a new random content key.
    ///
    /// # Errors
    /// [`RandomnessError`] if the system gives no random bytes.
    pub fn random() -> Result<Self, RandomnessError> {
        let mut bytes = Zeroizing::new([0; Self::LEN]);
        fill_random(&mut *bytes)?;
        Ok(Self(bytes))
    }

    /// Returns `decrypted` as a content key if it is 64 bytes long, otherwise `self`.
    ///
    /// Use it for the answer of a remote key: call it on [`ContentKey::random`], with an empty
    /// slice if the remote key could not decrypt, so that a failure looks like a wrong content key.
    #[must_use]
    pub fn or(mut self, decrypted: &[u8]) -> Self {
        if decrypted.len() == Self::LEN {
            self.0.copy_from_slice(decrypted);
        }
        self
    }

    #[cfg(feature = "josekit")]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8; Self::LEN] {
        &mut self.0
    }

    /// Returns the MAC key and the encryption key.
    #[must_use]
    pub fn expose_halves(&self) -> (&[u8], &[u8]) {
        self.0.split_at(Self::LEN / 2)
    }

    /// Returns the 64 bytes of the key.
    #[must_use]
    pub fn expose_secret(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl From<[u8; ContentKey::LEN]> for ContentKey {
    fn from(bytes: [u8; Self::LEN]) -> Self {
        Self(Zeroizing::new(bytes))
    }
}

bankrail_values::impl_debug!(ContentKey);
