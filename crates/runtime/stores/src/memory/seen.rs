//! Statement entries that were imported.

use super::{MemoryStore, lock};
use bankrail_statement::{AccountId, EntryKey, SeenEntries, SeenEntry, check_position};
use bankrail_values::{Date, StoreError, StoreErrorKind, StoreFuture};
use std::collections::{HashMap, HashSet};

#[derive(Default)]
pub(super) struct Accounts {
    accounts: HashMap<AccountId, HashMap<EntryKey, SeenEntry>>,
    keys: usize,
    positions: HashMap<AccountId, Box<str>>,
}

impl SeenEntries for MemoryStore {
    fn counts<'a>(
        &'a self,
        account: &'a AccountId,
        keys: &'a [EntryKey],
    ) -> StoreFuture<'a, Vec<u32>> {
        Box::pin(async move {
            let seen = lock(&self.parts.seen);
            let known = seen.accounts.get(account);
            let entry = |key| known.and_then(|known| known.get(key));
            let counts = keys
                .iter()
                .map(|key| entry(key).map_or(0, |entry| entry.occurrence));
            Ok(counts.collect())
        })
    }

    fn record<'a>(
        &'a self,
        account: &'a AccountId,
        entries: &'a [SeenEntry],
        position: Option<&'a str>,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            lock(&self.parts.seen).record(account, entries, position, self.parts.capacity)
        })
    }

    fn position<'a>(&'a self, account: &'a AccountId) -> StoreFuture<'a, Option<String>> {
        Box::pin(async move {
            let seen = lock(&self.parts.seen);
            Ok(seen
                .positions
                .get(account)
                .map(|position| (**position).to_owned()))
        })
    }

    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64> {
        Box::pin(async move { Ok(lock(&self.parts.seen).forget_before(account, day)) })
    }
}

impl Accounts {
    fn record(
        &mut self,
        account: &AccountId,
        entries: &[SeenEntry],
        position: Option<&str>,
        capacity: usize,
    ) -> Result<(), StoreError> {
        check_position(position)?;
        let entries = || entries.iter().filter(|entry| entry.occurrence > 0);
        let known = self.accounts.get(account);
        let new =
            entries().filter(|entry| known.is_none_or(|known| !known.contains_key(&entry.key)));
        let new = new.map(|entry| entry.key).collect::<HashSet<_>>().len();
        let is_first = position.is_some() && !self.positions.contains_key(account);
        if new > capacity.saturating_sub(self.keys)
            || (is_first && self.positions.len() >= capacity)
        {
            return Err(StoreErrorKind::Full.into());
        }
        self.keys += new;
        if entries().next().is_some() {
            let known = self.accounts.entry(account.clone()).or_default();
            for entry in entries() {
                if let Some(recorded) = entry.recorded_over(known.get(&entry.key)) {
                    known.insert(entry.key, recorded);
                }
            }
        }
        if let Some(position) = position {
            self.positions.insert(account.clone(), position.into());
        }
        Ok(())
    }

    fn forget_before(&mut self, account: &AccountId, day: Date) -> u64 {
        let Some(known) = self.accounts.get_mut(account) else {
            return 0;
        };
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
