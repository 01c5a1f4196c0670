//! The caller's work in a transaction that the store begins and ends.

use super::Transaction;
use crate::sqlite::connection::Outcome;
use rusqlite::Connection;
use std::error::Error;

/// The work of a transaction in SQLite, of `TransactionalInbox::complete_with` (feature `mailbox`)
/// and `TransactionalSeenEntries::record_with` (feature `statement`): a function of an open
/// [`Transaction`].
///
/// It runs on the thread that writes, under the rules of
/// [`SqliteStore::transaction`](crate::sqlite::SqliteStore::transaction). A panic undoes it.
///
/// ```
/// use bankrail_stores::sqlite::{SqliteWork, rusqlite};
///
/// let reference = "I-1".to_owned();
/// let work = SqliteWork::new(move |transaction| {
///     transaction.connection().execute("INSERT INTO paid (reference) VALUES (?1)", [reference])?;
///     Ok::<_, rusqlite::Error>(())
/// });
/// # drop(work);
/// ```
pub struct SqliteWork(Box<WorkFunction>);

type WorkFunction = dyn FnOnce(&Transaction<'_>) -> Result<(), Box<dyn Error + Send + Sync>> + Send;

impl SqliteWork {
    /// Makes work that is undone if it returns an error.
    pub fn new<E>(work: impl FnOnce(&Transaction<'_>) -> Result<(), E> + Send + 'static) -> Self
    where
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        Self(Box::new(|transaction| {
            work(transaction).map_err(Into::into)
        }))
    }

    /// Runs the work, after the store's own part of the transaction. `outcome` makes the answer
    /// from the work's result.
    pub(in crate::sqlite) fn run<T>(
        self,
        connection: &Connection,
        outcome: impl FnOnce(Result<(), Box<dyn Error + Send + Sync>>) -> T,
    ) -> Outcome<T> {
        let done = (self.0)(&Transaction::on(connection));
        let keep = if done.is_ok() {
            Outcome::Keep
        } else {
            Outcome::Undo
        };
        keep(outcome(done))
    }
}

bankrail_values::impl_debug!(SqliteWork);
