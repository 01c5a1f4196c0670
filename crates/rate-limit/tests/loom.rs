//! Every interleaving of two threads. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p bankrail-rate-limit --release --test loom`.
#![cfg(loom)]
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)] // helpers outside of test functions

use bankrail_rate_limit::{Algorithm, CallType, Capacity, Counting, Limiter, Limits, OnFull, Policy, Window};
use bankrail_values::Timestamp;
use loom::sync::Arc;
use loom::thread;

fn limiter(algorithm: Algorithm, limit: u32) -> Arc<Limiter> {
    let windows = [Window::per_hour(limit).unwrap(), Window::per_second(limit).unwrap()];
    let mut limits = Limits::default();
    limits.set_default(CallType::Payment, Policy::new(algorithm, Counting::Admitted, &windows).unwrap());
    Arc::new(Limiter::new(limits, Capacity::new(2, OnFull::RefuseNew)))
}

fn allowed(limiter: &Limiter, millis: i64) -> u32 {
    let now = Timestamp::from_unix_millis(millis).unwrap();
    u32::from(limiter.check("A", CallType::Payment, now, 1).unwrap().is_allowed())
}

/// Runs both, each on a thread of its own, and adds up what they say.
fn both(limiter: &Arc<Limiter>, one: fn(&Limiter) -> u32, other: fn(&Limiter) -> u32) -> u32 {
    let shared = Arc::clone(limiter);
    let one = thread::spawn(move || one(&shared));
    let other = other(limiter);
    one.join().unwrap() + other
}

#[test]
fn one_place_two_threads_two_tries_each() {
    loom::model(|| {
        let limiter = limiter(Algorithm::Fixed, 1);
        let twice = |limiter: &Limiter| allowed(limiter, 0) + allowed(limiter, 0);
        assert_eq!(both(&limiter, twice, twice), 1);
    });
}

#[test]
fn one_thread_rolls_the_window_over_while_the_other_is_late() {
    loom::model(|| {
        let limiter = limiter(Algorithm::Sliding, 2);
        assert_eq!(allowed(&limiter, 500), 1);
        let late = |limiter: &Limiter| allowed(limiter, 999);
        let next = |limiter: &Limiter| allowed(limiter, 1_000);
        // The hour has one place left; whoever comes first gets it, and the late one cannot go back before the other.
        assert_eq!(both(&limiter, late, next), 1);
        assert_eq!(allowed(&limiter, 0), 0);
    });
}

#[test]
fn forgetting_and_charging_at_once_loses_no_charge() {
    loom::model(|| {
        let limiter = limiter(Algorithm::Fixed, 1);
        let charge = |limiter: &Limiter| allowed(limiter, 0);
        let forget = |limiter: &Limiter| {
            limiter.forget_spent(Timestamp::from_unix_millis(1_000).unwrap());
            0
        };
        assert_eq!(both(&limiter, charge, forget), 1);
        assert_eq!(allowed(&limiter, 1), 0);
    });
}

#[test]
fn a_raised_limit_is_seen_whole() {
    loom::model(|| {
        let limiter = limiter(Algorithm::Fixed, 1);
        let raise = |limiter: &Limiter| {
            let windows = [Window::per_hour(2).unwrap(), Window::per_second(2).unwrap()];
            let policy = Policy::new(Algorithm::Fixed, Counting::Admitted, &windows).unwrap();
            limiter.set_default(CallType::Payment, policy);
            0
        };
        let twice = |limiter: &Limiter| allowed(limiter, 0) + allowed(limiter, 0);
        let admitted = both(&limiter, raise, twice);
        assert_eq!(admitted + allowed(&limiter, 0), 2);
    });
}
