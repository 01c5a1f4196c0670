//! Schedules of deliveries.

use bankrail_mailbox::{DEFAULT_DELAYS, DEFAULT_TIME_OUT, Disposition, Schedule};
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
fn ten_deliveries_within_some_three_days() {
    let [second, minute] = [1, 60];
    let delays = [
        0,
        5 * second,
        5 * minute,
        30 * minute,
        2 * HOUR,
        5 * HOUR,
        10 * HOUR,
        14 * HOUR,
        20 * HOUR,
        24 * HOUR,
    ];
    let schedule = Schedule::default();
    let middle = 1 << 63;
    let made: Vec<Option<Duration>> = (0..=10).map(|made| schedule.delay(made, middle)).collect();
    let expected = delays
        .map(|seconds| Some(Duration::from_secs(seconds)))
        .into_iter()
        .chain([None]);
    assert_eq!(made, expected.collect::<Vec<_>>());
    assert_eq!(DEFAULT_TIME_OUT, Duration::from_secs(15));
}

#[test]
fn the_extremes_are_reached_and_the_middle_is_the_delay() {
    let schedule = Schedule::default();
    assert_eq!(
        schedule.delay(9, 0),
        Some(Duration::from_secs(24 * HOUR * 4 / 5))
    );
    assert_eq!(
        schedule.delay(9, u64::MAX),
        Some(Duration::from_secs(24 * HOUR * 6 / 5))
    );
    assert_eq!(
        schedule.delay(9, 1 << 63),
        Some(Duration::from_secs(24 * HOUR))
    );
    assert_eq!(
        Schedule::new([Duration::from_secs(7)], 0).delay(0, u64::MAX),
        Some(Duration::from_secs(7))
    );
}

#[test]
fn retry_after_is_a_floor_and_is_cut() {
    let schedule = Schedule::default();
    let now = Timestamp::UNIX_EPOCH;
    let in_seconds =
        |seconds| Disposition::RetryAt(now.saturating_add(Duration::from_secs(seconds)));
    assert_eq!(
        schedule.after_failure(1, now, Some(Duration::from_secs(60)), 0),
        in_seconds(60)
    );
    assert_eq!(
        schedule.after_failure(1, now, Some(Duration::from_secs(1)), 0),
        in_seconds(4)
    );
    assert_eq!(
        schedule.after_failure(1, now, Some(Duration::MAX), 0),
        in_seconds(24 * HOUR)
    );
    assert_eq!(
        schedule.after_failure(10, now, Some(Duration::from_secs(60)), 0),
        Disposition::DeadLetter
    );
}

#[test]
fn the_longest_delay_has_its_whole_jitter() {
    let longest = |delays: &[u64], jitter| {
        let delays = delays.iter().copied().map(Duration::from_secs);
        Schedule::new(delays, jitter).longest_delay()
    };
    assert_eq!(longest(&[], 20), Duration::ZERO);
    assert_eq!(longest(&[0, 100, 10], 20), Duration::from_secs(120));
    assert_eq!(
        Schedule::default().longest_delay(),
        Duration::from_secs(24 * 3600 * 6 / 5)
    );
}
