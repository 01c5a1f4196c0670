//! The caller's work in a transaction that the store begins and ends.

use crate::postgres::pool::PLAN_FREELY;
use crate::postgres::session::{Session, Transactions};
use crate::postgres::{DatabaseError, Fault, PostgresStore};
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use tokio_postgres::Transaction;
use tokio_postgres::error::SqlState;

/// The work of a transaction in PostgreSQL, of `TransactionalInbox::complete_with` (feature
/// `mailbox`) and `TransactionalSeenEntries::record_with` (feature `statement`): an asynchronous
/// function of an open [`tokio_postgres::Transaction`]. With
/// [`InTransaction::of`](super::InTransaction::of) it can also use the store, for example enqueue
/// messages.
///
/// After a failed statement the server accepts no further statements in the transaction: return the
/// error. If a failure is expected, set a savepoint before the statement and roll back to it. Work
/// that ignores the failure is undone. If the work returns an error of the client, it becomes a
/// [`DatabaseError`].
///
/// ```
/// use bankrail_stores::postgres::PostgresWork;
///
/// let reference = "I-1".to_owned();
/// let work = PostgresWork::new(|transaction| Box::pin(async move {
///     transaction.execute("INSERT INTO paid (reference) VALUES ($1)", &[&reference]).await?;
///     Ok(())
/// }));
/// # drop(work);
/// ```
pub struct PostgresWork(Box<WorkFunction>);

type WorkError = Box<dyn Error + Send + Sync>;

type WorkFunction = dyn for<'t> FnOnce(&'t Transaction<'t>) -> PostgresWorkFuture<'t> + Send;

/// The future of the function of a [`PostgresWork`].
pub type PostgresWorkFuture<'t> = Pin<Box<dyn Future<Output = Result<(), WorkError>> + Send + 't>>;

impl PostgresWork {
    /// Makes work that is undone if it returns an error.
    pub fn new(
        work: impl for<'t> FnOnce(&'t Transaction<'t>) -> PostgresWorkFuture<'t> + Send + 'static,
    ) -> Self {
        Self(Box::new(work))
    }

    /// Runs the work. The inner error is the reason to roll back its transaction.
    async fn run(self, transaction: &Transaction<'_>) -> Result<Result<(), WorkError>, Fault> {
        let (planned, done) =
            tokio::join!(biased; transaction.batch_execute(PLAN_FREELY), (self.0)(transaction));
        planned?;
        match done {
            Ok(()) => failed_before(transaction).await,
            Err(error) => Ok(Err(match error.downcast::<tokio_postgres::Error>() {
                Ok(error) => DatabaseError::from(*error).into(),
                Err(error) => error,
            })),
        }
    }
}

impl PostgresStore {
    /// Runs the store's own part and then the work in one transaction, which is committed if the
    /// work succeeds. If the work must not run, the store's part returns the answer instead.
    pub(in crate::postgres) async fn run_work<T>(
        &self,
        own: impl AsyncFnOnce(Session<'_>) -> Result<Option<T>, Fault>,
        work: PostgresWork,
        outcome: impl FnOnce(Result<(), WorkError>) -> T,
    ) -> Result<T, Fault> {
        let mut client = self.client().await?;
        let (transaction, pooling) = client.begin().await?;
        let done = match own(Session::new(
            transaction.client(),
            pooling,
            Transactions::Others,
        ))
        .await?
        {
            Some(instead) => Err(instead),
            None => Ok(work.run(&transaction).await?),
        };
        if let Ok(Ok(())) = done {
            transaction.commit().await?;
            #[cfg(feature = "webhook")]
            self.inner.committed.notify_waiters();
        } else {
            transaction.rollback().await?;
        }
        client.give_back();
        Ok(done.map_or_else(|instead| instead, outcome))
    }
}

/// Returns an error if a statement has failed and the work has ignored that. The server would
/// otherwise answer the commit without an error and roll back.
async fn failed_before(transaction: &Transaction<'_>) -> Result<Result<(), WorkError>, Fault> {
    match transaction.batch_execute("SELECT 1").await {
        Ok(()) => Ok(Ok(())),
        Err(error) if error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION) => {
            let expected = "expected the work to return its error or set a savepoint";
            Ok(Err(
                format!("a statement of the work failed: {expected}").into()
            ))
        }
        Err(error) => Err(error.into()),
    }
}

bankrail_values::impl_debug!(PostgresWork);
