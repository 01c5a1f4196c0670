//! The worker that delivers the messages of the outbox.

mod leases;
mod operator;
mod options;
mod pauses;
mod places;
mod running;

pub use options::{DispatcherOptions, MissingAcknowledgement};

use self::leases::{Leases, end_lease};
use self::pauses::Pauses;
use self::places::{Free, Places};
use self::running::Running;
use super::breaker::{Ended, Health};
use super::endpoint::{Endpoints, Known};
use super::post::{Outcome, Stored, Terms, post};
use super::snapshot::DispatcherSnapshot;
use super::transport::Transport;
use crate::measure;
use bankrail_http::{CpuPool, FORGET_EVERY, Recurring};
use bankrail_mailbox::{
    Circuit, DeliveryNote, DeliveryRecord, Disposition, EndpointId, Enqueued, Intervention, Lease,
    LeaseOwner, LeaseRequest, OutboxEntry, OutboxStore, Outgoing,
};
use bankrail_values::{Clock, RandomnessError, StoreError, Timestamp, jitter, random_bytes};
use bankrail_webhook::sender::RequestMismatchError;
use bankrail_webhook::{DeliveryHeaders, Message, MessageKind, OutgoingError};
use futures_util::FutureExt as _;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Notify, mpsc};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;

/// Delivers each message of an [outbox](bankrail_mailbox::OutboxStore) at least once
/// (Specification: "Events", delivery rules).
///
/// Cheap to clone; clones share everything. Several dispatchers, in one process or in many, may run
/// over one outbox.
///
/// While a receiver is down:
/// - Each message waits by the schedule ([`DispatcherOptions::schedule`]): 5 s, 5 min, 30 min, 2 h,
///   5 h, 10 h, 14 h, 20 h and 24 h after its failed deliveries, each up to 20 % more or less. Then
///   it is a dead letter, and waits for [`Dispatcher::resend`].
/// - After five failures in a row, deliveries to the endpoint are paused
///   ([`DispatcherOptions::breaker`]): for 30 s, and twice as long each time, up to 10 min. The
///   first delivery that the receiver answers ends it.
///
/// [`Dispatcher::resume`] ends both waits: it sends all that waits for an endpoint now.
///
/// ```
/// use bankrail_mailbox::Schedule;
/// use bankrail_service::delivery::DispatcherOptions;
/// use std::time::Duration;
/// // Four deliveries: at once, and 10 s, 1 min and 1 h after a failed one, each up to 20 % more or less.
/// let options = DispatcherOptions::new().schedule(Schedule::new([0, 10, 60, 3600].map(Duration::from_secs), 20));
/// # drop(options);
/// ```
#[derive(Clone, Debug)]
pub struct Dispatcher {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    outbox: Arc<dyn OutboxStore>,
    endpoints: Endpoints,
    transport: Arc<dyn Transport>,
    pool: CpuPool,
    clock: Arc<dyn Clock>,
    options: DispatcherOptions,
    wake: Notify,
    /// Locked while entries are leased: one lease is made after the other.
    leases: Mutex<Leases>,
    running: Running,
}

/// An entry that is leased, to be delivered.
#[derive(Debug)]
struct Leased {
    entry: OutboxEntry,
    /// True if it takes a place for slow deliveries.
    slow: bool,
    owner: LeaseOwner,
    /// When the lease ends.
    ends: Instant,
}

impl Dispatcher {
    /// A dispatcher whose leases have random names that distinguish them from those of other
    /// workers.
    ///
    /// # Errors
    /// [`RandomnessError`] if the operating system's random generator fails.
    pub fn new(
        outbox: Arc<dyn OutboxStore>,
        endpoints: Endpoints,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
        options: DispatcherOptions,
    ) -> Result<Self, RandomnessError> {
        let leases = Mutex::new(Leases::new(random_bytes()?));
        measure::delivery::describe();
        let (pool, wake, running) = (CpuPool::default(), Notify::new(), Running::default());
        let shared = Shared {
            outbox,
            endpoints,
            transport,
            pool,
            clock,
            options,
            wake,
            leases,
            running,
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Stores a message in the outbox, due at once. It is durable when this returns.
    ///
    /// - The keys in the headers are those of the original request. With
    ///   [`DispatcherOptions::requests`] they are checked against its record; without, the caller
    ///   must pass the right ones.
    /// - A caller with its own transaction uses [`Dispatcher::prepare`].
    ///
    /// # Errors
    /// [`EnqueueError`]. Nothing was stored, unless the store did not answer in time
    /// ([`StoreErrorKind::Timeout`](bankrail_values::StoreErrorKind::Timeout)).
    pub async fn enqueue(
        &self,
        endpoint: &EndpointId,
        message: &Message,
        headers: DeliveryHeaders,
    ) -> Result<Enqueued, EnqueueError> {
        let outgoing = self.prepare(endpoint, message, headers).await?;
        let stored = self
            .shared
            .outbox
            .enqueue(&outgoing, self.shared.clock.now())
            .await;
        self.wake();
        stored.map_err(EnqueueError::Store)
    }

    /// Makes the checks of [`Dispatcher::enqueue`] and returns the message for the outbox. The
    /// caller stores it in a transaction of its own: the message is sent if the transaction
    /// commits, and never if it does not.
    ///
    /// Call [`Dispatcher::wake`] after the commit. Without it, or in another process, an idle
    /// dispatcher finds the message within about 25 ms where
    /// [`Outbox::changed`](bankrail_mailbox::Outbox::changed) reports it, as with SQLite and
    /// PostgreSQL, and otherwise after [`DispatcherOptions::longest_idle`] at the latest. A
    /// transaction may be repeated with the same value.
    ///
    /// ```
    /// # use bankrail_mailbox::EndpointId;
    /// # use bankrail_service::delivery::Dispatcher;
    /// # use bankrail_stores::sqlite::SqliteStore;
    /// # use bankrail_values::Timestamp;
    /// # use bankrail_webhook::{DeliveryHeaders, Message};
    /// # async fn example(dispatcher: Dispatcher, store: SqliteStore, endpoint: EndpointId, message: Message,
    /// #     headers: DeliveryHeaders, now: Timestamp) -> Result<(), Box<dyn std::error::Error>> {
    /// let outgoing = dispatcher.prepare(&endpoint, &message, headers).await?;
    /// let booked = store.transaction(move |transaction| -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    ///     transaction.connection().execute("UPDATE payment SET settled = 1 WHERE id = ?1", [7])?;
    ///     transaction.enqueue(&outgoing, now)?;
    ///     Ok(())
    /// });
    /// booked.await.map_err(|error| error.to_string())?;
    /// dispatcher.wake();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// On PostgreSQL the transaction is the caller's own, and
    /// `InTransaction::of(&transaction).enqueue(&outgoing, now)` stores the message in it.
    ///
    /// # Errors
    /// [`EnqueueError`], but not [`EnqueueError::Store`].
    pub async fn prepare(
        &self,
        endpoint: &EndpointId,
        message: &Message,
        headers: DeliveryHeaders,
    ) -> Result<Outgoing, EnqueueError> {
        if !self.shared.endpoints.contains(endpoint) {
            return Err(EnqueueError::UnknownEndpoint {
                endpoint: endpoint.clone(),
            });
        }
        let options = &self.shared.options;
        let outgoing = message
            .outgoing_with(endpoint.clone(), &headers, &options.outgoing)
            .map_err(EnqueueError::Refused)?;
        if let Some(requests) = options
            .requests
            .as_ref()
            .filter(|_| message.kind().answers_a_request())
        {
            let request = requests
                .find(endpoint, message)
                .await
                .map_err(EnqueueError::Requests)?;
            let request = request.ok_or(EnqueueError::UnknownRequest)?;
            request
                .check(message, &headers)
                .map_err(EnqueueError::OtherRequest)?;
        }
        Ok(outgoing)
    }

    /// Wakes the dispatcher because there may be a message to deliver.
    pub fn wake(&self) {
        self.shared.wake.notify_one();
    }

    /// Delivers until `stop` is ready. Then it starts no more deliveries, waits for the running
    /// ones, each of which ends with its lease ([`DispatcherOptions::timeout`]) or one call of the
    /// outbox later, and returns. Messages that are not delivered stay in the outbox.
    ///
    /// Dropping the future is safe too: the running deliveries are made again when their leases
    /// end.
    pub async fn run(&self, stop: impl Future<Output = ()> + Send) {
        let mut stop = std::pin::pin!(stop);
        let mut under_way: JoinSet<()> = JoinSet::new();
        let (leaving, mut left) = mpsc::unbounded_channel();
        let mut places = Places::new(&self.shared.options);
        let mut pauses = Pauses::new(&self.shared.options);
        // The forgetting and the gauges run beside the deliveries and end with this function.
        let _forgetting = self.shared.options.retention.map(|retention| {
            let shared = Arc::clone(&self.shared);
            Recurring::start(FORGET_EVERY, shared, move |shared| async move {
                shared.forget(retention).await
            })
        });
        #[cfg(feature = "metrics")]
        let _measuring = self.shared.options.gauge_interval.map(|interval| {
            let (interval, shared) = (
                interval.max(Duration::from_secs(1)),
                Arc::clone(&self.shared),
            );
            Recurring::start(
                interval,
                shared,
                |shared| async move { shared.measure().await },
            )
        });
        loop {
            // One lease for all the places that have become free, because each lease is a write to
            // the outbox.
            while let Some(ended) = under_way.try_join_next_with_id() {
                places.end(task_of(ended));
            }
            while let Ok(task) = left.try_recv() {
                places.leave(task);
            }
            let look = self
                .shared
                .lease_into(&mut under_way, &mut places, &leaving)
                .await;
            let until_slow = places.until_slow(Instant::now());
            tokio::select! {
                biased;
                () = &mut stop => break,
                Some(ended) = under_way.join_next_with_id() => places.end(task_of(ended)),
                Some(task) = left.recv() => places.leave(task),
                () = self.shared.wake.notified() => {}
                () = self.shared.idle(look, &mut pauses, until_slow) => {}
            }
        }
        while under_way.join_next().await.is_some() {}
    }

    /// Makes one delivery of each message that is due, at most [`DispatcherOptions::concurrency`]
    /// of them and [`DispatcherOptions::slow_concurrency`] to slow endpoints, and returns how many
    /// there were when the last has ended. For tests, and for callers with their own loop.
    ///
    /// # Errors
    /// [`StoreError`] if the outbox cannot lease messages.
    pub async fn run_once(&self) -> Result<usize, StoreError> {
        let leased = self
            .shared
            .lease(Places::new(&self.shared.options).free())
            .await?;
        let made = futures_util::future::join_all(
            leased
                .into_iter()
                .map(|leased| self.shared.deliver(leased, || ())),
        )
        .await;
        Ok(made.len())
    }
}

/// The idle time after which the dispatcher asks the outbox when the next entry is due.
const QUIET: Duration = Duration::from_millis(1);

/// The result of looking for entries to deliver.
#[derive(Clone, Copy, Debug)]
enum Look {
    /// No place is free, or the outbox failed.
    Needless,
    /// Places are free, so there is no further entry that may be leased now.
    Made { leased: bool },
}

impl Shared {
    /// Starts as many deliveries as there are places for.
    async fn lease_into(
        self: &Arc<Self>,
        under_way: &mut JoinSet<()>,
        places: &mut Places,
        leaving: &mpsc::UnboundedSender<Id>,
    ) -> Look {
        for endpoint in places.move_slow(Instant::now()) {
            if let Some(known) = self.endpoints.get(&endpoint) {
                known.set_slow(true);
            }
        }
        let free = places.free();
        if free == (Free { quick: 0, slow: 0 }) {
            return Look::Needless;
        }
        match self.lease(free).await {
            Ok(entries) => {
                let leased = !entries.is_empty();
                for leased in entries {
                    let (shared, endpoint, slow) = (
                        Arc::clone(self),
                        leased.entry.message.endpoint.clone(),
                        leased.slow,
                    );
                    let leaving = leaving.clone();
                    let leave = move || {
                        // An error means that the loop has ended.
                        let _ = leaving.send(tokio::task::id());
                    };
                    let task = under_way
                        .spawn(async move { shared.deliver(leased, leave).await })
                        .id();
                    places.take(task, endpoint, slow, Instant::now());
                }
                if places.free().quick == 0 {
                    Look::Needless
                } else {
                    Look::Made { leased }
                }
            }
            Err(error) => {
                tracing::error!(error = %error, "the outbox failed");
                Look::Needless
            }
        }
    }

    /// Waits until the outbox is to be looked at again, also if no delivery ends and nobody wakes
    /// the dispatcher.
    async fn idle(&self, look: Look, pauses: &mut Pauses, until_slow: Option<Duration>) {
        let begun = Instant::now();
        let pause = match look {
            Look::Needless => pauses.longest(),
            Look::Made { leased } => {
                // While deliveries end and messages arrive, the query for the next due entry would
                // be wasted.
                tokio::time::sleep(QUIET).await;
                pauses.after_look(leased, self.until_next().await)
            }
        };
        let pause = until_slow.map_or(pause, |left| {
            left.saturating_sub(begun.elapsed()).min(pause)
        });
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            Ok(()) = self.outbox.changed(), if matches!(look, Look::Made { .. }) => {}
        }
    }

    /// Leases entries for the free places.
    async fn lease(&self, free: Free) -> Result<Vec<Leased>, StoreError> {
        let leases = &mut *self.leases.lock().await;
        let began = Instant::now().into_std();
        let unanswered = leases.owners.unanswered(began);
        if !unanswered.is_empty() {
            self.outbox.release_all(&unanswered).await?;
            leases.owners.given_back(began);
        }
        let (now, asked) = (self.clock.now(), Instant::now());
        let ends = asked + self.options.lease();
        let owner = leases.owners.ask(asked.into_std(), self.options.lease());
        let lease = Lease {
            owner,
            until: now.saturating_add(self.options.lease()),
        };
        let slow = self.endpoints.slow();
        let [quick_limit, slow_limit] =
            [free.quick, free.slow].map(|free| u32::try_from(free).unwrap_or(u32::MAX));
        let request = LeaseRequest::new(lease, quick_limit)
            .after(leases.last_quick.as_ref())
            .per_endpoint(self.options.per_endpoint.max(1))
            .slow(&slow, slow_limit, leases.last_slow.as_ref())
            .reserve(self.options.reserve());
        let entries = self.outbox.lease(request, now).await?;
        leases.owners.answered(owner);
        let leased = entries.into_iter().map(|entry| {
            let slow = slow.contains(&entry.message.endpoint);
            let last = if slow {
                &mut leases.last_slow
            } else {
                &mut leases.last_quick
            };
            *last = Some(entry.message.endpoint.clone());
            Leased {
                entry,
                slow,
                owner,
                ends,
            }
        });
        Ok(leased.collect())
    }

    /// Returns the time until the next entry is due; `None` if there is none or the outbox failed.
    async fn until_next(&self) -> Option<Duration> {
        let due = self.outbox.next_due().await.ok().flatten();
        due.map(|due| due.saturating_since(self.clock.now()))
    }

    /// Makes one delivery of a leased entry and records it. `leave` is called when only the record
    /// is left to wait for.
    async fn deliver(
        &self,
        Leased {
            entry, owner, ends, ..
        }: Leased,
        leave: impl FnOnce(),
    ) {
        let now = self.clock.now();
        let Some(known) = self.endpoints.get(&entry.message.endpoint) else {
            tracing::warn!(entry = %entry.id, endpoint = %entry.message.endpoint, "no such endpoint");
            let due = now.saturating_add(self.options.unknown_endpoint_pause);
            let released = end_lease(
                entry.id,
                ends,
                || (),
                || self.outbox.release(entry.id, owner, due),
            )
            .await;
            if let Err(error) = released {
                tracing::error!(entry = %entry.id, error = %error, "an entry could not be given back");
            }
            return;
        };
        let under_way = self.running.begin(&entry, now);
        let started = Instant::now();
        let headers =
            DeliveryHeaders::from_attributes(&entry.message.attributes).map(|(headers, _)| headers);
        let outcome = self.post(&known, &entry, headers, now).await;
        let (took, ended) = (started.elapsed(), self.clock.now());
        drop(under_way);
        known.set_slow(took >= self.options.slow_after);
        let health = outcome.health.after(took);
        let rest = outcome
            .rest()
            .map(|asked| self.options.schedule.granted(asked));
        let news = known.after(
            Ended {
                circuit: entry.circuit,
                health,
                rest,
                at: ended,
            },
            &self.options.breaker,
        );
        // Before the lease ends with the record, so that no other entry is leased meanwhile.
        if let Some(news) = news {
            self.hold(&entry.message.endpoint, news).await;
        }
        let record = DeliveryRecord {
            started_at: now,
            duration: took,
            status: outcome.status,
            note: outcome.note,
        };
        let next = self.next(&entry, &outcome, ended).await;
        measure::delivery::delivered(
            &entry.message.kind,
            next == Disposition::Delivered,
            outcome.note,
            took,
        );
        tracing::info!(
            entry = %entry.id,
            endpoint = %entry.message.endpoint,
            kind = %entry.message.kind,
            message_id = %entry.message.message_id,
            request_key = headers.and_then(|headers| headers.request_key).map(tracing::field::display),
            correlation_id = headers.and_then(|headers| headers.correlation_id).map(tracing::field::display),
            deliveries = entry.deliveries.saturating_add(1),
            status = outcome.status,
            note = outcome.note.map(DeliveryNote::as_str),
            delivered = next == Disposition::Delivered,
            duration_ms = u64::try_from(record.duration.as_millis()).unwrap_or(u64::MAX),
            "delivery made"
        );
        // An endpoint that refuses a message works all the same.
        let answered = (health == Health::Good).then_some(&entry.message.endpoint);
        let record = || {
            self.outbox
                .record(entry.id, owner, &record, next, answered, ended)
        };
        match end_lease(entry.id, ends, leave, record).await {
            Ok(true) => {}
            // The delivery took longer than the lease, and another worker has the entry: two
            // deliveries are allowed. Or an earlier attempt was recorded, and its answer was lost.
            Ok(false) => tracing::warn!(entry = %entry.id, "the lease was lost"),
            Err(error) => {
                tracing::error!(entry = %entry.id, error = %error, "a delivery could not be recorded")
            }
        }
    }

    async fn post(
        &self,
        known: &Known,
        entry: &OutboxEntry,
        headers: Option<DeliveryHeaders>,
        now: Timestamp,
    ) -> Outcome {
        let terms = Terms {
            timeout: self.options.timeout,
            max_response: self.options.max_response,
            retry_unacknowledged: self.options.missing_acknowledgement
                == MissingAcknowledgement::Failed,
        };
        let kind = MessageKind::from_name(entry.message.kind.as_str());
        let (Some(kind), Some(headers)) = (kind, headers) else {
            // Another version of this crate may have enqueued it.
            tracing::error!(entry = %entry.id, "the stored message is unreadable");
            return Outcome::without_answer(DeliveryNote::Other, Health::Unknown);
        };
        let stored = Stored {
            kind,
            headers,
            body: &entry.message.body,
        };
        // A burst to one endpoint is not sealed ahead of the messages to others.
        let pool = self.pool.lane(&entry.message.endpoint);
        let made = post(
            &known.endpoint,
            &stored,
            &*self.transport,
            &pool,
            &terms,
            now,
        );
        // A panic of the caller's transport or sealer is a failure like others, and must not keep
        // the entry leased.
        AssertUnwindSafe(made)
            .catch_unwind()
            .await
            .unwrap_or_else(|_| {
                tracing::error!(entry = %entry.id, "a delivery panicked");
                Outcome::without_answer(DeliveryNote::Other, Health::Bad)
            })
    }

    /// Pauses deliveries to an endpoint, for all dispatchers over the outbox.
    async fn hold(&self, endpoint: &EndpointId, circuit: Circuit) {
        if let Some(until) = circuit.open_until {
            tracing::warn!(%endpoint, %until, "deliveries to an endpoint that keeps failing are paused");
        }
        if let Err(error) = self.outbox.hold_endpoint(endpoint, circuit).await {
            tracing::error!(%endpoint, %error, "the circuit of an endpoint could not be kept");
        }
    }

    async fn next(&self, entry: &OutboxEntry, outcome: &Outcome, now: Timestamp) -> Disposition {
        if outcome.delivered {
            return Disposition::Delivered;
        }
        let endpoint = &entry.message.endpoint;
        if outcome.gone {
            match self.outbox.stop_endpoint(endpoint, &gone(), now).await {
                // The entry is due again when the endpoint is resumed.
                Ok(()) => return Disposition::RetryAt(now),
                Err(error) => {
                    tracing::error!(endpoint = %endpoint, error = %error, "an endpoint could not be stopped")
                }
            }
        }
        let made = entry.deliveries.saturating_add(1);
        let next = self
            .options
            .schedule
            .after_failure(made, now, outcome.retry_after, jitter());
        if next == Disposition::DeadLetter {
            measure::delivery::dead_letter(&entry.message.kind);
            tracing::error!(entry = %entry.id, %endpoint, deliveries = made, "a message became a dead letter");
        }
        next
    }

    async fn snapshot(&self) -> Result<DispatcherSnapshot, StoreError> {
        let at = self.clock.now();
        Ok(DispatcherSnapshot {
            at,
            running: self.running.all(),
            endpoints: self.endpoints.snapshot(at, self.outbox.circuits().await?),
            outbox: self.outbox.counts(None).await?,
            oldest_pending: self.outbox.oldest_pending().await?,
            stopped: self.outbox.stopped_endpoints().await?,
        })
    }

    #[cfg(feature = "metrics")]
    async fn measure(&self) {
        match self.snapshot().await {
            Ok(snapshot) => measure::delivery::snapshot(&snapshot),
            Err(error) => tracing::error!(error = %error, "the outbox failed"),
        }
    }

    async fn forget(&self, retention: Duration) {
        match self
            .outbox
            .forget(self.clock.now().saturating_sub(retention))
            .await
        {
            Ok(0) => {}
            Ok(forgotten) => tracing::info!(forgotten, "old delivered messages were forgotten"),
            Err(error) => tracing::error!(error = %error, "the outbox failed"),
        }
    }
}

/// The task of a delivery that has ended, also by a panic.
fn task_of(ended: Result<(Id, ()), JoinError>) -> Id {
    match ended {
        Ok((task, ())) => task,
        Err(error) => error.id(),
    }
}

/// Returns the intervention that stops an endpoint which answers 410.
fn gone() -> Intervention {
    let reason = "the endpoint answered 410 Gone"
        .parse()
        .expect("a short reason");
    Intervention {
        by: "dispatcher".parse().expect("a short name"),
        reason,
    }
}

/// Why a message was not enqueued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnqueueError {
    /// There is no endpoint with this name.
    #[error("expected a known endpoint, found {endpoint}")]
    UnknownEndpoint {
        /// The name.
        endpoint: EndpointId,
    },
    /// The message, its headers or the endpoint's name cannot be put into the outbox.
    #[error("the message is refused")]
    Refused(#[source] OutgoingError),
    /// The outcome answers no request that the provider has recorded.
    #[error("expected a recorded request that the outcome answers, found none")]
    UnknownRequest,
    /// The outcome or its headers are not those of the recorded request.
    #[error("the outcome does not answer the recorded request")]
    OtherRequest(#[source] RequestMismatchError),
    /// The records of requests failed.
    #[error("the records of requests failed")]
    Requests(#[source] StoreError),
    /// The outbox failed.
    #[error("the outbox failed")]
    Store(#[source] StoreError),
}
