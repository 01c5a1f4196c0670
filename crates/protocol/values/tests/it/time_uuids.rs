//! Identifiers that are made of the time.

use bankrail_values::{SimpleUuid, TimeUuidGenerator, Timestamp};
use std::collections::HashSet;

#[test]
fn the_example_of_the_rfc() {
    let generator =
        TimeUuidGenerator::from_random_bytes([0x9F, 0x6B, 0xDE, 0xCE, 0xD8, 0x46, 0xB3, 0xC8]);
    // RFC 9562 section A.1.
    let now: Timestamp = "2022-02-22T19:22:22.000Z".parse().unwrap();
    assert_eq!(
        generator.generate(now).to_hyphenated().to_string(),
        "c232ab00-9414-11ec-b3c8-9f6bdeced846"
    );
    // UUIDs of the same time are one tick apart.
    assert_eq!(
        generator.generate(now).to_hyphenated().to_string(),
        "c232ab01-9414-11ec-b3c8-9f6bdeced846"
    );
    assert_eq!(
        generator.generate(now).to_hyphenated().to_string(),
        "c232ab02-9414-11ec-b3c8-9f6bdeced846"
    );
}

#[test]
fn none_comes_twice_whatever_the_clock_does() {
    let generator = TimeUuidGenerator::from_random_bytes([0; 8]);
    let at = |millis: i64| Timestamp::from_unix_millis(millis).unwrap();
    let times = [5, 5, 5, 3, 6, 6, 0]
        .map(at)
        .into_iter()
        .chain([Timestamp::MIN, Timestamp::MAX]);
    let made: HashSet<SimpleUuid> = times.map(|now| generator.generate(now)).collect();
    assert_eq!(made.len(), 9);
    assert!(
        made.iter()
            .all(|id| id.version() == 1 && id.is_rfc_variant())
    );
}

/// RFC 9562 section 6.10: a random node has the multicast bit, which no address of a network card
/// has.
#[test]
fn the_node_is_the_random_bytes_with_the_multicast_bit() {
    let now: Timestamp = "2022-02-22T19:22:22.000Z".parse().unwrap();
    for (first, node) in [(0x00, "01"), (0x02, "03"), (0xFE, "ff"), (0x03, "03")] {
        let generator = TimeUuidGenerator::from_random_bytes([first, 1, 2, 3, 4, 5, 0, 0]);
        let id = generator.generate(now).to_hyphenated().to_string();
        assert_eq!(
            id.rsplit('-').next(),
            Some(format!("{node}0102030405").as_str()),
            "{first}"
        );
    }
}
