//! The caller's own work in one transaction with the store's.

use super::SqliteStore;
use super::connection::{Fault, Outcome};
use bankrail_values::StoreError;
use rusqlite::Connection;

#[cfg(feature = "mailbox")]
mod mailbox;

#[cfg(feature = "mailbox")]
pub use mailbox::Work;

impl SqliteStore {
    /// Runs `work` in a transaction of its own: what it writes to its own tables through [`Transaction::connection`]
    /// and what it asks of the store takes effect together, or not at all when it returns an error or panics.
    ///
    /// `work` runs on the thread that writes; every other write waits for it. It must not begin, commit or roll back a
    /// transaction (savepoints are allowed); what it writes without one, because SQLite has rolled it back after an
    /// error such as a full disk, is refused.
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

    /// Runs `work`, which only reads, on the thread that reads: no write waits for it. It sees one state of the whole
    /// database, with every write that was answered before the call. What it tries to write fails or is undone.
    ///
    /// # Errors
    /// [`TransactionError::Undone`] with the error of `work`; [`TransactionError::Store`] when the store failed.
    pub async fn read<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, TransactionError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let run = move |connection: &Connection| Ok(Outcome::Undo(work(connection)));
        self.database.read_alone(run).await.map_err(TransactionError::Store)?.map_err(TransactionError::Undone)
    }
}

/// An open transaction of [`SqliteStore::transaction`], or of an inbox (feature `mailbox`).
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
