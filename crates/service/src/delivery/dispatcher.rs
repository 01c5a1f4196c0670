//! The worker that delivers what is in the outbox.

mod options;
mod pauses;

pub use options::{DispatcherOptions, Unacknowledged};

use self::pauses::Pauses;
use super::attempt::{Outcome, Stored, Terms, attempt};
use super::endpoint::{Endpoints, Health, Known};
use super::transport::Transport;
use bankrail_mailbox::{
    DeliveryNote, DeliveryRecord, Disposition, EndpointId, Enqueued, EntryId, Lease, LeaseOwner, LeaseRequest, Outbox,
    OutboxEntry,
};
use bankrail_values::{Clock, StoreError, Timestamp};
use bankrail_webhook::{DeliveryHeaders, Message, MessageKind, OutgoingError};
use futures_util::FutureExt as _;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// Delivers what an [`Outbox`] holds, at least once each (Specification: "Events", delivery rules). A cheap handle:
/// clones share everything, and several may run, in one process or in many, over one outbox.
#[derive(Clone, Debug)]
pub struct Dispatcher {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    outbox: Arc<dyn Outbox>,
    endpoints: Endpoints,
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    options: DispatcherOptions,
    owner: LeaseOwner,
    wake: Notify,
}

impl Dispatcher {
    /// A dispatcher.
    ///
    /// # Errors
    /// [`NoRandomness`] when the operating system has none to tell this worker from others.
    pub fn new(
        outbox: Arc<dyn Outbox>,
        endpoints: Endpoints,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
        options: DispatcherOptions,
    ) -> Result<Self, NoRandomness> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|_| NoRandomness)?;
        let owner = LeaseOwner::from_random_bytes(random);
        let shared = Shared { outbox, endpoints, transport, clock, options, owner, wake: Notify::new() };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Puts a message into the outbox, due at once. It is durable when this returns; the headers' keys are the original
    /// request's, given by the caller and never made up.
    ///
    /// A caller that has a transaction of its own makes an [`Outgoing`](bankrail_mailbox::Outgoing)
    /// ([`Message::outgoing`]), stores it there and calls [`Dispatcher::wake`].
    ///
    /// # Errors
    /// [`EnqueueError`]: nothing was stored, unless its store error says that this is unknown.
    pub async fn enqueue(
        &self,
        endpoint: &EndpointId,
        message: &Message,
        headers: DeliveryHeaders,
    ) -> Result<Enqueued, EnqueueError> {
        if !self.shared.endpoints.contains(endpoint) {
            return Err(EnqueueError::UnknownEndpoint { endpoint: endpoint.clone() });
        }
        let outgoing = message.outgoing(endpoint.clone(), &headers).map_err(EnqueueError::Refused)?;
        let stored = self.shared.outbox.enqueue(&outgoing, self.shared.clock.now()).await;
        self.wake();
        stored.map_err(EnqueueError::Store)
    }

    /// Says that there may be something to deliver.
    pub fn wake(&self) {
        self.shared.wake.notify_one();
    }

    /// Sends a dead letter again, under its first `X-Message-Id`. False if the entry is not dead.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn resend(&self, id: EntryId) -> Result<bool, StoreError> {
        let again = self.shared.outbox.resend(id, self.shared.clock.now()).await?;
        self.wake();
        Ok(again)
    }

    /// Lets deliveries to an endpoint go on that answered 410 or was stopped otherwise, and closes its circuit. False
    /// if it was not stopped.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn resume(&self, endpoint: &EndpointId) -> Result<bool, StoreError> {
        let resumed = self.shared.outbox.resume_endpoint(endpoint).await?;
        if let Some(known) = self.shared.endpoints.get(endpoint) {
            known.close();
        }
        self.wake();
        Ok(resumed)
    }

    /// Delivers until `stop` is ready. Then it takes nothing more, waits for the deliveries under way, each of which
    /// ends within twice the time-out, and returns. What it did not get to stays in the outbox.
    ///
    /// Dropping the future instead is safe too: the deliveries under way are made again once their leases end.
    pub async fn run(&self, stop: impl Future<Output = ()> + Send) {
        let mut stop = std::pin::pin!(stop);
        let mut under_way: JoinSet<()> = JoinSet::new();
        let mut pauses = Pauses::new(&self.shared.options);
        // Beside the deliveries, and ended with this function.
        let mut forgetting = JoinSet::new();
        if let Some(retention) = self.shared.options.retention {
            let shared = Arc::clone(&self.shared);
            forgetting.spawn(async move { shared.forget_regularly(retention).await });
        }
        loop {
            // One lease for all the places that have become free meanwhile: each lease is a write to the outbox.
            while under_way.try_join_next().is_some() {}
            let room = self.shared.options.concurrency.max(1).saturating_sub(under_way.len());
            let pause = self.shared.lease_into(&mut under_way, room, &mut pauses).await;
            tokio::select! {
                biased;
                () = &mut stop => break,
                Some(_) = under_way.join_next() => {}
                () = self.shared.wake.notified() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
        while under_way.join_next().await.is_some() {}
    }

    /// Makes one delivery of each message that is due, at most as many as may be under way at once, and returns how
    /// many that were. For tests and for callers that bring their own loop.
    ///
    /// # Errors
    /// [`StoreError`] when the outbox does not lease.
    pub async fn run_once(&self) -> Result<usize, StoreError> {
        let entries = self.shared.lease(self.shared.options.concurrency.max(1)).await?;
        let made = futures_util::future::join_all(entries.into_iter().map(|entry| self.shared.deliver(entry))).await;
        Ok(made.len())
    }
}

/// The time between two looks for what is to be forgotten.
const FORGET_EVERY: Duration = Duration::from_secs(3600);

impl Shared {
    /// Starts as many deliveries as there is room for. Says how long to pause if nothing else happens.
    async fn lease_into(self: &Arc<Self>, under_way: &mut JoinSet<()>, room: usize, pauses: &mut Pauses) -> Duration {
        if room == 0 {
            return pauses.longest();
        }
        match self.lease(room).await {
            Ok(entries) => {
                let (full, leased) = (entries.len() >= room, !entries.is_empty());
                for entry in entries {
                    let shared = Arc::clone(self);
                    under_way.spawn(async move { shared.deliver(entry).await });
                }
                if full { pauses.longest() } else { pauses.after_look(leased, self.until_next().await) }
            }
            Err(error) => {
                tracing::error!(error = %error, "the outbox did not lease");
                pauses.longest()
            }
        }
    }

    async fn lease(&self, room: usize) -> Result<Vec<OutboxEntry>, StoreError> {
        let now = self.clock.now();
        let except = self.endpoints.open_circuits(now);
        let request = LeaseRequest {
            lease: Lease { owner: self.owner, until: now.saturating_add(self.options.lease()) },
            limit: u32::try_from(room).unwrap_or(u32::MAX),
            per_endpoint: self.options.per_endpoint.max(1),
            except: &except,
        };
        self.outbox.lease(request, now).await
    }

    /// How long until the next entry is due. `None`: there is none, or the outbox does not say.
    async fn until_next(&self) -> Option<Duration> {
        let due = self.outbox.next_due().await.ok().flatten();
        due.map(|due| due.saturating_since(self.clock.now()))
    }

    /// Makes one delivery of a leased entry and records it.
    async fn deliver(&self, entry: OutboxEntry) {
        let now = self.clock.now();
        let Some(known) = self.endpoints.get(&entry.message.endpoint) else {
            tracing::warn!(entry = %entry.id, endpoint = %entry.message.endpoint, "no such endpoint");
            return self.give_back(&entry, now.saturating_add(self.options.unknown_endpoint_pause)).await;
        };
        let begun = match known.begin(now) {
            Ok(begun) => begun,
            Err(due) => return self.give_back(&entry, due).await,
        };
        let started = Instant::now();
        let outcome = self.attempt(&known, &entry, now).await;
        let ended = self.clock.now();
        begun.end(outcome.health, ended, &self.options.breaker);
        if let Some(asked) = outcome.rest() {
            known.rest(ended.saturating_add(self.options.schedule.granted(asked)));
        }
        let record =
            DeliveryRecord { started_at: now, duration: started.elapsed(), status: outcome.status, note: outcome.note };
        let next = self.next(&entry, &outcome, ended).await;
        tracing::info!(
            entry = %entry.id,
            endpoint = %entry.message.endpoint,
            kind = entry.message.kind.as_str(),
            message_id = %entry.message.message_id,
            attempt = entry.deliveries.saturating_add(1),
            status = outcome.status,
            note = outcome.note.map(DeliveryNote::as_str),
            delivered = next == Disposition::Delivered,
            duration_ms = u64::try_from(record.duration.as_millis()).unwrap_or(u64::MAX),
            "attempted"
        );
        match self.outbox.record(entry.id, self.owner, &record, next, ended).await {
            Ok(true) => {}
            // It took longer than the lease, and another worker has it: delivered twice, which is allowed.
            Ok(false) => tracing::warn!(entry = %entry.id, "the lease was lost"),
            Err(error) => tracing::error!(entry = %entry.id, error = %error, "an attempt could not be recorded"),
        }
    }

    async fn attempt(&self, known: &Known, entry: &OutboxEntry, now: Timestamp) -> Outcome {
        let terms = Terms {
            timeout: self.options.timeout,
            max_response: self.options.max_response,
            retry_unacknowledged: self.options.unacknowledged == Unacknowledged::Failed,
        };
        let kind = MessageKind::from_name(entry.message.kind.as_str());
        let headers = DeliveryHeaders::from_attributes(&entry.message.attributes);
        let (Some(kind), Some((headers, _))) = (kind, headers) else {
            // Another version of this crate has enqueued it.
            tracing::error!(entry = %entry.id, "the stored message is unreadable");
            return Outcome::without_answer(DeliveryNote::Other, Health::Unknown);
        };
        let stored = Stored { kind, headers, body: &entry.message.body };
        let made = attempt(&known.endpoint, &stored, &*self.transport, &terms, now);
        // A transport or a sealer of the caller's own that panics must not leave the circuit's trial running.
        AssertUnwindSafe(made).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!(entry = %entry.id, "an attempt panicked");
            Outcome::without_answer(DeliveryNote::Other, Health::Bad)
        })
    }

    async fn next(&self, entry: &OutboxEntry, outcome: &Outcome, now: Timestamp) -> Disposition {
        if outcome.delivered {
            return Disposition::Delivered;
        }
        let endpoint = &entry.message.endpoint;
        if outcome.gone {
            match self.outbox.stop_endpoint(endpoint, "410 Gone", now).await {
                // Due again when the endpoint is resumed.
                Ok(()) => return Disposition::RetryAt(now),
                Err(error) => tracing::error!(endpoint = %endpoint, error = %error, "an endpoint could not be stopped"),
            }
        }
        let made = entry.deliveries.saturating_add(1);
        let next = self.options.schedule.after_failure(made, now, outcome.retry_after, random());
        if next == Disposition::DeadLetter {
            tracing::error!(entry = %entry.id, endpoint = %endpoint, attempts = made, "given up");
        }
        next
    }

    async fn forget_regularly(&self, retention: Duration) {
        loop {
            match self.outbox.forget(self.clock.now().saturating_sub(retention)).await {
                Ok(0) => {}
                Ok(forgotten) => tracing::info!(forgotten, "messages that were delivered long ago are forgotten"),
                Err(error) => tracing::error!(error = %error, "the outbox did not forget"),
            }
            tokio::time::sleep(FORGET_EVERY).await;
        }
    }

    async fn give_back(&self, entry: &OutboxEntry, due: Timestamp) {
        if let Err(error) = self.outbox.release(entry.id, self.owner, due).await {
            tracing::error!(entry = %entry.id, error = %error, "an entry could not be given back");
        }
    }
}

/// Spreads the jitter. Without randomness there is none.
fn random() -> u64 {
    getrandom::u64().unwrap_or(u64::MAX / 2)
}

/// The operating system gave no randomness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no randomness for a worker's name")]
#[non_exhaustive]
pub struct NoRandomness;

/// Why a message is not in the outbox.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnqueueError {
    /// No endpoint of this name is known.
    #[error("expected a known endpoint, found {endpoint}")]
    UnknownEndpoint {
        /// The name.
        endpoint: EndpointId,
    },
    /// The message or its headers are not to the letter of the specification.
    #[error("the message must not be sent")]
    Refused(#[source] OutgoingError),
    /// The outbox failed.
    #[error("the outbox failed")]
    Store(#[source] StoreError),
}
