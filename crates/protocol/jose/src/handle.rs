//! Key handles, each bound to one use by its type: a signing key cannot decrypt, and a public key
//! has no private operation.

mod content_key;
mod decryption;
mod encryption;
mod signing;
mod verifying;

pub use content_key::ContentKey;
pub use decryption::{DecryptError, DecryptionKey};
pub use encryption::{EncryptError, EncryptionKey};
pub use signing::{SignError, SigningKey};
pub use verifying::{SignatureError, VerifyingKey};

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
use crate::Backend;
use crate::key::KeySizes;

bankrail_values::options! {
    /// Options for making a handle of a key.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct KeyOptions {
        /// The modulus lengths allowed. Default: the specification's.
        pub(crate) sizes: KeySizes = KeySizes::default(),
        /// The back end. Default: the first of [`Backend::ALL`].
        #[cfg(any(feature = "aws-lc", feature = "josekit"))]
        pub(crate) backend: Backend = Backend::default(),
    }
}

/// A key that is bound to one use by its type: [`SigningKey`], [`VerifyingKey`], [`EncryptionKey`]
/// or [`DecryptionKey`], for code that reads keys for any of them. Each method is as that of the
/// types.
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key for one use",
    label = "not a `KeyHandle`",
    note = "choose `SigningKey`, `VerifyingKey`, `EncryptionKey` or `DecryptionKey`"
)]
pub trait KeyHandle: crate::Keyed + Clone {
    /// The use.
    const ROLE: crate::Role;

    /// Makes a handle of a JWK, with its `kid`.
    ///
    /// # Errors
    /// [`KeyError`](crate::KeyError) if the JWK does not allow the use.
    fn from_jwk(jwk: &crate::Jwk, options: &KeyOptions) -> Result<Self, crate::KeyError>;

    /// The same key under a name.
    #[must_use]
    fn with_kid(self, kid: &str) -> Self;
}

/// The methods for the name of a handle; `$kid` is the path to its field.
macro_rules! named {
    ($handle:ident, $role:expr, $($kid:ident).+) => {
        impl $handle {
            /// The same key under a name: the `kid` of headers.
            #[must_use]
            pub fn with_kid(self, kid: impl AsRef<str>) -> Self {
                self.named(Some(kid.as_ref()))
            }

            /// The name of the key, if it has one.
            #[must_use]
            pub fn kid(&self) -> Option<&str> {
                self.$($kid).+.as_deref()
            }

            fn named(mut self, kid: Option<&str>) -> Self {
                self.$($kid).+ = kid.map(std::sync::Arc::from);
                self
            }
        }

        #[cfg(any(feature = "aws-lc", feature = "josekit"))]
        impl $handle {
            /// Reads a file with one key for this use, as PEM, DER, JWK or JWK set of at most
            /// [`KeyMaterial::MAX_BYTES`](crate::KeyMaterial::MAX_BYTES), with the default
            /// [`KeyOptions`]. Keys of a set that cannot be used are left out;
            /// [`KeyMaterial::into_keys`](crate::KeyMaterial::into_keys) names them.
            ///
            /// # Errors
            /// [`KeyFileError`](crate::KeyFileError), which names the file.
            pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self, crate::KeyFileError> {
                crate::key::open(path.as_ref())
            }
        }

        impl crate::Keyed for $handle {
            fn kid(&self) -> Option<&str> {
                self.kid()
            }
        }

        #[cfg(any(feature = "aws-lc", feature = "josekit"))]
        impl crate::KeyHandle for $handle {
            const ROLE: Role = $role;

            fn from_jwk(jwk: &Jwk, options: &KeyOptions) -> Result<Self, KeyError> {
                Self::from_jwk(jwk, options)
            }

            fn with_kid(self, kid: &str) -> Self {
                self.with_kid(kid)
            }
        }
    };
}

/// Constructors of a handle on a public key: from PEM, DER, JWK, certificate, all through
/// `from_public_key`.
macro_rules! public_constructors {
    ($handle:ident, $role:expr) => {
        crate::handle::named!($handle, $role, kid);

        #[cfg(any(feature = "aws-lc", feature = "josekit"))]
        impl $handle {
            /// Reads a PEM block `PUBLIC KEY`, `RSA PUBLIC KEY` or, with the feature `x509`,
            /// `CERTIFICATE` (without checking its dates), with the default [`KeyOptions`].
            ///
            /// # Errors
            /// [`KeyError`] if the text or the key in it is not acceptable.
            pub fn from_pem(text: &str) -> Result<Self, KeyError> {
                Self::from_public_key(PublicKey::from_pem(text)?, &KeyOptions::default())
            }

            /// Reads a SubjectPublicKeyInfo in DER, with the default [`KeyOptions`].
            ///
            /// # Errors
            /// [`KeyError`] if the bytes or the key in them are not acceptable.
            pub fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
                Self::from_public_key(PublicKey::from_spki_der(der)?, &KeyOptions::default())
            }

            /// Reads an RSAPublicKey (PKCS#1) in DER, with the default [`KeyOptions`].
            ///
            /// # Errors
            /// [`KeyError`] if the bytes or the key in them are not acceptable.
            pub fn from_pkcs1_der(der: &[u8]) -> Result<Self, KeyError> {
                Self::from_public_key(PublicKey::from_pkcs1_der(der)?, &KeyOptions::default())
            }

            /// Makes a handle of the public half of a JWK, with its `kid`.
            ///
            /// # Errors
            /// [`KeyError`] if `use`, `key_ops`, `alg` or the key's size do not allow it.
            pub fn from_jwk(jwk: &Jwk, options: &KeyOptions) -> Result<Self, KeyError> {
                jwk.allows($role)?;
                Self::from_public_key(jwk.public_key().clone(), options)
                    .map(|key| key.named(jwk.kid()))
            }
        }

        impl $handle {
            /// The key without its name and use.
            #[must_use]
            pub fn public_key(&self) -> &PublicKey {
                &self.inner.public
            }

            /// The SHA-256 thumbprint (RFC 7638) in base64url.
            #[must_use]
            pub fn thumbprint(&self) -> String {
                self.public_key().thumbprint()
            }

            /// The key as a PEM block `PUBLIC KEY`.
            #[must_use]
            pub fn to_spki_pem(&self) -> String {
                self.public_key().to_spki_pem()
            }

            /// The key as a JWK with `use`, `alg` and, if it has one, `kid`.
            #[must_use]
            pub fn to_jwk(&self) -> String {
                crate::key::public_jwk(self.public_key(), $role, self.kid())
            }
        }

        /// Keys are equal if they have the same `kid` and numbers.
        impl PartialEq for $handle {
            fn eq(&self, other: &Self) -> bool {
                self.kid() == other.kid() && self.public_key() == other.public_key()
            }
        }

        impl Eq for $handle {}

        impl std::fmt::Debug for $handle {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.debug_struct(stringify!($handle))
                    .field("kid", &self.kid)
                    .field("key", self.public_key())
                    .finish()
            }
        }
    };
}

/// Constructors of a private key handle.
macro_rules! private_constructors {
    ($handle:ident, $role:expr) => {
        crate::handle::named!($handle, $role, public_half.kid);

        #[cfg(any(feature = "aws-lc", feature = "josekit"))]
        impl $handle {
            /// Reads a PEM block `PRIVATE KEY` (PKCS#8) or `RSA PRIVATE KEY` (PKCS#1), with the
            /// default [`KeyOptions`].
            ///
            /// # Errors
            /// [`KeyError`] if the text or the key in it is not acceptable, or is encrypted with a
            /// pass phrase.
            pub fn from_pem(text: &str) -> Result<Self, KeyError> {
                Self::from_private_key(&PrivateKey::from_pem(text)?, &KeyOptions::default())
            }

            /// Reads a PrivateKeyInfo (PKCS#8) in DER, with the default [`KeyOptions`].
            ///
            /// # Errors
            /// [`KeyError`] if the bytes or the key in them are not acceptable.
            pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, KeyError> {
                Self::from_private_key(&PrivateKey::from_pkcs8_der(der)?, &KeyOptions::default())
            }

            /// Reads an RSAPrivateKey (PKCS#1) in DER, with the default [`KeyOptions`].
            ///
            /// # Errors
            /// [`KeyError`] if the bytes or the key in them are not acceptable.
            pub fn from_pkcs1_der(der: &[u8]) -> Result<Self, KeyError> {
                Self::from_private_key(&PrivateKey::from_pkcs1_der(der)?, &KeyOptions::default())
            }

            /// Makes a handle of a private JWK, with its `kid`.
            ///
            /// # Errors
            /// [`KeyError`] if it is a public key, or if `use`, `key_ops`, `alg` or the key's size
            /// do not allow it.
            pub fn from_jwk(jwk: &Jwk, options: &KeyOptions) -> Result<Self, KeyError> {
                jwk.allows($role)?;
                let key = jwk.private_key().ok_or(KeyError::NotAllowed {
                    name: "d",
                    role: $role,
                })?;
                Self::from_private_key(key, options).map(|key| key.named(jwk.kid()))
            }

            /// Generates a key with the default [`KeyOptions`].
            ///
            /// # Errors
            /// [`KeyError::Backend`] if the back end could not generate one; [`KeyError::Size`] if
            /// the size is not allowed for this use.
            pub fn generate(size: RsaSize) -> Result<Self, KeyError> {
                Self::generate_with(size, &KeyOptions::default())
            }

            /// Generates a key with these options.
            ///
            /// # Errors
            /// As [`Self::generate`].
            pub fn generate_with(size: RsaSize, options: &KeyOptions) -> Result<Self, KeyError> {
                let bits = usize::try_from(size.bits()).unwrap_or(usize::MAX);
                options.sizes.check(bits, $role)?;
                let der = options.backend.library().generate(size)?;
                Self::from_private_key(&PrivateKey::from_pkcs8_der(&der)?, options)
            }
        }

        impl $handle {
            /// The SHA-256 thumbprint (RFC 7638), base64url: that of the public half.
            #[must_use]
            pub fn thumbprint(&self) -> String {
                self.public_half.thumbprint()
            }

            /// The private key as a PEM block `PRIVATE KEY`. Keep it secret.
            #[must_use]
            pub fn to_pkcs8_pem(&self) -> Zeroizing<String> {
                self.export().to_pkcs8_pem()
            }

            /// The private key as a JWK with `use`, `alg` and, if it has one, `kid`. Keep it
            /// secret.
            #[must_use]
            pub fn to_jwk(&self) -> Zeroizing<String> {
                crate::key::private_jwk(&self.export(), $role, self.kid())
            }

            fn export(&self) -> PrivateKey {
                let der = self
                    .operation
                    .pkcs8_der()
                    .expect("a loaded key can be written");
                PrivateKey::from_pkcs8_der(&der)
                    .expect("the key passed the same checks when it was loaded")
            }
        }

        impl std::fmt::Debug for $handle {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.debug_struct(stringify!($handle))
                    .field("kid", &self.kid())
                    .finish_non_exhaustive()
            }
        }
    };
}

use {named, private_constructors, public_constructors};
