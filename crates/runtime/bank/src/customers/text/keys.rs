//! Public keys of a customer: in files of their own or within the record's.

use super::members::{At, Item, Members};
use crate::customers::CustomerProblem;
use bankrail_jose::{Jwk, JwkSet, KeyError, KeyHandle, KeyOptions, KeySet, PublicKey};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The longest `kid` in bytes, as of a JWK.
const MAX_KID: usize = 256;

/// The keys of a table with one of `file`, `pem` and `jwk`, and with an optional `kid`. A PEM file
/// has one key, a JWK set several. A `kid` names a key that has none, and selects one of a set.
pub(super) fn read<K: KeyHandle>(mut members: Members<'_>) -> Vec<K> {
    let stated = members.one_of(["file", "pem", "jwk"]);
    let kid = members.get("kid").and_then(|value| {
        let kid = value.text()?;
        if kid.is_empty() || kid.len() > MAX_KID {
            value.at.expected(format!(
                "expected a kid of 1 to {MAX_KID} bytes, found {}",
                kid.len()
            ));
            return None;
        }
        Some((kid, value.at))
    });
    members.finish();
    let Some((name, value)) = stated else {
        return Vec::new();
    };
    let read = match name {
        "file" => content(value).map(|(path, content)| (Some(path), content)),
        _ => value.text().map(|text| (None, text.to_owned().into())),
    };
    let Some((file, content)) = read else {
        return Vec::new();
    };
    let problem = |reason| CustomerProblem::Key {
        file: file.clone(),
        reason,
    };
    match keys_of(&content) {
        Ok((keys, unusable)) => {
            unusable
                .into_iter()
                .for_each(|reason| value.at.warn(problem(reason)));
            named(keys, kid)
        }
        Err(reason) => {
            value.at.fault(problem(reason));
            Vec::new()
        }
    }
}

/// The path and text of a file that the record names, relative to the record's own.
pub(super) fn content(name: Item<'_>) -> Option<(PathBuf, Zeroizing<String>)> {
    let (reader, text) = (name.at.reader, name.text()?);
    let path = reader
        .file
        .parent()
        .map_or_else(|| PathBuf::from(text), |folder| folder.join(text));
    let read = reader.files.borrow_mut().read(&path);
    match read {
        Ok(content) => Some((path, content)),
        Err(reason) => {
            let reason = format!("cannot be read: {reason}");
            name.at.fault(CustomerProblem::Key {
                file: Some(path),
                reason,
            });
            None
        }
    }
}

/// The keys of a text, and why others in it are left out.
fn keys_of<K: KeyHandle>(text: &str) -> Result<(Vec<K>, Vec<String>), String> {
    let refused = |error: KeyError| error.to_string();
    let options = KeyOptions::default();
    let jwk = if !text.trim_start().starts_with('{') {
        Jwk::from(PublicKey::from_pem(text).map_err(refused)?)
    } else if let Ok(set) = JwkSet::parse(text) {
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
    } else {
        Jwk::parse(text).map_err(refused)?
    };
    if jwk.private_key().is_some() {
        return Err("expected a public key, found a private one".to_owned());
    }
    Ok((
        vec![K::from_jwk(&jwk, &options).map_err(refused)?],
        Vec::new(),
    ))
}

/// The keys under the `kid` that the record states.
fn named<K: KeyHandle>(mut keys: Vec<K>, kid: Option<(&str, At<'_>)>) -> Vec<K> {
    let Some((kid, at)) = kid else { return keys };
    if let [key] = keys.as_mut_slice()
        && key.kid().is_none()
    {
        *key = key.clone().with_kid(kid);
        return keys;
    }
    keys.retain(|key| key.kid() == Some(kid));
    if keys.is_empty() {
        at.expected("expected the kid of a key that is there, found another");
    }
    keys
}
