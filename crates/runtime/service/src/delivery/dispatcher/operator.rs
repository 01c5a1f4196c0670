//! The operations of an operator on a dispatcher.
//!
//! The messages of the outbox are shown by [`OutboxOperator`](bankrail_mailbox::OutboxOperator).

use super::Dispatcher;
use crate::delivery::snapshot::DispatcherSnapshot;
use bankrail_mailbox::{DropOutcome, EndpointId, EntryId, Intervention, OutboxQuery, OutboxState};
use bankrail_values::{StoreError, Timestamp};

impl Dispatcher {
    /// The maximum number of messages that one call of [`Dispatcher::resend_delivered`] resends.
    pub const MAX_RESENT: u64 = 10_000;

    /// Returns the state of this dispatcher and of its outbox. The outbox counts its messages, in
    /// time proportional to their number.
    ///
    /// # Errors
    /// [`StoreError`] of the outbox.
    pub async fn snapshot(&self) -> Result<DispatcherSnapshot, StoreError> {
        self.shared.snapshot().await
    }

    /// Resends a dead letter, or a message that was delivered, with its original `X-Message-Id`.
    /// Returns false if the entry is pending, dropped or forgotten.
    ///
    /// # Errors
    /// [`StoreError`] of the outbox.
    pub async fn resend(&self, id: EntryId) -> Result<bool, StoreError> {
        let again = self
            .shared
            .outbox
            .resend(id, self.shared.options.clock.now())
            .await?;
        self.wake();
        Ok(again)
    }

    /// Resends all dead letters of an endpoint with their original `X-Message-Id`s. Returns their
    /// number.
    ///
    /// # Errors
    /// [`StoreError`] of the outbox. Some may have been resent.
    pub async fn resend_all(&self, endpoint: &EndpointId) -> Result<u64, StoreError> {
        let resent = self
            .shared
            .outbox
            .resend_all(endpoint, self.shared.options.clock.now())
            .await?;
        self.wake();
        Ok(resent)
    }

    /// Resends the messages that were delivered to an endpoint from `from` to before `to`, with
    /// their original `X-Message-Id`s and in the order of enqueueing: for a customer whose data was
    /// restored from a backup of `from`. Returns the number of messages.
    ///
    /// One call resends at most [`MAX_RESENT`](Self::MAX_RESENT) messages. Another call with the
    /// same `to`, once these are delivered, resends further ones. A forgotten message is not
    /// resent.
    ///
    /// # Errors
    /// [`StoreError`] of the outbox. Some may have been resent.
    pub async fn resend_delivered(
        &self,
        endpoint: &EndpointId,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<u64, StoreError> {
        let outbox = &self.shared.outbox;
        let mut query = OutboxQuery::new()
            .endpoint(endpoint.clone())
            .state(OutboxState::Delivered)
            .enqueued_before(to)
            .limit(OutboxQuery::MAX_LIMIT);
        let mut resent = 0;
        'pages: loop {
            let page = outbox.list(&query).await?;
            let Some(last) = page.last().map(|summary| summary.id) else {
                break;
            };
            for summary in page {
                if summary.finished_at.is_none_or(|at| at < from || at >= to) {
                    continue;
                }
                if resent == Self::MAX_RESENT {
                    break 'pages;
                }
                let again = outbox
                    .resend(summary.id, self.shared.options.clock.now())
                    .await?;
                resent += u64::from(again);
            }
            query = query.after(last);
        }
        tracing::info!(%endpoint, %from, %to, resent, "delivered messages are resent");
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
            .drop_entry(id, intervention, self.shared.options.clock.now())
            .await
    }

    /// Stops deliveries to an endpoint until it is resumed, in all dispatchers over the outbox.
    /// Deliveries under way are completed. Messages to the endpoint can still be enqueued. A second
    /// stop has no effect.
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
            .stop_endpoint(endpoint, intervention, self.shared.options.clock.now())
            .await
    }

    /// Sends all waiting messages to an endpoint now, once its receiver is back. Returns false if
    /// the endpoint was not stopped.
    ///
    /// - A stop of the endpoint, by its answer 410 or an operator, ends, and its circuit is
    ///   closed.
    /// - Its messages that wait by the schedule or for a `Retry-After` are due at once, in the
    ///   order of enqueueing. The count of their deliveries goes on: if one fails again, the
    ///   schedule continues with its next pause.
    /// - Deliveries under way are not made twice, and dead letters stay
    ///   ([`Dispatcher::resend_all`]).
    /// - The call affects all dispatchers over the outbox. Workers of other processes begin
    ///   within [`DispatcherOptions::longest_idle`](super::DispatcherOptions::longest_idle).
    ///
    /// # Errors
    /// [`StoreError`] of the outbox. Some messages may be due.
    #[doc(alias = "send_now")]
    pub async fn resume(&self, endpoint: &EndpointId) -> Result<bool, StoreError> {
        let resumed = self
            .shared
            .outbox
            .resume_endpoint(endpoint, self.shared.options.clock.now())
            .await?;
        self.wake();
        Ok(resumed)
    }
}
