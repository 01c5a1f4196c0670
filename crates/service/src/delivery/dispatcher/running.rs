//! What this worker has leased, and the deliveries under way, for snapshots.

use crate::delivery::RunningDelivery;
use bankrail_mailbox::{EntryId, OutboxEntry};
use bankrail_values::Timestamp;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// At most as many as there are places for deliveries and for their records.
#[derive(Clone, Debug, Default)]
pub(super) struct Running(Arc<Mutex<HashMap<EntryId, Option<RunningDelivery>>>>);

impl Running {
    /// An entry has been leased. It is held until the guard is dropped.
    pub(super) fn hold(&self, entry: EntryId, lease_ends: Instant) -> Held {
        self.lock().insert(entry, None);
        Held { running: self.clone(), entry, lease_ends }
    }

    /// All entries that are held.
    pub(super) fn held(&self) -> Vec<EntryId> {
        self.lock().keys().copied().collect()
    }

    /// All deliveries under way, the longest first.
    pub(super) fn all(&self) -> Vec<RunningDelivery> {
        let mut all: Vec<_> = self.lock().values().flatten().cloned().collect();
        all.sort_unstable_by_key(|delivery| (delivery.since, delivery.entry));
        all
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EntryId, Option<RunningDelivery>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An entry that this worker has leased.
#[derive(Debug)]
pub(super) struct Held {
    running: Running,
    entry: EntryId,
    pub(super) lease_ends: Instant,
}

impl Held {
    pub(super) fn entry(&self) -> EntryId {
        self.entry
    }

    /// Its delivery begins.
    pub(super) fn begin(&self, entry: &OutboxEntry, since: Timestamp) {
        let delivery = RunningDelivery { entry: entry.id, endpoint: entry.message.endpoint.clone(), since };
        self.running.lock().insert(self.entry, Some(delivery));
    }

    /// Its delivery has ended, and is to be recorded.
    pub(super) fn end(&self) {
        self.running.lock().insert(self.entry, None);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.running.lock().remove(&self.entry);
    }
}
