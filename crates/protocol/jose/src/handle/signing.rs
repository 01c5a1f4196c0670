//! Private keys that sign.

use super::KeyOptions;
use super::{VerifyingKey, private_constructors};
use crate::backend::Sign;
use crate::key::{Jwk, KeyError, RsaSize};
use crate::key::{PrivateKey, Role};
use std::sync::Arc;
use zeroize::Zeroizing;

/// A private key that makes RS256 signatures.
///
/// It is parsed once and cheap to clone. `Debug` prints the `kid` only.
#[derive(Clone)]
pub struct SigningKey {
    public_half: VerifyingKey,
    operation: Arc<dyn Sign>,
}

/// A signature could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// The RSA back end failed.
    #[error("the RSA back end could not sign")]
    Backend,
    /// A signature made elsewhere is not valid for the expected key.
    #[error("the signature made elsewhere is not valid for the key")]
    NotThisKey,
    /// The remote key could not be used.
    #[error("the remote key could not be used")]
    Remote(#[from] crate::remote::RemoteError),
}

private_constructors!(SigningKey, Role::Sign);

impl SigningKey {
    /// Binds a checked key to signing. A trial run makes and checks one signature, and finds
    /// numbers that passed every check but do not work.
    ///
    /// # Errors
    /// [`KeyError`] if the size is not allowed or the back end refuses the key.
    #[cfg(any(feature = "aws-lc", feature = "josekit"))]
    pub fn from_private_key(key: &PrivateKey, options: &KeyOptions) -> Result<Self, KeyError> {
        let public = key.public_key();
        options.sizes.check(public.bits(), Role::Sign)?;
        let public_half = VerifyingKey::from_public_key(public, options)?;
        let operation = options.backend.library().signer(&key.to_pkcs8_der())?;
        let trial = operation
            .sign(b"trial run")
            .map_err(|_| KeyError::Backend)?;
        public_half
            .verify(b"trial run", &trial)
            .map_err(|_| KeyError::Inconsistent)?;
        Ok(Self {
            public_half,
            operation: operation.into(),
        })
    }

    /// The public half, with the same `kid`.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        self.public_half.clone()
    }

    /// Makes an RS256 signature of bytes. For tokens see [`jws`](crate::jws).
    ///
    /// # Errors
    /// [`SignError::Backend`] if the back end failed.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.operation.sign(message).map_err(|_| SignError::Backend)
    }
}
