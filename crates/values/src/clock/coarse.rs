//! The system's clock without the cost of reading the hardware.

use super::{Clock, SystemClock};
use crate::Timestamp;

/// The operating system's clock as it stood at its last timer interrupt: a few nanoseconds a reading instead of some
/// tens, for what asks at every request and can spare milliseconds, such as a rate limit.
///
/// - On Linux and Android this is `CLOCK_REALTIME_COARSE`; elsewhere it is [`SystemClock`].
/// - It is never ahead of [`SystemClock`]. It is behind by up to one tick of the kernel: 1 to 10 ms by the kernel's
///   configuration, commonly 4. Within a virtual machine whose host holds timer interrupts back, by that time too.
/// - It is the system's clock and no estimate of it: it does not drift, is not calibrated, follows every step of the
///   system's clock with the next tick, and stays right over a suspension or a migration to another host.
/// - Every thread reads the same, and between two ticks the same again and again. So instants of this clock are to be
///   compared with one another, not with [`SystemClock`]'s to the millisecond.
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
    // The nanoseconds count on from the second, before 1970 too, and are fewer than a second has.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn it_shows_the_systems_time_and_is_never_ahead() {
        for _ in 0..1_000 {
            let coarse = CoarseClock.now();
            let system = SystemClock.now();
            assert!(coarse <= system);
            // Far above any tick: this tells units and epochs apart, not milliseconds.
            assert!(system.saturating_since(coarse) < Duration::from_secs(600));
        }
    }
}
