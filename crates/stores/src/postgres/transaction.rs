//! Our work inside the caller's own transaction.

use super::{inbox, outbox};
use bankrail_values::{StoreError, Timestamp};
use bankrail_webhook::store::outbox::Enqueued;
use bankrail_webhook::{EntryId, Incoming, Lease, Outgoing, Owner, Verdict};
use std::fmt;
use tokio_postgres::Transaction;

/// Inbox and outbox inside a transaction of the caller's: what is done here takes effect with the caller's rows when the
/// caller commits, or not at all.
///
/// The tables must be there: [`PostgresStore::connect`](super::PostgresStore::connect) makes them. Keep the default isolation level,
/// `READ COMMITTED`: at a higher one a message that another transaction stores at the same time is an error here, to be
/// answered by beginning anew, and a conflict with it may pass as new. After any [`StoreError`] the transaction is void;
/// roll it back.
///
/// A handler whose effect is committed exactly once:
///
/// ```no_run
/// # async fn example(client: &mut bankrail_stores::postgres::tokio_postgres::Client,
/// #     leased: &bankrail_webhook::InboxEntry, owner: bankrail_webhook::Owner, now: bankrail_values::Timestamp)
/// # -> Result<(), Box<dyn std::error::Error>> {
/// use bankrail_stores::postgres::InTransaction;
///
/// let transaction = client.transaction().await?;
/// if InTransaction::of(&transaction).complete(leased.id, owner, now).await? {
///     transaction.execute("INSERT INTO paid (message) VALUES ($1)", &[&leased.id.to_string()]).await?;
///     transaction.commit().await?;
/// } // Otherwise another worker has it: dropped, and so rolled back.
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

    /// Stores a received message, as [`Inbox::receive`](bankrail_webhook::Inbox::receive) does. Another transaction that receives
    /// a message with a key in common waits for the end of this one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn receive(&self, message: &Incoming, now: Timestamp) -> Result<Verdict, StoreError> {
        Ok(inbox::receive(self.transaction, message, None, now).await?)
    }

    /// Stores and leases a received message, as [`Inbox::claim`](bankrail_webhook::Inbox::claim) does.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn claim(&self, message: &Incoming, lease: Lease, now: Timestamp) -> Result<Verdict, StoreError> {
        Ok(inbox::receive(self.transaction, message, Some(lease), now).await?)
    }

    /// Marks a received message handled, as [`Inbox::complete`](bankrail_webhook::Inbox::complete) does. `false`: the lease is no
    /// longer the owner's; roll back.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn complete(&self, id: EntryId, owner: Owner, now: Timestamp) -> Result<bool, StoreError> {
        Ok(inbox::complete(self.transaction, id, owner, now).await?)
    }

    /// Stores a message to deliver, as [`Outbox::enqueue`](bankrail_webhook::Outbox::enqueue) does.
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
