//! The interface between this crate and the libraries that perform RSA operations.

#[cfg(feature = "aws-lc")]
mod aws_lc;
#[cfg(all(fuzzing, any(feature = "aws-lc", feature = "josekit")))]
mod insecure;
#[cfg(feature = "josekit")]
mod josekit;

use crate::ContentKey;
use crate::key::{KeyError, PublicKey, RsaSize};
use zeroize::Zeroizing;

/// The library that performs RSA operations.
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// AWS-LC through `aws-lc-rs`. Constant time; needs only a C compiler.
    #[cfg(feature = "aws-lc")]
    AwsLc,
    /// OpenSSL through `josekit`.
    #[cfg(feature = "josekit")]
    Josekit,
    /// A library without security, for fuzzers: every signature verifies, and encrypted keys are
    /// not encrypted.
    #[cfg(fuzzing)]
    Insecure,
}

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
impl Backend {
    /// The back ends that are compiled in, in order of preference; the first is the default.
    pub const ALL: &[Self] = &[
        #[cfg(feature = "aws-lc")]
        Self::AwsLc,
        #[cfg(feature = "josekit")]
        Self::Josekit,
    ];

    pub(crate) fn library(self) -> &'static dyn Library {
        match self {
            #[cfg(feature = "aws-lc")]
            Self::AwsLc => &aws_lc::AwsLc,
            #[cfg(feature = "josekit")]
            Self::Josekit => &josekit::Josekit,
            #[cfg(fuzzing)]
            Self::Insecure => &insecure::Library,
        }
    }
}

/// The operations that an RSA library performs with keys.
pub(crate) trait Library {
    fn signer(&self, pkcs8: &[u8]) -> Result<Box<dyn Sign>, KeyError>;
    fn verifier(&self, public: &PublicKey) -> Result<Box<dyn Verify>, KeyError>;
    fn encrypter(&self, public: &PublicKey) -> Result<Box<dyn Encrypt>, KeyError>;
    fn decrypter(&self, pkcs8: &[u8]) -> Result<Box<dyn Decrypt>, KeyError>;
    /// Generates a key as PKCS#8 in DER.
    fn generate(&self, size: RsaSize) -> Result<Zeroizing<Vec<u8>>, KeyError>;
}

/// The default is the first of [`Backend::ALL`].
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
impl Default for Backend {
    fn default() -> Self {
        let [first, ..] = Self::ALL else {
            unreachable!("one of the features is on")
        };
        *first
    }
}

/// The library failed. The reason is dropped, so that nothing can depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused;

/// Signing by RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 8.2.1).
pub(crate) trait Sign: Send + Sync {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Refused>;
    fn pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, Refused>;
}

/// Verifying by RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 section 8.2.2).
pub(crate) trait Verify: Send + Sync {
    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Refused>;
}

/// Encryption by RSAES-OAEP with SHA-1, MGF1 with SHA-1 and an empty label (RFC 8017 section 7.1.1,
/// RFC 7518 section 4.3).
pub(crate) trait Encrypt: Send + Sync {
    fn encrypt(&self, plain: &[u8]) -> Result<Vec<u8>, Refused>;
}

/// Decryption by RSAES-OAEP with SHA-1, MGF1 with SHA-1 and an empty label (RFC 8017 section 7.1.2,
/// RFC 7518 section 4.3).
pub(crate) trait Decrypt: Send + Sync {
    fn decrypt(&self, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>, Refused>;

    /// Decrypts a content key, or returns `stand_in` if that fails. Success and failure take the
    /// same time.
    fn content_key(&self, encrypted: &[u8], stand_in: ContentKey) -> ContentKey;

    fn pkcs8_der(&self) -> Result<Zeroizing<Vec<u8>>, Refused>;
}
