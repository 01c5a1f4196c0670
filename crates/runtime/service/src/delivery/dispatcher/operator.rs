//! The operations of an operator on a dispatcher.
//!
//! The messages of the outbox are shown by [`OutboxOperator`](bankrail_mailbox::OutboxOperator).

use super::Dispatcher;
use crate::delivery::snapshot::DispatcherSnapshot;
use bankrail_mailbox::{DropOutcome, EndpointId, EntryId, Intervention};
use bankrail_values::StoreError;

impl Dispatcher {
    /// Returns the state of this dispatcher and of its outbox. The outbox counts its messages,
    /// which takes longer the more there are.
    ///
    /// # Errors
    /// [`StoreError`] of the outbox.
    pub async fn snapshot(&self) -> Result<DispatcherSnapshot, StoreError> {
        self.shared.snapshot().await
    }

    /// Resends a dead letter with its original `X-Message-Id`. False if the entry is not a dead
    /// letter.
    ///
    /// # Errors
    /// [`StoreError`] of the outbox.
    pub async fn resend(&self, id: EntryId) -> Result<bool, StoreError> {
        let again = self
            .shared
            .outbox
            .resend(id, self.shared.clock.now())
            .await?;
        self.wake();
        Ok(again)
    }

    /// Resends all dead letters of an endpoint with their original `X-Message-Id`s. Returns how
    /// many.
    ///
    /// # Errors
    /// [`StoreError`] of the outbox. Some may have been resent.
    pub async fn resend_all(&self, endpoint: &EndpointId) -> Result<u64, StoreError> {
        let resent = self
            .shared
            .outbox
            .resend_all(endpoint, self.shared.clock.now())
            .await?;
        self.wake();
        Ok(resent)
    }

    /// Drops a pending message or a dead letter, as
    /// [`OutboxOperator::drop_entry`](bankrail_mailbox::OutboxOperator::drop_entry) does: it is
    /// never delivered from then on. A message that is being delivered is not dropped.
    ///
    /// # Errors
    /// [`StoreError`] of the outbox.
    pub async fn drop_entry(
        &self,
        id: EntryId,
        intervention: &Intervention,
    ) -> Result<DropOutcome, StoreError> {
        self.shared
            .outbox
            .drop_entry(id, intervention, self.shared.clock.now())
            .await
    }

    /// Stops deliveries to an endpoint until it is resumed, in all dispatchers over the outbox.
    /// Those that are under way end. Messages to it are still enqueued. Stopping a stopped endpoint
    /// changes nothing.
    ///
    /// # Errors
    /// [`StoreError`] of the outbox.
    pub async fn stop(
        &self,
        endpoint: &EndpointId,
        intervention: &Intervention,
    ) -> Result<(), StoreError> {
        self.shared
            .outbox
            .stop_endpoint(endpoint, intervention, self.shared.clock.now())
            .await
    }

    /// Sends all waiting messages to an endpoint now: for when its receiver is back. False if it
    /// was not stopped.
    ///
    /// - It is stopped no longer, by its answer 410 or otherwise, and its circuit is closed.
    /// - Its messages that wait by the schedule or for a `Retry-After` are due at once, in the
    ///   order of enqueueing. Their deliveries are counted on: if one fails again, the schedule
    ///   goes on with its next pause.
    /// - Deliveries under way are not made twice, and dead letters stay
    ///   ([`Dispatcher::resend_all`]).
    /// - It is for all dispatchers over the outbox. Those of other processes begin within
    ///   [`DispatcherOptions::longest_idle`](super::DispatcherOptions::longest_idle).
    ///
    /// # Errors
    /// [`StoreError`] of the outbox. Some messages may be due.
    #[doc(alias = "send_now")]
    pub async fn resume(&self, endpoint: &EndpointId) -> Result<bool, StoreError> {
        let resumed = self
            .shared
            .outbox
            .resume_endpoint(endpoint, self.shared.clock.now())
            .await?;
        self.wake();
        Ok(resumed)
    }
}
