//! Keys that sign, and keys that check signatures.

use super::{PrivateKeyFor, PrivateUse, PublicKeyFor, PublicUse, Use};
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
use crate::Backend;
use crate::backend::{Sign, Verify};
use crate::key::{KeyError, PrivateKey, PublicKey, Role};
use std::sync::Arc;
use zeroize::Zeroizing;

/// A private key that makes RS256 signatures.
pub type SigningKey = PrivateKeyFor<Signing>;

/// A public key that checks RS256 signatures.
pub type VerifyingKey = PublicKeyFor<Verifying>;

/// The use of a [`SigningKey`].
#[derive(Clone)]
pub struct Signing(Arc<dyn Sign>);

/// The use of a [`VerifyingKey`].
#[derive(Clone)]
pub struct Verifying(Arc<dyn Verify>);

bankrail_values::impl_debug!(Signing);
bankrail_values::impl_debug!(Verifying);

impl Use for Signing {
    const ROLE: Role = Role::Sign;
    const KEY: &'static str = "SigningKey";
}

impl Use for Verifying {
    const ROLE: Role = Role::Verify;
    const KEY: &'static str = "VerifyingKey";
}

impl PrivateUse for Signing {
    type Public = Verifying;

    #[cfg(any(feature = "aws-lc", feature = "josekit"))]
    fn bind(key: &PrivateKey, backend: Backend) -> Result<Self, KeyError> {
        let operation = backend.library().signer(&key.to_pkcs8_der())?;
        Ok(Self(operation.into()))
    }

    fn try_with(&self, public_half: &VerifyingKey) -> Result<(), KeyError> {
        let signature = self.0.sign(b"trial run").map_err(|_| KeyError::Backend)?;
        public_half
            .verify(b"trial run", &signature)
            .map_err(|_| KeyError::Inconsistent)
    }

    fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        self.0.pkcs8_der().expect("a loaded key can be written")
    }
}

impl PublicUse for Verifying {
    #[cfg(any(feature = "aws-lc", feature = "josekit"))]
    fn bind(key: &PublicKey, backend: Backend) -> Result<Self, KeyError> {
        Ok(Self(backend.library().verifier(key)?.into()))
    }
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
    #[error(transparent)]
    Remote(#[from] crate::remote::RemoteError),
}

impl SigningKey {
    /// Returns the public half, with the same `kid`.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        self.public_half.clone()
    }

    /// Makes an RS256 signature of bytes. For tokens see [`jws`](crate::jws).
    ///
    /// # Errors
    /// [`SignError::Backend`] if the back end failed.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let signature = self.operation.0.sign(message);
        signature.map_err(|_| SignError::Backend)
    }
}

/// The signature is not valid for this key and message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the signature is not valid")]
#[non_exhaustive]
pub struct SignatureError;

impl VerifyingKey {
    /// Checks an RS256 signature of bytes. For tokens see [`jws`](crate::jws).
    ///
    /// # Errors
    /// [`SignatureError`] for every failure.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureError> {
        if signature.len() != self.public_key().modulus_len() {
            return Err(SignatureError);
        }
        self.operation
            .0
            .verify(message, signature)
            .map_err(|_| SignatureError)
    }
}
