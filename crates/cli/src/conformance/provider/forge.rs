//! Client assertions, right ones and wrong ones (RFC 7515, RFC 7519).

use super::target::Target;
use crate::failure::{Failure, causes};
use crate::keys::file::{self, Material};
use bankrail::jose::{PrivateKey, RsaSize, SigningKey};
use bankrail::values::{Clock as _, SystemClock};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rustls::SignatureScheme;
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Map, Value, json};
use sha2::Sha256;
use std::sync::Arc;

/// The keys that assertions are signed with.
pub(super) struct Keys {
    own: Raw,
    own_public_pem: String,
    nobody: Raw,
}

/// A key that signs whatever it is given, with any algorithm that it can.
struct Raw(Arc<dyn rustls::sign::SigningKey>);

impl Keys {
    /// Reads the customer's key, and makes the key of nobody.
    pub(super) fn read(target: &Target) -> Result<Self, Failure> {
        let own = private(&target.key)?;
        let nobody = SigningKey::generate(RsaSize::Rsa2048)
            .and_then(|key| PrivateKey::from_pem(&key.to_pkcs8_pem()))
            .map_err(|error| Failure::unable(causes(&error), "try again"))?;
        Ok(Self {
            own: Raw::of(&own, &target.key)?,
            own_public_pem: own.public_key().to_spki_pem(),
            nobody: Raw::of(&nobody, "a new key")?,
        })
    }
}

fn private(path: &str) -> Result<PrivateKey, Failure> {
    match file::read(path)? {
        Material::Private(_, key) => Ok(key),
        Material::Jwk(jwk) => {
            let key = jwk.private_key().ok_or_else(|| file::not_private(path))?;
            PrivateKey::from_pkcs8_der(&key.to_pkcs8_der()).map_err(|error| file::refused(path, &error))
        }
        Material::Public(..) => Err(file::not_private(path)),
        Material::Set(_) => Err(file::one(path)),
    }
}

impl Raw {
    fn of(key: &PrivateKey, name: &str) -> Result<Self, Failure> {
        let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.to_pkcs8_der().to_vec()));
        let key = any_supported_type(&der);
        Ok(Self(key.map_err(|error| Failure::refused(format_args!("{name}: {error}"), "pass an RSA key"))?))
    }

    fn sign(&self, scheme: SignatureScheme, text: &str) -> Result<Vec<u8>, Failure> {
        let signed = self.0.choose_scheme(&[scheme]).and_then(|signer| signer.sign(text.as_bytes()).ok());
        signed.ok_or_else(|| Failure::refused("the key cannot sign", "pass an RSA key of 2048 to 8192 bits"))
    }
}

/// How an assertion is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signed {
    Rs256,
    /// By a key that nobody has registered.
    ByNobody,
    Ps256,
    /// The customer's public key as the shared secret.
    Hs256,
    Unsigned,
    /// Another text than the one that was signed.
    Changed,
    /// No JWT at all.
    Garbage,
}

/// An assertion before it is signed. A new one is right.
#[derive(Clone, Debug)]
pub(super) struct Assertion {
    pub(super) header: Map<String, Value>,
    pub(super) claims: Map<String, Value>,
    pub(super) signed: Signed,
}

impl Assertion {
    /// The assertion of the specification, no two of one run alike (Specification: "Client assertion (JWT) the customer
    /// builds").
    pub(super) fn new(target: &Target, number: u32) -> Self {
        let (mut header, mut claims) = (Map::new(), Map::new());
        header.insert("alg".to_owned(), json!("RS256"));
        header.insert("typ".to_owned(), json!("jwt"));
        if let Some(kid) = &target.kid {
            header.insert("kid".to_owned(), json!(kid));
        }
        claims.insert("sub".to_owned(), json!(target.customer));
        claims.insert("exp".to_owned(), json!(now() + 300 + i64::from(number)));
        claims.insert("aud".to_owned(), json!(target.audience));
        Self { header, claims, signed: Signed::Rs256 }
    }

    /// The compact form.
    pub(super) fn write(&self, keys: &Keys) -> Result<String, Failure> {
        let part = |members: &Map<String, Value>| URL_SAFE_NO_PAD.encode(json!(members).to_string());
        let text = format!("{}.{}", part(&self.header), part(&self.claims));
        let rs256 = |key: &Raw| key.sign(SignatureScheme::RSA_PKCS1_SHA256, &text);
        let signature = match self.signed {
            Signed::Rs256 => rs256(&keys.own)?,
            Signed::ByNobody => rs256(&keys.nobody)?,
            Signed::Ps256 => keys.own.sign(SignatureScheme::RSA_PSS_SHA256, &text)?,
            Signed::Hs256 => {
                let mac = Hmac::<Sha256>::new_from_slice(keys.own_public_pem.as_bytes());
                let mut mac = mac.expect("a key of any length is allowed");
                mac.update(text.as_bytes());
                mac.finalize().into_bytes().to_vec()
            }
            Signed::Unsigned => Vec::new(),
            Signed::Changed => {
                let mut claims = self.claims.clone();
                claims.insert("exp".to_owned(), json!(now() + 200));
                let before = format!("{}.{}", part(&self.header), part(&claims));
                keys.own.sign(SignatureScheme::RSA_PKCS1_SHA256, &before)?
            }
            Signed::Garbage => return Ok("this.is.nojwt".to_owned()),
        };
        Ok(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// UNIX seconds.
pub(super) fn now() -> i64 {
    SystemClock.now().unix_seconds()
}
