//! Options of a dispatcher.

use crate::delivery::{BreakerPolicy, Requests};
use bankrail_mailbox::{DEFAULT_TIME_OUT, Schedule};
use bankrail_webhook::OutgoingOptions;
use std::sync::Arc;
use std::time::Duration;

/// What a 2xx answer without the acknowledgement counts as: with a body that is none, or with another status in it than
/// `RCVD` (Specification: "Events", delivery rule 4). The record of the delivery notes it in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unacknowledged {
    /// As a failure: the message is delivered again on the schedule.
    #[default]
    Failed,
    /// As delivered, because of the status. For receivers that do not answer with an acknowledgement.
    Delivered,
}

/// Options of a [`Dispatcher`](super::Dispatcher). The defaults are those of well-known webhook senders (Default:
/// "Webhooks").
#[derive(Clone, Debug)]
pub struct DispatcherOptions {
    pub(in crate::delivery) schedule: Schedule,
    pub(in crate::delivery) timeout: Duration,
    pub(in crate::delivery) concurrency: usize,
    pub(in crate::delivery) slow_concurrency: usize,
    pub(in crate::delivery) slow_after: Duration,
    pub(in crate::delivery) per_endpoint: u32,
    pub(in crate::delivery) breaker: BreakerPolicy,
    pub(in crate::delivery) unacknowledged: Unacknowledged,
    pub(in crate::delivery) max_response: usize,
    pub(in crate::delivery) longest_idle: Duration,
    pub(in crate::delivery) shortest_idle: Duration,
    pub(in crate::delivery) unknown_endpoint_pause: Duration,
    pub(in crate::delivery) retention: Option<Duration>,
    pub(in crate::delivery) outgoing: OutgoingOptions,
    pub(in crate::delivery) requests: Option<Arc<dyn Requests>>,
    #[cfg(feature = "metrics")]
    pub(in crate::delivery) gauge_interval: Option<Duration>,
}

impl Default for DispatcherOptions {
    fn default() -> Self {
        Self {
            schedule: Schedule::default(),
            timeout: DEFAULT_TIME_OUT,
            concurrency: 64,
            slow_concurrency: 64,
            slow_after: Duration::from_millis(500),
            per_endpoint: 4,
            breaker: BreakerPolicy::default(),
            unacknowledged: Unacknowledged::default(),
            max_response: 64 * 1024,
            longest_idle: Duration::from_secs(1),
            shortest_idle: Duration::from_millis(100),
            unknown_endpoint_pause: Duration::from_secs(60),
            retention: None,
            outgoing: OutgoingOptions::default(),
            requests: None,
            #[cfg(feature = "metrics")]
            gauge_interval: Some(Duration::from_secs(60)),
        }
    }
}

impl DispatcherOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// When a failed delivery is made again. Default: ten deliveries over some three days, with 20 % jitter.
    #[must_use]
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// How long a receiver may take to answer, and before that a sealer to seal. Default: 15 seconds.
    #[must_use]
    pub fn timeout(mut self, longest: Duration) -> Self {
        self.timeout = longest;
        self
    }

    /// The most deliveries that this worker makes at once, without the slow ones; at least one. Default: 64.
    ///
    /// A delivery whose outcome is known and whose record is on the way to the outbox does not count: there are at most
    /// as many of those as places, the slow ones included.
    ///
    /// The endpoints take turns. Beside each delivery that an endpoint has under way it leaves places free for
    /// endpoints with fewer: a quarter of these places, or of [`DispatcherOptions::slow_concurrency`] if those are
    /// fewer, divided by [`DispatcherOptions::per_endpoint`].
    #[must_use]
    pub fn concurrency(mut self, deliveries: usize) -> Self {
        self.concurrency = deliveries;
        self
    }

    /// The most slow deliveries that this worker makes at once, beside those of [`DispatcherOptions::concurrency`]; at
    /// least one. Default: 64, half of all.
    ///
    /// A delivery that takes longer than [`DispatcherOptions::slow_after`] moves to one of these places. Its endpoint
    /// is slow from then on, and its next deliveries start in these places, until one of them takes less. While all of
    /// these places are taken, slow endpoints get no further delivery, and a delivery that becomes slow keeps its
    /// place.
    #[must_use]
    pub fn slow_concurrency(mut self, deliveries: usize) -> Self {
        self.slow_concurrency = deliveries;
        self
    }

    /// The duration from which on a delivery is slow, sealing included. Default: 500 milliseconds.
    #[must_use]
    pub fn slow_after(mut self, duration: Duration) -> Self {
        self.slow_after = duration;
        self
    }

    /// The most messages to one endpoint that all workers together lease at once; at least one. Default: 4.
    #[must_use]
    pub fn per_endpoint(mut self, messages: u32) -> Self {
        self.per_endpoint = messages;
        self
    }

    /// When deliveries to an endpoint that keeps failing are paused. Default: [`BreakerPolicy::default`].
    #[must_use]
    pub fn breaker(mut self, policy: BreakerPolicy) -> Self {
        self.breaker = policy;
        self
    }

    /// What a 2xx answer without the acknowledgement counts as. Default: a failure.
    #[must_use]
    pub fn unacknowledged(mut self, meaning: Unacknowledged) -> Self {
        self.unacknowledged = meaning;
        self
    }

    /// The most bytes of an answer that are read. Default: 64 KiB.
    #[must_use]
    pub fn max_response(mut self, bytes: usize) -> Self {
        self.max_response = bytes;
        self
    }

    /// The longest time between two queries of the outbox, and so the longest delay of a message that another process
    /// has enqueued. Default: 1 second.
    #[must_use]
    pub fn longest_idle(mut self, pause: Duration) -> Self {
        self.longest_idle = pause;
        self
    }

    /// The shortest time between two queries of the outbox while a due message may not be delivered. It doubles with
    /// each query up to the longest time. Default: 100 milliseconds.
    #[must_use]
    pub fn shortest_idle(mut self, pause: Duration) -> Self {
        self.shortest_idle = pause;
        self
    }

    /// After how long a message to an endpoint that this worker does not know is leased again. Default: 1 minute.
    #[must_use]
    pub fn unknown_endpoint_pause(mut self, pause: Duration) -> Self {
        self.unknown_endpoint_pause = pause;
        self
    }

    /// How long delivered messages are kept, with the records of their deliveries. Once an hour,
    /// [`Dispatcher::run`](super::Dispatcher::run) forgets older ones. Dead letters stay. Default: for ever.
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = Some(retention);
        self
    }

    /// Which messages are enqueued. Default: those that break neither the specification nor a documented default.
    #[must_use]
    pub fn outgoing(mut self, options: OutgoingOptions) -> Self {
        self.outgoing = options;
        self
    }

    /// The records that an outcome and its headers are checked against when they are enqueued (Specification: "Webhook
    /// receivers", the key is that of the original request). Default: none, and the caller must pass the right headers.
    #[must_use]
    pub fn requests(mut self, requests: Arc<dyn Requests>) -> Self {
        self.requests = Some(requests);
        self
    }

    /// How often [`Dispatcher::run`](super::Dispatcher::run) sets the gauges of metrics from a
    /// [snapshot](super::Dispatcher::snapshot), at least a second; `None`: never, for all but one of several
    /// dispatchers over one outbox. Default: every 60 s.
    #[cfg(feature = "metrics")]
    #[must_use]
    pub fn gauge_interval(mut self, interval: Option<Duration>) -> Self {
        self.gauge_interval = interval;
        self
    }

    /// The number of places that an endpoint leaves free beside each of its deliveries: of the smaller number of
    /// places, so that an endpoint alone reaches its bound among the slow ones too.
    pub(super) fn reserve(&self) -> u32 {
        let quarter = u32::try_from(self.concurrency.min(self.slow_concurrency) / 4).unwrap_or(u32::MAX);
        quarter / self.per_endpoint.max(1)
    }

    /// The length of a lease: enough for a delivery with sealing and recording. After a crash, the next delivery waits
    /// this long.
    pub(super) fn lease(&self) -> Duration {
        self.timeout.saturating_mul(2).saturating_add(Duration::from_secs(30))
    }
}
