//! Keys that encrypt content keys, and keys that decrypt them.

use super::{ContentKey, PrivateKeyFor, PrivateUse, PublicKeyFor, PublicUse, Use};
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
use crate::Backend;
use crate::backend::{Decrypt, Encrypt};
use crate::key::{KeyError, PrivateKey, PublicKey, Role};
use bankrail_values::RandomnessError;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A public key that encrypts content keys by RSA-OAEP (RFC 7518 section 4.3).
pub type EncryptionKey = PublicKeyFor<Encryption>;

/// A private key that decrypts content keys by RSA-OAEP (RFC 7518 section 4.3).
pub type DecryptionKey = PrivateKeyFor<Decryption>;

/// The use of an [`EncryptionKey`].
#[derive(Clone)]
pub struct Encryption(Arc<dyn Encrypt>);

/// The use of a [`DecryptionKey`].
#[derive(Clone)]
pub struct Decryption(Arc<dyn Decrypt>);

bankrail_values::impl_debug!(Encryption);
bankrail_values::impl_debug!(Decryption);

impl Use for Encryption {
    const ROLE: Role = Role::Encrypt;
    const KEY: &'static str = "EncryptionKey";
}

impl Use for Decryption {
    const ROLE: Role = Role::Decrypt;
    const KEY: &'static str = "DecryptionKey";
}

impl PublicUse for Encryption {
    #[cfg(any(feature = "aws-lc", feature = "josekit"))]
    fn bind(key: &PublicKey, backend: Backend) -> Result<Self, KeyError> {
        Ok(Self(backend.library().encrypter(key)?.into()))
    }
}

impl PrivateUse for Decryption {
    type Public = Encryption;

    #[cfg(any(feature = "aws-lc", feature = "josekit"))]
    fn bind(key: &PrivateKey, backend: Backend) -> Result<Self, KeyError> {
        let operation = backend.library().decrypter(&key.to_pkcs8_der())?;
        Ok(Self(operation.into()))
    }

    fn try_with(&self, public_half: &EncryptionKey) -> Result<(), KeyError> {
        let encrypted = public_half
            .encrypt(b"trial run")
            .map_err(|_| KeyError::Backend)?;
        match self.0.decrypt(&encrypted) {
            Ok(decrypted) if *decrypted == *b"trial run" => Ok(()),
            _ => Err(KeyError::Inconsistent),
        }
    }

    fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        self.0.pkcs8_der().expect("a loaded key can be written")
    }
}

/// A content key could not be encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the RSA back end could not encrypt")]
#[non_exhaustive]
pub struct EncryptError;

impl EncryptionKey {
    /// Encrypts a content key. The result is as long as the modulus and differs each time.
    ///
    /// # Errors
    /// [`EncryptError`] if `content_key` is too long for the modulus or the back end failed.
    pub fn encrypt(&self, content_key: &[u8]) -> Result<Vec<u8>, EncryptError> {
        let encrypted = self.operation.0.encrypt(content_key);
        encrypted.map_err(|_| EncryptError)
    }
}

/// The encrypted key cannot be decrypted by this key. The error does not give the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the encrypted key cannot be decrypted")]
#[non_exhaustive]
pub struct DecryptError;

impl DecryptionKey {
    /// Returns the public half, with the same `kid`.
    #[must_use]
    pub fn encryption_key(&self) -> EncryptionKey {
        self.public_half.clone()
    }

    /// Returns the length of an encrypted key for this key, in bytes.
    #[must_use]
    pub fn encrypted_len(&self) -> usize {
        self.public_half.public_key().modulus_len()
    }

    /// Decrypts an encrypted key.
    ///
    /// To open a message use [`DecryptionKey::content_key`], which hides a failure: a sender who
    /// can distinguish success from failure can decrypt messages of others (RFC 7516 section 11.5).
    ///
    /// # Errors
    /// [`DecryptError`] for every failure.
    pub fn decrypt(&self, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>, DecryptError> {
        if encrypted.len() != self.encrypted_len() {
            return Err(DecryptError);
        }
        let decrypted = self.operation.0.decrypt(encrypted);
        decrypted.map_err(|_| DecryptError)
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
        Ok(self.operation.0.content_key(encrypted, stand_in))
    }
}
