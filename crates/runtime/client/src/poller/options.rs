//! Options of a poller.

use bankrail_mailbox::Schedule;
use bankrail_statement::PollOptions;
use std::time::Duration;

/// The pauses in seconds of the default schedule.
const PAUSES: [u64; 12] = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900];

bankrail_values::options! {
    /// Options of a [`Poller`](super::Poller).
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PollerOptions {
        /// When full walks are made, and how many pages they have at most. Default: a full walk an
        /// hour, of at most 100 pages.
        pub(super) walks: PollOptions = PollOptions::new(),
        /// How long before the end of the bank's day each account is polled for the last time. It
        /// covers the difference of the clocks and the time of the calls. Default: 2 min.
        pub(super) last_poll: Duration = Duration::from_secs(120),
        /// Whether entries that are not booked are handed over too: pending ones and mere
        /// information, which are not money of the account. An entry that is booked later is handed
        /// over then in either case, in place of the pending one if that was handed over. Switched
        /// off, those that were are said to have vanished. Default: no.
        pub(super) unbooked: bool = false,
        /// How long a handler may take. After that it is dropped, which counts as a failure.
        /// Default: 30 s.
        pub(super) handler_timeout: Duration = Duration::from_secs(30),
        /// When a page is handed over again after its handler failed, and after how many failures
        /// the account is stopped. Default: it is handed over three times, again after 1 s and
        /// after 10 s, with 20 % jitter.
        pub(super) handler_schedule: Schedule = Schedule::new([0, 1, 10].map(Duration::from_secs), 20),
        /// When a page is fetched again after a failure that may pass, but not before a
        /// `Retry-After`. The last pause is repeated for ever. Default: after 1 s, then after twice
        /// as long each time up to 15 min, with 20 % jitter.
        pub(super) retry_schedule: Schedule = Schedule::new(PAUSES.map(Duration::from_secs), 20),
        /// How long after an account was stopped it is tried again all the same, and again after
        /// each failure. `None`: it is not. Its statement is that of a day, so what is mended soon
        /// loses nothing. Default: an hour.
        pub(super) retry_stopped: Option<Duration> = Some(Duration::from_secs(3600)),
        /// For how long after its booking day the store keeps what it knows of an entry, at least
        /// two days. [`Poller::run`](super::Poller::run) forgets older entries of the polled
        /// accounts once an hour
        /// ([`SeenEntries::forget_before`](bankrail_statement::SeenEntries::forget_before)): an
        /// entry that the service still listed then would be handed over again. Default: for ever.
        pub(super) retention(Duration => |retention| Some(retention.max(TWO_DAYS))): Option<Duration> = None,
    }
}

/// The shortest retention.
const TWO_DAYS: Duration = Duration::from_secs(2 * 24 * 3600);
