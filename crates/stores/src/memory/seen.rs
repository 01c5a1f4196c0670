//! Statement entries that were imported.

use super::{MemoryStore, lock};
use bankrail_statement::{AccountId, EntryKey, SeenEntries, SeenEntry};
use bankrail_values::{Date, StoreError, StoreErrorKind, StoreFuture};
use std::collections::{HashMap, HashSet};

#[derive(Default)]
pub(super) struct Accounts {
    accounts: HashMap<AccountId, HashMap<EntryKey, Seen>>,
    keys: usize,
}

struct Seen {
    count: u32,
    day: Option<Date>,
}

impl SeenEntries for MemoryStore {
    fn counts<'a>(&'a self, account: &'a AccountId, keys: &'a [EntryKey]) -> StoreFuture<'a, Vec<u32>> {
        Box::pin(async move {
            let seen = lock(&self.parts.seen);
            let known = seen.accounts.get(account);
            Ok(keys.iter().map(|key| known.and_then(|known| known.get(key)).map_or(0, |seen| seen.count)).collect())
        })
    }

    fn record<'a>(&'a self, account: &'a AccountId, entries: &'a [SeenEntry]) -> StoreFuture<'a, ()> {
        Box::pin(async move { lock(&self.parts.seen).record(account, entries, self.parts.capacity) })
    }

    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64> {
        Box::pin(async move { Ok(lock(&self.parts.seen).forget_before(account, day)) })
    }
}

impl Accounts {
    fn record(&mut self, account: &AccountId, entries: &[SeenEntry], capacity: usize) -> Result<(), StoreError> {
        let entries = || entries.iter().filter(|entry| entry.occurrence > 0);
        let known = self.accounts.get(account);
        let new = entries().filter(|entry| known.is_none_or(|known| !known.contains_key(&entry.key)));
        let new = new.map(|entry| entry.key).collect::<HashSet<_>>().len();
        if new > capacity.saturating_sub(self.keys) {
            return Err(StoreErrorKind::Full.into());
        }
        self.keys += new;
        let known = self.accounts.entry(account.clone()).or_default();
        for entry in entries() {
            let seen = known.entry(entry.key).or_insert(Seen { count: 0, day: entry.day });
            if entry.occurrence > seen.count {
                seen.count = entry.occurrence;
                // The later of two days is kept. An entry without a day stays without one: it is never forgotten.
                seen.day = seen.day.zip(entry.day).map(|(old, new)| old.max(new));
            }
        }
        Ok(())
    }

    fn forget_before(&mut self, account: &AccountId, day: Date) -> u64 {
        let Some(known) = self.accounts.get_mut(account) else { return 0 };
        let before = known.len();
        known.retain(|_, seen| seen.day.is_none_or(|own| own >= day));
        let forgotten = before - known.len();
        if known.is_empty() {
            self.accounts.remove(account);
        }
        self.keys -= forgotten;
        u64::try_from(forgotten).unwrap_or(u64::MAX)
    }
}
