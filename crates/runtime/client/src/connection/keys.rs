//! The keys that a connection names.

use super::ConnectionError;
use bankrail_http::files;
use bankrail_jose::{KeyFileError, KeyHandle, KeyMaterial, KeyOptions, KeySet, SigningKey};
use bankrail_values::causes;
use std::path::Path;

/// Reads a file of keys.
pub(super) fn material(file: &Path) -> Result<KeyMaterial, ConnectionError> {
    KeyMaterial::open(file).map_err(|error| match error {
        KeyFileError::Read {
            path: file, source, ..
        } => ConnectionError::Read { file, source },
        KeyFileError::Key {
            path: file, source, ..
        } => ConnectionError::Key { file, source },
        // Parsing does not ask for what use the keys are.
        _ => ConnectionError::SeveralKeys {
            file: file.to_owned(),
        },
    })
}

/// Reads the keys of a file for one use. Keys of a set that do not fit are left out and logged.
pub(super) fn keys<K: KeyHandle>(file: &Path) -> Result<KeySet<K>, ConnectionError> {
    let read = material(file)?.into_keys(&KeyOptions::new());
    let (keys, unusable) = read.map_err(|source| ConnectionError::Key {
        file: file.to_owned(),
        source,
    })?;
    for key in unusable {
        let (file, kid, error) = (file.display(), key.kid.as_deref(), causes(&key.error));
        tracing::warn!(%file, index = key.index, kid, error, "a key was left out");
    }
    Ok(keys)
}

/// Reads the key that signs assertions, under another name if one is given.
pub(super) fn signing(file: &Path, kid: Option<&str>) -> Result<SigningKey, ConnectionError> {
    match keys::<SigningKey>(file)?.keys().as_slice() {
        [key] => Ok(kid.map_or(key.clone(), |kid| key.clone().with_kid(kid))),
        _ => Err(ConnectionError::SeveralKeys {
            file: file.to_owned(),
        }),
    }
}

/// Reads a file that a connection names.
pub(super) fn read(
    file: &Path,
    max_bytes: usize,
) -> Result<zeroize::Zeroizing<Vec<u8>>, ConnectionError> {
    files::read(file, max_bytes).map_err(|source| ConnectionError::Read {
        file: file.to_owned(),
        source,
    })
}
