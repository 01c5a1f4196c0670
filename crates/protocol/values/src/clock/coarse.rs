//! The system's clock as of its last tick.

use super::{Clock, SystemClock};
use crate::Timestamp;

/// The operating system's clock as of its last timer interrupt. A reading takes a few nanoseconds
/// instead of tens of nanoseconds. Use it for code that reads the clock at every request and needs
/// no exact millisecond, such as a rate limit.
///
/// - On Linux and Android this is `CLOCK_REALTIME_COARSE`; elsewhere it is [`SystemClock`].
/// - The clock is never ahead of [`SystemClock`]. It lags by up to one tick of the kernel: 1 to 10
///   ms depending on the kernel's configuration, commonly 4. In a virtual machine whose host delays
///   timer interrupts, add that delay.
/// - The time is the system's, not an estimate: it does not drift and needs no calibration. It
///   follows every step of the system's clock with the next tick, and stays correct after a
///   suspension or a migration to another host.
/// - All threads read the same time, which does not change between two ticks. Compare instants of
///   this clock with one another, not with those of [`SystemClock`].
///
/// ```
/// use bankrail_values::{Clock, CoarseClock, SystemClock};
/// let coarse = CoarseClock.now();
/// assert!(coarse <= SystemClock.now());
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "there is nothing to set")]
pub struct CoarseClock;

impl Clock for CoarseClock {
    #[inline]
    fn now(&self) -> Timestamp {
        now()
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
#[inline]
fn now() -> Timestamp {
    use rustix::time::{ClockId, clock_gettime};
    let now = clock_gettime(ClockId::RealtimeCoarse);
    // The nanoseconds are added to the seconds, before 1970 too, and are always below
    // 1,000,000,000.
    match u32::try_from(now.tv_nsec) {
        Ok(nanos) => Timestamp::from_unix_parts(now.tv_sec, nanos),
        Err(_) => SystemClock.now(),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[inline]
fn now() -> Timestamp {
    SystemClock.now()
}
