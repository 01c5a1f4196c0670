//! Statement entries that were imported.

use super::{MemoryStore, run};
use bankrail_statement::{
    AccountId, EntryKey, PositionChange, Recorded, SeenEntries, SeenEntry, check_position,
};
use bankrail_values::{Date, StoreErrorKind, StoreFuture};
use std::collections::{HashMap, HashSet};

#[derive(Clone, Default)]
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
        run(&self.parts.seen, move |seen| {
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
        position: Option<PositionChange<'a>>,
    ) -> StoreFuture<'a, Recorded> {
        run(&self.parts.seen, move |seen| {
            check_position(position)?;
            let current = seen.positions.get(account).map(|position| &**position);
            if position.is_some_and(|change| change.is_overtaken(current)) {
                return Ok(Recorded::Overtaken);
            }
            let position = position.and_then(|change| change.after);
            let entries = || entries.iter().filter(|entry| entry.occurrence > 0);
            let known = seen.accounts.get(account);
            let new =
                entries().filter(|entry| known.is_none_or(|known| !known.contains_key(&entry.key)));
            let new = new.map(|entry| entry.key).collect::<HashSet<_>>().len();
            let is_first = position.is_some() && !seen.positions.contains_key(account);
            if new > self.parts.capacity.saturating_sub(seen.keys)
                || (is_first && seen.positions.len() >= self.parts.capacity)
            {
                return Err(StoreErrorKind::Full.into());
            }
            seen.keys += new;
            if entries().next().is_some() {
                let known = seen.accounts.entry(account.clone()).or_default();
                for entry in entries() {
                    if let Some(recorded) = entry.recorded_over(known.get(&entry.key)) {
                        known.insert(entry.key, recorded);
                    }
                }
            }
            if let Some(position) = position {
                seen.positions.insert(account.clone(), position.into());
            }
            Ok(Recorded::Committed)
        })
    }

    fn position<'a>(&'a self, account: &'a AccountId) -> StoreFuture<'a, Option<String>> {
        run(&self.parts.seen, move |seen| {
            Ok(seen
                .positions
                .get(account)
                .map(|position| (**position).to_owned()))
        })
    }

    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64> {
        run(&self.parts.seen, move |seen| {
            let Some(known) = seen.accounts.get_mut(account) else {
                return Ok(0);
            };
            let before = known.len();
            known.retain(|_, seen| seen.day.is_none_or(|own| own >= day));
            let forgotten = before - known.len();
            if known.is_empty() {
                seen.accounts.remove(account);
            }
            seen.keys -= forgotten;
            Ok(u64::try_from(forgotten).unwrap_or(u64::MAX))
        })
    }
}
