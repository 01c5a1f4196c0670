//! Timestamps as text, and their bounds.

use bankrail_values::Timestamp;
use proptest::prelude::*;
use std::time::Duration;

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
    assert_eq!(Timestamp::from_unix_millis(Timestamp::MAX.unix_millis() + 1), None);
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
