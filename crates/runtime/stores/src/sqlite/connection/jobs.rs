//! The work of a database's threads: jobs from a queue, several in one transaction.

use super::log::Log;
use super::{Fault, Outcome, kind_of};
use bankrail_values::{StoreError, StoreErrorKind};
use rusqlite::{Connection, ErrorCode};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

/// The maximum number of writes in a transaction. It bounds the time for which the first of them
/// waits for the last.
const MAX_BATCH: usize = 512;

/// The time for which a transaction that gathers writes waits for the next one.
const GATHER_PAUSE: Duration = Duration::from_millis(1);

/// One queued operation.
pub(super) trait Job: Send {
    /// Returns true if the caller no longer waits for the answer.
    fn abandoned(&self) -> bool;
    /// Returns true for work that must not share its transaction.
    fn alone(&self) -> bool;
    /// Runs the work and stores its outcome. Returns false if the effects are to be undone. Work
    /// that may share a transaction may run again after its effects were undone.
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
pub(super) struct BatchError {
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

/// Wraps work that runs alone, and so only once.
pub(super) fn once<T>(
    work: impl FnOnce(&Connection) -> Result<Outcome<T>, Fault>,
) -> impl FnMut(&Connection) -> Result<Outcome<T>, Fault> {
    let mut work = Some(work);
    move |connection| work.take().expect("runs once")(connection)
}

pub(super) async fn send<T: Send + 'static>(
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

pub(super) fn read_loop(connection: &Connection, jobs: &Mutex<mpsc::Receiver<Box<dyn Job>>>) {
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
/// SQLite itself rolls a transaction back, for example when the disk is full. Work that continues
/// afterwards would otherwise commit each statement, and its effect would stay without the
/// completion of its message.
pub(super) struct Guarded {
    connection: Connection,
    working: Arc<AtomicBool>,
    /// True after a rollback while work ran. Work that begins another transaction would otherwise
    /// hide that the effects before it are gone.
    rolled_back: Arc<AtomicBool>,
}

impl Guarded {
    pub(super) fn new(mut connection: Connection) -> rusqlite::Result<Self> {
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

pub(super) fn write_loop(
    connection: &Guarded,
    jobs: mpsc::Receiver<Box<dyn Job>>,
    gather: Duration,
) {
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
    /// Takes the writes of one transaction, and waits for the first. Returns false when the queue
    /// is closed.
    ///
    /// On a fast disk, many writers would get a transaction for nearly each write, and the
    /// transactions would be most of the cost. So if the last transaction was shared, this one
    /// waits for more writes while they keep coming.
    #[expect(clippy::disallowed_methods, reason = "the writer's own thread")]
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

    /// Takes the queued writes. Returns false when no more may share the transaction.
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

/// Runs the jobs in one transaction. After an error no job has taken effect, except that after a
/// failed commit they may have.
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
