//! Public keys that check signatures.

use super::KeyOptions;
use super::public_constructors;
use crate::backend::Verify;
use crate::key::{Jwk, KeyError};
use crate::key::{PublicKey, Role};
use std::sync::Arc;

/// A public key that checks RS256 signatures. Cheap to clone.
#[derive(Clone)]
pub struct VerifyingKey {
    pub(super) kid: Option<Arc<str>>,
    inner: Arc<Inner>,
}

struct Inner {
    public: PublicKey,
    operation: Box<dyn Verify>,
}

/// The signature is not valid for this key and message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the signature is not valid")]
#[non_exhaustive]
pub struct SignatureError;

public_constructors!(VerifyingKey, Role::Verify);

impl VerifyingKey {
    /// Binds a checked key to verifying.
    ///
    /// # Errors
    /// [`KeyError`] if the size is not allowed or the back end refuses the key.
    #[cfg(any(feature = "aws-lc", feature = "josekit"))]
    pub fn from_public_key(public: PublicKey, options: &KeyOptions) -> Result<Self, KeyError> {
        options.sizes.check(public.bits(), Role::Verify)?;
        let operation = options.backend.library().verifier(&public)?;
        Ok(Self {
            kid: None,
            inner: Arc::new(Inner { public, operation }),
        })
    }

    /// Checks an RS256 signature of bytes. For tokens see [`jws`](crate::jws).
    ///
    /// # Errors
    /// [`SignatureError`] for every failure.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureError> {
        if signature.len() != self.inner.public.modulus_len() {
            return Err(SignatureError);
        }
        self.inner
            .operation
            .verify(message, signature)
            .map_err(|_| SignatureError)
    }
}
