//! RSA numbers, checked.

use super::{KeyError, pem, roca};
use crate::base64url;
use rsa::pkcs1::{self, EncodeRsaPublicKey as _};
use rsa::pkcs8::der::asn1::UintRef;
use rsa::pkcs8::{self, EncodePrivateKey as _, EncodePublicKey as _};
use rsa::traits::{PrivateKeyParts as _, PublicKeyParts as _};
use rsa::{BigUint, RsaPrivateKey, RsaPublicKey};
use sha2::{Digest as _, Sha256};
use std::fmt;
use zeroize::{Zeroize as _, Zeroizing};

/// The longest modulus that is looked at, in bits: what a longer one costs to check grows with its cube.
const MAX_BITS: usize = 8192;

/// An RSA public key that obeys these rules:
/// - the modulus is odd, no longer than 8192 bits, and not one of those that a faulty chip made (ROCA, CVE-2017-15361);
/// - the exponent is odd, from 3 to 2³³ − 1.
///
/// Which lengths a use allows is checked when it becomes a handle for that use.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicMaterial(RsaPublicKey);

impl PublicMaterial {
    /// Reads a PEM block `PUBLIC KEY` (SPKI) or `RSA PUBLIC KEY` (PKCS#1); with the feature `x509` also `CERTIFICATE`,
    /// whose dates are then not looked at (see [`Certificate`](super::Certificate)).
    ///
    /// # Errors
    /// [`KeyError`] unless it is one such block with an acceptable key.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        match pem::decode(text)? {
            ("PUBLIC KEY", der) => Self::from_spki_der(&der),
            ("RSA PUBLIC KEY", der) => Self::from_pkcs1_der(&der),
            #[cfg(feature = "x509")]
            ("CERTIFICATE", der) => super::Certificate::from_der(&der).map(|certificate| certificate.into_material()),
            (label, _) => Err(pem::unexpected(label, "a public key")),
        }
    }

    /// Reads a SubjectPublicKeyInfo (RFC 5280 section 4.1) in DER.
    ///
    /// # Errors
    /// [`KeyError`] unless it is one acceptable RSA key and nothing else.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        check_len(der)?;
        let info = pkcs8::SubjectPublicKeyInfoRef::try_from(der).map_err(not_der("a SubjectPublicKeyInfo"))?;
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
        let key = RsaPublicKey::new_with_max_size(n, e, MAX_BITS).map_err(|_| KeyError::Exponent)?;
        if roca::is_marked(&key) { Err(KeyError::Factorable) } else { Ok(Self(key)) }
    }

    /// The length of the modulus in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.0.n().bits()
    }

    /// The key as a SubjectPublicKeyInfo in DER.
    #[must_use]
    pub fn to_spki_der(&self) -> Vec<u8> {
        self.0.to_public_key_der().expect("two integers always encode").into_vec()
    }

    /// The key as a PEM block `PUBLIC KEY`.
    #[must_use]
    pub fn to_spki_pem(&self) -> String {
        std::mem::take(&mut *pem::encode("PUBLIC KEY", &self.to_spki_der()))
    }

    /// The key as an RSAPublicKey (PKCS#1) in DER.
    #[must_use]
    pub fn to_pkcs1_der(&self) -> Vec<u8> {
        self.0.to_pkcs1_der().expect("two integers always encode").into_vec()
    }

    /// The SHA-256 thumbprint (RFC 7638), base64url: the same for the private and the public key.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        let (n, e) = (base64url::encode(&self.modulus()), base64url::encode(&self.exponent()));
        base64url::encode(&Sha256::digest(format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#)))
    }

    pub(crate) fn modulus(&self) -> Vec<u8> {
        self.0.n().to_bytes_be()
    }

    pub(crate) fn exponent(&self) -> Vec<u8> {
        self.0.e().to_bytes_be()
    }
}

impl fmt::Debug for PublicMaterial {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PublicMaterial").field("bits", &self.bits()).field("thumbprint", &self.thumbprint()).finish()
    }
}

/// An RSA private key whose public half obeys the rules of [`PublicMaterial`] and whose numbers fit each other: two
/// different factors that multiply to the modulus, an exponent that inverts the public one, and the three numbers of
/// the Chinese remainder form as they follow from these. That the factors are primes shows in the trial run
/// when the key becomes a handle.
///
/// Not `Clone`; `Debug` prints the public half; the numbers are overwritten when it is dropped.
pub struct PrivateMaterial(RsaPrivateKey);

impl PrivateMaterial {
    /// Reads a PEM block `PRIVATE KEY` (PKCS#8) or `RSA PRIVATE KEY` (PKCS#1).
    ///
    /// # Errors
    /// [`KeyError`] unless it is one such block with an acceptable key; [`KeyError::Encrypted`] if it needs a pass
    /// phrase.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        match pem::decode(text)? {
            ("PRIVATE KEY", der) => Self::from_pkcs8_der(&der),
            ("RSA PRIVATE KEY", der) => Self::from_pkcs1_der(&der),
            (label, _) => Err(pem::unexpected(label, "a private key")),
        }
    }

    /// Reads a PrivateKeyInfo (PKCS#8, RFC 5208 section 5) in DER.
    ///
    /// # Errors
    /// [`KeyError`] unless it is one acceptable RSA key and nothing else.
    pub fn from_pkcs8_der(der: &[u8]) -> Result<Self, KeyError> {
        check_len(der)?;
        let info = pkcs8::PrivateKeyInfo::try_from(der).map_err(not_der("a PrivateKeyInfo"))?;
        check_algorithm(&info.algorithm)?;
        Self::from_pkcs1_der(info.private_key)
    }

    /// Reads an RSAPrivateKey (PKCS#1, RFC 8017 appendix A.1.2) in DER.
    ///
    /// # Errors
    /// [`KeyError`] unless it is one acceptable key and nothing else.
    pub fn from_pkcs1_der(der: &[u8]) -> Result<Self, KeyError> {
        check_len(der)?;
        let key = pkcs1::RsaPrivateKey::try_from(der).map_err(not_der("an RSAPrivateKey"))?;
        if key.version() != pkcs1::Version::TwoPrime {
            return Err(KeyError::MultiPrime);
        }
        Self::from_numbers(PrivateNumbers {
            n: number(key.modulus),
            e: number(key.public_exponent),
            d: number(key.private_exponent),
            p: number(key.prime1),
            q: number(key.prime2),
            dp: number(key.exponent1),
            dq: number(key.exponent2),
            qi: number(key.coefficient),
        })
    }

    pub(super) fn from_numbers(mut from: PrivateNumbers) -> Result<Self, KeyError> {
        check_numbers(&from.n, &from.e)?;
        // Bounded before anything is multiplied or inverted.
        if from.d >= from.n || from.p >= from.n || from.q >= from.n || from.p == from.q {
            return Err(KeyError::Inconsistent);
        }
        let [n, e, d, p, q] = [&mut from.n, &mut from.e, &mut from.d, &mut from.p, &mut from.q].map(std::mem::take);
        let key = RsaPrivateKey::from_components(n, e, d, vec![p, q]).map_err(|_| KeyError::Inconsistent)?;
        let qi = key.crt_coefficient().map(Zeroizing::new);
        let fits = key.dp() == Some(&from.dp) && key.dq() == Some(&from.dq) && qi.as_deref() == Some(&from.qi);
        if fits { Self::from_checked(key) } else { Err(KeyError::Inconsistent) }
    }

    /// Finds the factors by the exponent (NIST SP 800-56B appendix C.2), for keys that come without them.
    pub(super) fn from_exponent(n: BigUint, e: BigUint, d: BigUint) -> Result<Self, KeyError> {
        let mut d = Zeroizing::new(d);
        check_numbers(&n, &e)?;
        if *d >= n || *d == BigUint::default() {
            return Err(KeyError::Inconsistent);
        }
        let key = RsaPrivateKey::from_components(n, e, std::mem::take(&mut *d), Vec::new());
        Self::from_checked(key.map_err(|_| KeyError::Inconsistent)?)
    }

    fn from_checked(key: RsaPrivateKey) -> Result<Self, KeyError> {
        if roca::is_marked(key.as_ref()) { Err(KeyError::Factorable) } else { Ok(Self(key)) }
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> PublicMaterial {
        PublicMaterial(self.0.to_public_key())
    }

    /// The key as a PrivateKeyInfo (PKCS#8) in DER.
    #[must_use]
    pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        self.0.to_pkcs8_der().expect("a checked key always encodes").to_bytes()
    }

    /// The key as a PEM block `PRIVATE KEY`.
    #[must_use]
    pub fn to_pkcs8_pem(&self) -> Zeroizing<String> {
        pem::encode("PRIVATE KEY", &self.to_pkcs8_der())
    }

    /// d, p, q, dp, dq, qi: the private members of a JWK in the order of RFC 7518 section 6.3.2.
    pub(super) fn private_numbers(&self) -> [(&'static str, Zeroizing<Vec<u8>>); 6] {
        let octets = |number: Option<&BigUint>| Zeroizing::new(number.map(BigUint::to_bytes_be).unwrap_or_default());
        let qi = self.0.crt_coefficient().map(Zeroizing::new);
        [
            ("d", octets(Some(self.0.d()))),
            ("p", octets(self.0.primes().first())),
            ("q", octets(self.0.primes().get(1))),
            ("dp", octets(self.0.dp())),
            ("dq", octets(self.0.dq())),
            ("qi", octets(qi.as_deref())),
        ]
    }
}

/// Unchecked numbers, overwritten when dropped.
pub(super) struct PrivateNumbers {
    pub(super) n: BigUint,
    pub(super) e: BigUint,
    pub(super) d: BigUint,
    pub(super) p: BigUint,
    pub(super) q: BigUint,
    pub(super) dp: BigUint,
    pub(super) dq: BigUint,
    pub(super) qi: BigUint,
}

impl Drop for PrivateNumbers {
    fn drop(&mut self) {
        for number in [&mut self.d, &mut self.p, &mut self.q, &mut self.dp, &mut self.dq, &mut self.qi] {
            number.zeroize();
        }
    }
}

impl fmt::Debug for PrivateMaterial {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("PrivateMaterial").field(&self.public()).finish()
    }
}

fn number(octets: UintRef<'_>) -> BigUint {
    BigUint::from_bytes_be(octets.as_bytes())
}

fn check_len(der: &[u8]) -> Result<(), KeyError> {
    if der.len() > pem::MAX_LEN {
        return Err(KeyError::TooLong { found: der.len(), max: pem::MAX_LEN });
    }
    Ok(())
}

fn not_der<E: std::error::Error + Send + Sync + 'static>(expected: &'static str) -> impl FnOnce(E) -> KeyError {
    move |error| KeyError::NotDer { expected, source: Box::new(error) }
}

/// `rsaEncryption` with NULL parameters and nothing else (RFC 3279 section 2.3.1): a key marked for RSASSA-PSS or
/// RSAES-OAEP may be used for that alone.
fn check_algorithm(found: &pkcs8::AlgorithmIdentifierRef<'_>) -> Result<(), KeyError> {
    let null = found.parameters.is_some_and(|parameters| parameters.is_null());
    if found.oid == pkcs1::ALGORITHM_OID && null { Ok(()) } else { Err(KeyError::NotRsa) }
}

fn check_numbers(n: &BigUint, e: &BigUint) -> Result<(), KeyError> {
    if n.bits() > MAX_BITS {
        return Err(KeyError::TooLong { found: n.bits().div_ceil(8), max: MAX_BITS / 8 });
    }
    let odd = |number: &BigUint| number.to_bytes_le().first().is_some_and(|octet| octet % 2 == 1);
    if !odd(n) {
        return Err(KeyError::EvenModulus);
    }
    let bounds = BigUint::from(3u32)..=BigUint::from(RsaPublicKey::MAX_PUB_EXPONENT);
    if !odd(e) || !bounds.contains(e) || e >= n {
        return Err(KeyError::Exponent);
    }
    Ok(())
}
