//! Decisions on a [`State`] in a row of a table. Its counts are one column: length, current and
//! previous of each window, with spaces.

use crate::columns::corrupt;
use bankrail_rate_limit::{Charge, Counts, Decision, MAX_WINDOWS, State, decide};
use bankrail_values::{StoreError, Timestamp};
use std::fmt::Write as _;

/// Decides on a charge at `now`, and returns the columns of the state if the decision has changed
/// it.
pub(crate) fn charge(
    before: State,
    charge: &Charge<'_>,
    now: Timestamp,
) -> Result<(Decision, Option<StateColumns>), StoreError> {
    let mut state = before;
    // Its cost was checked when the charge was made.
    let decision = decide(&mut state, charge.policy(), now, charge.cost()).map_err(corrupt)?;
    let changed = (state != before).then(|| {
        let high_water = state.high_water().unwrap_or(now);
        StateColumns {
            high_water: high_water.unix_millis(),
            counts: written(&state),
            expires: state.expires_at().unwrap_or(high_water).unix_millis(),
        }
    });
    Ok((decision, changed))
}

/// The columns of a changed [`State`].
pub(crate) struct StateColumns {
    pub(crate) high_water: i64,
    pub(crate) counts: String,
    pub(crate) expires: i64,
}

fn written(state: &State) -> String {
    let mut text = String::new();
    for Counts {
        length,
        current,
        previous,
    } in state.counts()
    {
        let space = if text.is_empty() { "" } else { " " };
        write!(text, "{space}{length} {current} {previous}").expect("a String takes all text");
    }
    text
}

/// Reads the text of a state's counts. Returns `None` if the text is malformed.
pub(crate) fn read(high_water: Timestamp, text: &str) -> Option<State> {
    let mut counts = Vec::with_capacity(MAX_WINDOWS);
    let mut words = text.split(' ').map(str::parse::<u32>);
    while let Some(length) = words.next() {
        if counts.len() == MAX_WINDOWS {
            return None;
        }
        let length = length.ok()?;
        let current = words.next()?.ok()?;
        let previous = words.next()?.ok()?;
        counts.push(Counts {
            length,
            current,
            previous,
        });
    }
    State::from_counts(Some(high_water), &counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_they_were_written_and_nothing_else_is_believed() {
        let at = Timestamp::from_unix_millis(5).unwrap();
        for text in ["3600000 1 2", "3600000 1 2 60000 0 1 1000 3 4294967295"] {
            assert_eq!(written(&read(at, text).unwrap()), text);
        }
        for bad in [
            "",
            "1",
            "1 2",
            "x 1 2",
            "1  2 3",
            "-1 1 1",
            "0 1 1",
            "5 1 1 5 1 1",
            "1 0 0 2 0 0 3 0 0 4 0 0",
        ] {
            assert!(read(at, bad).is_none(), "{bad:?}");
        }
    }
}
