//! The operations of a store inside the caller's transaction.

use super::pool::{Notifications, Pool};
use super::session::{Pooling, Session, Transactions};
use super::{Fault, PostgresStore};
use bankrail_values::{StoreError, StoreErrorKind};
use std::future::Future;
use std::time::Duration;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, Transaction};

#[cfg(feature = "mailbox")]
mod mailbox;
mod work;

pub use work::{PostgresWork, PostgresWorkFuture};

// Begins a transaction in which each statement sees earlier commits.
const WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

// Begins a transaction in which all statements see one state of the database.
const READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The store inside the caller's transaction: operations take effect together with the caller's
/// rows when the caller commits, or not at all.
///
/// - The tables must exist: [`PostgresStore::connect`] creates them.
/// - Keep the default isolation level, `READ COMMITTED`. At a higher level, a message that another
///   transaction stores at the same time is an error, after which the transaction must be started
///   again, and a conflict with it may count as new.
/// - A transaction that enqueues is committed in one step: after a notification of idle workers the
///   server refuses `PREPARE TRANSACTION`.
/// - After any [`StoreError`], or after the future of an operation was dropped half way, as by a
///   time-out around it, the transaction is void; roll it back.
///
/// A message that is enqueued together with a row of the ledger (feature `mailbox`):
///
#[cfg_attr(feature = "mailbox", doc = "```no_run")]
#[cfg_attr(not(feature = "mailbox"), doc = "```ignore")]
/// # async fn example(client: &mut bankrail_stores::postgres::tokio_postgres::Client,
/// #     message: &bankrail_mailbox::Outgoing, now: bankrail_values::Timestamp)
/// # -> Result<(), Box<dyn std::error::Error>> {
/// use bankrail_stores::postgres::InTransaction;
///
/// let transaction = client.transaction().await?;
/// let insert = "INSERT INTO settled (message) VALUES ($1)";
/// transaction.execute(insert, &[&message.message_id.to_string()]).await?;
/// InTransaction::of(&transaction).enqueue(message, now).await?;
/// transaction.commit().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct InTransaction<'a> {
    pub(super) session: Session<'a>,
    /// The maximum duration of each statement, if the transaction's duration is not bounded.
    longest: Option<Duration>,
    /// The pool of the connection, unless it is the caller's.
    pool: Option<&'a Pool>,
}

impl<'a> InTransaction<'a> {
    /// Returns the operations of the store in this transaction.
    #[must_use]
    pub fn of(transaction: &'a Transaction<'a>) -> Self {
        Self {
            session: Session::new(transaction.client(), Pooling::Caller, Transactions::Others),
            longest: None,
            pool: None,
        }
    }

    /// Returns the rows of a statement on the caller's own tables, with parameters `$1`, `$2` and
    /// so on. In a transaction of [`PostgresStore::transaction`] or [`PostgresStore::read`] the
    /// statement is prepared once for each connection, and planned once for all parameters, with
    /// indexes.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn query(
        &self,
        sql: &'static str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, StoreError> {
        self.bounded(self.session.query(sql, parameters)).await
    }

    /// Runs a statement as [`InTransaction::query`] does, and returns the number of changed rows.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn execute(
        &self,
        sql: &'static str,
        parameters: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<u64, StoreError> {
        self.bounded(self.session.execute(sql, parameters)).await
    }

    pub(super) async fn bounded<T>(
        &self,
        statement: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, StoreError> {
        let done = match self.longest {
            None => statement.await,
            Some(longest) => tokio::time::timeout(longest, statement)
                .await
                .map_err(late)?,
        };
        Ok(done.inspect_err(|fault| self.pool.iter().for_each(|pool| pool.look_at(fault)))?)
    }
}

fn late(late: tokio::time::error::Elapsed) -> StoreError {
    StoreError::new(StoreErrorKind::Timeout, late)
}

bankrail_values::impl_debug!(InTransaction<'_>);

impl PostgresStore {
    /// Runs `work` in a new transaction at the isolation level `READ COMMITTED`. The statements of
    /// `work` take effect together, or not at all if `work` returns an error.
    ///
    /// - The work neither begins nor ends a transaction, and changes no setting of the session
    ///   (`SET`, `LISTEN`, advisory locks of a session): its connection goes back to the pool.
    /// - The wait for a connection, the work and the commit share the maximum duration of one
    ///   operation.
    /// - After a failed statement the server accepts no further ones: the work returns its error,
    ///   and work that ignores it is undone.
    ///
    /// ```no_run
    /// # async fn example(store: bankrail_stores::postgres::PostgresStore) -> Result<(), bankrail_values::StoreError> {
    /// use bankrail_stores::postgres::tokio_postgres::types::Type;
    /// use bankrail_values::StoreError;
    ///
    /// let paid = "INSERT INTO paid (reference) VALUES ($1)";
    /// store.transaction(async |sql| sql.execute(paid, &[(&"I-1", Type::TEXT)]).await).await?;
    /// # Ok::<(), StoreError>(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The error of `work`, or an error of the store, converted to the work's type.
    pub async fn transaction<T, E: From<StoreError>>(
        &self,
        work: impl AsyncFnOnce(&InTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        tokio::time::timeout(self.inner.timeout, self.run_alone(WRITE, None, work))
            .await
            .map_err(late)?
    }

    /// Runs `work`, which only reads, as [`PostgresStore::transaction`] does. All statements of
    /// `work` see one state of the database, with all transactions that were committed before the
    /// first statement. A write is refused.
    ///
    /// # Errors
    /// The error of `work`, or an error of the store, converted to the work's type.
    pub async fn read<T, E: From<StoreError>>(
        &self,
        work: impl AsyncFnOnce(&InTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        tokio::time::timeout(self.inner.timeout, self.run_alone(READ, None, work))
            .await
            .map_err(late)?
    }

    /// Runs `work` as [`PostgresStore::transaction`] does, if it takes longer than an operation:
    /// the maximum duration applies to each statement. Locks are held until the end of the work.
    ///
    /// # Errors
    /// The error of `work`, or an error of the store, converted to the work's type.
    pub async fn long_transaction<T, E: From<StoreError>>(
        &self,
        work: impl AsyncFnOnce(&InTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.run_alone(WRITE, Some(self.inner.timeout), work).await
    }

    /// Runs `work` as [`PostgresStore::read`] does, if it takes longer than an operation: the
    /// maximum duration applies to each statement.
    ///
    /// # Errors
    /// The error of `work`, or an error of the store, converted to the work's type.
    pub async fn long_read<T, E: From<StoreError>>(
        &self,
        work: impl AsyncFnOnce(&InTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.run_alone(READ, Some(self.inner.timeout), work).await
    }

    async fn run_alone<T, E: From<StoreError>>(
        &self,
        begin: &'static str,
        longest: Option<Duration>,
        work: impl AsyncFnOnce(&InTransaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let failed = |fault: Fault| E::from(StoreError::from(fault));
        let client = self.client().await.map_err(failed)?;
        let transaction = InTransaction {
            session: client.session(Transactions::Others),
            longest,
            pool: Some(&self.inner.pool),
        };
        // The first statement of the work is sent without waiting for the answer.
        let (begun, done) = tokio::join!(biased; client.start(begin), work(&transaction));
        begun.map_err(|error| failed(error.into()))?;
        let ended = match &done {
            // After a statement whose error the work ignored, the server would answer the commit
            // without an error and roll back; this one fails then.
            Ok(_) => transaction
                .bounded(
                    client
                        .session(Transactions::Own)
                        .commit_with([("SELECT 1", &[])]),
                )
                .await
                .map(drop),
            Err(_) => {
                transaction
                    .bounded(async { Ok(client.batch("ROLLBACK").await?) })
                    .await
            }
        };
        match (done, ended) {
            (Ok(_), Err(error)) => Err(error.into()),
            // The error of the work is the cause of the other one.
            (Err(error), Err(_)) => Err(error),
            (done, Ok(())) => {
                client.give_back();
                #[cfg(feature = "webhook")]
                self.inner.committed.notify_waiters();
                done
            }
        }
    }

    /// Listens on a channel, on a connection in addition to those of
    /// [`PostgresOptions::connections`](super::PostgresOptions). The store itself notifies only its
    /// own workers.
    ///
    /// # Errors
    /// [`StoreError`] if there is no connection within the maximum duration of an operation, or if
    /// the pooler has no sessions
    /// ([`PostgresOptions::transaction_pooling`](super::PostgresOptions)).
    pub async fn listen(&self, channel: &'static str) -> Result<Notifications, StoreError> {
        self.timed(self.inner.pool.listen(channel)).await
    }
}
