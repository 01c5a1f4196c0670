//! Tests of every interleaving of two threads. Run them with `RUSTFLAGS="--cfg loom" cargo test -p
//! bankrail-rate-limit --release --test loom`.
#![cfg(loom)]
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)] // helpers outside of test functions

use bankrail_rate_limit::{
    Algorithm, CallType, Capacity, Charge, Counting, MemoryCounters, OnFull, Policy, Window,
};
use bankrail_values::Timestamp;
use loom::sync::Arc;
use loom::thread;

/// One customer's counters, and the policy of its charges.
struct Counters {
    counters: MemoryCounters,
    policy: Policy,
}

fn policy(algorithm: Algorithm, limit: u32) -> Policy {
    let windows = [
        Window::per_hour(limit).unwrap(),
        Window::per_second(limit).unwrap(),
    ];
    Policy::new(algorithm, Counting::Admitted, &windows).unwrap()
}

fn counters(algorithm: Algorithm, limit: u32) -> Arc<Counters> {
    let counters = MemoryCounters::new(Capacity::new(2, OnFull::RefuseNew));
    Arc::new(Counters {
        counters,
        policy: policy(algorithm, limit),
    })
}

fn allowed(counters: &Counters, millis: i64) -> u32 {
    allowed_under(counters, &counters.policy, millis)
}

fn allowed_under(counters: &Counters, policy: &Policy, millis: i64) -> u32 {
    let now = Timestamp::from_unix_millis(millis).unwrap();
    let charge = Charge::new("A", CallType::Payment, policy, now, 1).unwrap();
    u32::from(counters.counters.charge(&charge).unwrap().is_allowed())
}

/// Runs both functions, each on its own thread, and returns the sum of their results.
fn both(counters: &Arc<Counters>, one: fn(&Counters) -> u32, other: fn(&Counters) -> u32) -> u32 {
    let shared = Arc::clone(counters);
    let one = thread::spawn(move || one(&shared));
    let other = other(counters);
    one.join().unwrap() + other
}

#[test]
fn one_place_two_threads_two_tries_each() {
    loom::model(|| {
        let counters = counters(Algorithm::Fixed, 1);
        let twice = |counters: &Counters| allowed(counters, 0) + allowed(counters, 0);
        assert_eq!(both(&counters, twice, twice), 1);
    });
}

#[test]
fn one_thread_rolls_the_window_over_while_the_other_is_late() {
    loom::model(|| {
        let counters = counters(Algorithm::Sliding, 2);
        assert_eq!(allowed(&counters, 500), 1);
        let late = |counters: &Counters| allowed(counters, 999);
        let next = |counters: &Counters| allowed(counters, 1_000);
        // The hour has one place left. One thread gets it, and the late request cannot count before
        // the other one.
        assert_eq!(both(&counters, late, next), 1);
        assert_eq!(allowed(&counters, 0), 0);
    });
}

#[test]
fn forgetting_and_charging_at_once_loses_no_charge() {
    loom::model(|| {
        let counters = counters(Algorithm::Fixed, 1);
        let charge = |counters: &Counters| allowed(counters, 0);
        let forget = |counters: &Counters| {
            counters
                .counters
                .forget_expired(Timestamp::from_unix_millis(1_000).unwrap());
            0
        };
        assert_eq!(both(&counters, charge, forget), 1);
        assert_eq!(allowed(&counters, 1), 0);
    });
}

/// The limit is raised from one to two while requests arrive, so that some are charged under each
/// limit.
#[test]
fn a_raised_limit_is_never_exceeded() {
    loom::model(|| {
        let counters = counters(Algorithm::Fixed, 1);
        let raised = |counters: &Counters| allowed_under(counters, &policy(Algorithm::Fixed, 2), 0);
        let twice = |counters: &Counters| allowed(counters, 0) + allowed(counters, 0);
        let admitted = both(&counters, raised, twice);
        assert_eq!(admitted + raised(&counters), 2);
    });
}
