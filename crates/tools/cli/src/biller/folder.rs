//! The data folder, which one program at a time uses, and which only its owner can read.

use crate::failure::{Failure, causes};
use crate::files::{lock_of, make_folder, take_lock};
use bankrail::client::{Archive, ArchiveOptions, SealingSecret, SecretFileError};
use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The database's name.
pub(super) const DATABASE: &str = "biller.sqlite";
/// The name of the secret that seals the archive.
const ARCHIVE_KEY: &str = "archive.key";

/// The file of the secret that seals tokens.
const TOKEN_KEY: &str = "token-cache.key";

/// The folder. Where it is locked, it is until it is dropped or the process ends, however it ends.
pub(super) struct Folder {
    path: PathBuf,
    _lock: Option<File>,
}

impl Folder {
    /// Opens the folder for a biller, and makes it if it does not exist.
    pub(super) fn open(path: PathBuf) -> Result<Self, Failure> {
        make_folder(&path)?;
        let database = path.join(DATABASE);
        // Two billers over one folder would poll the same accounts.
        let lock = take_lock(&lock_of(&database)?, 1)?;
        let lock = lock.ok_or_else(|| {
            Failure::unable(
                format_args!(
                    "{}: another bankrail biller uses this folder",
                    path.display()
                ),
                "stop it, or pass another folder with --data",
            )
        })?;
        let lock = Some(lock);
        Ok(Self { path, _lock: lock })
    }

    /// The folder of a biller that may be running, if it archives.
    pub(super) fn with_archive(path: &Path) -> Result<Self, Failure> {
        if !path.join(ARCHIVE_KEY).exists() {
            return Err(Failure::unable(
                format_args!(
                    "{}: expected the data folder of a biller that archives, found none",
                    path.display()
                ),
                "pass the folder with --data; bankrail biller --archive DAYS begins an archive",
            ));
        }
        let path = path.to_owned();
        Ok(Self { path, _lock: None })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the database of the folder.
    pub(super) fn store(&self) -> Result<SqliteStore, Failure> {
        let advice = "make room on the disk, use the version of the program that wrote it, or \
            restore it from a backup: another folder starts empty";
        SqliteStore::open(self.path.join(DATABASE), SqliteOptions::new())
            .map_err(|error| Failure::caused(&error, causes(&error), advice))
    }

    /// Returns the secret that seals tokens, and makes it if it does not exist.
    pub(super) fn secret(&self) -> Result<SealingSecret, Failure> {
        secret(
            &self.path.join(TOKEN_KEY),
            "remove it: a new one is made, and a new token is fetched",
        )
    }

    /// The archive.
    pub(super) fn archive(
        &self,
        store: &SqliteStore,
        options: ArchiveOptions,
    ) -> Result<Archive, Failure> {
        let secret = secret(
            &self.path.join(ARCHIVE_KEY),
            "restore it: without it, what was archived cannot be read",
        )?;
        Ok(Archive::new(Arc::new(store.clone()), secret, options))
    }
}

/// Returns the secret in a file, and makes the file if it does not exist.
fn secret(path: &Path, if_other: &str) -> Result<SealingSecret, Failure> {
    SealingSecret::open_or_create(path).map_err(|error| {
        let next = match error {
            SecretFileError::Content { .. } => if_other,
            _ => "check the folder, or pass another one with --data",
        };
        Failure::caused(&error, causes(&error), next)
    })
}

/// The database failed.
pub(super) fn failed(error: impl std::error::Error) -> Failure {
    Failure::unable(
        format_args!("{DATABASE}: {}", causes(&error)),
        "check the disk, and start again",
    )
}
