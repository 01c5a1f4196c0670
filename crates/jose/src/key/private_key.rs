//! RSA private keys, checked.

use super::public_key::{check_algorithm, check_len, check_numbers, not_der, number};
use super::{KeyError, PublicKey, pem, roca};
use rsa::pkcs1::EncodeRsaPrivateKey as _;
use rsa::pkcs8::{self, EncodePrivateKey as _};
use rsa::traits::PrivateKeyParts as _;
use rsa::{BigUint, RsaPrivateKey, pkcs1};
use std::fmt;
use zeroize::{Zeroize as _, Zeroizing};

/// An RSA private key that obeys these rules:
/// - the public half obeys the rules of [`PublicKey`];
/// - two different factors multiply to the modulus;
/// - the private exponent is the inverse of the public one;
/// - `dp`, `dq` and `qi` follow from these numbers.
///
/// Whether the factors are primes is found by the trial run when the key becomes a handle.
///
/// Not `Clone`. `Debug` prints the public half. The private numbers are overwritten when the key is dropped.
pub struct PrivateKey(RsaPrivateKey);

impl PrivateKey {
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

    /// Computes the factors from the exponents (NIST SP 800-56B appendix C.2), for keys without them.
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
    pub fn public_key(&self) -> PublicKey {
        PublicKey::of(&self.0)
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

    /// The key as an RSAPrivateKey (PKCS#1) in DER, for programs that read no PKCS#8.
    #[must_use]
    pub fn to_pkcs1_der(&self) -> Zeroizing<Vec<u8>> {
        self.0.to_pkcs1_der().expect("a checked key always encodes").to_bytes()
    }

    /// The key as a PEM block `RSA PRIVATE KEY`, for programs that read no PKCS#8.
    #[must_use]
    pub fn to_pkcs1_pem(&self) -> Zeroizing<String> {
        pem::encode("RSA PRIVATE KEY", &self.to_pkcs1_der())
    }

    /// `d`, `p`, `q`, `dp`, `dq`, `qi`: the private members of a JWK in the order of RFC 7518 section 6.3.2.
    pub(super) fn private_numbers(&self) -> [(&'static str, Zeroizing<Vec<u8>>); 6] {
        let bytes = |number: Option<&BigUint>| Zeroizing::new(number.map(BigUint::to_bytes_be).unwrap_or_default());
        let qi = self.0.crt_coefficient().map(Zeroizing::new);
        [
            ("d", bytes(Some(self.0.d()))),
            ("p", bytes(self.0.primes().first())),
            ("q", bytes(self.0.primes().get(1))),
            ("dp", bytes(self.0.dp())),
            ("dq", bytes(self.0.dq())),
            ("qi", bytes(qi.as_deref())),
        ]
    }
}

/// Unchecked numbers of a private key. The private ones are overwritten when dropped.
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

impl fmt::Debug for PrivateKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("PrivateKey").field(&self.public_key()).finish()
    }
}
