//! Timestamps as text, and their bounds.

use bankrail_values::{Clock as _, ManualClock, SystemClock, Timestamp};
use proptest::prelude::*;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

proptest! {
    #[test]
    fn text_and_back(millis in Timestamp::MIN.unix_millis()..=Timestamp::MAX.unix_millis()) {
        let timestamp = Timestamp::from_unix_millis(millis).unwrap();
        prop_assert_eq!(Timestamp::parse(&timestamp.to_string()).unwrap(), timestamp);
    }
}

#[test]
fn the_bounds_are_the_years_of_four_digits() {
    assert_eq!(Timestamp::MIN.to_string(), "0000-01-01T00:00:00.000Z");
    assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999Z");
    assert_eq!(
        Timestamp::from_unix_millis(Timestamp::MAX.unix_millis() + 1),
        None
    );
    assert_eq!(Timestamp::MAX.saturating_add(Duration::MAX), Timestamp::MAX);
    assert_eq!(Timestamp::MIN.saturating_sub(Duration::MAX), Timestamp::MIN);
}

#[test]
fn other_precisions_are_read_only_when_asked_for() {
    for (text, digits) in [
        ("2021-07-29T01:02:03Z", 0),
        ("2021-07-29T01:02:03.4Z", 1),
        ("2021-07-29T01:02:03.45Z", 2),
        ("2021-07-29T01:02:03.450Z", 3),
    ] {
        assert_eq!(Timestamp::parse_with_precision(text).unwrap().1, digits);
        assert_eq!(Timestamp::parse(text).is_ok(), digits == 3, "{text}");
    }
    for bad in [
        "2021-07-29T01:02:03.4500Z",
        "2021-07-29T01:02:03.450",
        "2021-07-29T01:02:03.450+00:00",
        "2021-07-29T01:02:60.000Z",
        "2021-07-29T24:00:00.000Z",
        "2021-02-29T00:00:00.000Z",
        "2021-07-29 01:02:03.450Z",
        "2021-07-29T01:02:03.450z",
        "2021-07-29T01:02:03,450Z",
        "2021-07-29T01:02:03.Z",
        "",
    ] {
        assert!(Timestamp::parse_with_precision(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn whole_seconds_round_down() {
    assert_eq!(Timestamp::from_unix_millis(-1).unwrap().unix_seconds(), -1);
    assert_eq!(Timestamp::from_unix_millis(1999).unwrap().unix_seconds(), 1);
}

#[test]
fn the_bounds_are_exact() {
    let millis = |millis: i64| Timestamp::from_unix_millis(millis);
    let (min, max) = (Timestamp::MIN.unix_millis(), Timestamp::MAX.unix_millis());
    assert_eq!((min, max), (-62_167_219_200_000, 253_402_300_799_999));
    assert_eq!((millis(min), millis(min - 1)), (Some(Timestamp::MIN), None));
    assert_eq!((millis(max), millis(max + 1)), (Some(Timestamp::MAX), None));
    assert_eq!(
        Timestamp::saturating_from_unix_millis(i64::MIN),
        Timestamp::MIN
    );
    assert_eq!(
        Timestamp::saturating_from_unix_millis(i64::MAX),
        Timestamp::MAX
    );
}

#[test]
fn each_part_is_read() {
    for (text, millis) in [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.1Z", 100),
        ("1970-01-01T00:00:00.12Z", 120),
        ("1970-01-01T00:00:00.123Z", 123),
        (
            "1970-01-02T03:04:05.678Z",
            86_400_000 + 3 * 3_600_000 + 4 * 60_000 + 5_678,
        ),
        ("1969-12-31T23:59:59.999Z", -1),
    ] {
        let read = Timestamp::parse_with_precision(text).unwrap().0;
        assert_eq!(read.unix_millis(), millis, "{text}");
        assert_eq!(Timestamp::from_time(read.to_time()), Some(read));
        assert_eq!(read.date().to_string(), text[..10]);
    }
}

#[test]
fn steps_are_cut_to_milliseconds() {
    let at = |millis: i64| Timestamp::from_unix_millis(millis).unwrap();
    let step = Duration::from_micros(7_999);
    assert_eq!(
        (at(10).saturating_add(step), at(10).saturating_sub(step)),
        (at(17), at(3))
    );
    assert_eq!(at(30).saturating_since(at(4)), Duration::from_millis(26));
    assert_eq!(
        at(-30).saturating_since(at(-100)),
        Duration::from_millis(70)
    );
    assert_eq!(at(4).saturating_since(at(30)), Duration::ZERO);
    let system = |step: Duration| Timestamp::from(SystemTime::UNIX_EPOCH + step);
    assert_eq!(system(Duration::new(3, 456_999_999)), at(3_456));
    assert_eq!(
        Timestamp::from(SystemTime::UNIX_EPOCH - Duration::new(3, 456_000_000)),
        at(-3_456)
    );
    assert_eq!(system(Duration::from_secs(1 << 40)), Timestamp::MAX);
}

#[test]
fn a_clock_that_is_set_shows_what_it_was_set_to() {
    let at = |millis: i64| Timestamp::from_unix_millis(millis).unwrap();
    let clock = std::sync::Arc::new(ManualClock::new(at(5)));
    assert_eq!(clock.now(), at(5));
    clock.advance(Duration::from_millis(37));
    assert_eq!(clock.now(), at(42));
    clock.set(at(-1));
    assert_eq!((clock.now(), (*clock).now()), (at(-1), at(-1)));
    let (before, now) = (Timestamp::from(SystemTime::now()), SystemClock.now());
    assert!(before <= now && now <= Timestamp::from(SystemTime::now()));
}

#[test]
fn seconds_are_rounded_down_and_nanoseconds_cut() {
    for (millis, seconds) in [
        (-1001, -2),
        (-1000, -1),
        (-1, -1),
        (0, 0),
        (999, 0),
        (1_700_000_000_000, 1_700_000_000),
    ] {
        assert_eq!(
            Timestamp::from_unix_millis(millis).unwrap().unix_seconds(),
            seconds,
            "{millis}"
        );
    }
    let at = |nanos| Timestamp::from(UNIX_EPOCH + Duration::new(5, nanos)).unix_millis();
    assert_eq!(
        [
            at(0),
            at(999_999),
            at(1_000_000),
            at(998_999_999),
            at(999_000_000)
        ],
        [5_000, 5_000, 5_001, 5_998, 5_999]
    );
}
