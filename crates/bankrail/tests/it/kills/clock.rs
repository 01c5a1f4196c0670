//! The children's clock.

use bankrail_values::{Clock, SystemClock, Timestamp};
use std::time::Duration;

/// Twenty times as fast as the system's, so that a poll is due in a moment, and half a minute
/// further with each start, so that what the dead had under lease is soon free. A test of 1,000
/// kills stays within one day of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastClock {
    /// The time at which the parent began.
    pub(super) began: Timestamp,
    pub(super) starts: u32,
}

impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        let day =
            Timestamp::parse("2026-06-01T00:00:00.000Z").expect("a constant that is a timestamp");
        let elapsed = SystemClock.now().saturating_since(self.began);
        day.saturating_add(elapsed * 20 + Duration::from_secs(30) * self.starts)
    }
}
