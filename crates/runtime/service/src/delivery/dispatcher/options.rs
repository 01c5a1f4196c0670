//! Options of a dispatcher.

use crate::delivery::{BreakerPolicy, Requests};
use bankrail_mailbox::{DEFAULT_TIME_OUT, Schedule};
use bankrail_webhook::OutgoingOptions;
use std::sync::Arc;
use std::time::Duration;

/// Treatments of a 2xx answer whose body is no acknowledgement, or one with another status than
/// `RCVD` (Specification: "Events", delivery rule 4). The record of the delivery notes it in either
/// case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingAcknowledgement {
    /// As a failure: the message is delivered again on the schedule.
    #[default]
    Failed,
    /// As delivered, because of the status. For receivers that do not answer with an
    /// acknowledgement.
    Delivered,
}

bankrail_values::options! {
    /// Options of a [`Dispatcher`](super::Dispatcher). The defaults are those of well-known webhook
    /// senders (Default: "Webhooks").
    #[derive(Clone, Debug)]
    pub struct DispatcherOptions {
        /// When a failed delivery is made again: the pauses between the deliveries of a message,
        /// and so how many there are before it becomes a dead letter. Default:
        /// [`Schedule::default`], ten deliveries over some three days, with 20 % jitter.
        /// [`Dispatcher::resume`](super::Dispatcher::resume) does not wait for them.
        pub(in crate::delivery) schedule: Schedule = Schedule::default(),
        /// The time-out of a receiver's answer, and before it of sealing. Default: 15 seconds.
        ///
        /// A lease lasts twice as long and 10 seconds. Until its end a delivery is recorded again
        /// while the outbox fails; afterwards the message may be delivered again.
        pub(in crate::delivery) timeout: Duration = DEFAULT_TIME_OUT,
        /// The most deliveries that this worker makes at once, without the slow ones; at least one.
        /// Default: 64.
        ///
        /// A delivery whose outcome is known and whose record is on the way to the outbox does not
        /// count: there are at most as many of those as places, the slow ones included.
        ///
        /// The endpoints take turns. Beside each delivery that an endpoint has under way it leaves
        /// places free for endpoints with fewer: a quarter of these places, or of
        /// [`DispatcherOptions::slow_concurrency`] if those are fewer, divided by
        /// [`DispatcherOptions::per_endpoint`].
        pub(in crate::delivery) concurrency: usize = 64,
        /// The most slow deliveries that this worker makes at once, beside those of
        /// [`DispatcherOptions::concurrency`]; at least one. Default: 64, half of all.
        ///
        /// A delivery that takes longer than [`DispatcherOptions::slow_after`] moves to one of
        /// these places. Its endpoint is slow from then on, and its next deliveries start in these
        /// places, until one of them takes less. While all of these places are taken, slow
        /// endpoints get no further delivery, and a delivery that becomes slow keeps its place.
        pub(in crate::delivery) slow_concurrency: usize = 64,
        /// The duration from which on a delivery is slow, sealing included. Default: 500
        /// milliseconds.
        pub(in crate::delivery) slow_after: Duration = Duration::from_millis(500),
        /// The most messages to one endpoint that all workers together lease at once; at least one.
        /// Default: 4.
        pub(in crate::delivery) per_endpoint: u32 = 4,
        /// When deliveries to an endpoint that keeps failing are paused. Default:
        /// [`BreakerPolicy::default`].
        pub(in crate::delivery) breaker: BreakerPolicy = BreakerPolicy::default(),
        /// The treatment of a 2xx answer without the acknowledgement. Default: a failure.
        pub(in crate::delivery) missing_acknowledgement: MissingAcknowledgement = MissingAcknowledgement::default(),
        /// The most bytes of an answer that are read. Default: 64 KiB.
        pub(in crate::delivery) max_response: usize = 64 * 1024,
        /// The longest time between two queries of the outbox, and so the longest delay of a
        /// message that another process has enqueued, where
        /// [`Outbox::changed`](bankrail_mailbox::Outbox::changed) does not report it before.
        /// Default: 1 second.
        pub(in crate::delivery) longest_idle: Duration = Duration::from_secs(1),
        /// The shortest time between two queries of the outbox while a due message may not be
        /// delivered. It doubles with each query up to the longest time. Default: 100 milliseconds.
        pub(in crate::delivery) shortest_idle: Duration = Duration::from_millis(100),
        /// The pause after which a message to an endpoint that this worker does not know is leased
        /// again. Default: 1 minute.
        pub(in crate::delivery) unknown_endpoint_pause: Duration = Duration::from_secs(60),
        /// The retention of delivered messages and of the records of their deliveries.
        /// [`Dispatcher::run`](super::Dispatcher::run) deletes older ones once an hour. Dead
        /// letters stay. Default: for ever.
        pub(in crate::delivery) retention(Duration => Some): Option<Duration> = None,
        /// The checks of messages that are enqueued. Default: those that break neither the
        /// specification nor a documented default.
        pub(in crate::delivery) outgoing: OutgoingOptions = OutgoingOptions::default(),
        /// The records that an outcome and its headers are checked against when they are enqueued
        /// (Specification: "Webhook receivers", the key is that of the original request). Default:
        /// none, and the caller must pass the right headers.
        pub(in crate::delivery) requests(Arc<dyn Requests> => Some): Option<Arc<dyn Requests>> = None,
        /// The interval in which [`Dispatcher::run`](super::Dispatcher::run) sets the gauges of
        /// metrics from a [snapshot](super::Dispatcher::snapshot), at least a second; `None`:
        /// never, for all but one of several dispatchers over one outbox. Default: every 60 s.
        #[cfg(feature = "metrics")]
        pub(in crate::delivery) gauge_interval: Option<Duration> = Some(Duration::from_secs(60)),
    }
}

impl DispatcherOptions {
    /// The number of places that an endpoint leaves free beside each of its deliveries: of the
    /// smaller number of places, so that an endpoint alone reaches its bound among the slow ones
    /// too.
    pub(super) fn reserve(&self) -> u32 {
        let quarter =
            u32::try_from(self.concurrency.min(self.slow_concurrency) / 4).unwrap_or(u32::MAX);
        quarter / self.per_endpoint.max(1)
    }

    /// The length of a lease: enough for a delivery with sealing, and for recording it while the
    /// outbox is away for a moment. After a crash, the next delivery waits this long.
    pub(super) fn lease(&self) -> Duration {
        self.timeout
            .saturating_mul(2)
            .saturating_add(Duration::from_secs(10))
            .min(LONGEST_LEASE)
    }
}

/// The longest lease: an instant that far away must exist.
const LONGEST_LEASE: Duration = Duration::from_secs(365 * 24 * 3600);
