//! Keys from files of any format, and the handles made of them.

use crate::failure::{Failure, causes};
use crate::files::warn_if_exposed;
use crate::input;
use bankrail::jose::{
    DecryptionKey, EncryptionKey, KeyError, KeyHandle, KeyMaterial, KeyOptions, KeySet, KeySizes,
    SigningKey, VerifyingKey,
};
use std::path::Path;

/// The maximum number of bytes of a file: those of the largest JWK set.
const MAX_FILE_BYTES: usize = 256 * 1024;

/// Reads the keys of a file.
pub(super) fn read(path: &str) -> Result<KeyMaterial, Failure> {
    let bytes = input::read(path, MAX_FILE_BYTES)?;
    KeyMaterial::parse(&bytes).map_err(|error| refused(path, &error))
}

/// Returns the failure of a file whose key is refused.
pub(crate) fn refused(path: &str, error: &dyn std::error::Error) -> Failure {
    input::refused(path, error, NEXT_KEY)
}

/// Advice about a key that is refused.
pub(crate) const NEXT_KEY: &str = "pass an RSA key as PEM, DER or JWK without a pass phrase";

/// Advice about a public key in place of a private one.
pub(crate) const NEXT_PRIVATE: &str = "pass the private key it belongs to";

/// Advice about a set of keys in place of one.
pub(crate) const NEXT_ONE: &str = "write the key you mean to a file of its own";

/// Returns the keys of a file for one use. Prints the keys of a set that are left out on standard
/// error, with the reasons.
fn keys<K: KeyHandle>(path: &str, sizes: KeySizes) -> Result<KeySet<K>, Failure> {
    let (keys, unusable) = read(path)?
        .into_keys(&KeyOptions::new().sizes(sizes))
        .map_err(|error| {
            input::refused(
                path,
                &error,
                if matches!(error, KeyError::NotPrivate) {
                    NEXT_PRIVATE
                } else {
                    NEXT_KEY
                },
            )
        })?;
    for key in unusable {
        let (name, kid) = (input::name(path), key.kid.as_deref().unwrap_or("none"));
        crate::log(format_args!(
            "{name}: key {} left out, kid {kid}: {}",
            key.index,
            causes(&key.error)
        ));
    }
    Ok(keys)
}

/// Reads the only key of a file, and gives it another name if one is passed.
fn key<K: KeyHandle>(path: &str, kid: Option<&str>) -> Result<K, Failure> {
    match keys::<K>(path, KeySizes::default())?.keys().as_slice() {
        [key] => Ok(named(key.clone(), kid)),
        _ => Err(one(path)),
    }
}

/// Gives a key another name if one is passed.
pub(super) fn named<K: KeyHandle>(key: K, kid: Option<&str>) -> K {
    match kid {
        Some(kid) => key.with_kid(kid),
        None => key,
    }
}

/// The key that signs.
pub(crate) fn signing(path: &str, kid: Option<&str>) -> Result<SigningKey, Failure> {
    warn_if_exposed(Path::new(path));
    key(path, kid)
}

/// Reads the key to encrypt to.
pub(crate) fn encryption(path: &str, kid: Option<&str>) -> Result<EncryptionKey, Failure> {
    key(path, kid)
}

/// Reads the keys that verify signatures.
pub(crate) fn verifying(path: &str) -> Result<KeySet<VerifyingKey>, Failure> {
    keys(path, KeySizes::default())
}

/// Reads the keys that verify signatures of messages.
pub(crate) fn message_verifying(path: &str) -> Result<KeySet<VerifyingKey>, Failure> {
    keys(path, KeySizes::SecuredPayload)
}

/// Reads the keys that decrypt.
pub(crate) fn decryption(path: &str) -> Result<KeySet<DecryptionKey>, Failure> {
    warn_if_exposed(Path::new(path));
    keys(path, KeySizes::default())
}

/// A set of several keys where one is expected.
pub(super) fn one(path: &str) -> Failure {
    Failure::refused(
        format_args!("{}: expected one key, found a JWK set", input::name(path)),
        NEXT_ONE,
    )
}
