//! The store's operations inside the caller's transaction.

use super::{DatabaseError, Fault, PostgresInbox, inbox, outbox};
use bankrail_mailbox::{
    Completion, Enqueued, EntryId, Incoming, Lease, LeaseOwner, Outgoing, ReceiveOutcome, TransactionalInbox,
};
use bankrail_values::{StoreError, StoreFuture, Timestamp};
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use tokio_postgres::Transaction;
use tokio_postgres::error::SqlState;

/// Inbox and outbox inside the caller's transaction: operations take effect together with the caller's rows when the
/// caller commits, or not at all.
///
/// - The tables must exist: [`PostgresStore::connect`](super::PostgresStore::connect) creates them.
/// - Keep the default isolation level, `READ COMMITTED`. At a higher level, a message that another transaction stores
///   at the same time is an error, after which the transaction must be started again, and a conflict with it may count
///   as new.
/// - After any [`StoreError`] the transaction is void; roll it back.
///
/// A message that is enqueued together with a row of the ledger:
///
/// ```no_run
/// # async fn example(client: &mut bankrail_stores::postgres::tokio_postgres::Client,
/// #     message: &bankrail_mailbox::Outgoing, now: bankrail_values::Timestamp)
/// # -> Result<(), Box<dyn std::error::Error>> {
/// use bankrail_stores::postgres::InTransaction;
///
/// let transaction = client.transaction().await?;
/// transaction.execute("INSERT INTO settled (message) VALUES ($1)", &[&message.message_id.to_string()]).await?;
/// InTransaction::of(&transaction).enqueue(message, now).await?;
/// transaction.commit().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct InTransaction<'a> {
    transaction: &'a Transaction<'a>,
}

impl<'a> InTransaction<'a> {
    /// The inbox and outbox in this transaction.
    #[must_use]
    pub fn of(transaction: &'a Transaction<'a>) -> Self {
        Self { transaction }
    }

    /// Stores a received message, as [`Inbox::receive`](bankrail_mailbox::Inbox::receive) does. Another transaction
    /// that receives a message with a key in common waits for the end of this one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn receive(&self, message: &Incoming, now: Timestamp) -> Result<ReceiveOutcome, StoreError> {
        Ok(inbox::receive(self.transaction, message, None, now).await?)
    }

    /// Stores and leases a received message, as [`Inbox::claim`](bankrail_mailbox::Inbox::claim) does.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn claim(&self, message: &Incoming, lease: Lease, now: Timestamp) -> Result<ReceiveOutcome, StoreError> {
        Ok(inbox::receive(self.transaction, message, Some(lease), now).await?)
    }

    /// Marks a received message handled, as [`Inbox::complete`](bankrail_mailbox::Inbox::complete) does. `false`: the
    /// lease is no longer the owner's; roll back.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn complete(&self, id: EntryId, owner: LeaseOwner, now: Timestamp) -> Result<bool, StoreError> {
        Ok(inbox::complete(self.transaction, id, owner, now).await?)
    }

    /// Stores a message to deliver, as [`Outbox::enqueue`](bankrail_mailbox::Outbox::enqueue) does.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn enqueue(&self, message: &Outgoing, now: Timestamp) -> Result<Enqueued, StoreError> {
        Ok(outbox::enqueue(self.transaction, message, now).await?)
    }
}

impl fmt::Debug for InTransaction<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("InTransaction").finish_non_exhaustive()
    }
}

impl TransactionalInbox for PostgresInbox {
    type Work = Work;

    /// The work and the wait for a connection share the maximum duration of one operation. When it is over, the work is
    /// undone unless its commit has begun.
    fn complete_with(&self, id: EntryId, owner: LeaseOwner, work: Work, now: Timestamp) -> StoreFuture<'_, Completion> {
        Box::pin(self.store.timed(async move {
            let mut client = self.store.client().await?;
            let transaction = client.transaction().await?;
            let completion = if !inbox::complete(&transaction, id, owner, now).await? {
                Completion::LeaseLost
            } else if let Err(error) = (work.0)(&transaction).await {
                Completion::Undone(match error.downcast::<tokio_postgres::Error>() {
                    Ok(error) => DatabaseError::from(*error).into(),
                    Err(error) => error,
                })
            } else if let Some(failed) = failed_before(&transaction).await? {
                Completion::Undone(failed)
            } else {
                Completion::Committed
            };
            match completion {
                Completion::Committed => transaction.commit().await?,
                _ => transaction.rollback().await?,
            }
            client.give_back();
            Ok(completion)
        }))
    }
}

/// Whether a statement failed and the work did not return its error. The server would then answer the commit without an
/// error and roll back.
async fn failed_before(transaction: &Transaction<'_>) -> Result<Option<Box<dyn Error + Send + Sync>>, Fault> {
    match transaction.batch_execute("SELECT 1").await {
        Ok(()) => Ok(None),
        Err(error) if error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION) => {
            Ok(Some("a statement of the work failed: expected the work to return its error or set a savepoint".into()))
        }
        Err(error) => Err(error.into()),
    }
}

/// The work of [`TransactionalInbox::complete_with`] in PostgreSQL: an asynchronous function of an open
/// [`tokio_postgres::Transaction`]. With [`InTransaction::of`] it can also enqueue messages.
///
/// After a failed statement the server accepts no further statements in the transaction: return the error. If a failure
/// is expected, set a savepoint before the statement and roll back to it. Work that does not return an error is undone.
/// An error of the client that the work returns comes back as a [`DatabaseError`].
///
/// ```
/// use bankrail_stores::postgres::Work;
///
/// let reference = "I-1".to_owned();
/// let work = Work::new(|transaction| Box::pin(async move {
///     transaction.execute("INSERT INTO paid (reference) VALUES ($1)", &[&reference]).await?;
///     Ok(())
/// }));
/// # drop(work);
/// ```
pub struct Work(Box<WorkFunction>);

type WorkFunction = dyn for<'t> FnOnce(&'t Transaction<'t>) -> WorkFuture<'t> + Send;

/// What the function of a [`Work`] returns.
pub type WorkFuture<'t> = Pin<Box<dyn Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send + 't>>;

impl Work {
    /// Work that is undone if it returns an error.
    pub fn new(work: impl for<'t> FnOnce(&'t Transaction<'t>) -> WorkFuture<'t> + Send + 'static) -> Self {
        Self(Box::new(work))
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Work").finish_non_exhaustive()
    }
}
