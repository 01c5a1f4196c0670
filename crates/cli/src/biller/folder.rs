//! The data folder: one program at a time, for its owner alone.

use crate::failure::{Failure, causes};
use crate::keys::write::{make_folder, open_lock};
use crate::output::unwritable;
use bankrail::client::{TokenCacheFileError, TokenCacheSecret};
use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// The folder, locked until it is dropped or the process ends, however it ends.
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Opens the folder and makes it if it does not exist.
    pub(super) fn open(path: PathBuf) -> Result<Self, Failure> {
        make_folder(&path)?;
        let file = path.join("biller.lock");
        let lock = open_lock(&file).map_err(|error| unwritable(&file, &error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Failure::unable(
                format_args!("{}: another bankrail biller uses this folder", path.display()),
                "stop it, or pass another folder with --data",
            )),
            Err(TryLockError::Error(error)) => Err(Failure::unable(
                format_args!("{}: cannot be locked: {error}", file.display()),
                "pass a folder on a local disk with --data",
            )),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The database.
    pub(super) fn store(&self) -> Result<SqliteStore, Failure> {
        SqliteStore::open(self.path.join("biller.sqlite"), SqliteOptions::new())
            .map_err(|error| Failure::unable(causes(&error), "pass another folder with --data"))
    }

    /// The secret that seals tokens, made once.
    pub(super) fn secret(&self) -> Result<TokenCacheSecret, Failure> {
        TokenCacheSecret::open_or_create(self.path.join("token-cache.key")).map_err(|error| {
            let next = match error {
                TokenCacheFileError::Content { .. } => "remove it: another one is made, and a new token is asked for",
                _ => "check the folder, or pass another one with --data",
            };
            Failure::unable(causes(&error), next)
        })
    }
}

/// The database failed.
pub(super) fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::unable(format_args!("biller.sqlite: {}", causes(error)), "check the disk, and start again")
}
