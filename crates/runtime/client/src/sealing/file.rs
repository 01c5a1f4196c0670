//! A secret in a file.

use super::{SealingSecret, SealingSecretError};
use bankrail_http::files;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The most bytes of the file.
const MAX_FILE_BYTES: usize = 256;

impl SealingSecret {
    /// Reads the secret from a file, in base64. If there is no such file, it is made with a new
    /// secret: whole from the moment that it has its name, and readable by its owner alone. Of
    /// several processes that make it at the same moment, all get the secret of the first.
    ///
    /// # Errors
    /// [`SealingSecretFileError`] if the file cannot be read or made, or has something else in it.
    /// In place of a file that is removed, one with another secret is made: what was sealed with
    /// the old secret cannot be opened any more.
    pub fn open_or_create(path: impl AsRef<Path>) -> Result<Self, SealingSecretFileError> {
        let path = path.as_ref();
        let fault = |source| SealingSecretFileError::File {
            path: path.to_owned(),
            source,
        };
        let text = match files::read_text(path, MAX_FILE_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create(path).map_err(fault)?;
                files::read_text(path, MAX_FILE_BYTES)
            }
            read => read,
        };
        Self::from_base64(&text.map_err(fault)?).map_err(|source| SealingSecretFileError::Content {
            path: path.to_owned(),
            source,
        })
    }
}

/// Makes the file, unless another process makes it first.
fn create(path: &Path) -> io::Result<()> {
    let secret = Zeroizing::new(
        bankrail_values::random_bytes::<{ SealingSecret::LEN }>().map_err(io::Error::other)?,
    );
    let mut text = Zeroizing::new(STANDARD.encode(*secret));
    text.push('\n');
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // For its owner alone. Dropped without its own name, it is removed.
    let mut file = tempfile::Builder::new()
        .prefix(".secret-")
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    // Before the file has its name: after a crash it is there with the whole secret, or not at all.
    file.as_file().sync_all()?;
    // If another process was first, the caller reads the secret of that one.
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        _ => {
            // Before anything is sealed with the secret.
            files::sync_name(path);
            Ok(())
        }
    }
}

/// A file of a secret that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealingSecretFileError {
    /// The file cannot be read or made.
    #[error("{}: cannot be read or made", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file has something else in it. It is not replaced, because it may be another file than
    /// the one meant.
    #[error("{}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: SealingSecretError,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_values::causes;

    #[test]
    fn a_secret_is_made_once_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token-cache.key");
        let secrets = std::thread::scope(|scope| {
            let opening: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| SealingSecret::open_or_create(&path)))
                .collect();
            opening
                .into_iter()
                .map(|opened| *opened.join().unwrap().unwrap().0)
                .collect::<Vec<_>>()
        });
        assert!(
            secrets.iter().all(|secret| *secret == secrets[0])
                && secrets[0] != [0; SealingSecret::LEN]
        );
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "nothing else is left"
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn what_is_no_secret_is_named_and_neither_quoted_nor_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token-cache.key");
        for (text, expected) in [
            ("nonsense", "32 bytes in base64"),
            (&*"x".repeat(257), "expected at most 256 bytes"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = causes(&SealingSecret::open_or_create(&path).unwrap_err());
            assert!(
                error.contains("token-cache.key: ") && error.contains(expected),
                "{error}"
            );
            assert!(!error.contains("nonsense"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        let error =
            SealingSecret::open_or_create(folder.path().join("nowhere").join("key")).unwrap_err();
        assert!(
            matches!(error, SealingSecretFileError::File { .. }),
            "{error}"
        );
    }
}
