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
        /// The times of full walks, and the maximum number of pages of one. Default: a full walk an
        /// hour, of at most 100 pages.
        pub(super) walks: PollOptions = PollOptions::new(),
        /// The time of each account's last poll before the end of the bank's day. It covers the
        /// difference of the clocks and the time of the calls. Default: 2 min.
        pub(super) last_poll: Duration = Duration::from_secs(120),
        /// Hands over entries that are not booked too: pending ones and mere information, which are
        /// not money of the account. An entry that is booked later is handed over then in either
        /// case, in place of the pending one if that was handed over. Once this is switched off,
        /// unbooked entries that were handed over are reported as vanished. Default: no.
        pub(super) unbooked: bool = false,
        /// The maximum time of a handler. One that takes longer is dropped, which counts as a
        /// failure. Default: 30 s.
        pub(super) handler_timeout: Duration = Duration::from_secs(30),
        /// The pauses before a page is handed over again after its handler failed. The account is
        /// stopped when they are used up. Default: it is handed over three times, again after 1 s
        /// and after 10 s, with 20 % jitter.
        pub(super) handler_schedule: Schedule = Schedule::new([0, 1, 10].map(Duration::from_secs), 20),
        /// Logs the text of a handler's error, with those of its causes, where the handler failed.
        /// For handlers whose errors hold nothing that a log must not have, such as amounts and
        /// names. Default: no.
        pub(super) log_handler_errors: bool = false,
        /// The pauses before a page is fetched again after a transient failure, but not before a
        /// `Retry-After`. The last pause is repeated without end. Default: after 1 s, then after
        /// twice as long each time up to 15 min, with 20 % jitter.
        pub(super) retry_schedule: Schedule = Schedule::new(PAUSES.map(Duration::from_secs), 20),
        /// The time after which a stopped account is tried again, and again after each failure.
        /// `None`: never. Its statement is that of a day, so a fault that is fixed soon loses
        /// nothing. If the service keeps refusing the statement, as of a closed account, the time
        /// doubles with each refusal up to a day, until a page is recorded. Default: an hour.
        pub(super) retry_stopped: Option<Duration> = Some(Duration::from_secs(3600)),
        /// The retention of an entry's record after its booking day, at least two days.
        /// [`Poller::run`](super::Poller::run) forgets older entries of the polled accounts once an
        /// hour ([`SeenEntries::forget_before`](bankrail_statement::SeenEntries::forget_before)):
        /// an entry that the service still listed then would be handed over again. Default: without
        /// end.
        pub(super) retention(Duration => |retention| Some(retention.max(TWO_DAYS))): Option<Duration> = None,
    }
}

/// The shortest retention.
const TWO_DAYS: Duration = Duration::from_secs(2 * 24 * 3600);
