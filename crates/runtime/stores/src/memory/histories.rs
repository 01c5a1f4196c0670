//! Histories of mandates and payments.

use super::{Parts, lock, most, run};
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

#[derive(Clone, Default)]
pub(super) struct Records {
    last: u64,
    last_change: u64,
    histories: BTreeMap<u64, KeptHistory>,
}

impl Histories for MemoryHistories {
    fn apply<'a>(
        &'a self,
        scope: &'a str,
        message: &'a Message,
        now: Timestamp,
    ) -> StoreFuture<'a, Observation> {
        Box::pin(async move {
            let observation =
                lock(&self.parts.histories).apply(scope, message, now, self.parts.capacity)?;
            self.parts.changed.notify_waiters();
            Ok(observation)
        })
    }

    fn find<'a>(
        &'a self,
        scope: &'a str,
        id: &'a HistoryId,
    ) -> StoreFuture<'a, Option<KeptHistory>> {
        run(&self.parts.histories, move |records| {
            let mut histories = records.histories.values();
            Ok(histories
                .find(|known| known.scope == scope && known.ids.contains(id))
                .cloned())
        })
    }

    fn list<'a>(
        &'a self,
        scope: &'a str,
        state: HistoryState,
        after: Option<u64>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<KeptHistory>> {
        run(&self.parts.histories, move |records| {
            let wanted = records.histories.values().filter(|known| {
                known.scope == scope
                    && known.state() == state
                    && after.is_none_or(|after| known.number > after)
            });
            Ok(wanted.take(most(limit)).cloned().collect())
        })
    }

    fn changes_after(&self, change: u64, limit: u32) -> StoreFuture<'_, Vec<KeptHistory>> {
        run(&self.parts.histories, move |records| {
            let changed = records
                .histories
                .values()
                .filter(|known| known.change > change);
            let mut changed: Vec<_> = changed.cloned().collect();
            changed.sort_unstable_by_key(|known| known.change);
            changed.truncate(most(limit));
            Ok(changed)
        })
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        run(
            &self.parts.histories,
            move |Records { histories, .. }| {
                let held = histories.len();
                histories
                    .retain(|_, known| !known.state().is_final() || known.changed_at >= before);
                Ok(u64::try_from(held - histories.len()).unwrap_or(u64::MAX))
            },
        )
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

impl Records {
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
        let Some(fold) = Fold::of(message, known, now) else {
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
        let mut kept = KeptHistory::new(number, ids, history, changed_at);
        kept.scope = scope.to_owned();
        kept.change = change;
        self.histories.insert(number, kept);
        Ok(observation)
    }
}
