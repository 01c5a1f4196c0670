//! One SQLite file for everything that must survive a crash.
//!
//! [`SqliteStore`] is a cheap handle: clone it freely. All writes of a file go through one thread, which takes what has
//! queued up meanwhile into one transaction and answers each caller after the commit (group commit), so that the cost
//! of reaching the disk is shared; while many write, it waits a few milliseconds for more of them
//! ([`SqliteOptions::gather`]). Reads run beside it on a thread of their own. No async thread ever waits for the
//! disk.
//!
//! - The journal is a write-ahead log; with [`Durability::PowerLoss`] (the default) an answer is given only after the
//!   log has reached the disk.
//! - Several processes may share a file on a local disk; a writer waits up to [`SqliteOptions::busy_timeout`] for the
//!   others.
//! - Tables are named `bankrail_…`. Other tables may live in the same file; that is how a handler's effect can share
//!   the inbox's transaction.
//! - Access tokens are stored hashed only. Message bodies are stored as they were received, in clear: protect the file
//!   as you protect the data that they carry.
//! - What has expired is deleted a few rows at a time, with each write: no sweeper is needed.

#[cfg(any(feature = "client-assertion", feature = "mailbox"))]
use bankrail_values::Timestamp;
#[cfg(feature = "mailbox")]
use bankrail_values::{StoreError, StoreFuture};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

mod connection;
#[cfg(feature = "mailbox")]
mod inbox;
#[cfg(feature = "mailbox")]
mod outbox;
#[cfg(feature = "client-assertion")]
mod replay;
mod schema;
#[cfg(feature = "statement")]
mod seen;
#[cfg(feature = "client-assertion")]
mod tokens;
mod transaction;
#[cfg(feature = "mailbox")]
mod values;

pub use transaction::{Transaction, TransactionError};
#[cfg(feature = "mailbox")]
pub use {inbox::SqliteInbox, outbox::SqliteOutbox, transaction::Work};

/// The SQLite binding whose connection a [`Transaction`] hands out.
pub use rusqlite;

use connection::Database;

/// At most so many expired rows go with each write. More than one, so that a backlog shrinks.
#[cfg(feature = "client-assertion")]
const SWEPT: u32 = 8;

/// At most so many entries are forgotten in one transaction.
#[cfg(feature = "mailbox")]
const FORGOTTEN: u32 = 500;

/// The statements of each kind of record, so that a test can look at their plans.
#[cfg(test)]
const DAILY: &[&[&str]] = &[
    #[cfg(feature = "client-assertion")]
    replay::DAILY,
    #[cfg(feature = "client-assertion")]
    tokens::DAILY,
    #[cfg(feature = "statement")]
    seen::DAILY,
    #[cfg(feature = "mailbox")]
    inbox::DAILY,
    #[cfg(feature = "mailbox")]
    outbox::DAILY,
    #[cfg(feature = "mailbox")]
    outbox::DAILY_LEASES,
];

/// Every store of the features that are on, in one SQLite file, or in memory for tests.
///
/// ```
/// use bankrail_stores::sqlite::SqliteStore;
///
/// let folder = tempfile::tempdir()?;
/// let store = SqliteStore::open(folder.path().join("bankrail.db"))?;
/// let the_same = store.clone();
/// # drop(the_same);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SqliteStore {
    database: Arc<Database>,
}

impl SqliteStore {
    /// Opens the file, makes it where there is none, and brings its tables up to date. Blocks for as long as that
    /// takes.
    ///
    /// # Errors
    /// [`SqliteOpenError`] says whether the file is no database, was written by a newer version, is locked, or is out of reach.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SqliteOpenError> {
        SqliteOptions::new().open(path)
    }

    /// A store that is gone with its last handle. Each call makes another one.
    ///
    /// # Errors
    /// [`SqliteOpenError`] when the machine has no thread or memory to give.
    pub fn open_in_memory() -> Result<Self, SqliteOpenError> {
        SqliteOptions::new().open_in_memory()
    }

    /// Waits until every write that was asked for before has been answered, then gives this handle back to the system.
    /// The file is closed when the last handle is gone.
    pub async fn close(self) {
        self.database.flush().await;
    }

    /// Its inbox.
    #[cfg(feature = "mailbox")]
    #[must_use]
    pub fn inbox(&self) -> SqliteInbox {
        SqliteInbox { store: self.clone() }
    }

    /// Its outbox.
    #[cfg(feature = "mailbox")]
    #[must_use]
    pub fn outbox(&self) -> SqliteOutbox {
        SqliteOutbox { store: self.clone() }
    }
}

#[cfg(feature = "mailbox")]
impl SqliteStore {
    /// Runs a statement that changes one row or none.
    fn change(
        &self,
        sql: &'static str,
        execute: impl FnOnce(&mut rusqlite::CachedStatement<'_>) -> rusqlite::Result<usize> + Send + 'static,
    ) -> StoreFuture<'static, bool> {
        let database = self.database.clone();
        Box::pin(async move {
            database.write(move |connection| Ok(execute(&mut connection.prepare_cached(sql)?)? == 1)).await
        })
    }

    /// Runs a deletion with an instant and a limit until it finds nothing more; others write in between.
    async fn forget_in_pieces(&self, sql: &'static str, before: Timestamp) -> Result<u64, StoreError> {
        let mut forgotten = 0;
        loop {
            let piece = self.database.write(move |connection| {
                let piece = connection.prepare_cached(sql)?.execute((before.unix_millis(), FORGOTTEN))?;
                Ok(u64::try_from(piece).unwrap_or(u64::MAX))
            });
            match piece.await? {
                0 => return Ok(forgotten),
                piece => forgotten += piece,
            }
        }
    }
}

/// Reads an instant. One that is none is a corrupt record.
#[cfg(any(feature = "client-assertion", feature = "mailbox"))]
fn instant(millis: i64) -> Result<Timestamp, connection::Fault> {
    let none = || connection::Fault::corrupt(format!("no such instant: {millis} ms"));
    Timestamp::from_unix_millis(millis).ok_or_else(none)
}

/// How a [`SqliteStore`] is opened.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    busy_timeout: Duration,
    durability: Durability,
    gather: Duration,
    queue: usize,
}

impl SqliteOptions {
    /// Waits 5 s for other processes, survives a loss of power, gathers writes for 4 ms, holds 1024 waiting operations.
    #[must_use]
    pub fn new() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            durability: Durability::PowerLoss,
            gather: Duration::from_millis(4),
            queue: 1024,
        }
    }

    /// How long to wait for another process that is writing to the same file.
    #[must_use]
    pub fn busy_timeout(mut self, wait: Duration) -> Self {
        self.busy_timeout = wait;
        self
    }

    /// What an acknowledged write survives.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How long at most a transaction waits for more writes to share it. It waits only if the one before it was shared,
    /// and no longer than a millisecond in which none comes: who writes alone never waits. Zero: never.
    #[must_use]
    pub fn gather(mut self, longest: Duration) -> Self {
        self.gather = longest;
        self
    }

    /// How many operations may wait; further callers wait for room. At least one.
    #[must_use]
    pub fn queue(mut self, operations: usize) -> Self {
        self.queue = operations.max(1);
        self
    }

    /// Opens the file. See [`SqliteStore::open`].
    ///
    /// # Errors
    /// [`SqliteOpenError`] as there.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SqliteStore, SqliteOpenError> {
        let database = Database::open(Some(path.as_ref()), self)?;
        Ok(SqliteStore { database: Arc::new(database) })
    }

    /// Opens a store in memory. See [`SqliteStore::open_in_memory`].
    ///
    /// # Errors
    /// [`SqliteOpenError`] as there.
    pub fn open_in_memory(&self) -> Result<SqliteStore, SqliteOpenError> {
        Ok(SqliteStore { database: Arc::new(Database::open(None, self)?) })
    }
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// What an acknowledged write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// A loss of power: an answer is given after the log has reached the disk (`synchronous = FULL`).
    PowerLoss,
    /// The end of the process, however sudden; the last writes before a loss of power may be missing, the file stays
    /// sound (`synchronous = NORMAL`).
    ProcessEnd,
}

/// Why a SQLite file could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqliteOpenError {
    /// The file holds something other than a SQLite database.
    #[error("{} is not a SQLite database", .path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The tables were written by a later version of this crate.
    #[error("{} has tables of version {found}, expected at most {known}", .path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The version found in the file.
        found: u32,
        /// The highest version that this crate knows.
        known: u32,
    },
    /// Another process kept the file locked for the whole of [`SqliteOptions::busy_timeout`].
    #[error("{} is locked by another process", .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Anything else: no such folder, no permission, a damaged file.
    #[error("cannot open {}", .path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
