//! Keys read from files.

use super::{KeyError, KeyMaterial};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A file that holds no key for this use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// The file cannot be read.
    #[error("{}: cannot be read", .path.display())]
    #[non_exhaustive]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The content of the file is not acceptable.
    #[error("{}: no key for this use", .path.display())]
    #[non_exhaustive]
    Key {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: KeyError,
    },
    /// The file is a JWK set of several keys for this use.
    #[error("{}: expected one key for this use, found {found}", .path.display())]
    #[non_exhaustive]
    Several {
        /// The file.
        path: PathBuf,
        /// The number of keys found.
        found: usize,
    },
}

impl KeyMaterial {
    /// The maximum number of bytes of a file, and of a JWK set: 256 KiB.
    pub const MAX_BYTES: usize = 256 * 1024;

    /// Reads the keys of a file in any form that [`KeyMaterial::parse`] reads.
    ///
    /// # Errors
    /// [`KeyFileError`] if the file cannot be read or is too long, or if no key in it is
    /// acceptable.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, KeyFileError> {
        let path = path.as_ref();
        let read = || {
            // Allocates all of the buffer at once: growth would leave copies of the key behind.
            let mut bytes = Zeroizing::new(Vec::with_capacity(Self::MAX_BYTES));
            File::open(path)?
                // Reads one byte more than the bound, so that a file that is too long is noticed.
                // The cast is lossless: the bound has 19 bits.
                .take(Self::MAX_BYTES as u64 + 1)
                .read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|source| KeyFileError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&bytes).map_err(|source| KeyFileError::Key {
            path: path.to_owned(),
            source,
        })
    }
}

/// Reads a file with one key for a use.
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
pub(crate) fn open<K: crate::KeyHandle>(path: &Path) -> Result<K, KeyFileError> {
    let read = KeyMaterial::open(path)?.into_keys::<K>(&crate::KeyOptions::default());
    let (keys, _) = read.map_err(|source| KeyFileError::Key {
        path: path.to_owned(),
        source,
    })?;
    match keys.keys().as_slice() {
        [key] => Ok(key.clone()),
        keys => Err(KeyFileError::Several {
            path: path.to_owned(),
            found: keys.len(),
        }),
    }
}
