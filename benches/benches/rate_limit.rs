//! One rate decision over three windows, compared with governor with one quota and with three asked
//! in turn, limitador with three limits and trypema with one.
//!
//! - Each implementation reads its clock within the measured call: ours `CoarseClock`, governor the
//!   processor's counter. Benchmarks named `_system_clock` read `SystemClock`. Those named
//!   `_given_time` get the time as an argument and measure the decision alone.
//! - The limits are never reached, so that each call is charged. This is checked once.
//! - The goal is that `warm_key/three_windows` is not slower than `warm_key/governor_one_quota`.
//! - Before measuring, the memory per key and the results of two threads that race for one place
//!   are printed.

use bankrail_benches::measuring;
use bankrail_benches::rate_limit::{race, resident};
use bankrail_rate_limit::{
    Algorithm, CallType, Capacity, Counting, Limits, MemoryCounters, OnFull, Policy, Window,
};
use bankrail_values::{Clock, CoarseClock, SystemClock, Timestamp};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use governor::clock::FakeRelativeClock;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use limitador::limit::{Context, Limit};
use std::collections::HashMap;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trypema::local::LocalRateLimiterProvider;
use trypema::{BucketSize, RateLimit, RateLimitDecision, RateLimiterBuilder, WindowSize};

const KEYS: usize = 1_000_000;
const MANY: u32 = 1_000_000_000;

fn key(n: usize) -> String {
    format!("customer-{n:07}")
}

struct Ours {
    limits: Limits,
    counters: MemoryCounters,
}

/// Three sliding windows. Refused requests are not counted.
fn ours(limit: u32, max_keys: usize) -> Ours {
    let windows = [
        Window::per_hour(limit),
        Window::per_minute(limit),
        Window::per_second(limit),
    ];
    let windows = windows.map(|window| window.expect("within the bounds"));
    let policy =
        Policy::new(Algorithm::Sliding, Counting::Admitted, &windows).expect("three lengths");
    let mut limits = Limits::default();
    limits.set_default(CallType::Payment, policy);
    Ours {
        limits,
        counters: MemoryCounters::new(Capacity::new(max_keys, OnFull::RefuseNew)),
    }
}

fn ask_ours(limiter: &Ours, key: &str) -> bool {
    ask_ours_at(limiter, key, CoarseClock.now())
}

fn ask_ours_at(limiter: &Ours, key: &str, now: Timestamp) -> bool {
    let charge = limiter
        .limits
        .charge(key, CallType::Payment, now, 1)
        .expect("it fits");
    limiter
        .counters
        .charge(&charge)
        .expect("there is room")
        .is_allowed()
}

type Governor = DefaultKeyedRateLimiter<String>;

fn governor(limit: u32) -> Governor {
    Governor::keyed(Quota::per_hour(NonZeroU32::new(limit).expect("not zero")))
}

fn ask_governor(limiter: &Governor, key: &String) -> bool {
    limiter.check_key(key).is_ok()
}

fn limitador(limit: u64, seconds: &[u64]) -> limitador::RateLimiter {
    let limiter = limitador::RateLimiter::new(2 * KEYS as u64);
    for length in seconds {
        let customer = "customer".try_into().expect("an expression");
        limiter.add_limit(Limit::new("bench", limit, *length, vec![], vec![customer]));
    }
    limiter
}

fn ask_limitador(limiter: &limitador::RateLimiter, key: &str) -> bool {
    let context = Context::from(HashMap::from([("customer".to_owned(), key.to_owned())]));
    !limiter
        .check_rate_limited_and_update(&"bench".into(), &context, 1)
        .expect("in memory")
        .limited
}

struct Trypema(Arc<LocalRateLimiterProvider>, RateLimit);

fn trypema(limit: f64) -> Trypema {
    let provider = LocalRateLimiterProvider::builder()
        .window_size(WindowSize::hours_or_panic(1))
        .bucket_size(BucketSize::seconds_or_panic(1))
        .disable_cleanup();
    Trypema(
        provider.build().expect("a provider"),
        RateLimit::per_hour_or_panic(limit),
    )
}

fn ask_trypema(limiter: &Trypema, key: &str) -> bool {
    matches!(
        limiter.0.absolute().inc(key, &limiter.1, 1),
        RateLimitDecision::Allowed
    )
}

/// Prints, before anything is measured, whether two threads ever get one place, and the memory of a
/// key.
fn report(_: &mut Criterion) {
    let rounds = if measuring() { 100_000 } else { 1_000 };
    let keys: Vec<String> = (0..rounds).map(key).collect();
    let at = |n: usize| keys.get(n).expect("one for each round");
    let limiter = ours(1, 2 * rounds);
    let over = race(rounds, |n| ask_ours(&limiter, at(n)));
    assert_eq!(over, 0);
    println!(
        "race for one place, {rounds} rounds, rounds not admitting exactly one: three_windows {over}"
    );
    let limiter = governor(1);
    println!(
        "  governor {}",
        race(rounds, |n| ask_governor(&limiter, at(n)))
    );
    let limiter = limitador(1, &[3_600]);
    println!(
        "  limitador {}",
        race(rounds, |n| ask_limitador(&limiter, at(n)))
    );
    let limiter = trypema(1.0);
    println!(
        "  trypema {}",
        race(rounds, |n| ask_trypema(&limiter, at(n)))
    );

    if rounds == 100_000 {
        let text = key(0).len();
        let weigh = |name: &str, fill: &dyn Fn() -> Box<dyn std::any::Any>| {
            let before = resident();
            let filled = fill();
            println!(
                "{name}: {} bytes a key beside its {text} of text",
                (resident().saturating_sub(before) / KEYS).saturating_sub(text)
            );
            drop(filled);
        };
        weigh("three_windows", &|| {
            let limiter = ours(MANY, 2 * KEYS);
            assert!((0..KEYS).all(|n| ask_ours(&limiter, &key(n))));
            Box::new(limiter)
        });
        weigh("governor_one_quota", &|| {
            let limiter = governor(MANY);
            assert!((0..KEYS).all(|n| ask_governor(&limiter, &key(n))));
            Box::new(limiter)
        });
    }
}

fn warm_key(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("rate_limit/warm_key");
    let key = key(0);
    let limiter = ours(MANY, 100);
    assert!(ask_ours(&limiter, &key));
    group.bench_function("three_windows", |bench| {
        bench.iter(|| ask_ours(&limiter, black_box(&key)))
    });
    group.bench_function("three_windows_system_clock", |bench| {
        bench.iter(|| ask_ours_at(&limiter, black_box(&key), SystemClock.now()));
    });
    let now = SystemClock.now();
    group.bench_function("three_windows_given_time", |bench| {
        bench.iter(|| ask_ours_at(&limiter, black_box(&key), black_box(now)));
    });
    let limiter = governor(MANY);
    assert!(ask_governor(&limiter, &key));
    group.bench_function("governor_one_quota", |bench| {
        bench.iter(|| ask_governor(&limiter, black_box(&key)))
    });
    let quota = Quota::per_hour(NonZeroU32::new(MANY).expect("not zero"));
    let limiter = RateLimiter::dashmap_with_clock(quota, FakeRelativeClock::default());
    assert!(limiter.check_key(&key).is_ok());
    group.bench_function("governor_one_quota_given_time", |bench| {
        bench.iter(|| limiter.check_key(black_box(&key)).is_ok());
    });
    let three = [governor(MANY), governor(MANY), governor(MANY)];
    group.bench_function("governor_three_chained", |bench| {
        bench.iter(|| {
            three
                .iter()
                .all(|limiter| ask_governor(limiter, black_box(&key)))
        });
    });
    let limiter = limitador(MANY.into(), &[3_600, 60, 1]);
    assert!(ask_limitador(&limiter, &key));
    group.bench_function("limitador_three_limits", |bench| {
        bench.iter(|| ask_limitador(&limiter, black_box(&key)))
    });
    let limiter = trypema(MANY.into());
    assert!(ask_trypema(&limiter, &key));
    group.bench_function("trypema_one_limit", |bench| {
        bench.iter(|| ask_trypema(&limiter, black_box(&key)))
    });
    group.finish();
}

/// A million keys in an order that caches cannot predict.
fn million_keys(criterion: &mut Criterion) {
    let count = if measuring() { KEYS } else { 1_000 };
    let keys: Vec<String> = (0..count).map(key).collect();
    let mut at = 0_usize;
    let mut next = move || {
        at = (at + 611_953) % count;
        at
    };
    let mut group = criterion.benchmark_group("rate_limit/million_keys");
    let limiter = ours(MANY, 2 * KEYS);
    assert!(keys.iter().all(|key| ask_ours(&limiter, key)));
    group.bench_function("three_windows", |bench| {
        bench.iter(|| keys.get(next()).map(|key| ask_ours(&limiter, key)))
    });
    drop(limiter);
    let limiter = governor(MANY);
    assert!(keys.iter().all(|key| ask_governor(&limiter, key)));
    group.bench_function("governor_one_quota", |bench| {
        bench.iter(|| keys.get(next()).map(|key| ask_governor(&limiter, key)));
    });
    drop(limiter);
    let three = [governor(MANY), governor(MANY), governor(MANY)];
    assert!(
        keys.iter()
            .all(|key| three.iter().all(|limiter| ask_governor(limiter, key)))
    );
    group.bench_function("governor_three_chained", |bench| {
        bench.iter(|| {
            keys.get(next())
                .map(|key| three.iter().all(|limiter| ask_governor(limiter, key)))
        });
    });
    group.finish();
}

/// Runs two threads that each ask `calls` times, and returns how long both took.
fn two_threads(calls: u64, ask: impl Fn(usize, u64) + Sync) -> Duration {
    let started = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let ask = &ask;
            scope.spawn(move || (0..calls).for_each(|call| ask(thread, call)));
        }
    });
    started.elapsed()
}

fn threads(criterion: &mut Criterion) {
    let keys: Vec<String> = (0..1_024).map(key).collect();
    for (name, spread) in [("one_key", 1), ("many_keys", 512)] {
        let mut group = criterion.benchmark_group(format!("rate_limit/two_threads_{name}"));
        let pick = |thread: usize, call: u64| {
            let own = usize::try_from(call).unwrap_or(0) % spread;
            keys.get(if spread == 1 {
                0
            } else {
                thread * spread + own
            })
            .expect("two times 512 keys")
        };
        let limiter = ours(MANY, 10_000);
        group.bench_function(BenchmarkId::from_parameter("three_windows"), |bench| {
            bench.iter_custom(|calls| {
                two_threads(calls, |thread, call| {
                    black_box(ask_ours(&limiter, pick(thread, call)));
                })
            });
        });
        let limiter = governor(MANY);
        group.bench_function(BenchmarkId::from_parameter("governor_one_quota"), |bench| {
            bench.iter_custom(|calls| {
                two_threads(calls, |thread, call| {
                    black_box(ask_governor(&limiter, pick(thread, call)));
                })
            });
        });
        group.finish();
    }
}

criterion_group!(benches, report, warm_key, million_keys, threads);
criterion_main!(benches);
