//! Clocks, from which callers of the protocol crates take `now`.

#[cfg(feature = "coarse-clock")]
mod coarse;

#[cfg(feature = "coarse-clock")]
pub use coarse::CoarseClock;

use crate::Timestamp;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

/// A source of the current time. Protocol crates take `now` as an argument; services and clients
/// take a clock.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no clock",
    label = "not a `Clock`",
    note = "pass `Arc::new(SystemClock)` of `bankrail_values`, or `ManualClock` in tests"
)]
pub trait Clock: fmt::Debug + Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// The operating system's clock.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "there is nothing to set")]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the clock that callers pass")]
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from(SystemTime::now())
    }
}

/// A clock that moves only by its methods, for tests and simulations.
///
/// ```
/// use bankrail_values::{Clock, ManualClock, Timestamp};
/// use std::time::Duration;
/// let clock = ManualClock::new("2021-07-29T00:00:00.000Z".parse().unwrap());
/// clock.advance(Duration::from_millis(1500));
/// assert_eq!(clock.now().to_string(), "2021-07-29T00:00:01.500Z");
/// ```
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Returns a clock set to `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self(AtomicI64::new(start.unix_millis()))
    }

    /// Advances the clock by `step`, cut to milliseconds.
    pub fn advance(&self, step: Duration) {
        self.set(self.now().saturating_add(step));
    }

    /// Sets the clock to `now`, which may be earlier or later than its time.
    pub fn set(&self, now: Timestamp) {
        // `SeqCst`, because tests set the clock in one thread and expect every other thread to see
        // the new time.
        self.0.store(now.unix_millis(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::saturating_from_unix_millis(self.0.load(Ordering::SeqCst))
    }
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}
