//! How deliveries are made.

use crate::delivery::BreakerPolicy;
use bankrail_webhook::schedule::{DEFAULT_TIME_OUT, Schedule};
use std::time::Duration;

/// What a 2xx answer without an acknowledgement counts as. It is recorded as a finding either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrongBody {
    /// Delivered: the receiver said that it took the message.
    #[default]
    Delivered,
    /// Not delivered: tried again on the schedule.
    Retry,
}

/// How a [`Dispatcher`](super::Dispatcher) delivers. Start from the defaults and set fields (Default: "Webhooks", what the
/// best senders do).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DispatcherOptions {
    /// When to try again. Default: ten attempts over some three days, with 20 % jitter.
    pub schedule: Schedule,
    /// How long a receiver has to answer; before that, a sealer to seal. Default: 15 seconds.
    pub timeout: Duration,
    /// The most attempts under way at once in this worker, at least one. Default: 64.
    pub concurrency: usize,
    /// The most entries of one endpoint under lease at once, over all workers, at least one. Default: 4.
    pub per_endpoint: u32,
    /// When an endpoint that keeps failing is left alone.
    pub breaker: BreakerPolicy,
    /// What a 2xx answer without an acknowledgement counts as. Default: delivered.
    pub wrong_body: WrongBody,
    /// The most octets of an answer that are read. Default: 64 KiB.
    pub max_response: usize,
    /// The longest time between two looks at the outbox: how late a message of another process is noticed. Default: 1
    /// second.
    pub longest_idle: Duration,
    /// The shortest such time while something is due that may not be sent; doubled with each look up to the longest one.
    /// Default: 100 milliseconds.
    pub shortest_idle: Duration,
    /// When a message to an endpoint that this worker does not know is looked at again. Default: 1 minute.
    pub unknown_endpoint_pause: Duration,
    /// How long delivered messages are kept, with their attempts. Then [`Dispatcher::run`](super::Dispatcher::run) forgets
    /// them, once an hour. Dead letters stay. Default: `None`, for ever.
    pub retention: Option<Duration>,
}

impl Default for DispatcherOptions {
    fn default() -> Self {
        Self {
            schedule: Schedule::default(),
            timeout: DEFAULT_TIME_OUT,
            concurrency: 64,
            per_endpoint: 4,
            breaker: BreakerPolicy::default(),
            wrong_body: WrongBody::default(),
            max_response: 64 * 1024,
            longest_idle: Duration::from_secs(1),
            shortest_idle: Duration::from_millis(100),
            unknown_endpoint_pause: Duration::from_secs(60),
            retention: None,
        }
    }
}

impl DispatcherOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Long enough for an attempt, sealing and recording included; after a crash, the time until the next one.
    pub(super) fn lease(&self) -> Duration {
        self.timeout.saturating_mul(2).saturating_add(Duration::from_secs(30))
    }
}
