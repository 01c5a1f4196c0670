//! Threads on one key.

use crate::{at, policy};
use bankrail_rate_limit::{Algorithm, CallType, Capacity, Charge, Counting, MemoryCounters, OnFull};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Starts two threads at nearly the same moment, in each round.
struct SpinBarrier(AtomicUsize);

impl SpinBarrier {
    fn wait(&self, round: usize) {
        self.0.fetch_add(1, Ordering::AcqRel);
        let mut spins = 0_u32;
        while self.0.load(Ordering::Acquire) < 2 * round {
            spins += 1;
            if spins.is_multiple_of(256) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }
}

/// 100,000 rounds on a limit of one: exactly one of two threads is admitted in each.
#[test]
fn two_threads_never_both_get_the_only_place() {
    const ROUNDS: usize = 100_000;
    let policy = policy(Algorithm::Fixed, Counting::Admitted, &[(3_600_000, 1_000), (1_000, 1)]);
    let counters = MemoryCounters::new(Capacity::new(10, OnFull::RefuseNew));
    let (barrier, admitted) = (SpinBarrier(AtomicUsize::new(0)), AtomicU32::new(0));
    let wrong = std::thread::scope(|scope| {
        let run = |judge: bool| {
            let (counters, policy, barrier, admitted) = (&counters, &policy, &barrier, &admitted);
            move || {
                let mut wrong = 0;
                for round in 0..ROUNDS {
                    // A fresh hour every 500 rounds, so that the longer window never refuses.
                    let now = (round / 500) * 3_600_000 + (round % 500) * 1_000;
                    barrier.wait(3 * round + 1);
                    let now = at(i64::try_from(now).unwrap());
                    let charge = Charge::new("A", CallType::Payment, policy, now, 1).unwrap();
                    let decision = counters.charge(&charge).unwrap();
                    admitted.fetch_add(u32::from(decision.is_allowed()), Ordering::Relaxed);
                    barrier.wait(3 * round + 2);
                    if judge {
                        wrong += usize::from(admitted.swap(0, Ordering::Relaxed) != 1);
                    }
                    barrier.wait(3 * round + 3);
                }
                wrong
            }
        };
        let other = scope.spawn(run(false));
        run(true)() + other.join().unwrap()
    });
    assert_eq!(wrong, 0);
}

/// Threads insert the same new keys while old ones are forgotten.
#[test]
fn threads_on_many_keys_admit_each_limit_exactly() {
    const THREADS: usize = 4;
    const KEYS: usize = 300;
    let policy = policy(Algorithm::Sliding, Counting::Admitted, &[(60_000, 7), (1_000, 7)]);
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
                        let charge = Charge::new(&customer, CallType::Payment, &policy, at(999), 1).unwrap();
                        counters.charge(&charge).unwrap().is_allowed()
                    };
                    requests.filter(allowed).count()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(admitted, KEYS * 7);
}
