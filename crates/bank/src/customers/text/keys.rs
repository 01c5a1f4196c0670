//! Public keys of a customer: in files of their own or within the record's.

use super::members::{Members, Reader};
use crate::customers::CustomerProblem;
use bankrail_jose::{Jwk, JwkSet, KeyError, KeyOptions, KeySet, KeySetError, Keyed, UnusableKey};
use std::path::PathBuf;

/// A key for one use.
pub(super) trait PublicHandle: Keyed + Clone {
    fn from_pem(text: &str) -> Result<Self, KeyError>;
    fn from_jwk(jwk: &Jwk) -> Result<Self, KeyError>;
    fn from_jwk_set(set: &JwkSet) -> Result<(KeySet<Self>, Vec<UnusableKey>), KeySetError>;
    fn with_kid(self, kid: &str) -> Self;
}

macro_rules! public_handle {
    ($($handle:ty),+) => {
        $(impl PublicHandle for $handle {
            fn from_pem(text: &str) -> Result<Self, KeyError> {
                <$handle>::from_pem(text)
            }

            fn from_jwk(jwk: &Jwk) -> Result<Self, KeyError> {
                <$handle>::from_jwk(jwk, &KeyOptions::default())
            }

            fn from_jwk_set(set: &JwkSet) -> Result<(KeySet<Self>, Vec<UnusableKey>), KeySetError> {
                KeySet::<$handle>::from_jwk_set(set, &KeyOptions::default())
            }

            fn with_kid(self, kid: &str) -> Self {
                <$handle>::with_kid(self, kid)
            }
        })+
    };
}

public_handle!(bankrail_jose::VerifyingKey);
public_handle!(bankrail_jose::EncryptionKey);

/// The longest `kid` in bytes, as of a JWK.
const MAX_KID: usize = 256;

/// The keys of a table with one of `file`, `pem` and `jwk`, and with an optional `kid`. A PEM file has one key, a JWK
/// set several. A `kid` names a key that has none, and selects one of a set.
pub(super) fn read<K: PublicHandle>(reader: &mut Reader<'_>, mut members: Members<'_, '_>) -> Vec<K> {
    let at = members.at;
    let [file, pem, jwk] = ["file", "pem", "jwk"].map(|name| members.get(name));
    let kid = members.get("kid").and_then(|value| {
        let kid = reader.text(value)?;
        if kid.is_empty() || kid.len() > MAX_KID {
            reader.expected(value.span().start, format!("expected a kid of 1 to {MAX_KID} bytes, found {}", kid.len()));
            return None;
        }
        Some((kid, value.span().start))
    });
    members.finish(reader);
    let (value, in_file) = match (file, pem, jwk) {
        (Some(value), None, None) => (value, true),
        (None, Some(value), None) | (None, None, Some(value)) => (value, false),
        (None, None, None) => {
            reader.expected(at, "expected one of file, pem, jwk, found none");
            return Vec::new();
        }
        _ => {
            reader.expected(at, "expected one of file, pem, jwk, found several");
            return Vec::new();
        }
    };
    let at = value.span().start;
    let Some(text) = reader.text(value) else { return Vec::new() };
    let (shown, content) = if in_file {
        match content(reader, text) {
            Ok((path, content)) => (Some(path), content),
            Err((path, reason)) => {
                reader.fault(at, CustomerProblem::Key { file: Some(path), reason });
                return Vec::new();
            }
        }
    } else {
        (None, text.to_owned().into())
    };
    match keys_of(&content) {
        Ok((keys, unusable)) => {
            for reason in unusable {
                reader.warn(at, CustomerProblem::Key { file: shown.clone(), reason });
            }
            named(reader, keys, kid)
        }
        Err(reason) => {
            reader.fault(at, CustomerProblem::Key { file: shown, reason });
            Vec::new()
        }
    }
}

type Content = zeroize::Zeroizing<String>;

/// The path and text of a file that the record names, relative to the record's own.
pub(super) fn content(reader: &mut Reader<'_>, name: &str) -> Result<(PathBuf, Content), (PathBuf, String)> {
    let path = reader.file.parent().map_or_else(|| PathBuf::from(name), |folder| folder.join(name));
    match reader.files.read(&path) {
        Ok(content) => Ok((path, content)),
        Err(reason) => Err((path, format!("cannot be read: {reason}"))),
    }
}

/// The keys of a text, and why others in it are left out.
fn keys_of<K: PublicHandle>(text: &str) -> Result<(Vec<K>, Vec<String>), String> {
    let refused = |error: KeyError| error.to_string();
    if !text.trim_start().starts_with('{') {
        return Ok((vec![K::from_pem(text).map_err(refused)?], Vec::new()));
    }
    match JwkSet::parse(text) {
        Ok(set) => {
            let (keys, unusable) = K::from_jwk_set(&set).map_err(|error| error.to_string())?;
            let unusable = unusable.iter().chain(set.unusable()).map(|key| {
                let kid = key.kid.as_ref().map(|kid| format!(" {kid}")).unwrap_or_default();
                format!("key{kid} at index {}: {}", key.index, key.error)
            });
            Ok((keys.keys().to_vec(), unusable.collect()))
        }
        Err(_) => {
            let jwk = Jwk::parse(text).map_err(refused)?;
            if jwk.private_key().is_some() {
                return Err("expected a public key, found a private one".to_owned());
            }
            Ok((vec![K::from_jwk(&jwk).map_err(refused)?], Vec::new()))
        }
    }
}

/// The keys under the `kid` that the record states.
fn named<K: PublicHandle>(reader: &mut Reader<'_>, mut keys: Vec<K>, kid: Option<(&str, usize)>) -> Vec<K> {
    let Some((kid, at)) = kid else { return keys };
    if let [key] = keys.as_mut_slice()
        && key.kid().is_none()
    {
        *key = key.clone().with_kid(kid);
        return keys;
    }
    keys.retain(|key| key.kid() == Some(kid));
    if keys.is_empty() {
        reader.expected(at, "expected the kid of a key that is there, found another");
    }
    keys
}
