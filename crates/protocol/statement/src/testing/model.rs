//! A plain model of a store of seen entries, to compare engines with.

use crate::{
    AccountId, EntryKey, PageRecord, PositionChange, Recorded, SeenEntries, SeenEntry,
    TransactionalSeenEntries, check_position,
};
use bankrail_values::{Date, StoreError, StoreFuture};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A store of seen entries in a map, for tests only: it is lost at the end of the process, and
/// cannot undo effects of failed work elsewhere.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct ModelSeenEntries(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    seen: BTreeMap<(AccountId, EntryKey), SeenEntry>,
    positions: BTreeMap<AccountId, String>,
}

impl State {
    fn counts(&self, account: &AccountId, keys: &[EntryKey]) -> Vec<u32> {
        let count = |key: &EntryKey| {
            self.seen
                .get(&(account.clone(), *key))
                .map_or(0, |known| known.occurrence)
        };
        keys.iter().map(count).collect()
    }

    fn is_overtaken(&self, account: &AccountId, change: Option<PositionChange<'_>>) -> bool {
        let current = self.positions.get(account).map(String::as_str);
        change.is_some_and(|change| change.is_overtaken(current))
    }

    fn record(
        &mut self,
        account: &AccountId,
        entries: &[SeenEntry],
        position: Option<PositionChange<'_>>,
    ) {
        for entry in entries {
            let key = (account.clone(), entry.key);
            if let Some(recorded) = entry.recorded_over(self.seen.get(&key)) {
                self.seen.insert(key, recorded);
            }
        }
        if let Some(position) = position.and_then(|change| change.after) {
            self.positions.insert(account.clone(), position.to_owned());
        }
    }
}

impl ModelSeenEntries {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ready<'a, T: Send + 'a>(answer: Result<T, StoreError>) -> StoreFuture<'a, T> {
    Box::pin(std::future::ready(answer))
}

impl SeenEntries for ModelSeenEntries {
    fn counts<'a>(
        &'a self,
        account: &'a AccountId,
        keys: &'a [EntryKey],
    ) -> StoreFuture<'a, Vec<u32>> {
        ready(Ok(self.state().counts(account, keys)))
    }

    fn record<'a>(
        &'a self,
        account: &'a AccountId,
        entries: &'a [SeenEntry],
        position: Option<PositionChange<'a>>,
    ) -> StoreFuture<'a, Recorded> {
        ready(check_position(position).map(|()| {
            let mut state = self.state();
            if state.is_overtaken(account, position) {
                return Recorded::Overtaken;
            }
            state.record(account, entries, position);
            Recorded::Committed
        }))
    }

    fn position<'a>(&'a self, account: &'a AccountId) -> StoreFuture<'a, Option<String>> {
        ready(Ok(self.state().positions.get(account).cloned()))
    }

    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64> {
        let mut state = self.state();
        let before = state.seen.len();
        state
            .seen
            .retain(|(of, _), known| of != account || known.day.is_none_or(|own| own >= day));
        ready(Ok(
            u64::try_from(before - state.seen.len()).unwrap_or(u64::MAX)
        ))
    }
}

impl TransactionalSeenEntries for ModelSeenEntries {
    type Work = ModelWork;

    fn record_with<'a>(
        &'a self,
        account: &'a AccountId,
        page: PageRecord<'a>,
        work: ModelWork,
    ) -> StoreFuture<'a, Recorded> {
        let run = || {
            check_position(page.position)?;
            let mut state = self.state();
            if state.is_overtaken(account, page.position)
                || page.is_overtaken(&state.counts(account, &page.new_keys()))
            {
                return Ok(Recorded::Overtaken);
            }
            if let Err(error) = (work.0)() {
                return Ok(Recorded::Undone(error));
            }
            state.record(account, page.entries, page.position);
            Ok(Recorded::Committed)
        };
        ready(run())
    }
}

/// The work of [`TransactionalSeenEntries::record_with`] in the model: a function that runs while
/// the model is locked.
#[doc(hidden)]
pub struct ModelWork(Box<WorkFunction>);

type WorkFunction = dyn FnOnce() -> Result<(), Box<dyn Error + Send + Sync>> + Send;

impl ModelWork {
    /// Makes work that has no effect if it returns an error.
    pub fn new(
        work: impl FnOnce() -> Result<(), Box<dyn Error + Send + Sync>> + Send + 'static,
    ) -> Self {
        Self(Box::new(work))
    }
}

impl fmt::Debug for ModelWork {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ModelWork").finish_non_exhaustive()
    }
}
