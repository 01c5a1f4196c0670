//! RSA public keys, checked.

use super::{KeyError, pem, roca};
use crate::base64url;
use rsa::pkcs1::{self, EncodeRsaPublicKey as _};
use rsa::pkcs8::der::asn1::UintRef;
use rsa::pkcs8::{self, EncodePublicKey as _};
use rsa::traits::PublicKeyParts as _;
use rsa::{BigUint, RsaPrivateKey, RsaPublicKey};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// The maximum length of a modulus, in bits. It bounds the cost of checking a key, which grows with
/// the cube of this length.
const MAX_BITS: usize = 8192;

/// An RSA public key that obeys these rules.
///
/// - The modulus is odd, at most 8192 bits long, and not of the form that a faulty chip generates
///   (ROCA, CVE-2017-15361).
/// - The exponent is odd, from 3 to 2³³ − 1.
///
/// The lengths that a use allows are checked when the key becomes a handle for that use.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(RsaPublicKey);

impl PublicKey {
    /// Reads a PEM block `PUBLIC KEY` (SPKI) or `RSA PUBLIC KEY` (PKCS#1). With the feature `x509`
    /// it also reads `CERTIFICATE`, or the first one of a chain, without checking its dates. Blocks
    /// of other kinds beside it are not read.
    ///
    /// # Errors
    /// [`KeyError`] unless there is one such block, or a chain of certificates, with an acceptable
    /// key.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let fits = |label: &str| label.ends_with("PUBLIC KEY") || label == pem::CERTIFICATE;
        match pem::decode(text, fits)? {
            ("PUBLIC KEY", der) => Self::from_spki_der(&der),
            ("RSA PUBLIC KEY", der) => Self::from_pkcs1_der(&der),
            #[cfg(feature = "x509")]
            (pem::CERTIFICATE, der) => {
                super::Certificate::from_der(&der).map(|certificate| certificate.into_public_key())
            }
            (label, _) => Err(pem::unexpected(label, "a public key")),
        }
    }

    /// Reads a SubjectPublicKeyInfo (RFC 5280 section 4.1) in DER.
    ///
    /// # Errors
    /// [`KeyError`] unless it is one acceptable RSA key and nothing else.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        check_len(der)?;
        let info = pkcs8::SubjectPublicKeyInfoRef::try_from(der)
            .map_err(not_der("a SubjectPublicKeyInfo"))?;
        check_algorithm(&info.algorithm)?;
        Self::from_pkcs1_der(info.subject_public_key.as_bytes().ok_or(KeyError::NotRsa)?)
    }

    /// Reads an RSAPublicKey (PKCS#1, RFC 8017 appendix A.1.1) in DER.
    ///
    /// # Errors
    /// [`KeyError`] unless it is one acceptable key and nothing else.
    pub fn from_pkcs1_der(der: &[u8]) -> Result<Self, KeyError> {
        check_len(der)?;
        let key = pkcs1::RsaPublicKey::try_from(der).map_err(not_der("an RSAPublicKey"))?;
        Self::from_numbers(number(key.modulus), number(key.public_exponent))
    }

    pub(super) fn from_numbers(n: BigUint, e: BigUint) -> Result<Self, KeyError> {
        check_numbers(&n, &e)?;
        let key =
            RsaPublicKey::new_with_max_size(n, e, MAX_BITS).map_err(|_| KeyError::Exponent)?;
        if roca::is_marked(&key) {
            Err(KeyError::Factorable)
        } else {
            Ok(Self(key))
        }
    }

    pub(super) fn of(private: &RsaPrivateKey) -> Self {
        Self(private.to_public_key())
    }

    /// Returns the length of the modulus in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.0.n().bits()
    }

    /// Returns the length of the modulus in bytes: that of a signature and of an encrypted key.
    #[must_use]
    pub fn modulus_len(&self) -> usize {
        self.0.size()
    }

    /// Returns the key as a SubjectPublicKeyInfo in DER.
    #[must_use]
    pub fn to_spki_der(&self) -> Vec<u8> {
        self.0
            .to_public_key_der()
            .expect("two integers always encode")
            .into_vec()
    }

    /// Returns the key as a PEM block `PUBLIC KEY`.
    #[must_use]
    pub fn to_spki_pem(&self) -> String {
        std::mem::take(&mut *pem::encode("PUBLIC KEY", &self.to_spki_der()))
    }

    /// Returns the key as an RSAPublicKey (PKCS#1) in DER.
    #[must_use]
    pub fn to_pkcs1_der(&self) -> Vec<u8> {
        self.0
            .to_pkcs1_der()
            .expect("two integers always encode")
            .into_vec()
    }

    /// Returns the key as a PEM block `RSA PUBLIC KEY`.
    #[must_use]
    pub fn to_pkcs1_pem(&self) -> String {
        std::mem::take(&mut *pem::encode("RSA PUBLIC KEY", &self.to_pkcs1_der()))
    }

    /// Returns the SHA-256 thumbprint (RFC 7638) in base64url, the same for the private and the
    /// public key.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        let (n, e) = (
            base64url::encode(&self.modulus()),
            base64url::encode(&self.exponent()),
        );
        base64url::encode(&Sha256::digest(format!(
            r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#
        )))
    }

    pub(crate) fn modulus(&self) -> Vec<u8> {
        self.0.n().to_bytes_be()
    }

    pub(crate) fn exponent(&self) -> Vec<u8> {
        self.0.e().to_bytes_be()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PublicKey")
            .field("bits", &self.bits())
            .field("thumbprint", &self.thumbprint())
            .finish()
    }
}

pub(super) fn number(bytes: UintRef<'_>) -> BigUint {
    BigUint::from_bytes_be(bytes.as_bytes())
}

pub(super) fn check_len(der: &[u8]) -> Result<(), KeyError> {
    if der.len() > pem::MAX_LEN {
        return Err(KeyError::TooLong {
            found: der.len(),
            max: pem::MAX_LEN,
        });
    }
    Ok(())
}

pub(super) fn not_der<E: std::error::Error + Send + Sync + 'static>(
    expected: &'static str,
) -> impl Fn(E) -> KeyError {
    move |error| KeyError::NotDer {
        expected,
        source: Box::new(error),
    }
}

/// Accepts `rsaEncryption` with NULL parameters only (RFC 3279 section 2.3.1): a key marked for
/// RSASSA-PSS or RSAES-OAEP may be used for that scheme alone.
pub(super) fn check_algorithm(found: &pkcs8::AlgorithmIdentifierRef<'_>) -> Result<(), KeyError> {
    let null = found
        .parameters
        .is_some_and(|parameters| parameters.is_null());
    if found.oid == pkcs1::ALGORITHM_OID && null {
        Ok(())
    } else {
        Err(KeyError::NotRsa)
    }
}

pub(super) fn check_numbers(n: &BigUint, e: &BigUint) -> Result<(), KeyError> {
    if n.bits() > MAX_BITS {
        return Err(KeyError::TooLong {
            found: n.bits().div_ceil(8),
            max: MAX_BITS / 8,
        });
    }
    let odd = |number: &BigUint| {
        number
            .to_bytes_le()
            .first()
            .is_some_and(|byte| byte % 2 == 1)
    };
    if !odd(n) {
        return Err(KeyError::EvenModulus);
    }
    let bounds = BigUint::from(3u32)..=BigUint::from(RsaPublicKey::MAX_PUB_EXPONENT);
    if !odd(e) || !bounds.contains(e) || e >= n {
        return Err(KeyError::Exponent);
    }
    Ok(())
}
