//! Inbox and outbox in the caller's transaction.

use super::{InTransaction, PostgresWork};
use crate::postgres::session::Session;
use crate::postgres::{PostgresInbox, inbox, outbox};
use bankrail_mailbox::{
    Completion, Enqueued, EntryId, InboxState, InboxUpdate, Incoming, LeaseOwner, Outgoing,
    ReceiveOutcome, TransactionalInbox,
};
use bankrail_values::{StoreError, StoreFuture, Timestamp};

impl TransactionalInbox for PostgresInbox {
    type Work = PostgresWork;

    /// Completes a message with work. The work and the wait for a connection share the maximum
    /// duration of one operation. When it is over, the work is undone unless its commit has begun.
    fn complete_with(
        &self,
        id: EntryId,
        owner: LeaseOwner,
        work: PostgresWork,
        now: Timestamp,
    ) -> StoreFuture<'_, Completion> {
        let own = async move |session: Session<'_>| {
            let completed = inbox::update(
                session,
                id,
                owner,
                InboxUpdate::to(InboxState::Completed),
                now,
            )
            .await?;
            Ok((!completed).then_some(Completion::LeaseLost))
        };
        let outcome =
            |done: Result<(), _>| done.map_or_else(Completion::Undone, |()| Completion::Committed);
        Box::pin(self.store.timed(self.store.run_work(own, work, outcome)))
    }
}

impl InTransaction<'_> {
    /// Stores a received message, as [`Inbox::receive`](bankrail_mailbox::Inbox::receive) does.
    /// Another transaction that receives a message with a key in common waits for the end of this
    /// one.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn receive(
        &self,
        message: &Incoming,
        now: Timestamp,
    ) -> Result<ReceiveOutcome, StoreError> {
        self.bounded(inbox::receive(self.session, message, now))
            .await
    }

    /// Stores a message to deliver, as [`Outbox::enqueue`](bankrail_mailbox::Outbox::enqueue) does.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn enqueue(
        &self,
        message: &Outgoing,
        now: Timestamp,
    ) -> Result<Enqueued, StoreError> {
        self.bounded(outbox::enqueue(self.session, message, now))
            .await
    }
}
