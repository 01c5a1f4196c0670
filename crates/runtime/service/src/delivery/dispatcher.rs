//! The worker that delivers the messages of the outbox.

mod deliver;
mod measure;
mod operator;
mod pauses;
mod places;
mod returned;
mod running;

use self::pauses::Pauses;
use self::places::Places;
use self::running::Running;
use super::breaker::LONGEST_PAUSE;
use super::endpoint::Endpoints;
use super::snapshot::DispatcherSnapshot;
use super::transport::Transport;
use super::{BreakerPolicy, RecordedRequests};
use bankrail_http::{
    __private::{FORGET_EVERY, Recurring},
    CpuPool,
};
use bankrail_mailbox::{
    DEFAULT_TIME_OUT, EndpointId, Enqueued, Lease, LeaseOwner, LeaseOwners, LeaseRequest,
    OutboxEntry, OutboxStore, Outgoing, Schedule,
};
use bankrail_values::{Clock, RandomnessError, StoreError, SystemClock, random_bytes};
use bankrail_webhook::sender::RequestMismatchError;
use bankrail_webhook::{DeliveryHeaders, Message, OutgoingError, OutgoingOptions};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
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
/// While a receiver is down, messages wait in two ways.
///
/// - Each message waits by the schedule ([`DispatcherOptions::schedule`]). By default that is 5 s,
///   5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h after its failed deliveries, each up to 20
///   % more or less. Then it is a dead letter, and waits for [`Dispatcher::resend`].
/// - After five failures in a row, deliveries to the endpoint are paused
///   ([`DispatcherOptions::breaker`]): for 30 s, and twice as long each time, up to 10 min. The
///   first delivery that the receiver answers ends the pause.
///
/// [`Dispatcher::run`] ends both waits when a receiver that was down is up again: within two
/// seconds it delivers one message as a trial, and once that is answered all that waits. It looks
/// for the receiver by [`Transport::is_up`], once nobody has answered a delivery and a first look.
/// When it starts, it looks for each receiver whose messages all wait and that was down. A receiver
/// that was up and failed all the same, or that asked for a pause by `Retry-After`, is waited for
/// as above.
///
/// [`Dispatcher::resume`] ends both waits on request.
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
    shared: Arc<DispatcherState>,
}

#[derive(Debug)]
struct DispatcherState {
    outbox: Arc<dyn OutboxStore>,
    endpoints: Endpoints,
    transport: Arc<dyn Transport>,
    pool: CpuPool,
    options: DispatcherOptions,
    wake: Notify,
    /// The state of leasing. The lock is held while entries are leased, so that one lease follows
    /// the other.
    leases: Mutex<Leases>,
    running: Running,
    /// True once the endpoints that waited at the start are marked as down.
    marked: AtomicBool,
}

/// The owners of the leases, and the endpoints at which the next lease begins.
#[derive(Debug)]
struct Leases {
    owners: LeaseOwners,
    /// The endpoint whose entry was leased last.
    last_quick: Option<EndpointId>,
    last_slow: Option<EndpointId>,
}

/// The numbers of free places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Free {
    quick: usize,
    slow: usize,
}

/// A leased entry that is to be delivered.
#[derive(Debug)]
struct Leased {
    entry: OutboxEntry,
    /// True if the delivery takes a place for slow ones.
    slow: bool,
    owner: LeaseOwner,
    /// The time at which the lease ends.
    ends: Instant,
}

impl Dispatcher {
    /// Creates a dispatcher whose leases have random names that distinguish them from those of
    /// other workers.
    ///
    /// # Errors
    /// [`RandomnessError`] if the operating system's random generator fails.
    pub fn new(
        outbox: Arc<dyn OutboxStore>,
        endpoints: Endpoints,
        transport: Arc<dyn Transport>,
        options: DispatcherOptions,
    ) -> Result<Self, RandomnessError> {
        let leases = Mutex::new(Leases {
            owners: LeaseOwners::from_random_bytes(random_bytes()?),
            last_quick: None,
            last_slow: None,
        });
        measure::describe();
        let (pool, wake, running) = (CpuPool::default(), Notify::new(), Running::default());
        let shared = DispatcherState {
            outbox,
            endpoints,
            transport,
            pool,
            options,
            wake,
            leases,
            running,
            marked: AtomicBool::new(false),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Stores a message in the outbox, due at once. The message is durable when this returns.
    ///
    /// - The keys in the headers are those of the original request.
    ///   [`DispatcherOptions::requests`] has them checked against its records; without this option,
    ///   the caller must pass the right keys.
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
            .enqueue(&outgoing, self.shared.options.clock.now())
            .await;
        self.wake();
        stored.map_err(EnqueueError::Store)
    }

    /// Makes the checks of [`Dispatcher::enqueue`] and returns the message for the outbox. The
    /// caller stores it in the caller's transaction: the message is sent if the transaction
    /// commits, and never if it does not.
    ///
    /// Call [`Dispatcher::wake`] after the commit. Without this call, or in another process, an
    /// idle dispatcher finds the message within about 25 ms where
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

    /// Delivers until `stop` is ready, then starts no more deliveries, waits for the running ones
    /// and returns. Each running delivery ends with its lease ([`DispatcherOptions::timeout`]) or
    /// one call of the outbox later. Messages that are not delivered stay in the outbox.
    ///
    /// Dropping the future is safe too: the running deliveries are made again when their leases
    /// end.
    pub async fn run(&self, stop: impl Future<Output = ()> + Send) {
        let mut stop = std::pin::pin!(stop);
        let mut under_way: JoinSet<()> = JoinSet::new();
        let (leaving, mut left) = mpsc::unbounded_channel();
        let mut places = Places::new(&self.shared.options);
        let mut pauses = Pauses::new(&self.shared.options);
        // The work that recurs runs beside the deliveries and ends with this function.
        let _looking =
            Recurring::start(LOOK_EVERY, Arc::clone(&self.shared), |shared| async move {
                shared.look_for_returned().await
            });
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
            // Biased, so that a stop is seen before more work begins.
            tokio::select! {
                biased;
                () = &mut stop => break,
                Some(ended) = under_way.join_next_with_id() => places.end(task_of(ended)),
                Some(task) = left.recv() => places.leave(task),
                () = self.shared.wake.notified() => {}
                () = self.shared.idle(look, &mut pauses, until_slow) => {}
            }
        }
        // Deliveries that have begun are recorded, so that they are not made twice after a restart.
        while under_way.join_next().await.is_some() {}
    }

    /// Makes one delivery of each message that is due, at most [`DispatcherOptions::concurrency`]
    /// of them and [`DispatcherOptions::slow_concurrency`] to slow endpoints, and returns their
    /// number when the last has ended. This is for tests, and for callers with their own loop.
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

/// The pause between two looks at the receivers that are down. As a look at one takes
/// a second at most, a receiver that is up again gets a message within two seconds.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The idle time after which the dispatcher asks the outbox when the next entry is due.
const IDLE_BEFORE_QUERY: Duration = Duration::from_millis(1);

/// The result of looking for entries to deliver.
#[derive(Clone, Copy, Debug)]
enum Look {
    /// No quick place is left, or the outbox failed.
    Needless,
    /// Quick places are left, so there is no further entry that may be leased now.
    Made { leased: bool },
}

impl DispatcherState {
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

    /// Waits until the next query of the outbox is due, even if no delivery ends and no call wakes
    /// the dispatcher.
    async fn idle(&self, look: Look, pauses: &mut Pauses, until_slow: Option<Duration>) {
        let begun = Instant::now();
        let pause = match look {
            Look::Needless => pauses.longest(),
            Look::Made { leased } => {
                // While deliveries end and messages arrive, the query for the next due entry would
                // be wasted.
                tokio::time::sleep(IDLE_BEFORE_QUERY).await;
                pauses.after_look(leased, self.until_next().await)
            }
        };
        let pause = until_slow.map_or(pause, |left| {
            left.saturating_sub(begun.elapsed()).min(pause)
        });
        tokio::select! {
            biased;
            () = tokio::time::sleep(pause) => {}
            Ok(()) = self.outbox.changed(), if matches!(look, Look::Made { .. }) => {}
        }
    }

    /// Leases entries for the free places.
    async fn lease(&self, free: Free) -> Result<Vec<Leased>, StoreError> {
        // An asynchronous lock, because it is held over the call of the outbox: two leases at once
        // would begin at the same endpoint and take more than the free places.
        let leases = &mut *self.leases.lock().await;
        let began = Instant::now().into_std();
        let unanswered = leases.owners.unanswered(began);
        // Leases whose answer was lost are given back first: their entries would wait for the end
        // of a lease that nobody works on.
        if !unanswered.is_empty() {
            self.outbox.release_all(&unanswered).await?;
            leases.owners.given_back(began);
        }
        // Before the call, so that this process counts the lease as over no later than the outbox.
        let (now, asked) = (self.options.clock.now(), Instant::now());
        if leases.owners.is_recall_due(now) {
            let latest = now.saturating_add(self.options.longest_wait());
            match self.outbox.recall(latest, now).await? {
                0 => {}
                messages => {
                    tracing::warn!(messages, "messages of a clock that was ahead are due now")
                }
            }
        }
        let ends = asked + self.options.lease();
        let owner = leases.owners.ask(asked.into_std(), self.options.lease());
        let lease = Lease {
            owner,
            until: now.saturating_add(self.options.lease()),
        };
        let slow = self.endpoints.slow();
        // Saturating: more places than the outbox can count are as good as its largest number.
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
        due.map(|due| due.saturating_since(self.options.clock.now()))
    }

    async fn snapshot(&self) -> Result<DispatcherSnapshot, StoreError> {
        let at = self.options.clock.now();
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
            Ok(snapshot) => measure::snapshot(&snapshot),
            Err(error) => tracing::error!(error = %error, "the outbox failed"),
        }
    }

    async fn forget(&self, retention: Duration) {
        match self
            .outbox
            .forget(self.options.clock.now().saturating_sub(retention))
            .await
        {
            Ok(0) => {}
            Ok(forgotten) => tracing::info!(forgotten, "old delivered messages were forgotten"),
            Err(error) => tracing::error!(error = %error, "the outbox failed"),
        }
    }
}

/// Returns the task of a delivery that has ended, also by a panic.
fn task_of(ended: Result<(Id, ()), JoinError>) -> Id {
    match ended {
        Ok((task, ())) => task,
        Err(error) => error.id(),
    }
}

/// The reason why a message was not enqueued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnqueueError {
    /// The dispatcher has no endpoint with this name.
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

/// Treatments of a 2xx answer whose body is no acknowledgement, or one with another status than
/// `RCVD` (Specification: "Events", delivery rule 4). The record of the delivery notes it in either
/// case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingAcknowledgement {
    /// The delivery counts as failed: the message is delivered again on the schedule.
    #[default]
    Failed,
    /// The message counts as delivered, because of the status. This is for receivers that do not
    /// answer with an acknowledgement.
    Delivered,
}

bankrail_values::options! {
    /// Options of a [`Dispatcher`](Dispatcher). The defaults are those of well-known webhook
    /// senders (Default: "Webhooks").
    #[derive(Clone, Debug)]
    pub struct DispatcherOptions {
        /// The pauses between the deliveries of a message, and with them the number of deliveries
        /// before it becomes a dead letter. Default: [`Schedule::default`], ten deliveries over
        /// some three days, with 20 % jitter. [`Dispatcher::resume`](Dispatcher::resume) ends the
        /// pauses.
        schedule: Schedule = Schedule::default(),
        /// The time-out of a receiver's answer, and before it of sealing. Default: 15 seconds.
        ///
        /// A lease lasts twice as long and 10 seconds. Until its end a delivery is recorded again
        /// while the outbox fails; afterwards the message may be delivered again.
        timeout: Duration = DEFAULT_TIME_OUT,
        /// The maximum number of deliveries that this worker makes at once, without the slow ones;
        /// at least one. Default: 64.
        ///
        /// A delivery whose outcome is known and whose record is on the way to the outbox does not
        /// count. The number of such records is bounded by the number of places, the slow ones
        /// included.
        ///
        /// The endpoints take turns. For each delivery under way, an endpoint leaves places free
        /// for endpoints with fewer deliveries: a quarter of these places, or of
        /// [`DispatcherOptions::slow_concurrency`] if that is smaller, divided by
        /// [`DispatcherOptions::per_endpoint`].
        concurrency: usize = 64,
        /// The maximum number of slow deliveries that this worker makes at once, in addition to
        /// [`DispatcherOptions::concurrency`]; at least one. Default: 64, half of all.
        ///
        /// A delivery that takes longer than [`DispatcherOptions::slow_after`] moves to one of
        /// these places. Its endpoint is slow from then on, and its next deliveries start in these
        /// places, until one of them takes less. While all of these places are taken, slow
        /// endpoints get no further delivery, and a delivery that becomes slow keeps its place.
        slow_concurrency: usize = 64,
        /// The duration from which on a delivery is slow, sealing included. Default: 500
        /// milliseconds.
        slow_after: Duration = Duration::from_millis(500),
        /// The maximum number of messages to one endpoint that all workers together lease at once;
        /// at least one. Default: 4.
        per_endpoint: u32 = 4,
        /// The rule by which deliveries to an endpoint that keeps failing are paused. Default:
        /// [`BreakerPolicy::default`].
        breaker: BreakerPolicy = BreakerPolicy::default(),
        /// The treatment of a 2xx answer without the acknowledgement, unless a receiver has its own
        /// ([`Endpoint::with_missing_acknowledgement`](super::Endpoint::with_missing_acknowledgement)).
        /// Default: a failure.
        missing_acknowledgement: MissingAcknowledgement = MissingAcknowledgement::default(),
        /// The longest time between two queries of the outbox, and so the longest delay of a
        /// message that another process has enqueued, where
        /// [`Outbox::changed`](bankrail_mailbox::Outbox::changed) does not report it earlier.
        /// Default: 1 second.
        longest_idle: Duration = Duration::from_secs(1),
        /// The shortest time between two queries of the outbox while a due message may not be
        /// delivered. It doubles with each query up to the longest time. Default: 100 milliseconds.
        shortest_idle: Duration = Duration::from_millis(100),
        /// The pause after which a message to an endpoint that this worker does not know is leased
        /// again. Default: 1 minute.
        unknown_endpoint_pause: Duration = Duration::from_secs(60),
        /// The retention of delivered messages and of the records of their deliveries.
        /// [`Dispatcher::run`](Dispatcher::run) deletes older ones once an hour. Dead letters stay.
        /// Default: without end.
        retention(Duration => Some): Option<Duration> = None,
        /// The checks of messages that are enqueued. Default: a message must break neither the
        /// specification nor a documented default.
        outgoing: OutgoingOptions = OutgoingOptions::default(),
        /// The records that an outcome and its headers are checked against when they are enqueued
        /// (Specification: "Webhook receivers": the key is that of the original request). Default:
        /// none, and the caller must pass the right headers.
        requests(Arc<dyn RecordedRequests> => Some): Option<Arc<dyn RecordedRequests>> = None,
        /// The interval in which [`Dispatcher::run`](Dispatcher::run) sets the gauges of metrics
        /// from a [snapshot](Dispatcher::snapshot), at least a second. With `None` it never does;
        /// set that for all but one of several dispatchers over one outbox. Default: 60 s.
        #[cfg(feature = "metrics")]
        gauge_interval: Option<Duration> = Some(Duration::from_secs(60)),
        /// The clock of due times, leases and retention. Default: the system's.
        clock: Arc<dyn Clock> = Arc::new(SystemClock),
    }
}

impl DispatcherOptions {
    /// Returns the number of places that an endpoint leaves free for each of its deliveries. The
    /// number follows from the smaller number of places, so that an endpoint alone reaches its
    /// bound among the slow ones too.
    fn reserve(&self) -> u32 {
        let quarter =
            u32::try_from(self.concurrency.min(self.slow_concurrency) / 4).unwrap_or(u32::MAX);
        quarter / self.per_endpoint.max(1)
    }

    /// Returns the longest time for which a message, a lease or a circuit may last.
    fn longest_wait(&self) -> Duration {
        let asked = self.schedule.granted(Duration::MAX);
        let waits = [
            asked,
            LONGEST_PAUSE,
            self.lease(),
            self.unknown_endpoint_pause,
        ];
        waits
            .into_iter()
            .fold(self.schedule.longest_delay(), Duration::max)
    }

    /// Returns the length of a lease: enough for a delivery with sealing, and for its record during
    /// a short failure of the outbox. After a crash, the next delivery waits this long.
    fn lease(&self) -> Duration {
        self.timeout
            .saturating_mul(2)
            .saturating_add(Duration::from_secs(10))
            .min(LONGEST_LEASE)
    }
}

/// The longest lease, so that `Instant + lease` cannot overflow.
const LONGEST_LEASE: Duration = Duration::from_secs(365 * 24 * 3600);
