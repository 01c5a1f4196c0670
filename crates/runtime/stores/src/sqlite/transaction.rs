//! The caller's work in one transaction with operations of the store.

use super::SqliteStore;
use super::connection::{Fault, Outcome};
use bankrail_values::StoreError;
use rusqlite::Connection;

/// Converts an error of SQLite to an error of the store, for work of [`SqliteStore::transaction`]
/// and [`SqliteStore::read`] that answers with errors of the store.
#[must_use]
#[doc(hidden)]
pub fn store_error(error: rusqlite::Error) -> StoreError {
    Fault::Sql(error).into()
}

#[cfg(feature = "mailbox")]
mod mailbox;
mod work;

pub use work::SqliteWork;

impl SqliteStore {
    /// Runs `work` in its own transaction. Its writes to the caller's tables through
    /// [`Transaction::connection`] and its operations on the store take effect together, or not at
    /// all if it returns an error or panics.
    ///
    /// - `work` runs on the thread that writes; all other writes wait for it.
    /// - `work` must not begin, commit or roll back a transaction. Savepoints are allowed.
    /// - After an error such as a full disk, SQLite itself rolls the transaction back. Later
    ///   writes of `work` are then refused.
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use bankrail_stores::sqlite::{SqliteOptions, SqliteStore, TransactionError, rusqlite};
    ///
    /// let store = SqliteStore::open_in_memory(SqliteOptions::new())?;
    /// let undone = store
    ///     .transaction(|transaction| -> Result<(), rusqlite::Error> {
    ///         let table = "CREATE TABLE paid (id TEXT PRIMARY KEY) STRICT";
    ///         transaction.connection().execute_batch(table)?;
    ///         Err(rusqlite::Error::QueryReturnedNoRows)
    ///     })
    ///     .await;
    /// assert!(matches!(undone, Err(TransactionError::Undone(_))));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`TransactionError::Undone`] with the error of `work`; [`TransactionError::Store`] when the
    /// store failed.
    pub async fn transaction<T, E>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, TransactionError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let run = move |connection: &Connection| Ok(kept_if_ok(work(&Transaction::on(connection))));
        TransactionError::of(self.database.write_alone(run).await)
    }

    /// Runs `work` like [`SqliteStore::transaction`], in a transaction that other writes may share,
    /// so that concurrent callers wait for one commit together
    /// ([`SqliteOptions::gather`](super::SqliteOptions::gather)).
    ///
    /// - If other work in the transaction is undone, `work` runs again on the state before it. So
    ///   the only effects of `work` must be those on the database.
    /// - A transaction that cannot be committed fails for all who share it. So work whose commit
    ///   may be refused, as by a deferred constraint, belongs in [`SqliteStore::transaction`].
    ///
    /// # Errors
    /// As [`SqliteStore::transaction`]. After an error of `work`, its effects are undone, and those
    /// of other work in the transaction stay.
    pub async fn shared_transaction<T, E>(
        &self,
        work: impl Fn(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, TransactionError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let run = move |connection: &Connection| Ok(kept_if_ok(work(&Transaction::on(connection))));
        TransactionError::of(self.database.write_shared(run).await)
    }

    /// Runs `work`, which only reads, on a thread that reads, so that no write waits for it. `work`
    /// sees one state of the whole database, with all writes that were answered before the call. A
    /// write in `work` fails or is undone.
    ///
    /// # Errors
    /// [`TransactionError::Undone`] with the error of `work`; [`TransactionError::Store`] when the
    /// store failed.
    pub async fn read<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, TransactionError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        let run = move |connection: &Connection| Ok(Outcome::Undo(work(connection)));
        TransactionError::of(self.database.read_alone(run).await)
    }
}

/// Keeps the effects of work that succeeded.
fn kept_if_ok<T, E>(done: Result<T, E>) -> Outcome<Result<T, E>> {
    if done.is_ok() {
        Outcome::Keep(done)
    } else {
        Outcome::Undo(done)
    }
}

/// An open transaction of [`SqliteStore::transaction`] or [`SqliteStore::shared_transaction`], of
/// an inbox (feature `mailbox`) or of a page of seen entries (feature `statement`).
#[derive(Debug)]
pub struct Transaction<'a> {
    connection: &'a Connection,
}

impl<'a> Transaction<'a> {
    pub(super) fn on(connection: &'a Connection) -> Self {
        Self { connection }
    }

    /// Returns the connection, for statements on the caller's own tables.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        self.connection
    }
}

/// The error of a transaction that did not take effect.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransactionError<E> {
    /// The caller's work returned an error and was undone.
    #[error("the transaction was undone")]
    Undone(#[source] E),
    /// The store failed.
    #[error("the transaction failed")]
    Store(#[source] StoreError),
}

impl<E> TransactionError<E> {
    fn of<T>(answer: Result<Result<T, E>, StoreError>) -> Result<T, Self> {
        answer.map_err(Self::Store)?.map_err(Self::Undone)
    }
}

impl<E: From<StoreError>> TransactionError<E> {
    /// Returns the error of the work, or an error of the store, converted to the work's type.
    #[must_use]
    pub fn into_error(self) -> E {
        match self {
            Self::Undone(error) => error,
            Self::Store(error) => error.into(),
        }
    }
}
