//! Private keys that decrypt content keys.

use super::KeyOptions;
use super::{ContentKey, EncryptionKey, private_constructors};
use crate::backend::Decrypt;
use crate::key::{Jwk, KeyError, RsaSize};
use crate::key::{PrivateKey, Role};
use bankrail_values::RandomnessError;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A private key that decrypts content keys by RSA-OAEP (RFC 7518 section 4.3).
///
/// It is parsed once and cheap to clone. `Debug` prints the `kid` only.
#[derive(Clone)]
pub struct DecryptionKey {
    public_half: EncryptionKey,
    operation: Arc<dyn Decrypt>,
}

/// The encrypted key cannot be decrypted by this key. The error does not give the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the encrypted key cannot be decrypted")]
#[non_exhaustive]
pub struct DecryptError;

private_constructors!(DecryptionKey, Role::Decrypt);

impl DecryptionKey {
    /// Binds a checked key to decryption. A trial run encrypts and decrypts once, and finds numbers
    /// that passed every check but do not work.
    ///
    /// # Errors
    /// [`KeyError`] if the size is not allowed or the back end refuses the key.
    #[cfg(any(feature = "aws-lc", feature = "josekit"))]
    pub fn from_private_key(key: &PrivateKey, options: &KeyOptions) -> Result<Self, KeyError> {
        let public = key.public_key();
        options.sizes.check(public.bits(), Role::Decrypt)?;
        let public_half = EncryptionKey::from_public_key(public, options)?;
        let operation = options.backend.library().decrypter(&key.to_pkcs8_der())?;
        let trial = public_half
            .encrypt(b"trial run")
            .map_err(|_| KeyError::Backend)?;
        let back = operation
            .decrypt(&trial)
            .map_err(|_| KeyError::Inconsistent)?;
        if *back != *b"trial run" {
            return Err(KeyError::Inconsistent);
        }
        Ok(Self {
            public_half,
            operation: operation.into(),
        })
    }

    /// The public half, with the same `kid`.
    #[must_use]
    pub fn encryption_key(&self) -> EncryptionKey {
        self.public_half.clone()
    }

    /// The length of an encrypted key for this key, in bytes.
    #[must_use]
    pub fn encrypted_len(&self) -> usize {
        self.public_half.public_key().modulus_len()
    }

    /// Decrypts an encrypted key and reports whether that succeeded.
    ///
    /// To open a message use [`DecryptionKey::content_key`], which hides a failure: a sender who
    /// can tell success from failure can decrypt messages of others (RFC 7516 section 11.5).
    ///
    /// # Errors
    /// [`DecryptError`] for every failure.
    pub fn decrypt(&self, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>, DecryptError> {
        if encrypted.len() != self.encrypted_len() {
            return Err(DecryptError);
        }
        self.operation.decrypt(encrypted).map_err(|_| DecryptError)
    }

    /// Decrypts an encrypted content key. If that fails, or the result is not 64 bytes long, a
    /// random content key is returned in its place.
    ///
    /// # Errors
    /// [`RandomnessError`] if the system gives no random bytes. They are requested before the key
    /// is used.
    pub fn content_key(&self, encrypted: &[u8]) -> Result<ContentKey, RandomnessError> {
        let stand_in = ContentKey::random()?;
        if encrypted.len() != self.encrypted_len() {
            return Ok(stand_in);
        }
        Ok(self.operation.content_key(encrypted, stand_in))
    }
}
