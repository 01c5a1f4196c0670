//! Public keys that encrypt content keys.

use super::KeyOptions;
use super::public_constructors;
use crate::backend::Encrypt;
use crate::key::{Jwk, KeyError};
use crate::key::{PublicKey, Role};
use std::sync::Arc;

/// A public key that encrypts content keys by RSA-OAEP (RFC 7518 section 4.3). Cheap to clone.
#[derive(Clone)]
pub struct EncryptionKey {
    pub(super) kid: Option<Arc<str>>,
    inner: Arc<Inner>,
}

struct Inner {
    public: PublicKey,
    operation: Box<dyn Encrypt>,
}

/// A content key could not be encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the RSA back end could not encrypt")]
#[non_exhaustive]
pub struct EncryptError;

public_constructors!(EncryptionKey, Role::Encrypt);

impl EncryptionKey {
    /// Binds a checked key to encryption.
    ///
    /// # Errors
    /// [`KeyError`] if the size is not allowed or the back end refuses the key.
    #[cfg(any(feature = "aws-lc", feature = "josekit"))]
    pub fn from_public_key(public: PublicKey, options: &KeyOptions) -> Result<Self, KeyError> {
        options.sizes.check(public.bits(), Role::Encrypt)?;
        let operation = options.backend.library().encrypter(&public)?;
        Ok(Self {
            kid: None,
            inner: Arc::new(Inner { public, operation }),
        })
    }

    /// Encrypts a content key. The result is as long as the modulus and differs each time.
    ///
    /// # Errors
    /// [`EncryptError`] if `content_key` is too long for the modulus or the back end failed.
    pub fn encrypt(&self, content_key: &[u8]) -> Result<Vec<u8>, EncryptError> {
        self.inner
            .operation
            .encrypt(content_key)
            .map_err(|_| EncryptError)
    }
}
