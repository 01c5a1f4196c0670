//! States as they are stored.

use bankrail_rate_limit::{Counts, State};
use bankrail_values::Timestamp;

#[test]
fn a_stored_form_that_cannot_be_is_no_state() {
    let count = |length, current, previous| Counts { length, current, previous };
    let at = Some(Timestamp::UNIX_EPOCH);
    let good = [count(3_600_000, 1, 2), count(1_000, 3, u32::MAX)];
    let state = State::from_counts(at, &good).unwrap();
    assert_eq!(state.counts().collect::<Vec<_>>(), good);
    assert_eq!(state.high_water(), at);
    assert_eq!(State::from_counts(None, &[]), Some(State::new()));
    assert_eq!(State::from_counts(None, &good), None);
    assert_eq!(State::from_counts(at, &[count(0, 1, 1)]), None);
    assert_eq!(State::from_counts(at, &[count(5, 1, 1), count(5, 1, 1)]), None);
    assert_eq!(State::from_counts(at, &[count(3_600_000, 1 << 31, 0)]), None);
    assert_eq!(State::from_counts(at, &[1, 2, 3, 4].map(|length| count(length, 0, 0))), None);
}
