//! Options of a pacer.

use super::Pacing;
use bankrail_rate_limit::{Capacity, CounterStore, MemoryCounters, OnFull};
use bankrail_values::{Clock, SystemClock};
use std::sync::Arc;
use std::time::Duration;

bankrail_values::options! {
    /// Options of a [`Pacer`](super::Pacer).
    #[derive(Clone, Debug)]
    pub struct PacerOptions {
        /// The counters, for several pacers or processes that spend the same limits. With a store
        /// that judges by another clock, the guard holds at the boundaries of windows only.
        /// Default: counters of this pacer alone.
        pub(super) counters: Arc<dyn CounterStore> = Arc::new(MemoryCounters::new(Capacity::new(1, OnFull::RefuseNew))),
        /// The customer under whose name calls are counted. Default: the empty text, for a store of
        /// one customer.
        pub(super) customer(&str => |customer| customer.into()): Box<str> = Box::default(),
        /// The treatment of a call that may not go yet. Default: [`Pacing::default`].
        /// [`Pacing::Fail`] also does without the guard.
        pub(super) pacing: Pacing = Pacing::default(),
        /// The most that the two clocks may differ, the way to the provider included; at most a
        /// quarter of the shortest window is kept. Default: 100 ms.
        pub(super) guard: Duration = Duration::from_millis(100),
        /// The clock that calls are paced by. Default: the system's.
        pub(super) clock: Arc<dyn Clock> = Arc::new(SystemClock),
    }
}
