//! Keys of any of the supported file formats.

use super::{Jwk, JwkSet, KeyError, PrivateKey, PublicKey};

/// The keys of a file, and the form in which the file has them, for programs that are given files
/// in an unknown form.
#[derive(Debug)]
#[allow(
    clippy::exhaustive_enums,
    reason = "who handles each spelling shall be told of a further one"
)]
pub enum KeyMaterial {
    /// One private key as PEM or DER, with the name of the form, such as `PKCS#8 PEM`.
    Private(&'static str, PrivateKey),
    /// One public key as PEM or DER, with the name of the form, such as `SubjectPublicKeyInfo DER`.
    Public(&'static str, PublicKey),
    /// One JSON Web Key.
    Jwk(Jwk),
    /// A JWK set.
    Set(JwkSet),
}

impl KeyMaterial {
    /// Reads PEM and DER of PKCS#1, PKCS#8 and SubjectPublicKeyInfo, a JWK or a JWK set, and with
    /// the feature `x509` a certificate. A PEM file may hold a private key beside its certificate.
    ///
    /// # Errors
    /// [`KeyError`] if the bytes are none of these, or if the key in them is not acceptable.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeyError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match std::str::from_utf8(bytes) {
            Ok(text) if text.trim_start().starts_with('{') => match JwkSet::parse(text) {
                Ok(set) => Ok(Self::Set(set)),
                // A JWK has no `keys` and is read as a single key.
                Err(KeyError::JwkMember { .. }) => Jwk::parse(text).map(Self::Jwk),
                Err(error) => Err(error),
            },
            Ok(text) if text.contains("-----BEGIN ") => from_pem(text),
            _ => from_der(bytes),
        }
    }

    /// Returns the public half of the one key; `None` for a JWK set.
    #[must_use]
    pub fn public_key(&self) -> Option<PublicKey> {
        match self {
            Self::Private(_, key) => Some(key.public_key()),
            Self::Public(_, key) => Some(key.clone()),
            Self::Jwk(jwk) => Some(jwk.public_key().clone()),
            Self::Set(_) => None,
        }
    }

    /// Returns the keys for one use, and those of a JWK set that are left out.
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
    let has = |ending| {
        let mut labels = text
            .split("-----BEGIN ")
            .skip(1)
            .filter_map(|block| block.split_once("-----"));
        labels.any(|(label, _)| label.ends_with(ending))
    };
    let format = |pkcs1, other| if has(pkcs1) { "PKCS#1 PEM" } else { other };
    // Keys with a pass phrase are among them; the error names them.
    if has("PRIVATE KEY") {
        let key = PrivateKey::from_pem(text)?;
        if PublicKey::from_pem(text).is_ok_and(|beside| beside != key.public_key()) {
            let reason = "a private key beside the certificate or public key of another";
            return Err(KeyError::NotPem { reason });
        }
        let format = format("RSA PRIVATE KEY", "PKCS#8 PEM");
        return Ok(KeyMaterial::Private(format, key));
    }
    let format = format("RSA PUBLIC KEY", "SubjectPublicKeyInfo PEM");
    PublicKey::from_pem(text).map(|key| KeyMaterial::Public(format, key))
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
        #[cfg(feature = "x509")]
        public(
            "certificate DER",
            super::Certificate::from_der(bytes).map(super::Certificate::into_public_key),
        ),
    ];
    for reading in readings {
        match reading {
            Ok(material) => return Ok(material),
            // The form is right, but the content is refused.
            Err(error) if !matches!(error, KeyError::NotDer { .. }) => return Err(error),
            Err(_) => {}
        }
    }
    // The version of a PKCS#12 store is 3; those of private keys are 0 and 1.
    let is_store =
        bytes.starts_with(b"0") && bytes.windows(3).take(5).any(|version| version == [2, 1, 3]);
    let found = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16; save the file as UTF-8",
        [0xfe, 0xed, 0xfe, 0xed, ..] => "a Java key store; export the key with keytool",
        _ if bytes.trim_ascii_start().starts_with(b"<") => "XML; export the key as PEM",
        _ if is_store => "a PKCS#12 store; take the key out of it with openssl pkcs12",
        _ => "none of them",
    };
    Err(KeyError::UnknownForm { found })
}
