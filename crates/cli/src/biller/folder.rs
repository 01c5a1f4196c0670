//! The data folder: one program at a time, for its owner alone.

use crate::failure::{Failure, causes};
use crate::input;
use crate::keys::write::{NewFile, make_folder, open_lock, write};
use crate::output::unwritable;
use bankrail::client::TokenCacheSecret;
use bankrail::stores::sqlite::{SqliteOptions, SqliteStore};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

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
        let file = self.path.join("token-cache.key");
        if !file.exists() {
            let mut secret = Zeroizing::new([0; TokenCacheSecret::LEN]);
            bankrail::values::fill_random(&mut *secret).map_err(|error| Failure::unable(error, "try again"))?;
            let text = Zeroizing::new(STANDARD.encode(*secret));
            write(&[NewFile::private(&file, text)], false)?;
        }
        let text = input::read_text(&file.to_string_lossy(), 256)?;
        TokenCacheSecret::from_base64(&text).map_err(|error| {
            let next = "remove it: another one is made, and a new token is asked for";
            Failure::unable(format_args!("{}: {error}", file.display()), next)
        })
    }
}

/// The database failed.
pub(super) fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::unable(format_args!("biller.sqlite: {}", causes(error)), "check the disk, and start again")
}
