//! What a worker has done.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a worker has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerCounts {
    /// Messages that were handled.
    pub handled: u64,
    /// Failures after which a message is handled again.
    pub failed: u64,
    /// Messages that became dead letters.
    pub dead_letters: u64,
    /// How often a message in conflict with an earlier one found no handler.
    pub unhandled_conflicts: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    handled: AtomicU64,
    failed: AtomicU64,
    dead_letters: AtomicU64,
    unhandled_conflicts: AtomicU64,
}

impl Counters {
    pub(super) fn handled(&self) {
        self.handled.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn dead_letter(&self) {
        self.dead_letters.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn unhandled_conflict(&self) {
        self.unhandled_conflicts.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> WorkerCounts {
        WorkerCounts {
            handled: self.handled.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            dead_letters: self.dead_letters.load(Ordering::Relaxed),
            unhandled_conflicts: self.unhandled_conflicts.load(Ordering::Relaxed),
        }
    }
}
