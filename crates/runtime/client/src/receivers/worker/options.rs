//! Options, counts and the error of a worker.

use bankrail_mailbox::Schedule;
use bankrail_values::StoreError;
use std::time::Duration;

/// The pauses in seconds of the default schedule.
const PAUSES: [u64; 12] = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900];

bankrail_values::options! {
    /// Options of a [`Worker`](super::Worker).
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WorkerOptions {
        /// The maximum number of messages that are handled at once, at least one. Default: 8.
        pub(super) concurrency: u32 = 8,
        /// The maximum time of a handler. One that takes longer is dropped, and the message is
        /// handled again later. Default: 30 s.
        pub(super) handler_timeout: Duration = Duration::from_secs(30),
        /// The duration of a lease, after which another worker takes the message of one that has
        /// crashed. While a handler runs, the worker extends the lease after each third of this
        /// time. Default: 60 s.
        pub(super) lease: Duration = Duration::from_secs(60),
        /// The pauses before a message is handled again after a failure. It becomes a dead letter
        /// when they are used up. Default: it is handled 12 times, again after 1 s, then after
        /// twice as long each time up to 15 min, with 20 % jitter.
        pub(super) schedule: Schedule = Schedule::new(PAUSES.map(Duration::from_secs), 20),
        /// The time between two looks into the inbox while nothing arrives. Default: 1 s.
        pub(super) poll: Duration = Duration::from_secs(1),
        /// The time after which [`Worker::run`](super::Worker::run) sets the gauges of metrics from
        /// the inbox again, at least a second; `None`: never, for all but one of several workers
        /// over one inbox. Default: every 60 s.
        #[cfg(feature = "metrics")]
        pub(super) gauge_interval: Option<Duration> = Some(Duration::from_secs(60)),
        /// The age of the oldest message that is not handled from which
        /// [`Worker::check`](super::Worker::check) fails. Default: 30 min, more than the default
        /// schedule's pauses but the last.
        pub(super) stale_after: Duration = Duration::from_secs(1800),
        /// True to log the error of a handler with its causes, at most 500 characters. Off by
        /// default, because an error of a database, for example, may quote the message. The inbox
        /// has the error's text in either case.
        pub(super) log_handler_errors: bool = false,
        /// The time that running handlers may continue when the worker is stopped. Default: 30 s.
        pub(super) grace: Duration = Duration::from_secs(30),
    }
}

/// The numbers of messages that a worker has handled, or not, since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerCounts {
    /// Messages that were handled.
    pub handled: u64,
    /// Failures after which a message is handled again.
    pub failed: u64,
    /// Messages that became dead letters.
    pub dead_letters: u64,
    /// Messages in conflict with an earlier one that found no handler.
    pub unhandled_conflicts: u64,
}

/// The reason for which [`Worker::check`](super::Worker::check) fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerCheckError {
    /// The inbox does not answer.
    #[error("the inbox failed")]
    Inbox(#[from] StoreError),
    /// A message has not been handled for too long.
    #[error("a message waits to be handled for {} s", waits.as_secs())]
    #[non_exhaustive]
    Behind {
        /// The time since the oldest message that is not handled was received.
        waits: Duration,
    },
}
