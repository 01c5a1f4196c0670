//! Keys and their states.

use crate::{CallType, State};
use hashbrown::HashTable;
use hashbrown::hash_table::OccupiedEntry;
use slab::Slab;
use std::hash::{BuildHasher, Hasher};

/// The keys of one shard, stored side by side in a cache line each and found by `index`. The search
/// for expired keys is sequential in memory, and growing moves no hash table of large slots.
#[derive(Debug, Default)]
pub(super) struct Table {
    index: HashTable<u32>,
    keys: Keys,
}

#[derive(Debug, Default)]
struct Keys {
    entries: Vec<Entry>,
    /// The customers' texts that do not fit into their entries.
    long: Slab<Box<str>>,
}

#[derive(Debug)]
#[repr(align(64))]
struct Entry {
    state: State,
    call_type: CallType,
    /// The length of the customer's text in bytes; [`LONG`] if it does not fit into the entry.
    length: u8,
    /// The customer's text, or its place among the long ones.
    text: [u8; SHORT],
}

const SHORT: usize = 18;
const LONG: u8 = u8::MAX;

impl Table {
    pub(super) fn len(&self) -> usize {
        self.keys.entries.len()
    }

    pub(super) fn state(&self, at: usize) -> Option<&State> {
        self.keys.entries.get(at).map(|entry| &entry.state)
    }

    #[inline]
    pub(super) fn find(
        &mut self,
        hash: u64,
        customer: &str,
        call_type: CallType,
    ) -> Option<&mut State> {
        let at = self.place(hash, customer, call_type)?;
        self.keys.entries.get_mut(at).map(|entry| &mut entry.state)
    }

    #[inline]
    pub(super) fn place(&self, hash: u64, customer: &str, call_type: CallType) -> Option<usize> {
        let customer = customer.as_bytes();
        if customer.len() > SHORT {
            return self.place_of_long(hash, customer, call_type);
        }
        // The comparison makes no call, so that no registers have to be saved.
        self.find_entry(hash, |entry| {
            entry.call_type == call_type
                && entry
                    .text
                    .get(..usize::from(entry.length))
                    .is_some_and(|text| same(text, customer))
        })
    }

    #[inline(never)]
    fn place_of_long(&self, hash: u64, customer: &[u8], call_type: CallType) -> Option<usize> {
        self.find_entry(hash, |entry| {
            entry.call_type == call_type && self.keys.customer(entry) == customer
        })
    }

    #[inline]
    fn find_entry(&self, hash: u64, is: impl Fn(&Entry) -> bool) -> Option<usize> {
        let is = |at: &u32| self.keys.entries.get(*at as usize).is_some_and(&is);
        self.index.find(hash, is).map(|at| *at as usize)
    }

    /// Adds a new key.
    pub(super) fn insert(
        &mut self,
        hash: u64,
        customer: &str,
        call_type: CallType,
        state: State,
        hasher: &impl BuildHasher,
    ) {
        let at = u32::try_from(self.keys.entries.len())
            .expect("the number of keys was bounded to 32 bits");
        self.keys.push(customer, call_type, state);
        self.index
            .insert_unique(hash, at, |at| self.keys.hash_at(*at as usize, hasher));
    }

    /// Removes the key at `at`; the last one takes its place.
    pub(super) fn remove(&mut self, at: usize, hasher: &impl BuildHasher) {
        let Some(last) = self.len().checked_sub(1).filter(|last| at <= *last) else {
            return;
        };
        self.point(at, hasher, |found| {
            found.remove();
        });
        if at != last {
            let moved_to = u32::try_from(at).expect("the number of keys was bounded to 32 bits");
            self.point(last, hasher, |mut found| *found.get_mut() = moved_to);
        }
        self.keys.swap_remove(at);
    }

    pub(super) fn shrink_to_fit(&mut self, hasher: &impl BuildHasher) {
        self.keys.entries.shrink_to_fit();
        self.index
            .shrink_to_fit(|at| self.keys.hash_at(*at as usize, hasher));
    }

    /// Changes the index's pointer to the key at `at`.
    fn point(
        &mut self,
        at: usize,
        hasher: &impl BuildHasher,
        change: impl FnOnce(OccupiedEntry<'_, u32>),
    ) {
        let hash = self.keys.hash_at(at, hasher);
        if let Ok(found) = self
            .index
            .find_entry(hash, |pointer| *pointer as usize == at)
        {
            change(found);
        }
    }
}

impl Keys {
    fn push(&mut self, customer: &str, call_type: CallType, state: State) {
        if self.entries.len() == self.entries.capacity() {
            // The table grows by an eighth, because doubling would leave up to half of the memory
            // unused.
            self.entries.reserve_exact(self.entries.len() / 8 + 8);
        }
        let mut text = [0; SHORT];
        let length = match text.get_mut(..customer.len()) {
            Some(text) => {
                text.copy_from_slice(customer.as_bytes());
                u8::try_from(customer.len()).unwrap_or(LONG)
            }
            None => {
                let at = u32::try_from(self.long.insert(customer.into()))
                    .expect("there are at most as many as keys");
                text = written(at);
                LONG
            }
        };
        self.entries.push(Entry {
            state,
            call_type,
            length,
            text,
        });
    }

    fn swap_remove(&mut self, at: usize) {
        let removed = self.entries.swap_remove(at);
        if removed.length == LONG {
            self.long.remove(place(&removed.text));
        }
    }

    fn hash_at(&self, at: usize, hasher: &impl BuildHasher) -> u64 {
        self.entries.get(at).map_or(0, |entry| {
            hash_of(hasher, self.customer(entry), entry.call_type)
        })
    }

    #[inline]
    fn customer<'a>(&'a self, entry: &'a Entry) -> &'a [u8] {
        // `LONG` exceeds the length of any short text.
        entry
            .text
            .get(..usize::from(entry.length))
            .unwrap_or_else(|| self.long_text(entry))
    }

    #[cold]
    fn long_text(&self, entry: &Entry) -> &[u8] {
        self.long
            .get(place(&entry.text))
            .map_or(&[], |text| text.as_bytes())
    }
}

/// Encodes the slab index of a long text for its entry.
fn written(at: u32) -> [u8; SHORT] {
    let mut text = [0; SHORT];
    for (to, from) in text.iter_mut().zip(at.to_ne_bytes()) {
        *to = from;
    }
    text
}

/// Decodes the slab index that [`written`] encoded.
fn place(text: &[u8; SHORT]) -> usize {
    text.first_chunk()
        .map_or(0, |bytes| u32::from_ne_bytes(*bytes) as usize)
}

/// Compares two short texts by their ends, which overlap.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    fn ends<const N: usize>(text: &[u8]) -> Option<([u8; N], [u8; N])> {
        Some((*text.first_chunk()?, *text.last_chunk()?))
    }
    const { assert!(SHORT <= 32, "the ends of a longer text may not meet") };
    if one.len() != other.len() {
        return false;
    }
    match one.len() {
        17.. => ends::<16>(one) == ends(other),
        8.. => ends::<8>(one) == ends(other),
        4.. => ends::<4>(one) == ends(other),
        _ => one.iter().eq(other),
    }
}

#[inline]
pub(super) fn hash_of(hasher: &impl BuildHasher, customer: &[u8], call_type: CallType) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(customer);
    hasher.write_usize(call_type.index());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_a_short_text_takes_one_cache_line() {
        assert_eq!((size_of::<Entry>(), align_of::<Entry>()), (64, 64));
    }

    #[test]
    fn memory_grows_by_an_eighth_and_shrinks_to_what_is_used() {
        let hasher = foldhash::fast::RandomState::default();
        let (mut table, mut growths, mut capacity) = (Table::default(), 0, 0);
        for key in 0..10_000_usize {
            let text = key.to_string();
            let hash = hash_of(&hasher, text.as_bytes(), CallType::Token);
            table.insert(hash, &text, CallType::Token, State::new(), &hasher);
            let now = table.keys.entries.capacity();
            growths += u32::from(std::mem::replace(&mut capacity, now) != now);
            assert!(now <= key + key / 8 + 9, "{now} for {key} and one more");
        }
        assert!(growths < 80, "{growths}");
        for at in (10..10_000).rev() {
            table.remove(at, &hasher);
        }
        table.shrink_to_fit(&hasher);
        assert!(table.keys.entries.capacity() < 100);
        let hash = hash_of(&hasher, b"7", CallType::Token);
        assert_eq!(table.place(hash, "7", CallType::Token), Some(7));
    }

    #[test]
    fn texts_of_every_length_are_distinct_and_leave_no_trace() {
        let hasher = foldhash::fast::RandomState::default();
        let mut table = Table::default();
        let text = "0123456789abcdefghijklmnopqrstuvwxyz";
        let texts: Vec<&str> = (0..=text.len()).map(|length| &text[..length]).collect();
        for _ in 0..2 {
            for (at, text) in texts.iter().enumerate() {
                let hash = hash_of(&hasher, text.as_bytes(), CallType::Token);
                assert_eq!(table.place(hash, text, CallType::Token), None);
                table.insert(hash, text, CallType::Token, State::new(), &hasher);
                assert_eq!(table.place(hash, text, CallType::Token), Some(at));
                assert_eq!(table.place(hash, text, CallType::Payment), None);
            }
            for text in &texts {
                let hash = hash_of(&hasher, text.as_bytes(), CallType::Token);
                let at = table.place(hash, text, CallType::Token).unwrap();
                table.remove(at, &hasher);
                assert_eq!(table.place(hash, text, CallType::Token), None);
            }
            assert_eq!(table.len(), 0);
            assert!(table.keys.long.is_empty(), "no text is left");
        }
        assert!(
            table.keys.long.capacity() < 2 * texts.len(),
            "places are used again"
        );
    }

    #[test]
    fn texts_that_differ_in_one_byte_are_not_the_same() {
        let text = b"0123456789abcdefgh";
        for length in 0..=SHORT {
            let text = &text[..length];
            assert!(same(text, text), "{length}");
            for at in 0..length {
                let mut other = text.to_vec();
                other[at] ^= 1;
                assert!(!same(text, &other), "{length} {at}");
            }
        }
    }
}
