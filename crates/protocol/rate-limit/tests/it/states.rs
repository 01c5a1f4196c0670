//! The stored form of states.

use bankrail_rate_limit::{Counts, State};
use bankrail_values::Timestamp;

#[test]
fn a_stored_form_that_cannot_be_is_no_state() {
    let count = |length, current, previous| Counts {
        length,
        current,
        previous,
    };
    let at = Some(Timestamp::UNIX_EPOCH);
    let good = [count(3_600_000, 1, 2), count(1_000, 3, u32::MAX)];
    let state = State::from_counts(at, &good).unwrap();
    assert_eq!(state.counts().collect::<Vec<_>>(), good);
    assert_eq!(state.high_water(), at);
    assert_eq!(State::from_counts(None, &[]), Some(State::new()));
    assert_eq!(State::from_counts(None, &good), None);
    assert_eq!(State::from_counts(at, &[count(0, 1, 1)]), None);
    assert_eq!(
        State::from_counts(at, &[count(5, 1, 1), count(5, 1, 1)]),
        None
    );
    // 2^52 ÷ length.
    let most = 1_250_999_896;
    assert!(State::from_counts(at, &[count(3_600_000, most, most)]).is_some());
    assert_eq!(
        State::from_counts(at, &[count(3_600_000, most + 1, 0)]),
        None
    );
    assert_eq!(
        State::from_counts(at, &[count(3_600_000, 0, most + 1)]),
        None
    );
    assert_eq!(
        State::from_counts(at, &[1, 2, 3, 4].map(|length| count(length, 0, 0))),
        None
    );
}

#[test]
fn a_state_shows_what_it_counts() {
    let count = Counts {
        length: 1_000,
        current: 1,
        previous: 2,
    };
    let state = State::from_counts(Some(Timestamp::UNIX_EPOCH), &[count]).unwrap();
    let shown = "State { high_water: Some(1970-01-01T00:00:00.000Z), \
                 counts: [Counts { length: 1000, current: 1, previous: 2 }] }";
    assert_eq!(format!("{state:?}"), shown);
    assert_eq!(
        format!("{:?}", State::default()),
        "State { high_water: None, counts: [] }"
    );
}

/// A count expires when it has no weight any more: a current count two lengths after the start of
/// its window, a previous count one length after that.
#[test]
fn a_state_expires_when_its_counts_weigh_nothing() {
    let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
    for (counts, expires) in [
        (vec![], None),
        (vec![(1_000, 0, 0)], None),
        (vec![(1_000, 0, 1)], Some(3_000)),
        (vec![(1_000, 1, 0)], Some(4_000)),
        (vec![(1_000, 1, 1), (60_000, 0, 1)], Some(60_000)),
        (vec![(60_000, 1, 1), (1_000, 1, 1)], Some(120_000)),
    ] {
        let counts: Vec<Counts> = counts
            .into_iter()
            .map(|(length, current, previous)| Counts {
                length,
                current,
                previous,
            })
            .collect();
        let state = State::from_counts(Some(at(2_345)), &counts).unwrap();
        assert_eq!(state.expires_at(), expires.map(at), "{counts:?}");
    }
}
