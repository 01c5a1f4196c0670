//! Inbox and outbox in the caller's transaction.

use super::Transaction;
use crate::sqlite::connection::Outcome;
use crate::sqlite::{SqliteInbox, inbox, outbox};
use bankrail_mailbox::{
    Completion, Enqueued, EntryId, Incoming, LeaseOwner, Outgoing, ReceiveOutcome, TransactionalInbox,
};
use bankrail_values::{StoreError, StoreFuture, Timestamp};
use std::error::Error;
use std::fmt;

impl TransactionalInbox for SqliteInbox {
    type Work = Work;

    fn complete_with(&self, id: EntryId, owner: LeaseOwner, work: Work, now: Timestamp) -> StoreFuture<'_, Completion> {
        Box::pin(self.store.database.write_alone(move |connection| {
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

/// The work of [`TransactionalInbox::complete_with`] in SQLite: a function of an open [`Transaction`].
///
/// It runs on the thread that writes, under the rules of
/// [`SqliteStore::transaction`](crate::sqlite::SqliteStore::transaction). A panic undoes it.
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

impl Transaction<'_> {
    /// Stores a message to deliver, as [`Outbox::enqueue`](bankrail_mailbox::Outbox::enqueue) does.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction's work must then return an error.
    pub fn enqueue(&self, message: &Outgoing, now: Timestamp) -> Result<Enqueued, StoreError> {
        Ok(outbox::enqueue(self.connection, message, now)?)
    }

    /// Stores a received message, as [`Inbox::receive`](bankrail_mailbox::Inbox::receive) does.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction's work must then return an error.
    pub fn receive(&self, message: &Incoming, now: Timestamp) -> Result<ReceiveOutcome, StoreError> {
        Ok(inbox::receive(self.connection, message, None, now)?)
    }

    /// Marks a received message handled, as [`Inbox::complete`](bankrail_mailbox::Inbox::complete) does. `false`: the
    /// lease is no longer the owner's; the transaction's work must then return an error.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction's work must then return an error.
    pub fn complete(&self, id: EntryId, owner: LeaseOwner, now: Timestamp) -> Result<bool, StoreError> {
        Ok(inbox::complete(self.connection, id, owner, now)?)
    }
}
