//! Options of a pacer.

use super::Pacing;
use crate::{Capacity, CounterStore, MemoryCounters, OnFull};
use std::sync::Arc;
use std::time::Duration;

/// Options of a [`Pacer`](super::Pacer).
#[derive(Clone, Debug)]
pub struct PacerOptions {
    pub(super) counters: Arc<dyn CounterStore>,
    pub(super) customer: Box<str>,
    pub(super) pacing: Pacing,
    pub(super) guard: Duration,
}

impl Default for PacerOptions {
    fn default() -> Self {
        Self {
            counters: Arc::new(MemoryCounters::new(Capacity::new(1, OnFull::RefuseNew))),
            customer: Box::default(),
            pacing: Pacing::default(),
            guard: Duration::from_millis(100),
        }
    }
}

impl PacerOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts in this store, under this customer's name: for several pacers, or several processes, that spend the same
    /// limits. A store that judges by a clock of its own keeps the guard at the boundaries only. Default: counters of
    /// the pacer's own.
    #[must_use]
    pub fn counters(mut self, counters: Arc<dyn CounterStore>, customer: &str) -> Self {
        (self.counters, self.customer) = (counters, customer.into());
        self
    }

    /// What happens to a call that may not go yet. Default: [`Pacing::default`]. [`Pacing::Fail`] also does without
    /// the guard.
    #[must_use]
    pub fn pacing(mut self, pacing: Pacing) -> Self {
        self.pacing = pacing;
        self
    }

    /// The most that the two clocks may differ, the way to the provider included; at most a quarter of the shortest
    /// window is kept. Default: 100 ms.
    #[must_use]
    pub fn guard(mut self, guard: Duration) -> Self {
        self.guard = guard;
        self
    }
}
