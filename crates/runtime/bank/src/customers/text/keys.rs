//! The public keys of a customer, in separate files or within the record's file.

use super::KeyText;
use super::reader::Reader;
use crate::customers::CustomerRecordErrorKind;
use bankrail_jose::{KeyError, KeyHandle, KeyMaterial, KeyOptions, KeySet, PublicKey};
use std::path::PathBuf;
use toml::Spanned;
use zeroize::Zeroizing;

/// The longest `kid` in bytes, as of a JWK.
const MAX_KID_BYTES: usize = 256;

/// Reads the keys of a table with one of `file`, `pem` and `jwk`, and with an optional `kid`. A PEM
/// file has one key, a JWK set may have several. The `kid` becomes that of a key without one, and
/// selects a key of a set.
pub(super) fn read<K: KeyHandle>(reader: &mut Reader<'_>, text: &Spanned<KeyText>) -> Vec<K> {
    let key = text.get_ref();
    let kid = key.kid.as_ref().filter(|kid| {
        let found = kid.get_ref().len();
        let fits = (1..=MAX_KID_BYTES).contains(&found);
        if !fits {
            let reason = format!("expected a kid of 1 to {MAX_KID_BYTES} bytes, found {found}");
            reader.expected(kid, reason);
        }
        fits
    });
    let (value, file, content) = match (&key.file, &key.pem, &key.jwk) {
        (Some(name), None, None) => match content(reader, name) {
            Some((path, content)) => (name, Some(path), content),
            None => return Vec::new(),
        },
        (None, Some(value), None) | (None, None, Some(value)) => {
            (value, None, value.get_ref().clone().into())
        }
        (file, pem, jwk) => {
            let none = file.is_none() && pem.is_none() && jwk.is_none();
            let found = if none { "none" } else { "several" };
            reader.expected(
                text,
                format!("expected one of file, pem, jwk, found {found}"),
            );
            return Vec::new();
        }
    };
    let kind = |reason| CustomerRecordErrorKind::Key {
        file: file.clone(),
        reason,
    };
    match keys_of(&content) {
        Ok((keys, unusable)) => {
            for reason in unusable {
                reader.warn(value, kind(reason));
            }
            named(reader, keys, kid)
        }
        Err(reason) => {
            reader.error(value, kind(reason));
            Vec::new()
        }
    }
}

/// Returns the path and the text of a file that the record names, relative to the record's own.
pub(super) fn content(
    reader: &mut Reader<'_>,
    name: &Spanned<String>,
) -> Option<(PathBuf, Zeroizing<String>)> {
    let path = match reader.file.parent() {
        Some(folder) => folder.join(name.get_ref()),
        None => PathBuf::from(name.get_ref()),
    };
    let read = match &mut reader.files {
        Some(files) => files.read(&path),
        None => Err("expected a text that names no files".to_owned()),
    };
    match read {
        Ok(content) => Some((path, content)),
        Err(reason) => {
            let (file, reason) = (Some(path), format!("cannot be read: {reason}"));
            reader.error(name, CustomerRecordErrorKind::Key { file, reason });
            None
        }
    }
}

/// Returns the keys of a text, and the reasons why others in it are left out.
fn keys_of<K: KeyHandle>(text: &str) -> Result<(Vec<K>, Vec<String>), String> {
    let refused = |error: KeyError| error.to_string();
    let options = KeyOptions::default();
    let jwk = match KeyMaterial::parse(text.as_bytes()).map_err(refused)? {
        KeyMaterial::Jwk(jwk) => jwk,
        KeyMaterial::Public(_, key) => key.into(),
        // Beside its certificate, if the file has one.
        KeyMaterial::Private(..) => PublicKey::from_pem(text).map_err(refused)?.into(),
        KeyMaterial::Set(set) => {
            let (keys, unusable) =
                KeySet::from_jwk_set(&set, &options).map_err(|error| error.to_string())?;
            let unusable = unusable.iter().chain(set.unusable()).map(|key| {
                let kid = key
                    .kid
                    .as_ref()
                    .map(|kid| format!(" {kid}"))
                    .unwrap_or_default();
                format!("key{kid} at index {}: {}", key.index, key.error)
            });
            return Ok((keys.keys().to_vec(), unusable.collect()));
        }
    };
    if jwk.private_key().is_some() {
        return Err("expected a public key, found a private one".to_owned());
    }
    Ok((
        vec![K::from_jwk(&jwk, &options).map_err(refused)?],
        Vec::new(),
    ))
}

/// Returns the keys with the `kid` that the record states.
fn named<K: KeyHandle>(
    reader: &mut Reader<'_>,
    mut keys: Vec<K>,
    kid: Option<&Spanned<String>>,
) -> Vec<K> {
    let Some(at) = kid else { return keys };
    let kid = at.get_ref().as_str();
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
