//! The keys of one shard, under one lock.

use super::OnFull;
use crate::{CallType, Charge, Decision, Limits, State, decide};
use bankrail_values::Timestamp;
use hashbrown::HashTable;
use hashbrown::hash_table::OccupiedEntry;
use std::hash::BuildHasher;

/// The keys lie side by side in `entries`, 64 octets each, and `index` finds them: looking for what is spent walks
/// along memory, and growing moves no hash table of large slots.
#[derive(Debug)]
pub(super) struct Shard {
    index: HashTable<u32>,
    entries: Vec<Entry>,
    limits: Limits,
    max_keys: usize,
    on_full: OnFull,
    /// Where the next look for spent keys starts.
    cursor: usize,
    calls: u8,
    /// Every forgotten key was spent by then. A new key might be one of them under a clock that stepped back, so what it
    /// does earlier is taken to happen then.
    forgotten_until: i64,
}

#[derive(Debug)]
struct Entry {
    customer: Box<str>,
    state: State,
    call_type: CallType,
}

/// No room for another key.
#[derive(Debug)]
pub(super) struct Full;

/// Keys looked at in passing, by a new key and by every 64th call.
const LOOKS: usize = 4;
/// Keys looked at before a new one is refused or another evicted.
const LOOKS_WHEN_FULL: usize = 64;

impl Shard {
    pub(super) fn new(limits: Limits, max_keys: usize, on_full: OnFull) -> Self {
        Self {
            index: HashTable::new(),
            entries: Vec::new(),
            limits,
            max_keys: max_keys.min(u32::MAX as usize),
            on_full,
            cursor: 0,
            calls: 0,
            forgotten_until: i64::MIN,
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn limits_mut(&mut self) -> &mut Limits {
        &mut self.limits
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(super) fn charge(
        &mut self,
        hash: u64,
        charge: &Charge<'_>,
        hasher: &impl BuildHasher,
    ) -> Result<Decision, Full> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls.is_multiple_of(64) {
            self.look_for_spent(LOOKS, charge.now(), hasher);
        }
        let entries = &self.entries;
        let found = self.index.find(hash, |at| is(entries, *at, charge.customer(), charge.call_type()));
        match found.and_then(|at| self.entries.get_mut(*at as usize)) {
            Some(entry) => Ok(decided(&mut entry.state, charge)),
            None => self.charge_new(hash, charge, hasher),
        }
    }

    #[cold]
    fn charge_new(&mut self, hash: u64, charge: &Charge<'_>, hasher: &impl BuildHasher) -> Result<Decision, Full> {
        let remembers = charge.cost() > 0 && !charge.policy().windows().is_empty();
        if remembers {
            self.look_for_spent(LOOKS, charge.now(), hasher);
            if self.entries.len() >= self.max_keys {
                self.make_room(charge.now(), hasher)?;
            }
        }
        let mut state = State::starting_at(self.forgotten_until);
        let decision = decided(&mut state, charge);
        if remembers {
            let entry = Entry { customer: charge.customer().into(), state, call_type: charge.call_type() };
            self.insert(hash, entry, hasher);
        }
        Ok(decision)
    }

    pub(super) fn remove(&mut self, hash: u64, customer: &str, call_type: CallType, hasher: &impl BuildHasher) {
        let entries = &self.entries;
        if let Some(at) = self.index.find(hash, |at| is(entries, *at, customer, call_type)).copied() {
            self.remove_at(at as usize, hasher);
        }
    }

    pub(super) fn forget_spent(&mut self, now: Timestamp, hasher: &impl BuildHasher) {
        self.limits.forget_ended(now);
        self.cursor = self.entries.len();
        self.look_for_spent(self.entries.len(), now, hasher);
        self.entries.shrink_to_fit();
        let entries = &self.entries;
        self.index.shrink_to_fit(|at| entries.get(*at as usize).map_or(0, |entry| entry.hash(hasher)));
    }

    /// Looks at the next `looks` keys, from the end to the start so that filling a gap with the last key skips none.
    fn look_for_spent(&mut self, looks: usize, now: Timestamp, hasher: &impl BuildHasher) {
        for _ in 0..looks.min(self.entries.len()) {
            let Some(at) = self.step() else { return };
            let Some(entry) = self.entries.get(at) else { return };
            match entry.state.spent_at_millis() {
                Some(spent_at) if spent_at > now.unix_millis() => {}
                spent_at => {
                    self.forgotten_until = self.forgotten_until.max(spent_at.unwrap_or(i64::MIN));
                    self.remove_at(at, hasher);
                }
            }
        }
    }

    fn make_room(&mut self, now: Timestamp, hasher: &impl BuildHasher) -> Result<(), Full> {
        let start = self.cursor;
        self.look_for_spent(LOOKS_WHEN_FULL, now, hasher);
        if self.entries.len() < self.max_keys {
            return Ok(());
        }
        if self.on_full == OnFull::RefuseNew {
            return Err(Full);
        }
        // Nothing was spent, so the same keys are still in the same places.
        self.cursor = start;
        let looked_at = (0..LOOKS_WHEN_FULL.min(self.entries.len())).filter_map(|_| self.step()).collect::<Vec<_>>();
        let charged_at = |at: &usize| self.entries.get(*at).map(|entry| entry.state.high_water_millis());
        let stalest = looked_at.into_iter().min_by_key(charged_at).ok_or(Full)?;
        self.remove_at(stalest, hasher);
        Ok(())
    }

    fn step(&mut self) -> Option<usize> {
        let last = self.entries.len().checked_sub(1)?;
        self.cursor = self.cursor.checked_sub(1).unwrap_or(last).min(last);
        Some(self.cursor)
    }

    fn insert(&mut self, hash: u64, entry: Entry, hasher: &impl BuildHasher) {
        if self.entries.len() == self.entries.capacity() {
            // By an eighth: doubling would leave up to half of the memory unused.
            self.entries.reserve_exact(self.entries.len() / 8 + 8);
        }
        let at = u32::try_from(self.entries.len()).expect("the number of keys was bounded to 32 bits");
        let entries = &self.entries;
        let rehash = |at: &u32| entries.get(*at as usize).map_or(0, |entry| entry.hash(hasher));
        self.index.insert_unique(hash, at, rehash);
        self.entries.push(entry);
    }

    fn remove_at(&mut self, at: usize, hasher: &impl BuildHasher) {
        let last = self.entries.len() - 1;
        self.point(at, hasher, |found| {
            found.remove();
        });
        if at != last {
            let moved_to = u32::try_from(at).expect("the number of keys was bounded to 32 bits");
            self.point(last, hasher, |mut found| *found.get_mut() = moved_to);
        }
        self.entries.swap_remove(at);
    }

    /// Changes the index's pointer to the key at `at`.
    fn point(&mut self, at: usize, hasher: &impl BuildHasher, change: impl FnOnce(OccupiedEntry<'_, u32>)) {
        let hash = self.entries.get(at).map_or(0, |entry| entry.hash(hasher));
        if let Ok(found) = self.index.find_entry(hash, |pointer| *pointer as usize == at) {
            change(found);
        }
    }
}

impl Entry {
    fn hash(&self, hasher: &impl BuildHasher) -> u64 {
        hash_of(hasher, &self.customer, self.call_type)
    }
}

#[inline]
pub(super) fn hash_of(hasher: &impl BuildHasher, customer: &str, call_type: CallType) -> u64 {
    hasher.hash_one((customer, call_type))
}

#[inline]
fn is(entries: &[Entry], at: u32, customer: &str, call_type: CallType) -> bool {
    entries.get(at as usize).is_some_and(|entry| entry.call_type == call_type && *entry.customer == *customer)
}

#[inline]
fn decided(state: &mut State, charge: &Charge<'_>) -> Decision {
    decide(state, charge.policy(), charge.now(), charge.cost()).expect("a charge's cost fits its policy")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_takes_one_cache_line_beside_its_text() {
        assert_eq!(size_of::<Entry>(), 64);
    }
}
