//! Keys of any of the supported file formats.

use super::{Jwk, JwkSet, KeyError, PrivateKey, PublicKey};

/// The keys of a file, and how it spells them. For programs that are given files and do not know
/// their spelling.
#[derive(Debug)]
#[allow(
    clippy::exhaustive_enums,
    reason = "who handles each spelling shall be told of a further one"
)]
pub enum KeyMaterial {
    /// One private key as PEM or DER, under the name of the spelling, such as `PKCS#8 PEM`.
    Private(&'static str, PrivateKey),
    /// One public key as PEM or DER, under the name of the spelling, such as
    /// `SubjectPublicKeyInfo DER`.
    Public(&'static str, PublicKey),
    /// One JSON Web Key.
    Jwk(Jwk),
    /// A JWK set.
    Set(JwkSet),
}

impl KeyMaterial {
    /// Reads PEM and DER of PKCS#1, PKCS#8 and SubjectPublicKeyInfo, a JWK or a JWK set.
    ///
    /// # Errors
    /// [`KeyError`] if the bytes are none of these, or if the key in them is not acceptable.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeyError> {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.trim_start().starts_with('{') => match Jwk::parse(text) {
                Ok(jwk) => Ok(Self::Jwk(jwk)),
                // A set has no `kty`.
                Err(error) => JwkSet::parse(text).map(Self::Set).map_err(|_| error),
            },
            Ok(text) if text.contains("-----BEGIN ") => from_pem(text),
            _ => from_der(bytes),
        }
    }

    /// The public half of the one key; `None` for a JWK set.
    #[must_use]
    pub fn public_key(&self) -> Option<PublicKey> {
        match self {
            Self::Private(_, key) => Some(key.public_key()),
            Self::Public(_, key) => Some(key.clone()),
            Self::Jwk(jwk) => Some(jwk.public_key().clone()),
            Self::Set(_) => None,
        }
    }

    /// The keys for one use, and those of a JWK set that are left out.
    ///
    /// # Errors
    /// [`KeyError`] if there is no key for the use: a public key does not sign or decrypt, for
    /// example.
    #[cfg(any(feature = "aws-lc", feature = "josekit"))]
    pub fn into_keys<K: crate::KeyHandle>(
        self,
        options: &crate::KeyOptions,
    ) -> Result<(crate::KeySet<K>, Vec<super::UnusableKey>), KeyError> {
        use super::Role;
        let jwk = match self {
            Self::Public(..) if matches!(K::ROLE, Role::Sign | Role::Decrypt) => {
                return Err(KeyError::NotPrivate);
            }
            Self::Private(_, key) => key.into(),
            Self::Public(_, key) => key.into(),
            Self::Jwk(jwk) => jwk,
            Self::Set(set) => {
                let (keys, unusable) = crate::KeySet::from_jwk_set(&set, options)?;
                return Ok((
                    keys,
                    set.into_unusable().into_iter().chain(unusable).collect(),
                ));
            }
        };
        K::from_jwk(&jwk, options).map(|key| (key.into(), Vec::new()))
    }
}

fn from_pem(text: &str) -> Result<KeyMaterial, KeyError> {
    let private = |format| PrivateKey::from_pem(text).map(|key| KeyMaterial::Private(format, key));
    let public = |format| PublicKey::from_pem(text).map(|key| KeyMaterial::Public(format, key));
    let label = text
        .split_once("-----BEGIN ")
        .and_then(|(_, rest)| rest.split_once("-----"))
        .map(|(label, _)| label);
    match label {
        Some("RSA PRIVATE KEY") => private("PKCS#1 PEM"),
        Some("RSA PUBLIC KEY") => public("PKCS#1 PEM"),
        // Among them those with a pass phrase, which the error names.
        Some(label) if label.contains("PRIVATE") => private("PKCS#8 PEM"),
        _ => public("SubjectPublicKeyInfo PEM"),
    }
}

fn from_der(bytes: &[u8]) -> Result<KeyMaterial, KeyError> {
    let private = |format, read: Result<PrivateKey, KeyError>| {
        read.map(|key| KeyMaterial::Private(format, key))
    };
    let public = |format, read: Result<PublicKey, KeyError>| {
        read.map(|key| KeyMaterial::Public(format, key))
    };
    let readings = [
        private("PKCS#8 DER", PrivateKey::from_pkcs8_der(bytes)),
        private("PKCS#1 DER", PrivateKey::from_pkcs1_der(bytes)),
        public("SubjectPublicKeyInfo DER", PublicKey::from_spki_der(bytes)),
        public("PKCS#1 DER", PublicKey::from_pkcs1_der(bytes)),
    ];
    let mut first = None;
    for reading in readings {
        match reading {
            Ok(material) => return Ok(material),
            // The form is right, and the content is refused.
            Err(error) if !matches!(error, KeyError::NotDer { .. }) => return Err(error),
            Err(error) => drop(first.get_or_insert(error)),
        }
    }
    Err(first.unwrap_or(KeyError::NotRsa))
}
