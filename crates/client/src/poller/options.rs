//! Options of a poller.

use bankrail_mailbox::Schedule;
use bankrail_statement::PollOptions;
use std::time::Duration;

/// Options of a [`Poller`](super::Poller).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollerOptions {
    pub(super) poll: PollOptions,
    pub(super) handler_timeout: Duration,
    pub(super) handler_schedule: Schedule,
    pub(super) retry_schedule: Schedule,
    pub(super) grace: Duration,
    pub(super) retention: Option<Duration>,
}

impl Default for PollerOptions {
    fn default() -> Self {
        let pauses = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900];
        Self {
            poll: PollOptions::new(),
            handler_timeout: Duration::from_secs(30),
            handler_schedule: Schedule::new([0, 1, 10].map(Duration::from_secs), 20),
            retry_schedule: Schedule::new(pauses.map(Duration::from_secs), 20),
            grace: Duration::from_secs(10),
            retention: None,
        }
    }
}

impl PollerOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How long after a full walk the next one is made ([`PollOptions::full_walk_every`]). Default: 1 h.
    #[must_use]
    pub fn full_walk_every(mut self, interval: Duration) -> Self {
        self.poll = self.poll.full_walk_every(interval);
        self
    }

    /// The most pages of a walk ([`PollOptions::max_pages`]). Default: 100.
    #[must_use]
    pub fn max_pages(mut self, pages: usize) -> Self {
        self.poll = self.poll.max_pages(pages);
        self
    }

    /// How long a handler may take. After that it is dropped, which counts as a failure. Default: 30 s.
    #[must_use]
    pub fn handler_timeout(mut self, longest: Duration) -> Self {
        self.handler_timeout = longest;
        self
    }

    /// When a page is handed over again after its handler failed, and after how many failures the account is stopped.
    /// Default: it is handed over three times, again after 1 s and after 10 s, with 20 % jitter.
    #[must_use]
    pub fn handler_schedule(mut self, schedule: Schedule) -> Self {
        self.handler_schedule = schedule;
        self
    }

    /// When a page is fetched again after a failure that may pass, but not before a `Retry-After`. The last pause is
    /// repeated for ever. Default: after 1 s, then after twice as long each time up to 15 min, with 20 % jitter.
    #[must_use]
    pub fn retry_schedule(mut self, schedule: Schedule) -> Self {
        self.retry_schedule = schedule;
        self
    }

    /// How long a running handler may continue when the poller is stopped. Default: 10 s.
    #[must_use]
    pub fn grace(mut self, longest: Duration) -> Self {
        self.grace = longest;
        self
    }

    /// For how long after its booking day the store keeps what it knows of an entry, at least two days.
    /// [`Poller::run`](super::Poller::run) forgets older entries of the polled accounts once an hour
    /// ([`SeenEntries::forget_before`](bankrail_statement::SeenEntries::forget_before)): an entry that the service
    /// still listed then would be handed over again. Default: for ever.
    #[must_use]
    pub fn retention(mut self, retention: Duration) -> Self {
        self.retention = Some(retention.max(Duration::from_secs(2 * 24 * 3600)));
        self
    }
}
