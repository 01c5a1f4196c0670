//! RSA private keys, checked.

use super::public_key::{check_algorithm, check_len, check_numbers, not_der, number};
use super::{KeyError, PublicKey, pem, roca};
use rsa::pkcs1::EncodeRsaPrivateKey as _;
use rsa::pkcs8::{self, EncodePrivateKey as _};
use rsa::traits::PrivateKeyParts as _;
use rsa::{BigUint, RsaPrivateKey, pkcs1};
use std::fmt;
use zeroize::Zeroizing;

/// An RSA private key that obeys these rules.
///
/// - The public half obeys the rules of [`PublicKey`].
/// - Two different factors multiply to the modulus.
/// - The private exponent is the inverse of the public one.
/// - `dp`, `dq` and `qi` follow from these numbers.
///
/// Factors that are not primes are found by a trial run when the key becomes a handle.
///
/// The type is not `Clone`. `Debug` prints the public half. The private numbers are overwritten
/// when the key is dropped.
pub struct PrivateKey(RsaPrivateKey);

impl PrivateKey {
    /// Reads a PEM block `PRIVATE KEY` (PKCS#8) or `RSA PRIVATE KEY` (PKCS#1). Blocks
    /// of other kinds beside it, such as its certificate, are not read.
    ///
    /// # Errors
    /// [`KeyError`] unless there is one such block with an acceptable key; [`KeyError::Encrypted`]
    /// if it needs a pass phrase.
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        match pem::decode(text, |label| label.ends_with("PRIVATE KEY"))? {
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
        let numbers = [
            key.modulus,
            key.public_exponent,
            key.private_exponent,
            key.prime1,
            key.prime2,
        ];
        let [n, e, d, p, q] = numbers.map(number);
        let [dp, dq, qi] = [key.exponent1, key.exponent2, key.coefficient].map(number);
        Self::from_numbers(Zeroizing::new([n, e, d, p, q, dp, dq, qi]))
    }

    pub(super) fn from_numbers(mut from: Numbers) -> Result<Self, KeyError> {
        let [n, e, d, p, q, dp, dq, qi] = &mut *from;
        check_numbers(n, e)?;
        // Bounds the numbers before any of them is multiplied or inverted.
        if d >= n || p >= n || q >= n || p == q {
            return Err(KeyError::Inconsistent);
        }
        let [n, e, d, p, q] = [n, e, d, p, q].map(std::mem::take);
        let key = RsaPrivateKey::from_components(n, e, d, vec![p, q])
            .map_err(|_| KeyError::Inconsistent)?;
        let found = key.crt_coefficient().map(Zeroizing::new);
        // A signature made with a wrong exponent of the Chinese remainder theorem reveals a prime.
        let fits =
            key.dp() == Some(&*dp) && key.dq() == Some(&*dq) && found.as_deref() == Some(&*qi);
        if fits {
            Self::from_checked(key)
        } else {
            Err(KeyError::Inconsistent)
        }
    }

    /// Computes the factors from the exponents (NIST SP 800-56B appendix C.2), for keys without
    /// them.
    pub(super) fn from_exponent(n: BigUint, e: BigUint, d: BigUint) -> Result<Self, KeyError> {
        let mut d = Zeroizing::new(d);
        check_numbers(&n, &e)?;
        if *d >= n || *d == BigUint::default() {
            return Err(KeyError::Inconsistent);
        }
        // The key is made without primes; they are computed from the exponents.
        let key = RsaPrivateKey::from_components(n, e, std::mem::take(&mut *d), Vec::new());
        Self::from_checked(key.map_err(|_| KeyError::Inconsistent)?)
    }

    fn from_checked(key: RsaPrivateKey) -> Result<Self, KeyError> {
        if roca::is_marked(key.as_ref()) {
            Err(KeyError::Factorable)
        } else {
            Ok(Self(key))
        }
    }

    /// Returns the public half.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey::of(&self.0)
    }

    /// Returns the key as a PrivateKeyInfo (PKCS#8) in DER.
    #[must_use]
    pub fn to_pkcs8_der(&self) -> Zeroizing<Vec<u8>> {
        self.0
            .to_pkcs8_der()
            .expect("a checked key always encodes")
            .to_bytes()
    }

    /// Returns the key as a PEM block `PRIVATE KEY`.
    #[must_use]
    pub fn to_pkcs8_pem(&self) -> Zeroizing<String> {
        pem::encode("PRIVATE KEY", &self.to_pkcs8_der())
    }

    /// Returns the key as an RSAPrivateKey (PKCS#1) in DER, for programs that read no PKCS#8.
    #[must_use]
    pub fn to_pkcs1_der(&self) -> Zeroizing<Vec<u8>> {
        self.0
            .to_pkcs1_der()
            .expect("a checked key always encodes")
            .to_bytes()
    }

    /// Returns the key as a PEM block `RSA PRIVATE KEY`, for programs that read no PKCS#8.
    #[must_use]
    pub fn to_pkcs1_pem(&self) -> Zeroizing<String> {
        pem::encode("RSA PRIVATE KEY", &self.to_pkcs1_der())
    }

    /// Returns `d`, `p`, `q`, `dp`, `dq`, `qi`: the private members of a JWK in the order of RFC
    /// 7518 section 6.3.2.
    pub(super) fn private_numbers(&self) -> [(&'static str, Zeroizing<Vec<u8>>); 6] {
        let bytes = |number: Option<&BigUint>| {
            Zeroizing::new(number.map(BigUint::to_bytes_be).unwrap_or_default())
        };
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

/// The unchecked numbers of a private key: `n`, `e`, `d`, `p`, `q`, `dp`, `dq` and `qi`. They are
/// overwritten when dropped.
pub(super) type Numbers = Zeroizing<[BigUint; 8]>;

impl fmt::Debug for PrivateKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("PrivateKey")
            .field(&self.public_key())
            .finish()
    }
}
