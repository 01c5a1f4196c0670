//! The store's work inside the caller's own transaction.

use super::{Fault, PostgresInbox, inbox, outbox, refused};
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

/// Inbox and outbox inside a transaction of the caller's: what is done here takes effect with the caller's rows when
/// the caller commits, or not at all.
///
/// The tables must be there: [`PostgresStore::connect`](super::PostgresStore::connect) makes them. Keep the default
/// isolation level, `READ COMMITTED`: at a higher one a message that another transaction stores at the same time is an
/// error here, to be answered by beginning anew, and a conflict with it may pass as new. After any [`StoreError`] the
/// transaction is void; roll it back.
///
/// A message that leaves with the ledger's own row, or not at all:
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
    /// Works in this transaction.
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

    /// The work and the wait for a connection share the time of one operation; when it is over, the work is undone
    /// unless its commit was under way.
    fn complete_with(&self, id: EntryId, owner: LeaseOwner, work: Work, now: Timestamp) -> StoreFuture<'_, Completion> {
        Box::pin(self.store.timed(async move {
            let mut client = self.store.client().await?;
            let transaction = client.transaction().await?;
            let completion = if !inbox::complete(&transaction, id, owner, now).await? {
                Completion::LeaseLost
            } else if let Err(error) = (work.0)(&transaction).await {
                Completion::Undone(match error.downcast::<tokio_postgres::Error>() {
                    Ok(error) => refused(*error),
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

/// Whether a statement failed whose error the work kept to itself. The server would answer a commit without an error
/// then and roll back.
async fn failed_before(transaction: &Transaction<'_>) -> Result<Option<Box<dyn Error + Send + Sync>>, Fault> {
    match transaction.batch_execute("SELECT 1").await {
        Ok(()) => Ok(None),
        Err(error) if error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION) => {
            Ok(Some("a statement of the work failed before: expected its error, or a savepoint around it".into()))
        }
        Err(error) => Err(error.into()),
    }
}

/// What [`TransactionalInbox::complete_with`] does in a transaction of PostgreSQL: an asynchronous function of an open
/// [`tokio_postgres::Transaction`]. With [`InTransaction::of`] it can also enqueue messages.
///
/// The server accepts nothing more in a transaction in which a statement failed: return the error. Where a failure is
/// expected, set a savepoint before the statement and roll back to it; work that swallows an error is undone.
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
