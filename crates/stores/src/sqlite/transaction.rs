//! The caller's own work in one transaction with ours.

use super::connection::{Fault, Outcome};
use super::{SqliteStore, inbox, outbox};
use bankrail_values::{StoreError, StoreFuture, Timestamp};
use bankrail_webhook::store::outbox::Enqueued;
use bankrail_webhook::{Completion, EntryId, Incoming, Outgoing, Owner, TransactionalInbox, Verdict};
use rusqlite::Connection;
use std::error::Error;
use std::fmt;

impl SqliteStore {
    /// Runs `work` in a transaction of its own: what it writes to its own tables through [`Transaction::connection`] and
    /// what it asks of the store takes effect together, or not at all when it returns an error or panics.
    ///
    /// `work` runs on the thread that writes; every other write waits for it. It must not begin, commit or roll back
    /// a transaction (savepoints are allowed); what it writes without one, because SQLite has rolled it back after an error
    /// such as a full disk, is refused.
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use bankrail_stores::sqlite::{SqliteStore, TransactionError, rusqlite};
    ///
    /// let store = SqliteStore::open_in_memory()?;
    /// let undone = store
    ///     .transaction(|transaction| -> Result<(), rusqlite::Error> {
    ///         transaction.connection().execute_batch("CREATE TABLE paid (id TEXT PRIMARY KEY) STRICT")?;
    ///         Err(rusqlite::Error::QueryReturnedNoRows)
    ///     })
    ///     .await;
    /// assert!(matches!(undone, Err(TransactionError::Undone(_))));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`TransactionError::Undone`] with the error of `work`; [`TransactionError::Store`] when the store failed.
    pub async fn transaction<T, E>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, TransactionError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let run = move |connection: &Connection| -> Result<_, Fault> {
            let done = work(&Transaction { connection });
            Ok(if done.is_ok() { Outcome::Keep(done) } else { Outcome::Undo(done) })
        };
        self.database.write_alone(run).await.map_err(TransactionError::Store)?.map_err(TransactionError::Undone)
    }
}

impl TransactionalInbox for SqliteStore {
    type Work = Work;

    fn complete_with(&self, id: EntryId, owner: Owner, work: Work, now: Timestamp) -> StoreFuture<'_, Completion> {
        Box::pin(self.database.write_alone(move |connection| {
            if !inbox::complete(connection, id, owner, now)? {
                return Ok(Outcome::Undo(Completion::LeaseLost));
            }
            Ok(match (work.0)(&Transaction { connection }) {
                Ok(()) => Outcome::Keep(Completion::Committed),
                Err(error) => Outcome::Undo(Completion::Undone(error)),
            })
        }))
    }
}

/// What [`TransactionalInbox::complete_with`] does in a transaction of SQLite: a function of an open [`Transaction`]. It
/// runs on the thread that writes, under the rules of [`SqliteStore::transaction`]; a panic undoes it.
///
/// ```
/// use bankrail_stores::sqlite::{Work, rusqlite};
///
/// let reference = "I-1".to_owned();
/// let work = Work::new(move |transaction| {
///     transaction.connection().execute("INSERT INTO paid (reference) VALUES (?1)", [reference])?;
///     Ok::<_, rusqlite::Error>(())
/// });
/// # drop(work);
/// ```
pub struct Work(Box<WorkFunction>);

type WorkFunction = dyn FnOnce(&Transaction<'_>) -> Result<(), Box<dyn Error + Send + Sync>> + Send;

impl Work {
    /// Work that is undone if it returns an error.
    pub fn new<E>(work: impl FnOnce(&Transaction<'_>) -> Result<(), E> + Send + 'static) -> Self
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        Self(Box::new(|transaction| work(transaction).map_err(Into::into)))
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Work").finish_non_exhaustive()
    }
}

/// An open transaction of [`SqliteStore::transaction`] or [`Work`].
#[derive(Debug)]
pub struct Transaction<'a> {
    connection: &'a Connection,
}

impl Transaction<'_> {
    /// The connection, for statements on the caller's own tables.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        self.connection
    }

    /// Stores a message to deliver, as [`Outbox::enqueue`](bankrail_webhook::Outbox::enqueue) does.
    ///
    /// # Errors
    /// [`StoreError`]; return an error from the transaction's work then.
    pub fn enqueue(&self, message: &Outgoing, now: Timestamp) -> Result<Enqueued, StoreError> {
        Ok(outbox::enqueue(self.connection, message, now)?)
    }

    /// Stores a received message, as [`Inbox::receive`](bankrail_webhook::Inbox::receive) does.
    ///
    /// # Errors
    /// [`StoreError`]; return an error from the transaction's work then.
    pub fn receive(&self, message: &Incoming, now: Timestamp) -> Result<Verdict, StoreError> {
        Ok(inbox::receive(self.connection, message, None, now)?)
    }

    /// Marks a received message handled, as [`Inbox::complete`](bankrail_webhook::Inbox::complete) does. `false`: the lease
    /// is no longer the owner's; return an error from the transaction's work then.
    ///
    /// # Errors
    /// [`StoreError`]; return an error from the transaction's work then.
    pub fn complete(&self, id: EntryId, owner: Owner, now: Timestamp) -> Result<bool, StoreError> {
        Ok(inbox::complete(self.connection, id, owner, now)?)
    }
}

/// Why a transaction did not take effect.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransactionError<E> {
    /// The caller's work returned an error, and nothing of it was kept.
    #[error("the transaction was undone")]
    Undone(#[source] E),
    /// The store failed.
    #[error("the transaction failed")]
    Store(#[source] StoreError),
}
