//! Inbox and outbox in the caller's transaction.

use super::{SqliteWork, Transaction};
use crate::sqlite::connection::Outcome;
use crate::sqlite::{SqliteInbox, inbox, outbox};
use bankrail_mailbox::{
    Completion, Enqueued, EntryId, InboxState, InboxUpdate, Incoming, LeaseOwner, Outgoing,
    ReceiveOutcome, TransactionalInbox,
};
use bankrail_values::{StoreError, StoreFuture, Timestamp};

impl TransactionalInbox for SqliteInbox {
    type Work = SqliteWork;

    fn complete_with(
        &self,
        id: EntryId,
        owner: LeaseOwner,
        work: SqliteWork,
        now: Timestamp,
    ) -> StoreFuture<'_, Completion> {
        Box::pin(self.database.write_alone(move |connection| {
            let completed = InboxUpdate::to(InboxState::Completed);
            if !inbox::update(connection, id, owner, completed, now)? {
                return Ok(Outcome::Undo(Completion::LeaseLost));
            }
            Ok(work.run(connection, |done| {
                done.map_or_else(Completion::Undone, |()| Completion::Committed)
            }))
        }))
    }
}

impl Transaction<'_> {
    /// Stores a message to deliver, as [`Outbox::enqueue`](bankrail_mailbox::Outbox::enqueue) does.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction's work must then return an error.
    pub fn enqueue(&self, message: &Outgoing, now: Timestamp) -> Result<Enqueued, StoreError> {
        Ok(outbox::enqueue(self.connection, message, now)?)
    }

    /// Stores a received message, as [`Inbox::receive`](bankrail_mailbox::Inbox::receive) does.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction's work must then return an error.
    pub fn receive(
        &self,
        message: &Incoming,
        now: Timestamp,
    ) -> Result<ReceiveOutcome, StoreError> {
        Ok(inbox::receive(self.connection, message, now)?)
    }
}
