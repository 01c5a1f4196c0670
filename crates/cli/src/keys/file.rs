//! Keys from files of any spelling, and the handles made of them.

use crate::failure::{Failure, causes};
use crate::input;
use bankrail::jose::{
    DecryptionKey, EncryptionKey, Jwk, JwkSet, KeyError, KeyHandle, KeyOptions, KeySet, KeySizes, PrivateKey,
    PublicKey, Role, SigningKey, VerifyingKey,
};

/// The bytes of a file that are read: those of the largest JWK set.
const MOST: usize = 256 * 1024;

/// What a file holds, and how it is spelled.
pub(crate) enum Material {
    Private(&'static str, PrivateKey),
    Public(&'static str, PublicKey),
    Jwk(Jwk),
    Set(JwkSet),
}

/// Reads the keys of a file.
pub(crate) fn read(path: &str) -> Result<Material, Failure> {
    let bytes = input::read(path, MOST)?;
    parse(&bytes).map_err(|error| refused(path, &error))
}

/// A key that is refused.
pub(crate) fn refused(path: &str, error: &dyn std::error::Error) -> Failure {
    input::refused(path, error, "pass an RSA key as PEM, DER or JWK without a pass phrase")
}

fn parse(bytes: &[u8]) -> Result<Material, KeyError> {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.trim_start().starts_with('{') => match Jwk::parse(text) {
            Ok(jwk) => Ok(Material::Jwk(jwk)),
            // A set has no `kty`.
            Err(error) => JwkSet::parse(text).map(Material::Set).map_err(|_| error),
        },
        Ok(text) if text.contains("-----BEGIN ") => from_pem(text),
        _ => from_der(bytes),
    }
}

fn from_pem(text: &str) -> Result<Material, KeyError> {
    let private = |format| PrivateKey::from_pem(text).map(|key| Material::Private(format, key));
    let public = |format| PublicKey::from_pem(text).map(|key| Material::Public(format, key));
    let label = text.split_once("-----BEGIN ").and_then(|(_, rest)| rest.split_once("-----")).map(|(label, _)| label);
    match label {
        Some("PRIVATE KEY") => private("PKCS#8 PEM"),
        Some("RSA PRIVATE KEY") => private("PKCS#1 PEM"),
        Some("RSA PUBLIC KEY") => public("PKCS#1 PEM"),
        Some(label) if label.contains("PRIVATE") => private("PEM"),
        _ => public("SubjectPublicKeyInfo PEM"),
    }
}

fn from_der(bytes: &[u8]) -> Result<Material, KeyError> {
    let private = |format, read: Result<PrivateKey, KeyError>| read.map(|key| Material::Private(format, key));
    let public = |format, read: Result<PublicKey, KeyError>| read.map(|key| Material::Public(format, key));
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

/// The keys of a file for one use. Says on standard error which keys of a set are left out, and why.
fn keys<K: KeyHandle>(path: &str, sizes: KeySizes) -> Result<KeySet<K>, Failure> {
    let options = KeyOptions::new().sizes(sizes);
    let jwk = match read(path)? {
        Material::Private(_, key) => key.into(),
        Material::Public(..) if matches!(K::ROLE, Role::Sign | Role::Decrypt) => return Err(not_private(path)),
        Material::Public(_, key) => key.into(),
        Material::Jwk(jwk) => jwk,
        Material::Set(set) => {
            let (keys, unusable) = KeySet::from_jwk_set(&set, &options).map_err(|error| refused(path, &error))?;
            for key in set.unusable().iter().chain(&unusable) {
                let (name, kid) = (input::name(path), key.kid.as_deref().unwrap_or("none"));
                crate::log(format_args!("{name}: key {} left out, kid {kid}: {}", key.index, causes(&key.error)));
            }
            return Ok(keys);
        }
    };
    K::from_jwk(&jwk, &options).map(KeySet::from).map_err(|error| refused(path, &error))
}

/// The one key of a file for a use, under another name if one is given.
fn key<K: KeyHandle>(path: &str, kid: Option<&str>) -> Result<K, Failure> {
    match keys::<K>(path, KeySizes::default())?.keys().as_slice() {
        [key] => Ok(kid.map_or(key.clone(), |kid| key.clone().with_kid(kid))),
        _ => Err(one(path)),
    }
}

/// The key that signs.
pub(crate) fn signing(path: &str, kid: Option<&str>) -> Result<SigningKey, Failure> {
    key(path, kid)
}

/// The key that is encrypted to.
pub(crate) fn encryption(path: &str, kid: Option<&str>) -> Result<EncryptionKey, Failure> {
    key(path, kid)
}

/// The keys that signatures are verified with.
pub(crate) fn verifying(path: &str) -> Result<KeySet<VerifyingKey>, Failure> {
    keys(path, KeySizes::default())
}

/// The keys that signatures of messages are verified with.
pub(crate) fn message_verifying(path: &str) -> Result<KeySet<VerifyingKey>, Failure> {
    keys(path, KeySizes::SecuredPayload)
}

/// The keys that decrypt.
pub(crate) fn decryption(path: &str) -> Result<KeySet<DecryptionKey>, Failure> {
    keys(path, KeySizes::default())
}

/// A public key where a private one is expected.
pub(crate) fn not_private(path: &str) -> Failure {
    Failure::refused(
        format_args!("{}: expected a private key, found a public one", input::name(path)),
        "pass the private key it belongs to",
    )
}

/// A set of several keys where one is expected.
pub(crate) fn one(path: &str) -> Failure {
    Failure::refused(
        format_args!("{}: expected one key, found a JWK set", input::name(path)),
        "write the key you mean to a file of its own",
    )
}
