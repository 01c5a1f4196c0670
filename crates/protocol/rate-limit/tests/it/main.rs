//! The public API, from outside.
#![cfg(not(loom))]
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)] // helpers outside of test functions

mod call_types;
mod decisions;
mod keys;
#[cfg(feature = "tower")]
mod layer;
mod limiter;
mod oracle;
mod policies;
mod properties;
mod states;
mod stress;
mod windows;
mod worked_cases;

use bankrail_rate_limit::{Algorithm, Counting, Policy, Window};
use bankrail_values::Timestamp;
use std::time::Duration;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Makes a policy from windows, each as milliseconds and limit.
fn policy(algorithm: Algorithm, counting: Counting, windows: &[(u64, u32)]) -> Policy {
    let windows: Vec<Window> = windows
        .iter()
        .map(|(millis, limit)| Window::new(Duration::from_millis(*millis), *limit).unwrap())
        .collect();
    Policy::new(algorithm, counting, &windows).unwrap()
}

#[test]
fn the_types_are_what_callers_expect() {
    use bankrail_rate_limit::*;
    fn plain<T: Clone + std::fmt::Debug + PartialEq + Send + Sync + 'static>() {}
    fn shared<T: std::fmt::Debug + Send + Sync + 'static>() {}
    plain::<(
        Algorithm,
        CallType,
        Capacity,
        CostError,
        Counting,
        Counts,
        FullError,
    )>();
    plain::<(
        Decision,
        OnFull,
        OnStoreFailure,
        Policy,
        PolicyError,
        State,
        Window,
        WindowError,
        WindowStatus,
    )>();
    shared::<(
        CheckOutcome,
        Charge<'static>,
        CheckError,
        Limiter,
        Limits,
        MemoryCounters,
    )>();
    shared::<Box<dyn CounterStore>>();
    #[cfg(feature = "tower")]
    shared::<(
        layer::LimitKey,
        layer::LimitLayer,
        layer::LimitLayerOptions,
        layer::LimitRefusal,
        layer::RefusalBody,
    )>();
}
