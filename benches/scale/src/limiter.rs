//! One decision over three windows against the number of keys, and the memory of a key.

use crate::Curve;
use bankrail_benches::rate_limit::resident;
use bankrail_rate_limit::{
    Algorithm, CallType, Capacity, Counting, Limits, MemoryCounters, OnFull, Policy, Window,
};
use bankrail_values::{Clock as _, SystemClock};
use std::time::Instant;

const DECISIONS: u64 = 200_000;
const MANY: u32 = 1_000_000_000;

pub(crate) fn measure(curve: &Curve<'_>) {
    let windows = [
        Window::per_hour(MANY),
        Window::per_minute(MANY),
        Window::per_second(MANY),
    ];
    let policy = Policy::new(
        Algorithm::Sliding,
        Counting::Admitted,
        &windows.map(Result::unwrap),
    )
    .unwrap();
    let mut limits = Limits::default();
    limits.set_default(CallType::Payment, policy);
    let key = |number: u64| format!("customer-{number:07}");
    for size in curve.sizes() {
        let keys: Vec<String> = (0..size).map(key).collect();
        let before = resident();
        // Each shard has its part of the capacity.
        let most = usize::try_from(size.max(1000) * 2).unwrap();
        let counters = MemoryCounters::new(Capacity::new(most, OnFull::RefuseNew));
        let ask = |key: &str| {
            let charge = limits
                .charge(key, CallType::Payment, SystemClock.now(), 1)
                .unwrap();
            assert!(counters.charge(&charge).unwrap().is_allowed());
        };
        keys.iter().for_each(|key| ask(key));
        let bytes = resident().saturating_sub(before) as f64 / size as f64;
        // In an order that caches cannot predict.
        let begun = Instant::now();
        (0..DECISIONS)
            .for_each(|round| ask(&keys[usize::try_from(round * 611_953 % size).unwrap()]));
        curve.point(
            "memory, a decision",
            size,
            "ns",
            begun.elapsed().as_secs_f64() * 1e9 / DECISIONS as f64,
        );
        // Of fewer keys the allocator's pages are the larger part.
        if size >= 10_000 {
            curve.point("memory, a key", size, "bytes", bytes);
        }
    }
}
