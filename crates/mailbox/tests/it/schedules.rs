//! Schedules of deliveries.

use bankrail_mailbox::{DEFAULT_DELAYS, Disposition, Schedule};
use bankrail_values::Timestamp;
use proptest::prelude::*;
use std::time::Duration;

const HOUR: u64 = 3600;

proptest! {
    #[test]
    fn jitter_is_within_a_fifth_and_rises_with_the_random_number(made in 1_u32..10, random: u64, other: u64) {
        let schedule = Schedule::default();
        let plain = DEFAULT_DELAYS[made as usize];
        let delay = schedule.delay(made, random).unwrap();
        prop_assert!(delay >= plain * 4 / 5 && delay <= plain * 6 / 5, "{delay:?}");
        prop_assert!(random > other || delay <= schedule.delay(made, other).unwrap());
    }

    #[test]
    fn any_schedule_is_total(seconds: u64, nanos in 0_u32..1_000_000_000, jitter: u8, random: u64) {
        let schedule = Schedule::new([Duration::new(seconds, nanos)], jitter);
        prop_assert!(schedule.delay(0, random).is_some());
        prop_assert_eq!(schedule.delay(1, random), None);
    }
}

#[test]
fn the_extremes_are_reached_and_the_middle_is_the_delay() {
    let schedule = Schedule::default();
    assert_eq!(schedule.delay(9, 0), Some(Duration::from_secs(24 * HOUR * 4 / 5)));
    assert_eq!(schedule.delay(9, u64::MAX), Some(Duration::from_secs(24 * HOUR * 6 / 5)));
    assert_eq!(schedule.delay(9, 1 << 63), Some(Duration::from_secs(24 * HOUR)));
    assert_eq!(Schedule::new([Duration::from_secs(7)], 0).delay(0, u64::MAX), Some(Duration::from_secs(7)));
}

#[test]
fn retry_after_is_a_floor_and_is_cut() {
    let schedule = Schedule::default();
    let now = Timestamp::UNIX_EPOCH;
    let in_seconds = |seconds| Disposition::RetryAt(now.saturating_add(Duration::from_secs(seconds)));
    assert_eq!(schedule.after_failure(1, now, Some(Duration::from_secs(60)), 0), in_seconds(60));
    assert_eq!(schedule.after_failure(1, now, Some(Duration::from_secs(1)), 0), in_seconds(4));
    assert_eq!(schedule.after_failure(1, now, Some(Duration::MAX), 0), in_seconds(24 * HOUR));
    assert_eq!(schedule.after_failure(10, now, Some(Duration::from_secs(60)), 0), Disposition::DeadLetter);
}
