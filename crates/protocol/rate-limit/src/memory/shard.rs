//! The keys of one shard, under one lock.

use super::table::Table;
use super::{FullError, OnFull};
use crate::decision::judge;
use crate::state::elapsed;
use crate::{CallType, Charge, Decision, MAX_WINDOWS, State};
use bankrail_values::Timestamp;
use std::hash::BuildHasher;

#[derive(Debug)]
pub(super) struct Shard {
    table: Table,
    turns: Turns,
    max_keys: usize,
    on_full: OnFull,
    /// The place where the next search for expired keys starts.
    cursor: usize,
    calls: u8,
    /// The time by which all forgotten keys had expired. After the clock stepped back, a new key
    /// may be a forgotten one, so a charge before this time counts as one at this time.
    forgotten_until: i64,
}

/// The number of keys that a new key and every 64th call examine.
const LOOKS: usize = 4;
/// The number of keys that are examined before a new one is refused or another evicted.
const LOOKS_WHEN_FULL: usize = 64;

impl Shard {
    pub(super) fn new(max_keys: usize, on_full: OnFull) -> Self {
        Self {
            table: Table::default(),
            turns: Turns::default(),
            // The table numbers its entries in 32 bits.
            max_keys: max_keys.min(u32::MAX as usize),
            on_full,
            cursor: 0,
            calls: 0,
            forgotten_until: i64::MIN,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    #[inline]
    pub(super) fn charge(
        &mut self,
        hash: u64,
        charge: &Charge<'_>,
        hasher: &impl BuildHasher,
    ) -> Result<Decision, FullError> {
        self.look_in_passing(charge.now(), hasher);
        match self.table.find(hash, charge.customer(), charge.call_type()) {
            Some(state) => {
                let turns = self.turns.of(charge.call_type());
                if state.charge_within(charge, |at, time, length| {
                    turns.get(at).is_some_and(|turn| turn.holds(time, length))
                }) {
                    return Ok(Decision::allowed(*state, charge));
                }
                Ok(judge(
                    state,
                    charge.policy(),
                    charge.now(),
                    charge.cost(),
                    elapsed_in(turns),
                ))
            }
            None => self.charge_new(hash, charge, hasher),
        }
    }

    #[cold]
    fn charge_new(
        &mut self,
        hash: u64,
        charge: &Charge<'_>,
        hasher: &impl BuildHasher,
    ) -> Result<Decision, FullError> {
        let remembers = charge.cost() > 0 && !charge.policy().windows().is_empty();
        if remembers {
            self.look_for_expired(LOOKS, charge.now(), hasher);
            if self.table.len() >= self.max_keys {
                self.make_room(charge.now(), hasher)?;
            }
        }
        let mut state = State::starting_at(self.forgotten_until);
        let elapsed = elapsed_in(self.turns.of(charge.call_type()));
        let decision = judge(
            &mut state,
            charge.policy(),
            charge.now(),
            charge.cost(),
            elapsed,
        );
        if remembers {
            self.table
                .insert(hash, charge.customer(), charge.call_type(), state, hasher);
        }
        Ok(decision)
    }

    pub(super) fn remove(
        &mut self,
        hash: u64,
        customer: &str,
        call_type: CallType,
        hasher: &impl BuildHasher,
    ) {
        if let Some(at) = self.table.place(hash, customer, call_type) {
            self.table.remove(at, hasher);
        }
    }

    pub(super) fn forget_expired(&mut self, now: Timestamp, hasher: &impl BuildHasher) {
        self.cursor = self.table.len();
        self.look_for_expired(self.table.len(), now, hasher);
        self.table.shrink_to_fit(hasher);
    }

    #[inline]
    fn look_in_passing(&mut self, now: Timestamp, hasher: &impl BuildHasher) {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(64) {
            self.look_for_expired(LOOKS, now, hasher);
        }
    }

    /// Examines the next `looks` keys, from the end to the start so that filling a gap with the
    /// last key skips none.
    #[cold]
    fn look_for_expired(&mut self, looks: usize, now: Timestamp, hasher: &impl BuildHasher) {
        for _ in 0..looks.min(self.table.len()) {
            let Some(at) = self.step() else { return };
            let Some(state) = self.table.state(at) else {
                return;
            };
            match state.expires_at_millis() {
                Some(expires_at) if expires_at > now.unix_millis() => {}
                expired_at => {
                    self.forgotten_until = self.forgotten_until.max(expired_at.unwrap_or(i64::MIN));
                    self.table.remove(at, hasher);
                }
            }
        }
    }

    fn make_room(&mut self, now: Timestamp, hasher: &impl BuildHasher) -> Result<(), FullError> {
        let start = self.cursor;
        self.look_for_expired(LOOKS_WHEN_FULL, now, hasher);
        if self.table.len() < self.max_keys {
            return Ok(());
        }
        if self.on_full == OnFull::RefuseNew {
            return Err(FullError);
        }
        // No key had expired, so the same keys are still in the same places.
        self.cursor = start;
        let looked_at = (0..LOOKS_WHEN_FULL.min(self.table.len()))
            .filter_map(|_| self.step())
            .collect::<Vec<_>>();
        let charged_at = |at: &usize| self.table.state(*at).map(State::high_water_millis);
        let stalest = looked_at
            .into_iter()
            .min_by_key(charged_at)
            .ok_or(FullError)?;
        self.table.remove(stalest, hasher);
        Ok(())
    }

    fn step(&mut self) -> Option<usize> {
        let last = self.table.len().checked_sub(1)?;
        self.cursor = self.cursor.checked_sub(1).unwrap_or(last).min(last);
        Some(self.cursor)
    }
}

/// The start of the last window of each call type. Most requests come in the same window as the
/// previous one, and then need no division.
#[derive(Debug, Default)]
struct Turns([[Turn; MAX_WINDOWS]; CallType::COUNT]);

#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// The start of the window.
    start: i64,
    /// The window's length; 0 before the first request.
    length: u32,
}

impl Turns {
    #[inline]
    fn of(&mut self, call_type: CallType) -> &mut [Turn; MAX_WINDOWS] {
        self.0
            .get_mut(call_type.index())
            .expect("there is a place for every call type")
    }
}

/// Returns a function from the index of a window of a call type, an instant and a length to the
/// milliseconds since that window began.
#[inline]
fn elapsed_in(turns: &mut [Turn; MAX_WINDOWS]) -> impl FnMut(usize, i64, u32) -> u64 {
    |at, now, length| {
        let turn = turns.get_mut(at).expect("a policy has no more windows");
        if turn.holds(now, length) {
            turn.elapsed(now)
        } else {
            turn.turned(now, length)
        }
    }
}

impl Turn {
    /// Returns true if an instant is in this window, whose length is `length`.
    #[inline]
    fn holds(&self, now: i64, length: u32) -> bool {
        self.length == length && self.elapsed(now) < u64::from(length)
    }

    /// Returns the milliseconds since the start of the window. For an instant before the start, the
    /// result wraps around to more than any length.
    #[inline]
    fn elapsed(&self, now: i64) -> u64 {
        now.wrapping_sub(self.start).cast_unsigned()
    }

    #[cold]
    #[inline(never)]
    fn turned(&mut self, now: i64, length: u32) -> u64 {
        let elapsed = elapsed(now, length);
        *self = Self {
            start: now.wrapping_sub_unsigned(elapsed),
            length,
        };
        elapsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_passed_is_the_same_with_and_without_dividing() {
        let mut turns = Turns::default();
        let times = [
            0,
            1,
            999,
            1_000,
            1_001,
            1_999,
            500,
            -1,
            -1_000,
            1_627_520_523_450,
            1_627_520_523_999,
            59_999,
            60_000,
        ];
        let edges = [
            i64::from(u32::MAX),
            Timestamp::MIN.unix_millis(),
            Timestamp::MAX.unix_millis(),
        ];
        for lengths in [
            [3_600_000, 60_000, 1_000],
            [1_000, 7, 1],
            [1_000, u32::MAX, 2],
        ] {
            for now in times.into_iter().chain(edges) {
                let mut elapsed_at = elapsed_in(turns.of(CallType::Payment));
                for (at, length) in lengths.into_iter().enumerate() {
                    assert_eq!(
                        elapsed_at(at, now, length),
                        elapsed(now, length),
                        "{now} {length}"
                    );
                }
            }
        }
        // Another policy of the same call type has a window of another length at the same index.
        let mut elapsed_at = elapsed_in(turns.of(CallType::Payment));
        for length in [3_600_000, 86_400_000, 60_000, 3_600_000] {
            assert_eq!(
                elapsed_at(0, 36_030_000, length),
                elapsed(36_030_000, length),
                "{length}"
            );
        }
    }
}
