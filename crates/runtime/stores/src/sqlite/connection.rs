//! The threads of a database: one that writes and several that read, each with its own connection.

use super::schema::{self, MigrateError};
#[cfg(any(feature = "mailbox", feature = "statement"))]
use super::statements;
use super::{Durability, SqliteOpenError, SqliteOptions};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

mod log;

use log::{LOG_BYTES, LOG_PAGES, Log};

/// The maximum number of writes in a transaction. It bounds the time for which the first of them
/// waits for the last.
const MAX_BATCH: usize = 512;

/// The time for which a transaction that gathers writes waits for the next one.
const GATHER_PAUSE: Duration = Duration::from_millis(1);

/// The maximum number of entries that one transaction deletes.
#[cfg(any(feature = "mailbox", feature = "statement"))]
const FORGET_BATCH: u32 = 500;

/// The number of threads that read a file, so that a long read, as an operator's list, delays no
/// other caller.
const READERS: usize = 4;

/// The queues of a database: that of the thread that writes, and that of those that read.
pub(super) struct Database {
    path: Option<PathBuf>,
    /// The number of the last outbox message for which a waiting worker was woken.
    #[cfg(feature = "mailbox")]
    pub(super) told: std::sync::atomic::AtomicI64,
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
            told: (-1).into(),
            writer,
            reader,
            #[cfg(feature = "webhook")]
            committed: tokio::sync::Notify::new(),
        })
    }

    /// Runs `work` in the next transaction and answers after its commit. If `work` fails, its
    /// effects are undone. It runs twice if other work in the same transaction fails.
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
    #[allow(dead_code, reason = "not used without the feature of any trait")]
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
    #[cfg(any(feature = "mailbox", feature = "statement"))]
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

/// The answer of a piece of work, and whether its effects are kept.
pub(super) enum Outcome<T> {
    /// The effects are kept.
    Keep(T),
    /// The effects are undone.
    Undo(T),
}

/// The cause of failed work.
#[derive(Debug)]
pub(super) enum Fault {
    Sql(rusqlite::Error),
    #[allow(dead_code, reason = "not used with every feature")]
    Store(StoreError),
}

impl Fault {
    /// Names the file if it is damaged.
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
    #[allow(dead_code, reason = "not used with every feature")]
    pub(super) fn corrupt(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Store(crate::columns::corrupt(cause))
    }
}

/// A damaged file: a page is not the one that SQLite wrote.
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

/// Creates a missing file for its owner only, because it will hold messages in clear. SQLite gives
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

/// Does nothing: on other systems the folder decides who may read the file.
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
        Ok(_) => None,
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

/// One queued operation.
trait Job: Send {
    /// True when the caller no longer waits for the answer.
    fn abandoned(&self) -> bool;
    /// True for work that must not share its transaction.
    fn alone(&self) -> bool;
    /// Runs the work and keeps its outcome. False when its effects are to be undone. Work that is
    /// not to run alone may run again after its effects were undone.
    fn run(&mut self, connection: &Connection) -> bool;
    /// Answers with the outcome, or with the reason why the work did not take effect.
    fn settle(self: Box<Self>, failure: Option<&BatchError>);
}

struct Task<F, T> {
    work: F,
    outcome: Option<Result<Outcome<T>, Fault>>,
    alone: bool,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<F, T> Job for Task<F, T>
where
    F: FnMut(&Connection) -> Result<Outcome<T>, Fault> + Send,
    T: Send,
{
    fn abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    fn alone(&self) -> bool {
        self.alone
    }

    fn run(&mut self, connection: &Connection) -> bool {
        // Work that panics is undone like work that fails, and the thread goes on.
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.work)(connection))).ok();
        self.outcome = outcome.map(|outcome| outcome.map_err(|fault| fault.of_file(connection)));
        matches!(self.outcome, Some(Ok(Outcome::Keep(_))))
    }

    fn settle(self: Box<Self>, failure: Option<&BatchError>) {
        let failed = |failure: &BatchError| Err(StoreError::new(failure.kind, failure.clone()));
        let answer = match (self.outcome, failure) {
            (Some(Err(fault @ Fault::Sql(_))), _) => Err(fault.into()),
            // The refusal may be due to writes of others in the transaction, which are undone, so
            // the caller gets the failure of the transaction.
            (Some(_), Some(failure)) if !self.alone => failed(failure),
            (Some(Err(fault)), _) => Err(fault.into()),
            (Some(Ok(Outcome::Undo(value))), _) => Ok(value),
            (_, Some(failure)) => failed(failure),
            (Some(Ok(Outcome::Keep(value))), None) => Ok(value),
            (None, None) => Err(StoreError::new(
                StoreErrorKind::Unavailable,
                "the operation panicked and was undone",
            )),
        };
        // The caller may have stopped waiting.
        let _ = self.reply.send(answer);
    }
}

/// The failure of a transaction, and with it of all operations in it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the transaction failed")]
struct BatchError {
    kind: StoreErrorKind,
    source: Arc<rusqlite::Error>,
}

impl From<rusqlite::Error> for BatchError {
    fn from(error: rusqlite::Error) -> Self {
        Self {
            kind: kind_of(&error),
            source: Arc::new(error),
        }
    }
}

/// Wraps work that runs alone, and so never again.
fn once<T>(
    work: impl FnOnce(&Connection) -> Result<Outcome<T>, Fault>,
) -> impl FnMut(&Connection) -> Result<Outcome<T>, Fault> {
    let mut work = Some(work);
    move |connection| work.take().expect("runs once")(connection)
}

async fn send<T: Send + 'static>(
    queue: &mpsc::Sender<Box<dyn Job>>,
    work: impl FnMut(&Connection) -> Result<Outcome<T>, Fault> + Send + 'static,
    alone: bool,
) -> Result<T, StoreError> {
    let (reply, answer) = oneshot::channel();
    let gone = || {
        StoreError::new(
            StoreErrorKind::Unavailable,
            "the database's thread has ended",
        )
    };
    queue
        .send(Box::new(Task {
            work,
            outcome: None,
            alone,
            reply,
        }))
        .await
        .map_err(|_| gone())?;
    answer.await.map_err(|_| gone())?
}

fn read_loop(connection: &Connection, jobs: &Mutex<mpsc::Receiver<Box<dyn Job>>>) {
    // One reader waits for a job and holds the lock; the others wait for the lock.
    let next = || {
        jobs.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .blocking_recv()
    };
    while let Some(mut job) = next() {
        if job.abandoned() {
            continue;
        }
        // One snapshot for all reads of the work.
        let begun = execute(connection, "BEGIN");
        if begun.is_ok() {
            job.run(connection);
            // Nothing was written. A snapshot that stays open would hide later writes, so the
            // reader ends.
            if let Err(error) = execute(connection, "ROLLBACK") {
                tracing::error!(%error, "a read transaction could not be ended");
                return;
            }
        }
        let failure = begun.err().map(BatchError::from);
        job.settle(failure.as_ref());
    }
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// A connection on which no work commits.
///
/// SQLite rolls a transaction back by itself, for example when the disk is full. Work that goes on
/// afterwards would otherwise commit each statement, and its effect would stay without the
/// completion of its message.
struct Guarded {
    connection: Connection,
    working: Arc<AtomicBool>,
    /// True after a rollback while work ran. Work that begins another transaction would otherwise
    /// hide that the effects before it are gone.
    rolled_back: Arc<AtomicBool>,
}

impl Guarded {
    fn new(mut connection: Connection) -> rusqlite::Result<Self> {
        let working = Arc::new(AtomicBool::new(false));
        let refuses = working.clone();
        // The hook refuses a commit by work, which SQLite turns into a rollback. `Relaxed` is
        // enough: hooks run on the thread that sets the flags.
        connection.commit_hook(Some(move || refuses.load(Ordering::Relaxed)))?;
        let rolled_back = Arc::new(AtomicBool::new(false));
        let notes = rolled_back.clone();
        connection.rollback_hook(Some(move || notes.store(true, Ordering::Relaxed)))?;
        Ok(Self {
            connection,
            working,
            rolled_back,
        })
    }

    fn run(&self, job: &mut dyn Job) -> bool {
        self.working.store(true, Ordering::Relaxed);
        self.rolled_back.store(false, Ordering::Relaxed);
        let keep = job.run(&self.connection);
        self.working.store(false, Ordering::Relaxed);
        keep && !self.rolled_back.load(Ordering::Relaxed)
    }
}

fn write_loop(connection: &Guarded, jobs: mpsc::Receiver<Box<dyn Job>>, gather: Duration) {
    let log = Log::of(&connection.connection);
    let mut queue = Queue {
        jobs,
        next: None,
        gather,
        shared: false,
    };
    let mut batch = Vec::new();
    while queue.take(&mut batch) {
        batch.retain(|job| !job.abandoned());
        if batch.is_empty() {
            continue;
        }
        let failure = run_batch(connection, &mut batch).err();
        if let Some(failure) = &failure {
            tracing::warn!(operations = batch.len(), error = %failure.source, "a transaction failed");
        }
        for job in batch.drain(..) {
            job.settle(failure.as_ref());
        }
        if let Some(log) = &log {
            log.keep_short();
        }
    }
}

/// The waiting writes.
struct Queue {
    jobs: mpsc::Receiver<Box<dyn Job>>,
    /// A write that was taken from the queue and must run alone.
    next: Option<Box<dyn Job>>,
    gather: Duration,
    /// True if the last transaction had writes of more than one delivery.
    shared: bool,
}

impl Queue {
    /// Takes the writes of one transaction; waits for the first. False when the queue is closed.
    ///
    /// On a fast disk, many writers would get a transaction for nearly each write, and the
    /// transactions would be most of the cost. So if the last transaction was shared, this one
    /// waits for more writes while they keep coming.
    fn take(&mut self, batch: &mut Vec<Box<dyn Job>>) -> bool {
        let Some(first) = self.next.take().or_else(|| self.jobs.blocking_recv()) else {
            return false;
        };
        let alone = first.alone();
        batch.push(first);
        let mut pauses = if self.shared && !alone {
            self.gather.as_micros().div_ceil(GATHER_PAUSE.as_micros())
        } else {
            0
        };
        let mut open = !alone && self.drain(batch);
        while open && pauses > 0 {
            let before = batch.len();
            std::thread::sleep(GATHER_PAUSE.min(self.gather));
            open = self.drain(batch) && batch.len() > before;
            pauses -= 1;
        }
        // More than two, because a single dispatcher sends two writes together: it records one
        // delivery and leases the next.
        self.shared = batch.len() > 2;
        true
    }

    /// Takes the writes that are queued. False when no more may share the transaction.
    fn drain(&mut self, batch: &mut Vec<Box<dyn Job>>) -> bool {
        while batch.len() < MAX_BATCH {
            match self.jobs.try_recv() {
                Ok(job) if job.alone() => {
                    self.next = Some(job);
                    return false;
                }
                Ok(job) => batch.push(job),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
        false
    }
}

/// Runs the jobs in one transaction. After an error none of them took effect, except after a failed
/// commit, where they may have.
fn run_batch(guarded: &Guarded, batch: &mut [Box<dyn Job>]) -> Result<(), BatchError> {
    let connection = &guarded.connection;
    let unapplied = |error: rusqlite::Error| {
        // If the rollback fails, no transaction is open: SQLite has rolled back by itself.
        let _ = execute(connection, "ROLLBACK");
        BatchError::from(error)
    };
    execute(connection, "BEGIN IMMEDIATE").map_err(unapplied)?;
    // Savepoints cost a copy of each page for each job, and seldom is one of them needed. So the
    // jobs run without, and if one is to be undone, all are and run again.
    let together = !batch.iter().any(|job| job.alone());
    if !(together && batch.iter_mut().all(|job| guarded.run(&mut **job))) {
        if together {
            let _ = execute(connection, "ROLLBACK");
            execute(connection, "BEGIN IMMEDIATE").map_err(unapplied)?;
        }
        run_apart(guarded, batch).map_err(unapplied)?;
    }
    execute(connection, "COMMIT").map_err(|error| {
        let full = error.sqlite_error_code() == Some(ErrorCode::DiskFull);
        let failed = unapplied(error);
        // The log may have reached the disk although SQLite reported an error.
        BatchError {
            kind: if full {
                StoreErrorKind::Full
            } else {
                StoreErrorKind::Timeout
            },
            ..failed
        }
    })
}

/// Runs the jobs so that each of them can be undone alone.
fn run_apart(guarded: &Guarded, batch: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    let connection = &guarded.connection;
    for job in batch {
        execute(connection, "SAVEPOINT job")?;
        if !guarded.run(&mut **job) {
            // Fails when SQLite has already rolled back the whole transaction, with all work in it.
            execute(connection, "ROLLBACK TO job")?;
        }
        execute(connection, "RELEASE job")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
