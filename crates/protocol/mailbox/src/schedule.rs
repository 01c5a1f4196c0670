//! Times of the next delivery or attempt: pure functions of the deliveries so far and a random
//! number.

use crate::outbox::Disposition;
use bankrail_values::Timestamp;
use std::time::Duration;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// The delays of the default schedule, each after the previous delivery. Default: at once, 5 s, 5
/// min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h.
pub const DEFAULT_DELAYS: [Duration; 10] = [
    Duration::ZERO,
    Duration::from_secs(5),
    Duration::from_secs(5 * MINUTE),
    Duration::from_secs(30 * MINUTE),
    Duration::from_secs(2 * HOUR),
    Duration::from_secs(5 * HOUR),
    Duration::from_secs(10 * HOUR),
    Duration::from_secs(14 * HOUR),
    Duration::from_secs(20 * HOUR),
    Duration::from_secs(24 * HOUR),
];

/// The time that an endpoint has to answer. Default: 15 s.
pub const DEFAULT_TIME_OUT: Duration = Duration::from_secs(15);

/// The delays between the deliveries, or the attempts to handle, of one message.
///
/// ```
/// use bankrail_mailbox::Schedule;
/// use std::time::Duration;
/// let schedule = Schedule::default();
/// assert_eq!(schedule.delay(0, 0), Some(Duration::ZERO)); // before the first delivery
/// assert_eq!(schedule.delay(1, 0), Some(Duration::from_secs(4))); // 5 s less 20 %
/// assert_eq!(schedule.delay(1, u64::MAX), Some(Duration::from_secs(6))); // 5 s plus 20 %
/// assert_eq!(schedule.delay(10, 0), None); // given up
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    delays: Box<[Duration]>,
    jitter_percent: u8,
    longest_retry_after: Duration,
}

impl Default for Schedule {
    fn default() -> Self {
        Self::new(DEFAULT_DELAYS, 20)
    }
}

impl Schedule {
    /// Makes a schedule of these delays, each stretched or shortened by up to `jitter_percent` (at
    /// most 100). The number of deliveries is that of the delays.
    ///
    /// - The first delay is before the first delivery. Dispatchers and workers ignore it and
    ///   begin at once; callers with their own loop may wait for it ([`Schedule::delay`] of 0).
    /// - Each other delay begins when the previous delivery has failed.
    #[must_use]
    pub fn new(delays: impl IntoIterator<Item = Duration>, jitter_percent: u8) -> Self {
        Self {
            delays: delays.into_iter().collect(),
            jitter_percent: jitter_percent.min(100),
            longest_retry_after: Duration::from_secs(24 * HOUR),
        }
    }

    /// Sets the longest `Retry-After` that is granted; longer ones are cut. Default: 24 h.
    #[must_use]
    pub fn longest_retry_after(mut self, longest: Duration) -> Self {
        self.longest_retry_after = longest;
        self
    }

    /// Returns the part of a `Retry-After` that is granted.
    #[must_use]
    pub fn granted(&self, asked: Duration) -> Duration {
        asked.min(self.longest_retry_after)
    }

    /// Returns the longest delay, with its jitter. If an entry waits longer, and longer than the
    /// longest [granted](Schedule::granted) `Retry-After`, a clock that was ahead has set its time.
    #[must_use]
    pub fn longest_delay(&self) -> Duration {
        let made = 0..u32::try_from(self.delays.len()).unwrap_or(u32::MAX);
        let delays = made.filter_map(|made| self.delay(made, u64::MAX));
        delays.max().unwrap_or_default()
    }

    /// Returns the number of deliveries before a message becomes a dead letter.
    #[must_use]
    pub fn attempts(&self) -> usize {
        self.delays.len()
    }

    /// Returns the wait after `made` deliveries, in whole milliseconds. `random` is spread evenly
    /// over the jitter: 0 gives the shortest delay, `u64::MAX` the longest. `None` if no delivery
    /// is left.
    #[must_use]
    pub fn delay(&self, made: u32, random: u64) -> Option<Duration> {
        let delay = self.delays.get(usize::try_from(made).ok()?)?.as_millis();
        let jitter = delay.saturating_mul(u128::from(self.jitter_percent)) / 100;
        // The spread is even over 0..=2 * jitter, and is cut at 292 million years.
        let spread = u128::from(random).saturating_mul(2 * jitter + 1) >> 64;
        let millis = delay.saturating_sub(jitter).saturating_add(spread);
        Some(Duration::from_millis(
            u64::try_from(millis).unwrap_or(u64::MAX),
        ))
    }

    /// Returns the disposition of a message whose delivery failed. `made` counts the failed
    /// delivery, too. The message is not due again before `retry_after` has passed (RFC 9110
    /// section 10.2.3).
    #[must_use]
    pub fn after_failure(
        &self,
        made: u32,
        now: Timestamp,
        retry_after: Option<Duration>,
        random: u64,
    ) -> Disposition {
        match self.delay(made, random) {
            None => Disposition::DeadLetter,
            Some(delay) => {
                let floor = self.granted(retry_after.unwrap_or_default());
                Disposition::RetryAt(now.saturating_add(delay.max(floor)))
            }
        }
    }
}
