//! Public keys, each for one use.

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
use super::KeyOptions;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
use crate::Backend;
use crate::key::{Jwk, KeyError, PublicKey, Role};
use std::fmt;
use std::sync::Arc;

/// A use of public keys: [`Verifying`](crate::Verifying) or [`Encryption`](crate::Encryption). Only
/// this crate implements it.
pub trait PublicUse: super::Use {
    /// Binds a checked key to the use.
    #[doc(hidden)]
    #[cfg(any(feature = "aws-lc", feature = "josekit"))]
    fn bind(key: &PublicKey, backend: Backend) -> Result<Self, KeyError>;
}

/// A public key for one use: [`VerifyingKey`](crate::VerifyingKey) or
/// [`EncryptionKey`](crate::EncryptionKey). Cheap to clone.
#[derive(Clone)]
pub struct PublicKeyFor<U> {
    kid: Option<Arc<str>>,
    key: Arc<PublicKey>,
    pub(super) operation: U,
}

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
impl<U: PublicUse> PublicKeyFor<U> {
    /// Binds a checked key to this use.
    ///
    /// # Errors
    /// [`KeyError`] if the size is not allowed or the back end refuses the key.
    pub fn from_public_key(key: PublicKey, options: &KeyOptions) -> Result<Self, KeyError> {
        options.sizes.check(key.bits(), U::ROLE)?;
        Ok(Self {
            kid: None,
            operation: U::bind(&key, options.backend)?,
            key: Arc::new(key),
        })
    }

    /// Reads a PEM block `PUBLIC KEY`, `RSA PUBLIC KEY` or, with the feature `x509`,
    /// `CERTIFICATE` (without checking its dates), with the default [`KeyOptions`].
    ///
    /// # Errors
    /// [`KeyError`] if the text or the key in it is not acceptable.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        Self::from_public_key(PublicKey::from_pem(text)?, &KeyOptions::default())
    }

    /// Makes a handle of the public half of a JWK, with its `kid`.
    ///
    /// # Errors
    /// [`KeyError`] if the JWK's `use`, `key_ops`, `alg` or size do not allow this use.
    pub fn from_jwk(jwk: &Jwk, options: &KeyOptions) -> Result<Self, KeyError> {
        jwk.allows(U::ROLE)?;
        let key = Self::from_public_key(jwk.public_key().clone(), options)?;
        Ok(key.named(jwk.kid()))
    }

    /// Reads a file with one key for this use, as PEM, DER, JWK or JWK set of at most
    /// [`KeyMaterial::MAX_BYTES`](crate::KeyMaterial::MAX_BYTES), with the default [`KeyOptions`].
    /// Keys of a set that cannot be used are left out;
    /// [`KeyMaterial::into_keys`](crate::KeyMaterial::into_keys) names them.
    ///
    /// # Errors
    /// [`KeyFileError`](crate::KeyFileError), which names the file.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, crate::KeyFileError> {
        crate::key::open(path.as_ref())
    }
}

impl<U: PublicUse> PublicKeyFor<U> {
    /// Returns the same key under a name: the `kid` of headers.
    #[must_use]
    pub fn with_kid(self, kid: impl AsRef<str>) -> Self {
        self.named(Some(kid.as_ref()))
    }

    pub(super) fn named(mut self, kid: Option<&str>) -> Self {
        self.kid = kid.map(Arc::from);
        self
    }

    /// Returns the name of the key, if it has one.
    #[must_use]
    pub fn kid(&self) -> Option<&str> {
        self.kid.as_deref()
    }

    /// Returns the key without its name and use.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.key
    }

    /// Returns the SHA-256 thumbprint (RFC 7638) in base64url.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        self.key.thumbprint()
    }

    /// Writes the key as a PEM block `PUBLIC KEY`.
    #[must_use]
    pub fn to_spki_pem(&self) -> String {
        self.key.to_spki_pem()
    }

    /// Writes the key as a JWK with `use`, `alg` and, if it has one, `kid`.
    #[must_use]
    pub fn to_jwk(&self) -> String {
        crate::key::public_jwk(&self.key, U::ROLE, self.kid())
    }
}

impl<U: PublicUse> crate::Keyed for PublicKeyFor<U> {
    fn kid(&self) -> Option<&str> {
        self.kid()
    }
}

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
impl<U: PublicUse> crate::KeyHandle for PublicKeyFor<U> {
    const ROLE: Role = U::ROLE;

    fn from_jwk(jwk: &Jwk, options: &KeyOptions) -> Result<Self, KeyError> {
        Self::from_jwk(jwk, options)
    }

    fn with_kid(self, kid: &str) -> Self {
        self.with_kid(kid)
    }
}

/// Keys are equal if they have the same `kid` and numbers.
impl<U: PublicUse> PartialEq for PublicKeyFor<U> {
    fn eq(&self, other: &Self) -> bool {
        self.kid == other.kid && self.key == other.key
    }
}

impl<U: PublicUse> Eq for PublicKeyFor<U> {}

impl<U: PublicUse> fmt::Debug for PublicKeyFor<U> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct(U::KEY)
            .field("kid", &self.kid)
            .field("key", &self.key)
            .finish()
    }
}
