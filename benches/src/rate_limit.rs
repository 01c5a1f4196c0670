//! Properties of each implementation that the rate-limit benchmark measures beside its speed.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Lets two threads ask for the only place of a round at nearly the same time, `rounds` times.
/// Returns the number of rounds in which not exactly one was admitted.
pub fn race(rounds: usize, ask: impl Fn(usize) -> bool + Sync) -> usize {
    let (arrived, admitted) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let meet = |meetings: usize| {
        arrived.fetch_add(1, Ordering::AcqRel);
        let mut spins = 0_u32;
        while arrived.load(Ordering::Acquire) < 2 * meetings {
            spins = spins.wrapping_add(1);
            if spins.is_multiple_of(256) {
                std::thread::yield_now();
            }
            std::hint::spin_loop();
        }
    };
    let run = |judge: bool| {
        let mut wrong = 0;
        for round in 0..rounds {
            meet(3 * round + 1);
            admitted.fetch_add(usize::from(ask(round)), Ordering::Relaxed);
            meet(3 * round + 2);
            if judge {
                wrong += usize::from(admitted.swap(0, Ordering::Relaxed) != 1);
            }
            meet(3 * round + 3);
        }
        wrong
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| run(false));
        run(true) + other.join().expect("the other thread does not panic")
    })
}

/// The resident memory of this process in bytes, as the kernel counts it; 0 on systems without
/// `/proc`.
#[must_use]
pub fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| {
        line.trim()
            .strip_suffix(" kB")?
            .trim()
            .parse::<usize>()
            .ok()
    })
    .unwrap_or(0)
        * 1024
}
