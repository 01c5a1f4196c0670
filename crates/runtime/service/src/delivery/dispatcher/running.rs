//! The deliveries under way in this process, for snapshots.

use crate::delivery::RunningDelivery;
use bankrail_mailbox::{EntryId, OutboxEntry};
use bankrail_values::Timestamp;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The deliveries in progress by their entries, at most one for each place.
#[derive(Debug, Default)]
pub(super) struct Running(Mutex<HashMap<EntryId, RunningDelivery>>);

impl Running {
    /// Registers a delivery, which is under way until the guard is dropped.
    pub(super) fn begin(&self, entry: &OutboxEntry, since: Timestamp) -> UnderWay<'_> {
        let delivery = RunningDelivery {
            entry: entry.id,
            endpoint: entry.message.endpoint.clone(),
            since,
        };
        self.lock().insert(entry.id, delivery);
        UnderWay {
            running: self,
            entry: entry.id,
        }
    }

    /// Returns all deliveries under way, the longest first.
    #[expect(clippy::disallowed_methods, reason = "sorted below")]
    pub(super) fn all(&self) -> Vec<RunningDelivery> {
        let mut all: Vec<_> = self.lock().values().cloned().collect();
        all.sort_unstable_by_key(|delivery| (delivery.since, delivery.entry));
        all
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<EntryId, RunningDelivery>> {
        // Held for one operation on the map only. A panic cannot leave the map half changed, so a
        // poisoned lock is used on.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A delivery under way.
#[derive(Debug)]
pub(super) struct UnderWay<'a> {
    running: &'a Running,
    entry: EntryId,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.running.lock().remove(&self.entry);
    }
}
