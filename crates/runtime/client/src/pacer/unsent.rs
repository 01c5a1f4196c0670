//! Calls that were counted and not sent.

use super::Permit;
use bankrail_rate_limit::Policy;
use bankrail_values::Timestamp;

/// Calls that were counted and not sent, so that others can replace them. Their number is at most
/// the limit of the longest window, because each was counted in it.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    calls: Vec<Permit>,
    /// The time at which a call was last released.
    last: Option<Timestamp>,
}

/// The answer for a call that could replace one that was not sent.
pub(super) enum Replacement {
    /// No unsent call can be replaced.
    Refused,
    /// An unsent call can be replaced at this time.
    Later(Timestamp),
    /// The call may be made, and no other one before this time.
    Now { alone_until: Timestamp },
}

impl Unsent {
    pub(super) fn counted(&mut self, at: Timestamp) {
        self.last = Some(at);
    }

    pub(super) fn give_back(&mut self, call: Permit) {
        self.calls.push(call);
    }

    /// Replaces a call that was not sent by one that would be counted at `at`, if that is allowed.
    ///
    /// Both algorithms count by window, so it makes no difference for a window that both are in. In
    /// a shorter window the call is not counted, so no other call of this pacer may be in the same
    /// window or the next.
    pub(super) fn replace(&mut self, at: Timestamp, cost: u32, policy: &Policy) -> Replacement {
        let lengths = || policy.windows().iter().map(|window| window.millis());
        let together =
            |unsent: &Permit, length| number(unsent.counted_at, length) == number(at, length);
        // After its longest window an unsent call is counted nowhere, so nothing can go in its
        // place.
        self.calls.retain(|unsent| {
            lengths()
                .max()
                .is_some_and(|longest| together(unsent, longest))
        });
        let same_cost = self
            .calls
            .iter()
            .enumerate()
            .rfind(|(_, unsent)| unsent.cost == cost);
        let Some((place, unsent)) = same_cost else {
            return Replacement::Refused;
        };
        let clear_of = |other: Timestamp| {
            let apart = lengths().filter(|length| !together(unsent, *length));
            apart
                .map(|length| begin(number(other, length) + 2, length))
                .max()
                .unwrap_or(at)
        };
        let opens = self.last.map_or(at, clear_of);
        if opens > at {
            return Replacement::Later(opens);
        }
        let alone_until = clear_of(at);
        self.calls.remove(place);
        self.last = Some(at);
        Replacement::Now { alone_until }
    }
}

/// Returns the number of the window of this length that the time is in.
fn number(at: Timestamp, length: u32) -> i64 {
    at.unix_millis().div_euclid(i64::from(length))
}

fn begin(number: i64, length: u32) -> Timestamp {
    Timestamp::saturating_from_unix_millis(number.saturating_mul(i64::from(length)))
}
