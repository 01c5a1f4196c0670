//! Inbox and outbox in the caller's transaction.

use super::{InTransaction, Work};
use crate::postgres::session::Session;
use crate::postgres::{PostgresInbox, inbox, outbox};
use bankrail_mailbox::{
    Completion, Enqueued, EntryId, Incoming, Lease, LeaseOwner, Outgoing, ReceiveOutcome, TransactionalInbox,
};
use bankrail_values::{StoreError, StoreFuture, Timestamp};

impl TransactionalInbox for PostgresInbox {
    type Work = Work;

    /// The work and the wait for a connection share the maximum duration of one operation. When it is over, the work is
    /// undone unless its commit has begun.
    fn complete_with(&self, id: EntryId, owner: LeaseOwner, work: Work, now: Timestamp) -> StoreFuture<'_, Completion> {
        Box::pin(self.store.timed(async move {
            let mut client = self.store.client().await?;
            let (transaction, prepared) = client.begin().await?;
            let session = Session::within(&transaction, prepared);
            let completion = if !inbox::complete(session, id, owner, now).await? {
                Completion::LeaseLost
            } else {
                match work.run(&transaction).await? {
                    Ok(()) => Completion::Committed,
                    Err(error) => Completion::Undone(error),
                }
            };
            match completion {
                Completion::Committed => {
                    transaction.commit().await?;
                    #[cfg(feature = "webhook")]
                    self.store.shared.committed.notify_waiters();
                }
                _ => transaction.rollback().await?,
            }
            client.give_back();
            Ok(completion)
        }))
    }
}

impl InTransaction<'_> {
    /// Stores a received message, as [`Inbox::receive`](bankrail_mailbox::Inbox::receive) does. Another transaction
    /// that receives a message with a key in common waits for the end of this one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn receive(&self, message: &Incoming, now: Timestamp) -> Result<ReceiveOutcome, StoreError> {
        Ok(inbox::receive(self.session(), message, None, now).await?)
    }

    /// Stores and leases a received message, as [`Inbox::claim`](bankrail_mailbox::Inbox::claim) does.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn claim(&self, message: &Incoming, lease: Lease, now: Timestamp) -> Result<ReceiveOutcome, StoreError> {
        Ok(inbox::receive(self.session(), message, Some(lease), now).await?)
    }

    /// Marks a received message handled, as [`Inbox::complete`](bankrail_mailbox::Inbox::complete) does. `false`: the
    /// lease is no longer the owner's; roll back.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn complete(&self, id: EntryId, owner: LeaseOwner, now: Timestamp) -> Result<bool, StoreError> {
        Ok(inbox::complete(self.session(), id, owner, now).await?)
    }

    /// Stores a message to deliver, as [`Outbox::enqueue`](bankrail_mailbox::Outbox::enqueue) does.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn enqueue(&self, message: &Outgoing, now: Timestamp) -> Result<Enqueued, StoreError> {
        Ok(outbox::enqueue(self.session(), message, now).await?)
    }
}
