//! Options of a worker.

use bankrail_mailbox::Schedule;
use std::time::Duration;

/// Options of a [`Worker`](super::Worker).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerOptions {
    pub(super) concurrency: u32,
    pub(super) handler_timeout: Duration,
    pub(super) lease: Duration,
    pub(super) schedule: Schedule,
    pub(super) poll: Duration,
    pub(super) grace: Duration,
    #[cfg(feature = "metrics")]
    pub(super) gauge_interval: Option<Duration>,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        let pauses = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900];
        Self {
            concurrency: 8,
            handler_timeout: Duration::from_secs(30),
            lease: Duration::from_secs(60),
            schedule: Schedule::new(pauses.map(Duration::from_secs), 20),
            poll: Duration::from_secs(1),
            grace: Duration::from_secs(30),
            #[cfg(feature = "metrics")]
            gauge_interval: Some(Duration::from_secs(60)),
        }
    }
}

impl WorkerOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many messages are handled at once, at least one. Default: 8.
    #[must_use]
    pub fn concurrency(mut self, messages: u32) -> Self {
        self.concurrency = messages;
        self
    }

    /// How long a handler may take. After that it is dropped, and the message is handled again later. Default: 30 s.
    #[must_use]
    pub fn handler_timeout(mut self, longest: Duration) -> Self {
        self.handler_timeout = longest;
        self
    }

    /// How long a lease lasts, and so how long after a crash another worker takes the message. While a handler runs,
    /// the worker extends the lease after each third of this time. Default: 60 s.
    #[must_use]
    pub fn lease(mut self, length: Duration) -> Self {
        self.lease = length;
        self
    }

    /// When a message is handled again after a failure, and after how many failures it becomes a dead letter. Default:
    /// it is handled 12 times, again after 1 s, then after twice as long each time up to 15 min, with 20 % jitter.
    #[must_use]
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// How often the inbox is asked if nothing arrives. Default: 1 s.
    #[must_use]
    pub fn poll(mut self, pause: Duration) -> Self {
        self.poll = pause;
        self
    }

    /// How often [`Worker::run`](super::Worker::run) sets the gauges of metrics from the inbox, at least a second;
    /// `None`: never, for all but one of several workers over one inbox. Default: every 60 s.
    #[cfg(feature = "metrics")]
    #[must_use]
    pub fn gauge_interval(mut self, interval: Option<Duration>) -> Self {
        self.gauge_interval = interval;
        self
    }

    /// How long running handlers may continue when the worker is stopped. Default: 30 s.
    #[must_use]
    pub fn grace(mut self, longest: Duration) -> Self {
        self.grace = longest;
        self
    }
}
