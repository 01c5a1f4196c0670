//! Histories of mandates and payments.

use super::{Parts, lock, most, operations};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use bankrail_webhook::Message;
use bankrail_webhook::history::{
    Fold, Histories, HistoryId, HistoryState, KeptHistory, Observation,
};
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
    operations! {
        self.parts.histories;
        apply(scope: &'a str, message: &'a Message, now: Timestamp) -> Observation = kept, capacity => {
            let observation = kept.apply(scope, message, now, capacity)?;
            self.parts.changed.notify_waiters();
            Ok(observation)
        };
        find(scope: &'a str, id: &'a HistoryId) -> Option<KeptHistory> = kept => {
            Ok(kept.histories.values().find(|kept| kept.scope == scope && kept.ids.contains(id)).cloned())
        };
        list(scope: &'a str, state: HistoryState, after: Option<u64>, limit: u32) -> Vec<KeptHistory> = kept => {
            let wanted = |kept: &&KeptHistory| {
                kept.scope == scope && kept.state() == state && after.is_none_or(|after| kept.number > after)
            };
            Ok(kept.histories.values().filter(wanted).take(most(limit)).cloned().collect())
        };
        changes_after(change: u64, limit: u32) -> Vec<KeptHistory> = kept => {
            let mut changed: Vec<_> = kept.histories.values().filter(|kept| kept.change > change).cloned().collect();
            changed.sort_unstable_by_key(|kept| kept.change);
            changed.truncate(most(limit));
            Ok(changed)
        };
        forget(before: Timestamp) -> u64 = kept => {
            let held = kept.histories.len();
            kept.histories.retain(|_, kept| !kept.state().is_final() || kept.changed_at >= before);
            Ok(u64::try_from(held - kept.histories.len()).unwrap_or(u64::MAX))
        };
    }

    fn changed_after(&self, change: u64) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            loop {
                // Created before the histories are read, so that no change in between is missed.
                let changed = self.parts.changed.notified();
                if lock(&self.parts.histories)
                    .histories
                    .values()
                    .any(|kept| kept.change > change)
                {
                    return Ok(());
                }
                changed.await;
            }
        })
    }
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
        let named =
            |kept: &&KeptHistory| kept.scope == scope && kept.ids.iter().any(|id| ids.contains(id));
        let known = self.histories.values().filter(named).cloned().collect();
        let Some(fold) = Fold::of(message, known) else {
            return Ok(Observation::NotApplicable);
        };
        let Fold {
            number,
            ids,
            history,
            changed,
            merged,
            observation,
        } = fold;
        if number.is_none() && self.histories.len() >= capacity {
            return Err(StoreErrorKind::Full.into());
        }
        let number = number.unwrap_or(self.last + 1);
        self.last = self.last.max(number);
        let before = self
            .histories
            .get(&number)
            .map(|kept| (kept.changed_at, kept.change));
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
        self.histories.insert(
            number,
            KeptHistory {
                number,
                scope,
                ids,
                history,
                changed_at,
                change,
            },
        );
        Ok(observation)
    }
}
