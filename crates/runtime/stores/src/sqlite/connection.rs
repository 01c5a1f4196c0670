//! The threads of a database: one that writes and several that read, each with its own connection.

use super::schema::{self, MigrateError};
use super::statements;
use super::{Durability, SqliteOpenError, SqliteOptions};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};

mod jobs;
mod log;

use jobs::{Guarded, Job, once, read_loop, send, write_loop};
use log::{LOG_BYTES, LOG_PAGES};

/// The maximum number of entries that one transaction deletes.
const FORGET_BATCH: u32 = 500;

/// The number of threads that read a file, so that a long read, such as an operator's list, delays
/// no other caller.
const READERS: usize = 4;

/// The queues of a database: one for the thread that writes, one for the threads that read.
pub(super) struct Database {
    path: Option<PathBuf>,
    /// The number of the last outbox message for which a waiting worker was woken.
    #[cfg(feature = "mailbox")]
    pub(super) last_announced: std::sync::atomic::AtomicI64,
    writer: mpsc::Sender<Box<dyn Job>>,
    reader: mpsc::Sender<Box<dyn Job>>,
    /// Notified after each transaction of a caller's work, which may have changed a history.
    #[cfg(feature = "webhook")]
    committed: tokio::sync::Notify,
}

impl Database {
    pub(super) fn open(
        path: Option<&Path>,
        options: &SqliteOptions,
    ) -> Result<Self, SqliteOpenError> {
        let shown = path.unwrap_or(Path::new(":memory:"));
        let failed = |error| open_error(shown, error);
        path.into_iter().for_each(make_private);
        let mut connection = match path {
            Some(path) => Connection::open(path),
            None => Connection::open_in_memory(),
        }
        .map_err(failed)?;
        prepare(&connection, options).map_err(failed)?;
        schema::migrate(&mut connection).map_err(|error| match error {
            MigrateError::Newer { found, known } => SqliteOpenError::NewerSchema {
                path: shown.to_owned(),
                found,
                known,
            },
            MigrateError::Sql(error) => failed(error),
        })?;
        let (writer, writes) = mpsc::channel(options.queue);
        let mut reader = writer.clone();
        if let Some(path) = path {
            let (queue, reads) = mpsc::channel(options.queue);
            reader = queue;
            let reads = Arc::new(Mutex::new(reads));
            for _ in 0..READERS {
                let beside = Connection::open(path).map_err(failed)?;
                prepare(&beside, options)
                    .and_then(|()| beside.pragma_update(None, "query_only", true))
                    .map_err(failed)?;
                let reads = reads.clone();
                spawn(shown, "bankrail-read", move || read_loop(&beside, &reads))?;
            }
        }
        let gather = options.gather;
        let connection = Guarded::new(connection).map_err(failed)?;
        spawn(shown, "bankrail-write", move || {
            write_loop(&connection, writes, gather)
        })?;
        Ok(Self {
            // SQLite's log is beside the file itself, not beside a link to it.
            path: path.map(|path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())),
            #[cfg(feature = "mailbox")]
            last_announced: (-1).into(),
            writer,
            reader,
            #[cfg(feature = "webhook")]
            committed: tokio::sync::Notify::new(),
        })
    }

    /// Runs `work` in the next transaction and answers after its commit. If `work` fails, its
    /// effects are undone. `work` runs twice if other work in the same transaction fails.
    pub(super) fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let work = move |connection: &Connection| work(connection).map(Outcome::Keep);
        Box::pin(send(&self.writer, work, false))
    }

    /// Runs the caller's work as [`Database::write`] does. The work may be undone with an answer
    /// that is not an error of the store.
    pub(super) async fn write_shared<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<Outcome<T>, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let answer = send(&self.writer, work, false).await;
        #[cfg(feature = "webhook")]
        self.committed.notify_waiters();
        answer
    }

    /// Runs the caller's work as [`Database::write_shared`] does, in a transaction that no other
    /// work shares.
    pub(super) async fn write_alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<Outcome<T>, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let answer = send(&self.writer, once(work), true).await;
        #[cfg(feature = "webhook")]
        self.committed.notify_waiters();
        answer
    }

    /// Waits for the next [`Database::write_alone`] or [`Database::write_shared`].
    #[cfg(feature = "webhook")]
    pub(super) fn committed(&self) -> impl Future<Output = ()> {
        self.committed.notified()
    }

    /// Runs `work`, which only reads, on a state with all writes that were answered before the
    /// call.
    pub(super) fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> StoreFuture<'_, T> {
        let work = move |connection: &Connection| work(connection).map(Outcome::Keep);
        Box::pin(send(&self.reader, work, false))
    }

    /// Runs the caller's work as [`Database::read`] does. Without a file, the writing thread runs
    /// it and undoes it.
    pub(super) async fn read_alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<Outcome<T>, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        send(&self.reader, once(work), true).await
    }

    /// Runs a deletion until it finds no more rows. `of` returns its parameters for a maximum
    /// number of rows. Other writes run in between.
    pub(super) async fn forget_in_pieces<P: rusqlite::Params + Clone + Send + 'static>(
        &self,
        sql: &'static str,
        of: impl Fn(u32) -> P,
    ) -> Result<u64, StoreError> {
        let mut forgotten = 0;
        loop {
            let parameters = of(FORGET_BATCH);
            let piece = self.write(move |c| statements::run(c, sql, parameters.clone()));
            match piece.await? {
                0 => return Ok(forgotten),
                piece => forgotten += u64::try_from(piece).unwrap_or(u64::MAX),
            }
        }
    }

    /// Returns the path of the write-ahead log; `None` if the database has no file.
    #[cfg(feature = "mailbox")]
    pub(super) fn log(&self) -> Option<PathBuf> {
        self.path.as_ref().map(|path| {
            [path.as_os_str(), "-wal".as_ref()]
                .into_iter()
                .collect::<std::ffi::OsString>()
                .into()
        })
    }

    /// Waits for all operations in the writer's queue.
    pub(super) async fn flush(&self) {
        // An error means that the queue is closed, and a closed queue is empty.
        let _ = self.write(|_| Ok(())).await;
    }

    /// Moves the write-ahead log into the file.
    pub(super) async fn fold_log(&self) {
        let Some(path) = &self.path else { return };
        let (file, (done, folded)) = (path.clone(), oneshot::channel());
        let fold = move || {
            log::fold(&file);
            let _ = done.send(());
        };
        if spawn(path, "bankrail-checkpoint", fold).is_ok() {
            let _ = folded.await;
        }
    }
}

bankrail_values::impl_debug!(Database, self; path: self.path);

/// The answer of a piece of work, with the fate of its effects.
pub(super) enum Outcome<T> {
    /// The effects stay.
    Keep(T),
    /// The effects are undone.
    Undo(T),
}

/// The cause of failed work.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(rusqlite::Error),
    Store(StoreError),
}

impl Fault {
    /// Adds the name of the file if it is damaged.
    fn of_file(self, connection: &Connection) -> Self {
        match (self, connection.path()) {
            (Self::Sql(source), Some(file))
                if source.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) =>
            {
                let file = file.to_owned();
                Self::Store(StoreError::new(
                    StoreErrorKind::Corrupt,
                    DamagedFile { file, source },
                ))
            }
            (fault, _) => fault,
        }
    }

    /// Returns the fault of a record that this version cannot read.
    pub(super) fn corrupt(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Store(crate::columns::corrupt(cause))
    }
}

/// The error of a damaged file, in which a page is not the one that SQLite wrote.
#[derive(Debug, thiserror::Error)]
#[error("{file} is damaged: `sqlite3 {file} .recover | sqlite3 saved.db` saves what can be read")]
struct DamagedFile {
    file: String,
    source: rusqlite::Error,
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Sql(error) => Self::new(kind_of(&error), error),
            Fault::Store(error) => error,
        }
    }
}

fn kind_of(error: &rusqlite::Error) -> StoreErrorKind {
    use rusqlite::Error as E;
    match (error, error.sqlite_error_code()) {
        (_, Some(ErrorCode::DiskFull)) => StoreErrorKind::Full,
        (
            _,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::TypeMismatch),
        ) => StoreErrorKind::Corrupt,
        (
            E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::InvalidColumnType(..),
            _,
        ) => StoreErrorKind::Corrupt,
        _ => StoreErrorKind::Unavailable,
    }
}

/// Creates a missing file for its owner only, because it will have messages in clear. SQLite gives
/// the log the same mode. Errors are left to SQLite, which reports a path that cannot be used.
#[cfg(unix)]
fn make_private(path: &Path) {
    use std::os::unix::fs::OpenOptionsExt;
    let text = path.as_os_str().as_encoded_bytes();
    // SQLite does not take these texts for names of files.
    if !text.is_empty() && text != b":memory:" && !text.starts_with(b"file:") {
        // SQLite follows a symbolic link to a file that does not exist yet, `create_new` does not.
        let file = match std::fs::read_link(path) {
            Ok(target) => path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => path.to_owned(),
        };
        let _ = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(file);
    }
}

/// Does nothing, because on other systems the folder decides who may read the file.
#[cfg(not(unix))]
fn make_private(_: &Path) {}

fn open_error(path: &Path, error: rusqlite::Error) -> SqliteOpenError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => SqliteOpenError::NotADatabase { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            SqliteOpenError::Locked { path }
        }
        Some(ErrorCode::CannotOpen) => {
            let source = why_not_opened(&path).map_or_else(|| error.into(), Into::into);
            SqliteOpenError::Failed { path, source }
        }
        _ => SqliteOpenError::Failed {
            path,
            source: error.into(),
        },
    }
}

fn prepare(connection: &Connection, options: &SqliteOptions) -> rusqlite::Result<()> {
    connection.busy_timeout(options.busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(128);
    // Keeps the plan of a statement. Without it, SQLite prepares a statement again whenever new
    // parameter values might change its plan.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // The answer is ignored: a database in memory has no write-ahead log.
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    let synchronous = match options.durability {
        Durability::PowerLoss => "FULL",
        Durability::ProcessEnd => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Each piece of work can be undone alone. Its undo journal is kept in memory and dropped after
    // the piece; in a file it would be kept until the commit.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Content of deleted rows (payloads, names, accounts) is overwritten where that costs no extra
    // page.
    connection.pragma_update(None, "secure_delete", "fast")?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", LOG_PAGES, |_| Ok(()))?;
    // After a burst of writes the next write cuts the log back.
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))
}

/// Returns the operating system's error for a path that SQLite cannot open. The file itself is not
/// opened, because closing it would end the locks of this process on it.
fn why_not_opened(path: &Path) -> Option<std::io::Error> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Some(std::io::ErrorKind::IsADirectory.into()),
        // 24 is `EMFILE` on every Unix: the process has no descriptor left for any file.
        Ok(_) => std::fs::File::open("/dev/null")
            .err()
            .filter(|error| error.raw_os_error() == Some(24)),
        Err(error) => Some(error),
    }
}

fn spawn(
    path: &Path,
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> Result<(), SqliteOpenError> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
    thread.map(drop).map_err(|error| SqliteOpenError::Failed {
        path: path.to_owned(),
        source: error.into(),
    })
}

#[cfg(test)]
mod tests;
