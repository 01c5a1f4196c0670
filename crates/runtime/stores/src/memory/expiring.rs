//! Records that are dropped after an instant.

use bankrail_values::{EXPIRY_GRACE, StoreError, StoreErrorKind, Timestamp};
use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

/// The maximum number of expired records that one write drops. It is more than one, so that a
/// backlog shrinks.
const SWEPT_RECORDS: usize = 8;

/// A map whose records can be swept in the order in which they expire.
#[derive(Clone, Debug)]
pub(super) struct Expiring<K, V> {
    records: HashMap<K, (Timestamp, V)>,
    order: BTreeSet<(Timestamp, K)>,
}

impl<K, V> Default for Expiring<K, V> {
    fn default() -> Self {
        Self {
            records: HashMap::new(),
            order: BTreeSet::new(),
        }
    }
}

impl<K: Copy + Eq + Hash + Ord, V> Expiring<K, V> {
    pub(super) fn get(&self, key: &K) -> Option<&(Timestamp, V)> {
        self.records.get(key)
    }

    /// Refuses a record for which there is no room.
    pub(super) fn check_room(&self, key: &K, capacity: usize) -> Result<(), StoreError> {
        let is_full = self.records.len() >= capacity && !self.records.contains_key(key);
        if is_full {
            Err(StoreErrorKind::Full.into())
        } else {
            Ok(())
        }
    }

    /// Inserts a record, or replaces the one with this key.
    pub(super) fn insert(
        &mut self,
        key: K,
        expires: Timestamp,
        value: V,
        capacity: usize,
    ) -> Result<(), StoreError> {
        self.check_room(&key, capacity)?;
        if let Some((old, _)) = self.records.insert(key, (expires, value)) {
            self.order.remove(&(old, key));
        }
        self.order.insert((expires, key));
        Ok(())
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let (expires, value) = self.records.remove(key)?;
        self.order.remove(&(expires, *key));
        Some(value)
    }

    /// Drops a few of the records that have expired [`EXPIRY_GRACE`] before `now`, earliest first,
    /// as long as there are more than `kept`.
    pub(super) fn sweep(&mut self, now: Timestamp, kept: usize) {
        let before = now.saturating_sub(EXPIRY_GRACE);
        for _ in 0..SWEPT_RECORDS {
            match self.order.first() {
                Some(&(expires, key)) if expires < before && self.order.len() > kept => {
                    self.remove(&key)
                }
                _ => return,
            };
        }
    }
}
