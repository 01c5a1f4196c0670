//! All stores in one SQLite file, which survives a crash.
//!
//! [`SqliteStore`] is a cheap handle: clone it freely. All writes of a file go through one thread.
//! This thread takes the queued writes into one transaction and answers each caller after the
//! commit (group commit), so that the writes share the cost of reaching the disk. While there are
//! many writes, the thread waits a few milliseconds for more of them ([`SqliteOptions::gather`]).
//! Reads of a file run on four threads of their own. No async thread waits for the disk.
//!
//! - The journal is a write-ahead log; with [`Durability::PowerLoss`] (the default) an answer is
//!   given only after the log has reached the disk. A log of more than 16 MiB, as after a long read
//!   by another program, is cut back as soon as nothing reads from it, without waiting for a write.
//! - Several processes may share a file on a local disk; a writer waits up to
//!   [`SqliteOptions::busy_timeout`] for the others.
//! - Tables are named `bankrail_…`. The caller's tables may be in the same file, so that a
//!   handler's effect can share the transaction of the inbox or of the seen entries.
//! - Issued access tokens are stored as hashes only, and those that a customer keeps are sealed by
//!   the customer. Message bodies are stored as they were received, in clear: protect the file like
//!   the data in it. On Unix a new file is readable and writable for its owner only.
//! - Expired rows are deleted a few at a time with each write,
//!   [`EXPIRY_GRACE`](bankrail_values::EXPIRY_GRACE) after their expiry: no sweeper is needed.

use bankrail_values::StoreError;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "mailbox")]
mod archive;
#[cfg(feature = "client-assertion")]
mod cached;
mod connection;
#[cfg(feature = "rate-limit")]
mod counters;
#[cfg(feature = "webhook")]
mod histories;
#[cfg(feature = "mailbox")]
mod inbox;
#[cfg(feature = "mailbox")]
mod outbox;
mod schema;
#[cfg(feature = "statement")]
mod seen;
mod statements;
#[cfg(feature = "client-assertion")]
mod tokens;
mod transaction;

pub use statements::RowCells;
pub use transaction::{SqliteWork, Transaction, TransactionError, store_error};
#[cfg(feature = "mailbox")]
pub use {inbox::SqliteInbox, outbox::SqliteOutbox};

#[cfg(feature = "webhook")]
pub use histories::SqliteHistories;

/// The SQLite binding of [`Transaction::connection`].
pub use rusqlite;

use connection::Database;

// The statement runs twice in one transaction, which leaves the row unchanged. `SET version =
// version` does not suffice, because SQLite does not write an unchanged page.
const CHECK: &str = "UPDATE bankrail_schema SET version = -version";

/// All stores of the enabled features, in one SQLite file, or in memory for tests.
///
/// ```
/// use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
///
/// let folder = tempfile::tempdir()?;
/// let store = SqliteStore::open(folder.path().join("bankrail.db"), SqliteOptions::new())?;
/// let the_same = store.clone();
/// # drop(the_same);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SqliteStore {
    database: Arc<Database>,
}

impl SqliteStore {
    /// Opens or creates the file, and brings its tables up to date. This blocks until that is done.
    /// On Unix a new file and its log are readable and writable for their owner only; an existing
    /// file keeps its mode.
    ///
    /// # Errors
    /// [`SqliteOpenError`] if the file is not a database, was written by a newer version, is
    /// locked, or cannot be opened.
    pub fn open(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, SqliteOpenError> {
        Ok(Self {
            database: Arc::new(Database::open(Some(path.as_ref()), &options)?),
        })
    }

    /// Opens a store in memory, which is dropped with its last handle. Each call makes another
    /// store.
    ///
    /// # Errors
    /// [`SqliteOpenError`] if there is not enough memory or no thread can be started.
    pub fn open_in_memory(options: SqliteOptions) -> Result<Self, SqliteOpenError> {
        Ok(Self {
            database: Arc::new(Database::open(None, &options)?),
        })
    }

    /// Waits until all earlier writes have been answered, and moves the write-ahead log into the
    /// file, so that the file alone has all records. The file is closed when the last handle is
    /// dropped. While another program reads from the log, the log stays, without any loss.
    pub async fn close(&self) {
        self.database.flush().await;
        self.database.fold_log().await;
    }

    /// Checks that the file can be written, for a check of readiness. The check commits a page to
    /// the log, so that a full disk is noticed once the log has no room left, and waits for other
    /// processes that write.
    ///
    /// # Errors
    /// [`StoreError`] if nothing can be written, or the thread that writes has ended.
    pub fn check(&self) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let database = self.database.clone();
        let twice = |connection: &_| {
            (0..2).try_for_each(|_| statements::run(connection, CHECK, ()).map(drop))
        };
        async move { database.write(twice).await }
    }

    /// Returns the inbox of this store.
    #[cfg(feature = "mailbox")]
    #[must_use]
    pub fn inbox(&self) -> SqliteInbox {
        SqliteInbox {
            database: self.database.clone(),
        }
    }

    /// Returns the outbox of this store.
    #[cfg(feature = "mailbox")]
    #[must_use]
    pub fn outbox(&self) -> SqliteOutbox {
        SqliteOutbox {
            database: self.database.clone(),
        }
    }

    /// Returns the histories of mandates and payments in this store.
    #[cfg(feature = "webhook")]
    #[must_use]
    pub fn histories(&self) -> SqliteHistories {
        SqliteHistories {
            database: self.database.clone(),
        }
    }
}

bankrail_values::options! {
    /// Options of a [`SqliteStore`].
    #[derive(Clone, Debug)]
    pub struct SqliteOptions {
        /// The maximum wait for another process that writes to the same file. Default: 5 s.
        busy_timeout: Duration = Duration::from_secs(5),
        /// The failures that an acknowledged write survives. Default: [`Durability::PowerLoss`].
        durability: Durability = Durability::PowerLoss,
        /// The maximum time for which a transaction waits for more writes to share it; zero for no
        /// wait. Default: 4 ms.
        ///
        /// A transaction waits only if the one before was shared, and stops after a millisecond
        /// without a new write, so a single writer never waits.
        gather: Duration = Duration::from_millis(4),
        /// The number of operations that may wait in the queue; further callers wait for room. At
        /// least one. Default: 1024.
        queue(usize => |operations| operations.max(1)): usize = 1024,
    }
}

/// The failures that an acknowledged write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// A loss of power: the store answers after the log has reached the disk (`synchronous =
    /// FULL`).
    PowerLoss,
    /// The end of the process, also when it is killed. The last writes before a loss of power may
    /// be missing, but the file stays consistent (`synchronous = NORMAL`).
    ProcessEnd,
}

/// The error of a SQLite file that could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqliteOpenError {
    /// The file is not a SQLite database.
    #[error("{}: expected a SQLite database", .path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The tables were written by a later version of this crate.
    #[error("{}: expected tables of version {known} at most, found {found}", .path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The version found in the file.
        found: u32,
        /// The highest version that this crate knows.
        known: u32,
    },
    /// Another process kept the file locked for the whole of [`SqliteOptions::busy_timeout`].
    #[error("{}: locked by another process", .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Another failure, such as no such folder, no permission or a damaged file.
    #[error("{}: cannot be opened", .path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
