//! Tests of the text of a position, which must stay readable because stores keep it over versions.

use bankrail_statement::PollPosition;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// The day 2026-03-01 as a Julian day number.
const DAY: i32 = 2_461_101;

/// Returns the bytes of a remembered entry: key, occurrence, the hashes of amount, reference and
/// payment, the day, and the flags of booking and state.
fn remembered(links: [u128; 3], day: i32, flags: u8) -> Vec<u8> {
    let links = links.map(u128::to_be_bytes).concat();
    [
        &[7; 32],
        &3_u32.to_be_bytes()[..],
        &links,
        &day.to_be_bytes(),
        &[flags],
    ]
    .concat()
}

fn position(entries: &[u8]) -> String {
    format!(
        r#"{{"poll":1,"entries":"{}"}}"#,
        STANDARD_NO_PAD.encode(entries)
    )
}

#[test]
fn a_position_is_read_as_it_was_written() {
    let entries = STANDARD_NO_PAD.encode(remembered([1, 2, 3], DAY, 1));
    let text = [
        r#"{"poll":1,"fullWalkAt":"2026-03-01T01:02:03.004Z","day":"2026-03-01","cursor":"c","listed":[["#,
        &format!(r#""{}",2]],"entries":"{entries}","account":{{"currency":"AUD","kind":"CACC","#, "ab".repeat(32)),
        r#""day":"2026-03-01","opening":"-10.5","gap":"-9","said":"0.01"},"walked":{"day":"2026-02-28","#,
        r#""endsAt":"2026-02-28T13:00:00.000Z","until":"2026-02-28T12:59:59.999Z"}}"#,
    ]
    .concat();
    assert_eq!(PollPosition::from_json(&text).unwrap().to_json(), text);
}

#[test]
fn entries_are_remembered_by_89_bytes_each() {
    for links in [
        [1, 1, 1],
        [u128::MAX, 0, u128::MAX],
        [u128::MAX, u128::MAX, 0],
        [0, 0, 0],
    ] {
        for day in [0, DAY] {
            // Pending and booked: listed, missing, vanished, replaced.
            for flags in 0..8 {
                let text = position(
                    &[
                        remembered(links, day, flags),
                        remembered([4, 5, 6], DAY, 7 - flags),
                    ]
                    .concat(),
                );
                assert_eq!(
                    PollPosition::from_json(&text).unwrap().to_json(),
                    text,
                    "{links:?}, {day}, {flags}"
                );
            }
        }
    }
    let row = remembered([1, 2, 3], DAY, 1);
    let no_state = remembered([1, 2, 3], DAY, 8);
    let no_day = remembered([1, 2, 3], 1, 1);
    for bad in [&row[1..], &[&row[..], &[0]].concat(), &no_state, &no_day] {
        assert!(PollPosition::from_json(&position(bad)).is_err(), "{bad:?}");
    }
    for (count, accepted) in [(2_000, true), (2_001, false)] {
        assert_eq!(
            PollPosition::from_json(&position(&row.repeat(count))).is_ok(),
            accepted,
            "{count}"
        );
    }
}
