//! Secrets in base64, as text and in a file.

use crate::files;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The length of a secret, in bytes.
const LEN: usize = 32;
/// The maximum number of bytes of the file.
const MAX_FILE_BYTES: usize = 256;

/// Reads 32 bytes in standard base64 with padding (RFC 4648 section 4). White space around the text
/// is ignored.
///
/// # Errors
/// [`SecretError`] for any other text. The error does not have the text.
#[doc(hidden)]
pub fn secret_from_base64(text: &str) -> Result<Zeroizing<[u8; LEN]>, SecretError> {
    let bytes = Zeroizing::new(
        STANDARD
            .decode(text.trim_ascii())
            .map_err(|_| SecretError)?,
    );
    let mut secret = Zeroizing::new([0; LEN]);
    if bytes.len() != LEN {
        return Err(SecretError);
    }
    secret.copy_from_slice(&bytes);
    Ok(secret)
}

/// Reads a secret from a file, in base64. If there is no such file, it is made with a new secret.
/// The file is whole from the moment that it has its name, and only its owner can read it. If
/// several processes make it at the same moment, all get the secret of the first.
///
/// # Errors
/// [`SecretFileError`] if the file cannot be read or made, or has other content.
#[doc(hidden)]
pub fn open_or_create_secret(path: &Path) -> Result<Zeroizing<[u8; LEN]>, SecretFileError> {
    let failed = |source| SecretFileError::File {
        path: path.to_owned(),
        source,
    };
    let text = match files::read_text(path, MAX_FILE_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create(path).map_err(failed)?;
            files::read_text(path, MAX_FILE_BYTES)
        }
        read => read,
    };
    secret_from_base64(&text.map_err(failed)?).map_err(|source| SecretFileError::Content {
        path: path.to_owned(),
        source,
    })
}

/// Makes the file, unless another process makes it first.
fn create(path: &Path) -> io::Result<()> {
    let secret = Zeroizing::new(bankrail_values::random_bytes::<LEN>().map_err(io::Error::other)?);
    let mut text = Zeroizing::new(STANDARD.encode(*secret));
    text.push('\n');
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // The file is readable by its owner alone. If it is dropped before it gets its name, it is
    // removed.
    let mut file = tempfile::Builder::new()
        .prefix(".secret-")
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    // Synced before the file gets its name: after a crash it has the whole secret or does not
    // exist.
    file.as_file().sync_all()?;
    // If another process was first, the caller reads that process's secret.
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        _ => {
            // The name is synced before anything is sealed with the secret.
            files::sync_name(path);
            Ok(())
        }
    }
}

/// A text that is not a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a secret of 32 bytes in base64")]
#[non_exhaustive]
pub struct SecretError;

/// A file of a secret that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretFileError {
    /// The file cannot be read or made.
    #[error("{}: cannot be read or made", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file has other content. It is not replaced, because its path may be wrong.
    #[error("{}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: SecretError,
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
                .map(|_| scope.spawn(|| open_or_create_secret(&path)))
                .collect();
            opening
                .into_iter()
                .map(|opened| *opened.join().unwrap().unwrap())
                .collect::<Vec<_>>()
        });
        assert!(secrets.iter().all(|secret| *secret == secrets[0]) && secrets[0] != [0; LEN]);
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
            let error = causes(&open_or_create_secret(&path).unwrap_err());
            assert!(
                error.contains("token-cache.key: ") && error.contains(expected),
                "{error}"
            );
            assert!(!error.contains("nonsense"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        let error = open_or_create_secret(&folder.path().join("nowhere").join("key")).unwrap_err();
        assert!(matches!(error, SecretFileError::File { .. }), "{error}");
    }
}
