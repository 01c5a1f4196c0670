//! Threads on one key.

use crate::{at, policy};
use bankrail_rate_limit::{
    Algorithm, CallType, Capacity, Charge, Counting, MemoryCounters, OnFull,
};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// A barrier at which two threads begin each round at nearly the same moment.
struct SpinBarrier(AtomicUsize);

impl SpinBarrier {
    fn wait(&self, round: usize) {
        self.0.fetch_add(1, Ordering::AcqRel);
        let mut spins = 0_u32;
        while self.0.load(Ordering::Acquire) < 2 * (round + 1) {
            spins += 1;
            // On a busy machine the other thread may wait for this one's core.
            if spins.is_multiple_of(64) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }
}

/// Exactly one of two threads is admitted in each of 30,000 rounds on a limit of one.
#[test]
fn two_threads_never_both_get_the_only_place() {
    const ROUNDS: usize = 30_000;
    let policy = policy(
        Algorithm::Fixed,
        Counting::Admitted,
        &[(3_600_000, 1_000), (1_000, 1)],
    );
    let counters = MemoryCounters::new(Capacity::new(10, OnFull::RefuseNew));
    let barrier = SpinBarrier(AtomicUsize::new(0));
    let admitted: Vec<AtomicU32> = (0..ROUNDS).map(|_| AtomicU32::new(0)).collect();
    let run = || {
        for (round, admitted) in admitted.iter().enumerate() {
            // Every 500 rounds begin a new hour, so that the longer window never refuses.
            let now = (round / 500) * 3_600_000 + (round % 500) * 1_000;
            barrier.wait(round);
            let now = at(i64::try_from(now).unwrap());
            let charge = Charge::new("A", CallType::Payment, &policy, now, 1).unwrap();
            admitted.fetch_add(
                u32::from(counters.charge(&charge).unwrap().is_allowed()),
                Ordering::Relaxed,
            );
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(run);
        run();
    });
    let wrong = admitted
        .iter()
        .filter(|admitted| admitted.load(Ordering::Relaxed) != 1)
        .count();
    assert_eq!(wrong, 0);
}

/// Threads insert the same new keys while old ones are forgotten.
#[test]
fn threads_on_many_keys_admit_each_limit_exactly() {
    const THREADS: usize = 4;
    const KEYS: usize = 300;
    let policy = policy(
        Algorithm::Sliding,
        Counting::Admitted,
        &[(60_000, 7), (1_000, 7)],
    );
    let counters = MemoryCounters::new(Capacity::new(100_000, OnFull::RefuseNew));
    let admitted: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|_| {
                scope.spawn(|| {
                    let requests = (0..KEYS).flat_map(|key| std::iter::repeat_n(key, 5));
                    let allowed = |key: &usize| {
                        if key.is_multiple_of(50) {
                            counters.forget_expired(at(999));
                        }
                        let customer = key.to_string();
                        let charge =
                            Charge::new(&customer, CallType::Payment, &policy, at(999), 1).unwrap();
                        counters.charge(&charge).unwrap().is_allowed()
                    };
                    requests.filter(allowed).count()
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    assert_eq!(admitted, KEYS * 7);
}
