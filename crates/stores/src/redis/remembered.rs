//! What the server last said of each key, and what may be concluded from it without asking again.

use bankrail_rate_limit::{CallType, Charge, Decision, MAX_WINDOWS, Policy, State, decide};
use bankrail_values::Timestamp;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Last answers under [`Counting::Admitted`](bankrail_rate_limit::Counting::Admitted), by server time.
pub(super) struct Remembered {
    keys: Mutex<Keys>,
    most: usize,
}

#[derive(Default)]
struct Keys {
    known: HashMap<CallType, HashMap<Box<str>, Known>>,
    /// Answers not remembered since room was last made.
    turned_away: usize,
}

#[derive(Clone, Copy)]
struct Known {
    policy: Policy,
    after: State,
    asked_at: Timestamp,
    /// When the question was sent, which is not after the server took its time: server time is at most `asked_at` and
    /// what has passed since.
    sent: Instant,
    /// Charged there and not yet spent here.
    credit: u32,
    /// The end of the shortest window in which the credit was charged.
    credit_ends: Timestamp,
    /// From then on nothing follows from this answer.
    useful_until: Timestamp,
}

impl Remembered {
    pub(super) fn new(most: usize) -> Self {
        Self { keys: Mutex::default(), most }
    }

    /// The server's answer, if it is certain: a credit to spend, or a refusal that would be repeated.
    pub(super) fn answer(&self, charge: &Charge<'_>, now: Instant) -> Option<Decision> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let known = keys.known.get_mut(&charge.call_type())?.get_mut(charge.customer())?;
        if known.policy != *charge.policy() {
            return None;
        }
        // Nothing is refused here that the server might allow, and no credit is spent after its window.
        let latest = known.latest_server_time(now);
        if let Some(rest) = known.credit.checked_sub(charge.cost()).filter(|_| latest < known.credit_ends) {
            known.credit = rest;
            return Some(Decision::from_engine(known.after, charge, latest, [false; MAX_WINDOWS]));
        }
        let refusal = decide(&mut known.after.clone(), charge.policy(), latest, charge.cost()).ok()?;
        (!refusal.is_allowed()).then_some(refusal)
    }

    pub(super) fn remember(&self, charge: &Charge<'_>, decision: &Decision, sent: Instant, credit: u32) {
        let ends = decision.windows().map(|window| window.ends_at).min().unwrap_or(Timestamp::MIN);
        let known = Known {
            policy: *decision.policy(),
            after: *decision.state(),
            asked_at: decision.asked_at(),
            sent,
            credit,
            credit_ends: ends,
            useful_until: decision.next_chance(charge.cost()).map_or(ends, |chance| chance.max(ends)),
        };
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = keys.of(charge.call_type()).get_mut(charge.customer()) {
            *place = place.merged(known);
        } else if keys.len() < self.most {
            keys.of(charge.call_type()).insert(charge.customer().into(), known);
        } else {
            keys.turned_away += 1;
            if keys.turned_away > self.most / 16 {
                keys.forget_useless(sent);
            }
        }
    }
}

impl Keys {
    fn of(&mut self, call_type: CallType) -> &mut HashMap<Box<str>, Known> {
        self.known.entry(call_type).or_default()
    }

    fn len(&self) -> usize {
        self.known.values().map(HashMap::len).sum()
    }

    /// Makes room for the answers to come. Looks at all keys, so it is not done for each answer turned away.
    fn forget_useless(&mut self, now: Instant) {
        self.turned_away = 0;
        for of_type in self.known.values_mut() {
            of_type.retain(|_, known| known.latest_server_time(now) < known.useful_until);
        }
    }
}

impl Known {
    /// Never before the server's own time, milliseconds cut off on both sides included.
    fn latest_server_time(&self, now: Instant) -> Timestamp {
        let passed = now.saturating_duration_since(self.sent);
        self.asked_at.saturating_add(passed).saturating_add(Duration::from_millis(1))
    }

    /// Of two answers under way at once, each with its credit: the later one, with both if they are of one window.
    fn merged(self, other: Self) -> Self {
        let later = if other.asked_at >= self.asked_at { other } else { self };
        let both = self.policy == other.policy && self.credit_ends == other.credit_ends;
        Self { credit: if both { self.credit.saturating_add(other.credit) } else { later.credit }, ..later }
    }
}

impl fmt::Debug for Remembered {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Remembered").field("most", &self.most).finish_non_exhaustive()
    }
}
