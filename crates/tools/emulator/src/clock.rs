//! The clock of a bank that can be controlled while the bank runs.

use bankrail_values::{Clock, SystemClock, Timestamp};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A clock that follows the operating system's until somebody sets or steps it, or changes its
/// rate.
///
/// ```
/// use bankrail_emulator::BankClock;
/// use bankrail_values::Clock;
/// use std::time::Duration;
///
/// let clock = BankClock::new();
/// clock.run(0);
/// clock.set("2026-03-02T00:00:00.000Z".parse()?);
/// clock.step(Duration::from_secs(3600));
/// assert_eq!(clock.now().to_string(), "2026-03-02T01:00:00.000Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct BankClock(Mutex<Course>);

/// A rate of the clock: at the real time `since` the clock showed `from`, and since then it has run
/// `rate` times as fast as real time.
#[derive(Clone, Copy, Debug)]
struct Course {
    since: Timestamp,
    from: Timestamp,
    rate: u32,
    judges_assertions: bool,
}

impl Default for Course {
    fn default() -> Self {
        let start = Timestamp::UNIX_EPOCH;
        Self {
            since: start,
            from: start,
            rate: 1,
            judges_assertions: false,
        }
    }
}

impl Course {
    fn at(&self, real: Timestamp) -> Timestamp {
        let passed = real
            .unix_millis()
            .saturating_sub(self.since.unix_millis())
            .saturating_mul(self.rate.into());
        Timestamp::saturating_from_unix_millis(self.from.unix_millis().saturating_add(passed))
    }
}

impl BankClock {
    /// The maximum rate of a clock, in multiples of real time: a year passes in about thirty
    /// seconds.
    pub const MAX_RATE: u32 = 1_000_000;

    /// Returns a clock that shows the real time.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the time, which may be earlier or later than the present one. The rate of the clock
    /// does not change.
    pub fn set(&self, now: Timestamp) {
        self.change(|course| course.from = now);
    }

    /// Advances the clock, cut to milliseconds.
    pub fn step(&self, by: Duration) {
        self.change(|course| course.from = course.from.saturating_add(by));
    }

    /// Runs this many times as fast as the real time, at most [`BankClock::MAX_RATE`]; 0 stops the
    /// clock.
    pub fn run(&self, rate: u32) {
        self.change(|course| course.rate = rate.min(Self::MAX_RATE));
    }

    /// Shows the real time again.
    pub fn reset(&self) {
        *self.lock() = Course::default();
    }

    /// Returns the rate of the clock: 1 is real time, 0 means that the clock stands still.
    #[must_use]
    pub fn rate(&self) -> u32 {
        self.lock().rate
    }

    /// Makes this clock judge assertions if true, instead of the real time, which the customers'
    /// programs use. Default: false.
    pub fn judge_assertions(&self, by_this_clock: bool) {
        self.lock().judges_assertions = by_this_clock;
    }

    /// Returns true if assertions are judged by this clock.
    #[must_use]
    pub fn judges_assertions(&self) -> bool {
        self.lock().judges_assertions
    }

    /// Returns the clock that judges assertions, for
    /// [`ProviderOptions::assertion_clock`](bankrail_service::ProviderOptions::assertion_clock):
    /// the real time, or this clock after [`BankClock::judge_assertions`].
    #[must_use]
    pub fn for_assertions(self: &Arc<Self>) -> Arc<dyn Clock> {
        Arc::new(AssertionClock(Arc::clone(self)))
    }

    fn change(&self, change: impl FnOnce(&mut Course)) {
        let mut course = self.lock();
        // Reads the time under the lock, so that two simultaneous changes have the times of their
        // order.
        let real = SystemClock.now();
        // Ends the course so far now, so that a new rate does not apply to the past.
        (course.from, course.since) = (course.at(real), real);
        change(&mut course);
    }

    fn lock(&self) -> MutexGuard<'_, Course> {
        // Each change is one assignment of a whole course, so a panic elsewhere leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for BankClock {
    fn now(&self) -> Timestamp {
        self.lock().at(SystemClock.now())
    }
}

#[derive(Debug)]
struct AssertionClock(Arc<BankClock>);

impl Clock for AssertionClock {
    fn now(&self) -> Timestamp {
        if self.0.judges_assertions() {
            self.0.now()
        } else {
            SystemClock.now()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_the_real_time_until_it_is_steered() {
        let clock = Arc::new(BankClock::new());
        let ahead = |clock: &BankClock| clock.now().saturating_since(SystemClock.now());
        assert!(ahead(&clock) < Duration::from_secs(60));
        clock.step(Duration::from_secs(86_400));
        assert!(ahead(&clock) > Duration::from_secs(86_000));
        let judged = clock.for_assertions();
        assert!(judged.now().saturating_since(SystemClock.now()) < Duration::from_secs(60));
        clock.judge_assertions(true);
        assert!(judged.now().saturating_since(SystemClock.now()) > Duration::from_secs(86_000));
        clock.reset();
        assert!(ahead(&clock) < Duration::from_secs(60) && !clock.judges_assertions());
    }

    #[test]
    fn it_runs_faster_or_stands_still() {
        let course = Course {
            rate: 3600,
            ..Course::default()
        };
        assert_eq!(
            course
                .at("1970-01-01T00:00:02.000Z".parse().unwrap())
                .to_string(),
            "1970-01-01T02:00:00.000Z"
        );
        let course = Course {
            rate: u32::MAX,
            ..Course::default()
        };
        let far = Timestamp::saturating_from_unix_millis(i64::MAX);
        assert_eq!(course.at(far), far, "no overflow");
        let clock = BankClock::new();
        clock.run(0);
        let now = clock.now();
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!((clock.now(), clock.rate()), (now, 0));
        clock.run(u32::MAX);
        assert_eq!(clock.rate(), BankClock::MAX_RATE);
    }
}
