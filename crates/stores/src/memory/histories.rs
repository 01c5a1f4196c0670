//! Histories of mandates and payments.

use super::{Parts, lock};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use bankrail_webhook::Message;
use bankrail_webhook::history::{Fold, Histories, HistoryId, HistoryState, KeptHistory, Observation};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The histories of a [`MemoryStore`](super::MemoryStore).
#[derive(Clone, Debug)]
pub struct MemoryHistories {
    pub(super) parts: Arc<Parts>,
}

#[derive(Default)]
pub(super) struct Kept {
    last: u64,
    last_change: u64,
    histories: BTreeMap<u64, KeptHistory>,
}

impl Histories for MemoryHistories {
    fn apply<'a>(&'a self, scope: &'a str, message: &'a Message, now: Timestamp) -> StoreFuture<'a, Observation> {
        Box::pin(async move {
            let observation = lock(&self.parts.histories).apply(scope, message, now, self.parts.capacity)?;
            self.parts.changed.notify_waiters();
            Ok(observation)
        })
    }

    fn find<'a>(&'a self, scope: &'a str, id: &'a HistoryId) -> StoreFuture<'a, Option<KeptHistory>> {
        let named = |kept: &&KeptHistory| kept.scope == scope && kept.ids.contains(id);
        let found = lock(&self.parts.histories).histories.values().find(named).cloned();
        Box::pin(std::future::ready(Ok(found)))
    }

    fn list<'a>(
        &'a self,
        scope: &'a str,
        state: HistoryState,
        after: Option<u64>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<KeptHistory>> {
        let wanted = |kept: &&KeptHistory| {
            kept.scope == scope && kept.state() == state && after.is_none_or(|after| kept.number > after)
        };
        let kept = lock(&self.parts.histories);
        let listed = kept.histories.values().filter(wanted).take(most(limit)).cloned().collect();
        Box::pin(std::future::ready(Ok(listed)))
    }

    fn changes_after(&self, change: u64, limit: u32) -> StoreFuture<'_, Vec<KeptHistory>> {
        let kept = lock(&self.parts.histories);
        let mut changed: Vec<_> = kept.histories.values().filter(|kept| kept.change > change).cloned().collect();
        changed.sort_unstable_by_key(|kept| kept.change);
        changed.truncate(most(limit));
        Box::pin(std::future::ready(Ok(changed)))
    }

    fn changed_after(&self, change: u64) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            loop {
                // Created before the histories are read, so that no change in between is missed.
                let changed = self.parts.changed.notified();
                if lock(&self.parts.histories).histories.values().any(|kept| kept.change > change) {
                    return Ok(());
                }
                changed.await;
            }
        })
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        let mut kept = lock(&self.parts.histories);
        let held = kept.histories.len();
        kept.histories.retain(|_, kept| !kept.state().is_final() || kept.changed_at >= before);
        let forgotten = held - kept.histories.len();
        Box::pin(std::future::ready(Ok(u64::try_from(forgotten).unwrap_or(u64::MAX))))
    }
}

fn most(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}

impl Kept {
    fn apply(
        &mut self,
        scope: &str,
        message: &Message,
        now: Timestamp,
        capacity: usize,
    ) -> Result<Observation, StoreError> {
        let ids = HistoryId::of(message);
        let named = |kept: &&KeptHistory| kept.scope == scope && kept.ids.iter().any(|id| ids.contains(id));
        let known = self.histories.values().filter(named).cloned().collect();
        let Some(fold) = Fold::of(message, known) else { return Ok(Observation::NotApplicable) };
        let Fold { number, ids, history, changed, merged, observation } = fold;
        if number.is_none() && self.histories.len() >= capacity {
            return Err(StoreErrorKind::Full.into());
        }
        let number = number.unwrap_or(self.last + 1);
        self.last = self.last.max(number);
        let before = self.histories.get(&number).map(|kept| (kept.changed_at, kept.change));
        let (changed_at, change) = match before {
            Some(before) if !changed => before,
            _ => {
                self.last_change += 1;
                (now, self.last_change)
            }
        };
        for other in merged {
            self.histories.remove(&other);
        }
        let scope = scope.to_owned();
        self.histories.insert(number, KeptHistory { number, scope, ids, history, changed_at, change });
        Ok(observation)
    }
}
