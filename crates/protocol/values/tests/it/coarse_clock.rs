//! The system's clock as of its last tick.

use bankrail_values::{Clock as _, CoarseClock, SystemClock};
use std::time::Duration;

#[test]
fn it_shows_the_systems_time_and_is_never_ahead() {
    for _ in 0..1_000 {
        let coarse = CoarseClock.now();
        let system = SystemClock.now();
        assert!(coarse <= system);
        // The bound is far above any tick: the test detects wrong units and epochs, not
        // milliseconds.
        assert!(system.saturating_since(coarse) < Duration::from_secs(600));
    }
}
