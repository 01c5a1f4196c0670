//! Receivers that are up again.

use super::super::endpoint::KnownEndpoint;
use super::super::transport::is_of_gateway;
use super::DispatcherState;
use bankrail_mailbox::{EndpointId, OutboxQuery, OutboxState};
use bankrail_values::StoreError;
use futures_util::{StreamExt as _, stream};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The longest look at one receiver.
const LONGEST_LOOK: Duration = Duration::from_secs(1);

impl DispatcherState {
    /// Lets receivers that were down and are up again be tried.
    pub(super) async fn look_for_returned(&self) {
        if !self.marked.load(Ordering::Relaxed) {
            match self.mark_waiting().await {
                Ok(()) => self.marked.store(true, Ordering::Relaxed),
                Err(error) => tracing::error!(error = %error, "the outbox failed"),
            }
        }
        let look = |known: Arc<KnownEndpoint>| async move {
            if self.is_up(&known).await {
                self.retry(&known).await;
            }
        };
        stream::iter(self.endpoints.down())
            .for_each_concurrent(self.options.concurrency.max(1), look)
            .await;
    }

    /// Lets a receiver that was down and is up again be tried.
    pub(super) async fn retry(&self, known: &KnownEndpoint) {
        let endpoint = known.endpoint.id();
        // Before the trial, which may fail and mark it again.
        known.set_down(false);
        match self
            .outbox
            .retry_endpoint(endpoint, self.options.clock.now())
            .await
        {
            Ok(()) => {
                tracing::info!(%endpoint, "a receiver is up, and gets what waits for it");
                self.wake.notify_one();
            }
            Err(error) => {
                known.set_down(true);
                tracing::error!(%endpoint, %error, "the outbox failed");
            }
        }
    }

    /// Marks the receivers as down whose messages all wait, for an opening of the circuit or for a
    /// later time, and that were down when a dispatcher last tried. A receiver that refuses
    /// messages would use up their deliveries at each start.
    async fn mark_waiting(&self) -> Result<(), StoreError> {
        let now = self.options.clock.now();
        let circuits = self.outbox.circuits().await?.into_iter();
        let circuits: HashMap<_, _> = circuits.map(|it| (it.endpoint, it.circuit)).collect();
        let mut after = None;
        loop {
            let page = self
                .outbox
                .backlogs(after.as_ref(), OutboxQuery::MAX_LIMIT)
                .await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = Some(last.endpoint.clone());
            for backlog in page {
                let circuit = circuits.get(&backlog.endpoint).copied().unwrap_or_default();
                let waits = backlog.oldest_due.is_some()
                    && circuit.open_until.max(backlog.oldest_due) > Some(now)
                    && circuit.rests_until <= Some(now);
                if waits
                    && let Some(known) = self.endpoints.get(&backlog.endpoint)
                    && (circuit.openings > 0 || self.was_down(backlog.endpoint).await?)
                {
                    known.set_down(true);
                }
            }
        }
    }

    /// Returns true if the last delivery of the endpoint's first message had no answer.
    async fn was_down(&self, endpoint: EndpointId) -> Result<bool, StoreError> {
        let first = OutboxQuery::new()
            .endpoint(endpoint)
            .state(OutboxState::Pending)
            .limit(1);
        let Some(first) = self.outbox.list(&first).await?.pop() else {
            return Ok(false);
        };
        let last = self.outbox.deliveries(first.id).await?.pop();
        Ok(last.is_some_and(|last| last.status.is_none_or(is_of_gateway)))
    }

    /// Returns true if a receiver is up, as far as the transport can tell without a message.
    pub(super) async fn is_up(&self, known: &KnownEndpoint) -> bool {
        let look = self.transport.is_up(&known.endpoint);
        tokio::time::timeout(LONGEST_LOOK, look)
            .await
            .unwrap_or(false)
    }
}
