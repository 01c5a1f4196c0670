//! Takes requests of several customers under limits that change, at times that step both ways. The
//! limiter over counters in memory and in SQLite decides like a log of charges for each customer
//! and call type.

use crate::stores::{Calls, block_on, sqlite};
use crate::window_vs_model::{Log, Shape, at};
use arbitrary::Arbitrary;
use bankrail_rate_limit::{CallType, CheckError, Limiter, Limits, MemoryCounters};
use std::sync::Arc;

#[derive(Arbitrary, Debug)]
struct Trace {
    shape: Shape,
    start: i32,
    requests: Calls<Request>,
}

#[derive(Arbitrary, Debug)]
struct Request {
    step: i16,
    cost: u8,
    key: u8,
    change: bool,
}

/// Texts of lengths around those of a word and of a stored text, the same but for one end.
const CUSTOMERS: [&str; 6] = [
    "A",
    "AAAAAAAAB",
    "AAAAAAAAC",
    "BAAAAAAAA",
    "AAAAAAAAAAAAAAAAAAB",
    "AAAAAAAAAAAAAAAAAAC",
];
const CALL_TYPES: [CallType; 2] = [CallType::Payment, CallType::Statement];
const KEYS: usize = CUSTOMERS.len() * CALL_TYPES.len();

fuzz_target!(|trace: Trace| {
    let Some(mut policies) = trace.shape.policies() else {
        return;
    };
    let limits = || {
        let mut limits = Limits::new();
        CALL_TYPES
            .iter()
            .for_each(|call_type| limits.set_default(*call_type, policies[0]));
        limits
    };
    let limiters = [
        Limiter::new(limits(), Arc::new(MemoryCounters::default())),
        Limiter::new(limits(), Arc::new(sqlite())),
    ];
    let mut logs = [const { None::<Log> }; KEYS];
    // When the counters of each key expire, and the latest of these times that has passed.
    let (mut expiries, mut passed) = ([i64::MIN; KEYS], i64::MIN);
    let mut now = i64::from(trace.start);
    for request in &trace.requests.0 {
        now += i64::from(request.step);
        passed = expiries
            .into_iter()
            .filter(|expiry| *expiry <= now)
            .fold(passed, i64::max);
        // Counters that have expired may have been forgotten, so that the clock cannot step back.
        if now < passed {
            return;
        }
        if request.change {
            policies.swap(0, 1);
            for limiter in &limiters {
                limiter.change_limits(|limits| {
                    CALL_TYPES
                        .iter()
                        .for_each(|call_type| limits.set_default(*call_type, policies[0]));
                });
            }
        }
        let (key, cost) = (usize::from(request.key) % KEYS, u32::from(request.cost));
        let (customer, call_type) = (CUSTOMERS[key / 2], CALL_TYPES[key % 2]);
        let [memory, sqlite] = limiters
            .each_ref()
            .map(|limiter| block_on(limiter.check(customer, call_type, at(now), cost)));
        let (memory, sqlite) = match (memory, sqlite) {
            (Ok(memory), Ok(sqlite)) => (memory, sqlite),
            (Err(CheckError::Cost(memory)), Err(CheckError::Cost(sqlite))) => {
                assert_eq!(memory, sqlite);
                assert!(policies[0].check_cost(cost).is_err());
                continue;
            }
            other => panic!("{other:?}"),
        };
        let (allowed, ..) = logs[key]
            .get_or_insert_with(Log::new)
            .decide(&policies[0], now, cost);
        for (engine, answer) in [("memory", &memory), ("sqlite", &sqlite)] {
            assert_eq!(
                answer.is_allowed(),
                allowed,
                "{engine}: {request:?} at {now}"
            );
        }
        let [memory, sqlite] =
            [&memory, &sqlite].map(|answer| answer.decision().expect("both answer"));
        assert_eq!(memory.retry_at(), sqlite.retry_at(), "{request:?} at {now}");
        assert_eq!(
            memory.remaining(),
            sqlite.remaining(),
            "{request:?} at {now}"
        );
        for decision in [memory, sqlite] {
            let expiry = decision
                .state()
                .expires_at()
                .map_or(i64::MIN, |at| at.unix_millis());
            expiries[key] = expiries[key].max(expiry);
        }
    }
});
