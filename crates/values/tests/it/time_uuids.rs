//! Identifiers that are made of the time.

use bankrail_values::{SimpleUuid, TimeUuidGenerator, Timestamp};
use std::collections::HashSet;

#[test]
fn the_example_of_the_rfc() {
    let generator = TimeUuidGenerator::from_random_bytes([0x9F, 0x6B, 0xDE, 0xCE, 0xD8, 0x46, 0xB3, 0xC8]);
    // RFC 9562 section A.1.
    let now: Timestamp = "2022-02-22T19:22:22.000Z".parse().unwrap();
    assert_eq!(generator.generate(now).to_hyphenated().to_string(), "c232ab00-9414-11ec-b3c8-9f6bdeced846");
}

#[test]
fn none_comes_twice_whatever_the_clock_does() {
    let generator = TimeUuidGenerator::from_random_bytes([0; 8]);
    let at = |millis: i64| Timestamp::from_unix_millis(millis).unwrap();
    let times = [5, 5, 5, 3, 6, 6, 0].map(at).into_iter().chain([Timestamp::MIN, Timestamp::MAX]);
    let made: HashSet<SimpleUuid> = times.map(|now| generator.generate(now)).collect();
    assert_eq!(made.len(), 9);
    assert!(made.iter().all(|id| id.version() == 1 && id.is_rfc_variant()));
}
