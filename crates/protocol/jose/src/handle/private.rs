//! Private keys, each for one use.

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
use super::KeyOptions;
use super::{PublicKeyFor, PublicUse};
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
use crate::Backend;
use crate::key::{Jwk, KeyError, PrivateKey, Role, RsaSize};
use std::fmt;
use zeroize::Zeroizing;

/// A use of private keys: [`Signing`](crate::Signing) or [`Decryption`](crate::Decryption). Only
/// this crate implements it.
pub trait PrivateUse: super::Use {
    /// The use of the public half of the key.
    type Public: PublicUse;

    /// Binds a checked key to the use.
    #[doc(hidden)]
    #[cfg(any(feature = "aws-lc", feature = "josekit"))]
    fn bind(key: &PrivateKey, backend: Backend) -> Result<Self, KeyError>;

    /// Performs the operation once and undoes it with the public half.
    #[doc(hidden)]
    fn try_with(&self, public_half: &PublicKeyFor<Self::Public>) -> Result<(), KeyError>;

    /// Writes the key as PKCS#8 in DER.
    #[doc(hidden)]
    fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>>;
}

/// A private key for one use: [`SigningKey`](crate::SigningKey) or
/// [`DecryptionKey`](crate::DecryptionKey).
///
/// The key is parsed once, and the handle is cheap to clone. `Debug` prints the `kid` only.
#[derive(Clone)]
pub struct PrivateKeyFor<U: PrivateUse> {
    pub(super) public_half: PublicKeyFor<U::Public>,
    pub(super) operation: U,
}

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
impl<U: PrivateUse> PrivateKeyFor<U> {
    /// Binds a checked key to this use. A trial run performs the operation once, to detect key
    /// numbers that passed every check but do not work.
    ///
    /// # Errors
    /// [`KeyError`] if the size is not allowed or the back end refuses the key.
    pub fn from_private_key(key: &PrivateKey, options: &KeyOptions) -> Result<Self, KeyError> {
        let public = key.public_key();
        options.sizes.check(public.bits(), U::ROLE)?;
        let public_half = PublicKeyFor::from_public_key(public, options)?;
        let operation = U::bind(key, options.backend)?;
        operation.try_with(&public_half)?;
        Ok(Self {
            public_half,
            operation,
        })
    }

    /// Reads a PEM block `PRIVATE KEY` (PKCS#8) or `RSA PRIVATE KEY` (PKCS#1), with the default
    /// [`KeyOptions`].
    ///
    /// # Errors
    /// [`KeyError`] if the text or the key in it is not acceptable, or is encrypted with a pass
    /// phrase.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        Self::from_private_key(&PrivateKey::from_pem(text)?, &KeyOptions::default())
    }

    /// Makes a handle of a private JWK, with its `kid`.
    ///
    /// # Errors
    /// [`KeyError`] if the JWK is a public key, or if its `use`, `key_ops`, `alg` or size do not
    /// allow this use.
    pub fn from_jwk(jwk: &Jwk, options: &KeyOptions) -> Result<Self, KeyError> {
        jwk.allows(U::ROLE)?;
        let key = jwk.private_key().ok_or(KeyError::NotAllowed {
            name: "d",
            role: U::ROLE,
        })?;
        Ok(Self::from_private_key(key, options)?.named(jwk.kid()))
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

    /// Generates a key with the default [`KeyOptions`].
    ///
    /// # Errors
    /// [`KeyError::Backend`] if the back end could not generate one; [`KeyError::Size`] if the size
    /// is not allowed for this use.
    pub fn generate(size: RsaSize) -> Result<Self, KeyError> {
        Self::generate_with(size, &KeyOptions::default())
    }

    /// Generates a key with these options.
    ///
    /// # Errors
    /// As [`Self::generate`].
    pub fn generate_with(size: RsaSize, options: &KeyOptions) -> Result<Self, KeyError> {
        let bits = usize::try_from(size.bits()).unwrap_or(usize::MAX);
        options.sizes.check(bits, U::ROLE)?;
        let der = options.backend.library().generate(size)?;
        Self::from_private_key(&PrivateKey::from_pkcs8_der(&der)?, options)
    }
}

impl<U: PrivateUse> PrivateKeyFor<U> {
    /// Returns the same key under a name: the `kid` of headers.
    #[must_use]
    pub fn with_kid(self, kid: impl AsRef<str>) -> Self {
        self.named(Some(kid.as_ref()))
    }

    fn named(self, kid: Option<&str>) -> Self {
        Self {
            public_half: self.public_half.named(kid),
            operation: self.operation,
        }
    }

    /// Returns the name of the key, if it has one.
    #[must_use]
    pub fn kid(&self) -> Option<&str> {
        self.public_half.kid()
    }

    /// Returns the SHA-256 thumbprint (RFC 7638) of the public half in base64url.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        self.public_half.thumbprint()
    }

    /// Writes the private key as a PEM block `PRIVATE KEY`. Keep it secret.
    #[must_use]
    pub fn to_pkcs8_pem(&self) -> Zeroizing<String> {
        self.export().to_pkcs8_pem()
    }

    /// Writes the private key as a JWK with `use`, `alg` and, if it has one, `kid`. Keep it secret.
    #[must_use]
    pub fn to_jwk(&self) -> Zeroizing<String> {
        crate::key::private_jwk(&self.export(), U::ROLE, self.kid())
    }

    fn export(&self) -> PrivateKey {
        PrivateKey::from_pkcs8_der(&self.operation.to_pkcs8_der())
            .expect("the key passed the same checks when it was loaded")
    }
}

impl<U: PrivateUse> crate::Keyed for PrivateKeyFor<U> {
    fn kid(&self) -> Option<&str> {
        self.kid()
    }
}

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
impl<U: PrivateUse> crate::KeyHandle for PrivateKeyFor<U> {
    const ROLE: Role = U::ROLE;

    fn from_jwk(jwk: &Jwk, options: &KeyOptions) -> Result<Self, KeyError> {
        Self::from_jwk(jwk, options)
    }

    fn with_kid(self, kid: &str) -> Self {
        self.with_kid(kid)
    }
}

impl<U: PrivateUse> fmt::Debug for PrivateKeyFor<U> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct(U::KEY)
            .field("kid", &self.kid())
            .finish_non_exhaustive()
    }
}
