//! Keys from a file or a folder of files.

use super::{RenewFuture, SenderKeys};
use bankrail_http::files;
use bankrail_jose::{JwkSet, KeyError, KeyMaterial, KeyOptions, KeySet, KeySetError, VerifyingKey};
use bankrail_values::excerpt;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The maximum number of files of keys in a folder.
const MAX_FILES: usize = KeySet::<VerifyingKey>::MAX_KEYS;

/// The file name endings of keys.
const ENDINGS: [&str; 7] = ["cer", "crt", "der", "json", "jwk", "jwks", "pem"];

/// The least time between two readings that messages cause: anybody who has our API key can send
/// one that no key verifies.
const RENEW_EVERY: Duration = Duration::from_secs(10);

/// The sender's verifying keys in a folder of files, or in one file. Cheap to clone.
///
/// - A file has content that [`KeyMaterial`] reads: a public key or, with the feature `x509`, a
///   certificate as PEM or DER, a JWK or a JWK set. Its name ends in `.cer`, `.crt`, `.der`,
///   `.json`, `.jwk`, `.jwks` or `.pem`. Other files and hidden ones are ignored. There may be at
///   most 64 files of at most 256 KiB.
/// - In a folder, the `kid` of a key that has none and is alone in its file is the file's name
///   without its ending. A path of one file leaves its keys as they are: the `kid` of a token is
///   then ignored if they have none.
/// - An unusable file or key is reported with the reason and does not affect the others: the keys
///   that a file had stay until it is readable again or gone. If no key is usable, the keys stay as
///   they are.
/// - Keys with the same `kid` are all tried, at most four, in the order of the files' names.
///
/// ```no_run
/// use bankrail_client::receivers::keys::KeyFolder;
/// use bankrail_client::receivers::ReceiversOptions;
/// use bankrail_secured_payload::{OpenOptions, Opener};
/// use std::sync::Arc;
///
/// # fn example(mine: bankrail_jose::DecryptionKey) -> Result<(), Box<dyn std::error::Error>> {
/// let (theirs, unusable) = KeyFolder::open("/etc/biller/bank-keys")?;
/// for key in unusable {
///     eprintln!("{key}");
/// }
/// let opener = Opener::new(mine, theirs.keys(), OpenOptions::new())?;
/// // Reads the folder again when no key verifies a message.
/// let options = ReceiversOptions::new().sender_keys(Arc::new(theirs));
/// # let _ = (opener, options);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct KeyFolder(Arc<Inner>);

struct Inner {
    path: PathBuf,
    keys: KeySet<VerifyingKey>,
    /// The keys of each file when it was last readable, by the file's name. The lock is held during
    /// a reading, so that readings follow each other.
    files: Mutex<Files>,
    /// The last readings for messages. The lock is held during a reading, so that deliveries that
    /// wait for it share its keys.
    renewals: tokio::sync::Mutex<Renewals>,
}

/// The last readings that messages have caused.
#[derive(Debug, Default)]
struct Renewals {
    tried: Option<Instant>,
    read: Option<Instant>,
}

type Files = BTreeMap<PathBuf, Vec<VerifyingKey>>;

impl KeyFolder {
    /// Reads the keys of a folder or file, and returns the unusable ones. This blocks while it
    /// reads.
    ///
    /// # Errors
    /// [`KeyFolderError`] if the folder cannot be read or no key is usable.
    pub fn open(path: impl Into<PathBuf>) -> Result<(Self, Vec<UnusableKeyFile>), KeyFolderError> {
        let path = path.into();
        let (files, keys, unusable) = read(&path, &Files::new())?;
        let set = KeySet::new(keys).map_err(|error| KeyFolderError::of(&path, error, &unusable))?;
        let (files, renewals) = (Mutex::new(files), tokio::sync::Mutex::default());
        Ok((
            Self(Arc::new(Inner {
                path,
                keys: set,
                files,
                renewals,
            })),
            unusable,
        ))
    }

    /// Returns the keys, for an [`Opener`](bankrail_secured_payload::Opener). They change with each
    /// reading.
    #[must_use]
    pub fn keys(&self) -> KeySet<VerifyingKey> {
        self.0.keys.clone()
    }

    /// Reads all files again, replaces the keys, and returns the unusable ones. This blocks while
    /// it reads.
    ///
    /// # Errors
    /// [`KeyFolderError`] if the folder cannot be read or no key is usable. The keys are then
    /// unchanged.
    pub fn reload(&self) -> Result<Vec<UnusableKeyFile>, KeyFolderError> {
        let Inner {
            path, keys, files, ..
        } = &*self.0;
        // Readings follow each other, so that an older one does not replace a newer one. The map is
        // replaced as a whole, so a panic elsewhere leaves it consistent.
        let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, read, unusable) = read(path, &files)?;
        keys.replace(read)
            .map_err(|error| KeyFolderError::of(path, error, &unusable))?;
        // After the keys were accepted, so that a refused reading is not the fallback of the next.
        *files = now;
        Ok(unusable)
    }

    /// Reads all files again after each `interval` until `stop` is ready. Faults are logged.
    pub async fn reload_every(&self, interval: Duration, stop: impl Future<Output = ()>) {
        let folder = self.clone();
        let reload = move || folder.reload();
        tokio::select! {
            () = stop => {}
            () = files::read_every(interval, reload, |outcome| { log_reload(outcome); }) => {}
        }
    }
}

/// Logs the outcome of a reading, and returns true if the keys were replaced.
fn log_reload(outcome: Result<Vec<UnusableKeyFile>, KeyFolderError>) -> bool {
    match outcome {
        Ok(unusable) => {
            for key in unusable {
                tracing::warn!(error = %key, "a verifying key is unusable");
            }
            true
        }
        Err(error) => {
            tracing::error!(%error, "the verifying keys were not read");
            false
        }
    }
}

impl SenderKeys for KeyFolder {
    /// Reads all files again, at most once in 10 s.
    fn renew(&self, since: std::time::Instant) -> RenewFuture<'_> {
        Box::pin(async move {
            // Callers that wait here share the reading of the one before them.
            let mut renewals = self.0.renewals.lock().await;
            if renewals.read < Some(since.into())
                && renewals.tried.is_none_or(|at| at.elapsed() >= RENEW_EVERY)
            {
                // Noted before the reading, so that a failure delays the next one too.
                renewals.tried = Some(Instant::now());
                let folder = self.clone();
                let reloading = tokio::task::spawn_blocking(move || folder.reload());
                // An error of the task means that the runtime is shutting down.
                let is_read = reloading.await.is_ok_and(log_reload);
                let now = Some(Instant::now());
                // Deliveries that waited share a failure too.
                renewals.tried = now;
                if is_read {
                    renewals.read = now;
                }
            }
            renewals.read >= Some(since.into())
        })
    }
}

bankrail_values::impl_debug!(KeyFolder, self; path: self.0.path, keys: self.0.keys);

/// A file, or a key in a file, that is not used.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnusableKeyFile {
    /// The file.
    pub file: PathBuf,
    /// The key's `kid`, cut and escaped; `None` if the key has none or the whole file is unusable.
    pub kid: Option<String>,
    /// The reason.
    pub reason: UnusableKeyError,
}

impl fmt::Display for UnusableKeyFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: ", self.file.display())?;
        if let Some(kid) = &self.kid {
            write!(out, "key {kid}: ")?;
        }
        write!(out, "{}", self.reason)
    }
}

/// The reason why a file or key is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableKeyError {
    /// The file cannot be read or is too large.
    #[error("the file cannot be read: {0}")]
    Read(io::Error),
    /// The key is not acceptable.
    #[error("{reason}")]
    Key {
        /// The reason, without the key.
        reason: String,
    },
    /// The maximum number of keys with one `kid` that are tried for a message is reached.
    #[error("too many keys have this kid, one in {} among them", .other.display())]
    SameKid {
        /// The file of the last tried key with this `kid`.
        other: PathBuf,
    },
    /// The key has no `kid`, and others have one.
    #[error("expected a kid, as other keys have one, found none")]
    NoKid,
}

impl UnusableKeyError {
    fn key(error: &KeyError) -> Self {
        Self::Key {
            reason: error.to_string(),
        }
    }
}

/// The reason why no keys could be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFolderError {
    /// The folder cannot be read.
    #[error("{}: cannot be read: {source}", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The folder has too many files.
    #[error("{}: expected at most {max} files of keys, found more", .path.display())]
    TooManyFiles {
        /// The folder.
        path: PathBuf,
        /// The maximum number of files.
        max: usize,
    },
    /// No key is usable.
    #[error("{}: expected at least one usable key, found none, {}", .path.display(), because(.reason.as_deref()))]
    NoKey {
        /// The folder or file.
        path: PathBuf,
        /// The first unusable file or key, with the reason.
        reason: Option<String>,
    },
    /// The keys do not make a set.
    #[error("{}: {reason}", .path.display())]
    Set {
        /// The folder or file.
        path: PathBuf,
        /// The reason.
        reason: KeySetError,
    },
}

fn because(reason: Option<&str>) -> String {
    reason.map_or_else(
        || format!("as no file has a name that ends in {}", ENDINGS.join(", ")),
        str::to_owned,
    )
}

impl KeyFolderError {
    fn of(path: &Path, error: KeySetError, unusable: &[UnusableKeyFile]) -> Self {
        let path = path.to_owned();
        match error {
            KeySetError::Empty => Self::NoKey {
                path,
                reason: unusable.first().map(ToString::to_string),
            },
            reason => Self::Set { path, reason },
        }
    }
}

/// Reads a folder or file. Returns the keys of each file, the keys to use, and the unusable ones.
fn read(
    path: &Path,
    before: &Files,
) -> Result<(Files, Vec<VerifyingKey>, Vec<UnusableKeyFile>), KeyFolderError> {
    let folder = |source| KeyFolderError::Folder {
        path: path.to_owned(),
        source,
    };
    let is_folder = std::fs::metadata(path).map_err(folder)?.is_dir();
    let mut names = Vec::new();
    if is_folder {
        for entry in std::fs::read_dir(path).map_err(folder)? {
            let file = entry.map_err(folder)?.path();
            if is_wanted(&file) && !file.is_dir() {
                names.push(file);
            }
            // While listing, so that a huge folder does not fill the memory.
            if names.len() > MAX_FILES {
                return Err(KeyFolderError::TooManyFiles {
                    path: path.to_owned(),
                    max: MAX_FILES,
                });
            }
        }
        // By name, because the first file with a `kid` has precedence.
        names.sort_unstable();
    } else {
        names.push(path.to_owned());
    }
    let (mut files, mut unusable) = (Files::new(), Vec::new());
    for file in names {
        let note = |(kid, reason)| UnusableKeyFile {
            file: file.clone(),
            kid,
            reason,
        };
        let keys = match read_file(&file, is_folder) {
            Ok((keys, faults)) => {
                unusable.extend(faults.into_iter().map(note));
                keys
            }
            Err(fault) => {
                unusable.push(note((None, fault)));
                // A file may be unreadable while it is written, so its keys stay in use.
                before.get(&file).cloned().unwrap_or_default()
            }
        };
        files.insert(file, keys);
    }
    let keys = unambiguous(&files, &mut unusable);
    Ok((files, keys, unusable))
}

fn is_wanted(file: &Path) -> bool {
    let hidden = file
        .file_name()
        .is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    !hidden
        && file.extension().is_some_and(|ending| {
            ENDINGS
                .iter()
                .any(|known| ending.eq_ignore_ascii_case(known))
        })
}

/// Leaves out the keys that a token's `kid` would not select, as `KeySet::from_jwk_set` does.
fn unambiguous(files: &Files, unusable: &mut Vec<UnusableKeyFile>) -> Vec<VerifyingKey> {
    let named = files.values().flatten().any(|key| key.kid().is_some());
    let mut taken: Vec<(&PathBuf, &VerifyingKey)> = Vec::new();
    for (file, key) in files
        .iter()
        .flat_map(|(file, keys)| keys.iter().map(move |key| (file, key)))
    {
        let kid = key.kid();
        let mut earlier = taken.iter().filter(|(_, one)| one.kid() == kid);
        let reason = match earlier.nth(KeySet::<VerifyingKey>::MAX_TRIED - 1) {
            _ if named && kid.is_none() => UnusableKeyError::NoKid,
            Some((other, _)) if named => UnusableKeyError::SameKid {
                other: (*other).clone(),
            },
            _ => {
                taken.push((file, key));
                continue;
            }
        };
        unusable.push(UnusableKeyFile {
            file: file.clone(),
            kid: kid.map(excerpt),
            reason,
        });
    }
    taken.into_iter().map(|(_, key)| key.clone()).collect()
}

type FileKeys = (Vec<VerifyingKey>, Vec<(Option<String>, UnusableKeyError)>);

/// Reads the keys of a file, with the unusable ones. An error is one of the whole file.
fn read_file(file: &Path, in_folder: bool) -> Result<FileKeys, UnusableKeyError> {
    let bytes = files::read(file, KeyMaterial::MAX_BYTES).map_err(UnusableKeyError::Read)?;
    let options = super::key_options();
    let refused = |error: KeyError| UnusableKeyError::key(&error);
    let (mut keys, unusable) = match KeyMaterial::parse(&bytes).map_err(refused)? {
        KeyMaterial::Set(set) => from_set(&set, &options),
        one => {
            let (keys, _) = one.into_keys(&options).map_err(refused)?;
            (keys.keys().to_vec(), Vec::new())
        }
    };
    if let ([key], true, Some(name)) = (keys.as_mut_slice(), in_folder, file.file_stem())
        && key.kid().is_none()
    {
        *key = key.clone().with_kid(name.to_string_lossy());
    }
    Ok((keys, unusable))
}

/// Reads the verifying keys of a JWK set. Keys for other uses are reported only if there is no
/// verifying key.
fn from_set(set: &JwkSet, options: &KeyOptions) -> FileKeys {
    let (keys, refused) = set.for_use::<VerifyingKey>(options);
    let unusable = set.unusable().iter().chain(&refused);
    let unusable = unusable.map(|key| (key.kid.clone(), UnusableKeyError::key(&key.error)));
    (
        keys.into_iter().map(|(_, key)| key).collect(),
        unusable.collect(),
    )
}
