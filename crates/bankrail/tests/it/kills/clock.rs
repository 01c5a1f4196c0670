//! The fast clock of the child processes.

use bankrail_values::{Clock, SystemClock, Timestamp};
use std::time::Duration;

/// A clock that is twenty times as fast as the system's, so that polls are due soon. Each start
/// moves it half a minute further, so that leases of killed processes soon end. A test of 1,000
/// kills stays within one day of this clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct FastClock {
    /// The time at which the parent started.
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
