//! Many keys in memory.

use crate::oracle::{shapes, steps};
use crate::{at, policy};
use bankrail_rate_limit::{
    Algorithm, CallType, Capacity, Charge, Counting, Decision, FullError, Limits, MemoryCounters,
    OnFull, Policy, State, Window, decide, default_limits,
};
use proptest::prelude::*;
use std::collections::HashMap;

const PAYMENT: CallType = CallType::Payment;

/// Limits and counters together, as in [`bankrail_rate_limit::Limiter`].
struct Keys {
    limits: Limits,
    counters: MemoryCounters,
}

impl Keys {
    fn new(policy: Policy, max_keys: usize, on_full: OnFull) -> Self {
        let mut limits = Limits::default();
        limits.set_default(PAYMENT, policy);
        Self {
            limits,
            counters: MemoryCounters::new(Capacity::new(max_keys, on_full)),
        }
    }

    fn check(
        &self,
        customer: &str,
        call_type: CallType,
        millis: i64,
        cost: u32,
    ) -> Result<Decision, FullError> {
        self.counters.charge(
            &self
                .limits
                .charge(customer, call_type, at(millis), cost)
                .unwrap(),
        )
    }
}

fn allowed(keys: &Keys, customer: &str, millis: i64) -> bool {
    keys.check(customer, PAYMENT, millis, 1)
        .unwrap()
        .is_allowed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Forgetting expired keys changes no decision.
    #[test]
    fn each_key_is_judged_as_by_a_state_of_its_own(
        shape in shapes(),
        steps in steps(),
        keys in proptest::collection::vec(0_usize..40, 60),
        forget in proptest::collection::vec(0_u8..5, 60),
    ) {
        let counters = MemoryCounters::new(Capacity::new(100, OnFull::RefuseNew));
        let mut states: HashMap<(String, CallType), State> = HashMap::new();
        let mut now = shape.start;
        for ((step, key), forget) in steps.iter().zip(keys).zip(forget) {
            now += shape.millis_of(step).max(0);
            if forget == 0 {
                counters.forget_expired(at(now));
            }
            let (customer, call_type) = (format!("C{}", key / 3), CallType::ALL[key % 3]);
            let Ok(charge) = Charge::new(&customer, call_type, shape.policy_of(step), at(now), step.cost) else {
                continue;
            };
            let state = states.entry((customer.clone(), call_type)).or_default();
            let expected = decide(state, charge.policy(), at(now), step.cost).unwrap();
            let found = counters.charge(&charge).unwrap();
            prop_assert_eq!(found.is_allowed(), expected.is_allowed());
            prop_assert_eq!(found.retry_at(), expected.retry_at());
            prop_assert!(found.windows().eq(expected.windows()));
        }
        counters.forget_expired(at(now + (1 << 34)));
        prop_assert!(counters.is_empty());
    }

    /// A few keys, most of whose requests come in the same window as the previous one, are judged
    /// like separate states.
    #[test]
    fn a_few_keys_are_judged_as_by_states_of_their_own(
        shape in shapes(),
        steps in steps(),
        keys in proptest::collection::vec(0_usize..3, 60),
        waits in proptest::collection::vec(0_i64..300, 60),
    ) {
        let counters = MemoryCounters::new(Capacity::new(100, OnFull::RefuseNew));
        let mut states = [State::new(); 3];
        let mut now = shape.start;
        for ((step, key), wait) in steps.iter().zip(keys).zip(waits) {
            now += wait;
            let customer = format!("C{key}");
            let Ok(charge) = Charge::new(&customer, PAYMENT, shape.policy_of(step), at(now), step.cost) else {
                continue;
            };
            let expected = decide(&mut states[key], charge.policy(), at(now), step.cost).unwrap();
            prop_assert_eq!(counters.charge(&charge).unwrap(), expected);
        }
    }
}

#[test]
fn a_look_in_the_same_piece_of_time_keeps_no_time() {
    let keys = Keys::new(
        policy(Algorithm::Sliding, Counting::Admitted, &[(1_000, 5)]),
        10,
        OnFull::RefuseNew,
    );
    for (millis, cost) in [(100, 1), (900, 0), (500, 1)] {
        let decision = keys.check("A", PAYMENT, millis, cost).unwrap();
        assert_eq!(decision.state().high_water(), Some(at(millis)));
    }
}

#[test]
fn a_key_follows_the_windows_that_another_brought() {
    let of = |longest| {
        policy(
            Algorithm::Sliding,
            Counting::Admitted,
            &[(longest, 5), (1_000, 5)],
        )
    };
    let (hourly, minutely) = (of(3_600_000), of(60_000));
    // The capacity is small enough for one shard, so that both keys share the same cached window
    // starts.
    let counters = MemoryCounters::new(Capacity::new(10, OnFull::RefuseNew));
    let mut states = HashMap::<&str, State>::new();
    for (customer, policy) in [
        ("A", hourly),
        ("B", minutely),
        ("A", minutely),
        ("A", minutely),
        ("B", hourly),
    ] {
        let expected = decide(states.entry(customer).or_default(), &policy, at(7), 1).unwrap();
        let charge = Charge::new(customer, PAYMENT, &policy, at(7), 1).unwrap();
        assert_eq!(counters.charge(&charge).unwrap(), expected);
    }
}

/// Windows that are not in the policy in force are forgotten, and those that it adds start empty,
/// also while no window has ended.
#[test]
fn a_key_has_the_windows_of_the_policy_in_force_only() {
    let lengths = [1_000, 60_000, 3_600_000];
    let all = policy(
        Algorithm::Sliding,
        Counting::Admitted,
        &lengths.map(|length| (length, 9)),
    );
    for length in lengths {
        let one = policy(Algorithm::Sliding, Counting::Admitted, &[(length, 2)]);
        for (first, then) in [(all, one), (one, all)] {
            // The capacity is small enough for one shard, so that both keys share the same cached
            // window starts.
            let counters = MemoryCounters::new(Capacity::new(10, OnFull::RefuseNew));
            let charge = |customer: &str, policy: Policy| {
                counters
                    .charge(&Charge::new(customer, PAYMENT, &policy, at(0), 1).unwrap())
                    .unwrap()
            };
            assert!(charge("A", first).is_allowed());
            assert!(charge("another", then).is_allowed());
            let decision = charge("A", then);
            let counted: Vec<_> = decision
                .state()
                .counts()
                .map(|counts| (counts.length, counts.current))
                .collect();
            let expected: Vec<_> = then
                .windows()
                .iter()
                .map(|window| {
                    let is_kept = first
                        .windows()
                        .iter()
                        .any(|other| other.length() == window.length());
                    (
                        u32::try_from(window.length().as_millis()).unwrap(),
                        1 + u32::from(is_kept),
                    )
                })
                .collect();
            assert_eq!(counted, expected, "{length}");
        }
    }
}

#[test]
fn customers_and_call_types_are_counted_apart() {
    let limiter = Keys::new(default_limits(PAYMENT), 1_000_000, OnFull::RefuseNew);
    for customer in ["ACME", "ACM", ""] {
        for call_type in CallType::ALL {
            let limit = default_limits(call_type)
                .windows()
                .iter()
                .map(|window| window.limit())
                .min()
                .unwrap();
            let allowed = |_: &u32| {
                limiter
                    .check(customer, call_type, 0, 1)
                    .unwrap()
                    .is_allowed()
            };
            assert_eq!(
                (0..limit + 1).filter(allowed).count(),
                limit as usize,
                "{customer} {call_type}"
            );
        }
    }
    assert_eq!(limiter.counters.len(), 3 * CallType::ALL.len());
}

#[test]
fn a_forgotten_key_gets_nothing_back_from_a_clock_that_steps_back() {
    let policy = policy(Algorithm::Fixed, Counting::Admitted, &[(1_000, 1)]);
    let limiter = Keys::new(policy, 10, OnFull::RefuseNew);
    assert!(allowed(&limiter, "A", 5_000));
    limiter.counters.forget_expired(at(9_000));
    assert!(limiter.counters.is_empty());
    let again = limiter.check("A", PAYMENT, 6_000, 1).unwrap();
    assert!(again.is_allowed(), "taken to happen when the key was spent");
    assert_eq!(again.state().high_water(), Some(at(7_000)));
    assert!(!allowed(&limiter, "A", 6_000));
    assert!(!allowed(&limiter, "A", 7_999));
    assert!(allowed(&limiter, "A", 8_000));
}

#[test]
fn looks_and_unlimited_calls_are_not_remembered() {
    let limiter = Keys::new(Policy::unlimited(), 1, OnFull::RefuseNew);
    for customer in ["A", "B", "C"] {
        assert!(limiter.check(customer, PAYMENT, 0, 1).unwrap().is_allowed());
        assert!(
            limiter
                .check(customer, CallType::Token, 0, 0)
                .unwrap()
                .is_allowed()
        );
    }
    assert!(limiter.counters.is_empty());
}

#[test]
fn when_full_a_new_key_is_refused_until_another_is_spent() {
    let policy = policy(Algorithm::Sliding, Counting::Admitted, &[(1_000, 1)]);
    let limiter = Keys::new(policy, 3, OnFull::RefuseNew);
    for customer in ["A", "B", "C"] {
        assert!(allowed(&limiter, customer, 0));
    }
    assert!(matches!(
        limiter.check("D", PAYMENT, 1_999, 1),
        Err(FullError { .. })
    ));
    assert!(
        !allowed(&limiter, "A", 1_999),
        "those who are known are judged as ever"
    );
    assert!(
        limiter.check("D", PAYMENT, 0, 0).unwrap().is_allowed(),
        "a look needs no room"
    );
    assert!(allowed(&limiter, "D", 2_000));
    assert!(limiter.counters.len() <= 3);
}

#[test]
fn when_full_the_stalest_makes_room() {
    let policy = policy(Algorithm::Fixed, Counting::Admitted, &[(60_000, 2)]);
    let limiter = Keys::new(policy, 3, OnFull::EvictStalest);
    for (customer, millis) in [("A", 1), ("B", 2), ("C", 3), ("A", 4)] {
        assert!(allowed(&limiter, customer, millis));
    }
    assert!(allowed(&limiter, "D", 5));
    assert_eq!(limiter.counters.len(), 3);
    assert!(!allowed(&limiter, "A", 6), "kept: it had used its two");
    assert_eq!(
        limiter.check("B", PAYMENT, 6, 0).unwrap().remaining(),
        Some(2),
        "evicted"
    );
    assert_eq!(
        limiter.check("C", PAYMENT, 6, 0).unwrap().remaining(),
        Some(1)
    );
}

#[test]
fn the_number_of_keys_stays_bounded_and_falls_in_passing() {
    let policy = policy(Algorithm::Fixed, Counting::Admitted, &[(1_000, 1)]);
    let limiter = Keys::new(policy, 1_000, OnFull::RefuseNew);
    let admitted = (0..5_000)
        .filter(|n| limiter.check(&n.to_string(), PAYMENT, 0, 1).is_ok())
        .count();
    assert!((900..=1_000).contains(&admitted), "{admitted}");
    assert_eq!(limiter.counters.len(), admitted);
    // Ten seconds later each new key removes a few expired ones.
    for n in 0..400 {
        assert!(allowed(&limiter, &format!("new {n}"), 10_000));
    }
    assert!(limiter.counters.len() <= 500, "{}", limiter.counters.len());
    limiter.counters.forget_expired(at(20_000));
    assert!(limiter.counters.is_empty());
}

#[test]
fn calls_of_known_keys_forget_the_expired_ones_too() {
    let policy = policy(Algorithm::Fixed, Counting::Admitted, &[(1_000, 1)]);
    let limiter = Keys::new(policy, 100, OnFull::RefuseNew);
    for n in 0..100 {
        assert!(allowed(&limiter, &n.to_string(), 0));
    }
    for _ in 0..6_400 {
        let _ = limiter.check("0", PAYMENT, 10_000, 1).unwrap();
    }
    assert_eq!(limiter.counters.len(), 1);
    assert!(!limiter.counters.is_empty());
}

/// One expired key anywhere in the table makes room for a new one.
#[test]
fn one_expired_key_makes_room_for_a_new_one() {
    let policy = policy(Algorithm::Fixed, Counting::Admitted, &[(1_000, 9)]);
    for expired in 0..40 {
        let limiter = Keys::new(policy, 40, OnFull::RefuseNew);
        for n in 0..40 {
            assert!(allowed(
                &limiter,
                &n.to_string(),
                if n == expired { 0 } else { 5_000 }
            ));
        }
        assert!(allowed(&limiter, "new", 5_000), "{expired}");
        assert!(
            limiter.check("another", PAYMENT, 5_000, 1).is_err(),
            "{expired}"
        );
    }
}

#[test]
fn no_capacity_refuses_everybody() {
    for on_full in [OnFull::RefuseNew, OnFull::EvictStalest] {
        let limiter = Keys::new(default_limits(PAYMENT), 0, on_full);
        assert!(matches!(
            limiter.check("A", PAYMENT, 0, 1),
            Err(FullError { .. })
        ));
    }
}

#[test]
fn what_was_agreed_with_a_customer_holds_while_running() {
    let one = policy(Algorithm::Fixed, Counting::Admitted, &[(60_000, 1)]);
    let two = policy(Algorithm::Fixed, Counting::Admitted, &[(60_000, 2)]);
    let three = policy(Algorithm::Fixed, Counting::Admitted, &[(60_000, 3)]);
    let mut limiter = Keys::new(one, 100, OnFull::RefuseNew);
    assert!(allowed(&limiter, "A", 0));
    assert!(!allowed(&limiter, "A", 1));
    limiter.limits.set_override("A", PAYMENT, two);
    assert!(allowed(&limiter, "A", 2), "one of two was used");
    assert!(!allowed(&limiter, "A", 3));
    limiter.limits.set_temporary("A", PAYMENT, three, at(10));
    assert!(allowed(&limiter, "A", 9));
    assert_eq!(
        limiter.check("A", PAYMENT, 10, 0).unwrap().policy(),
        &two,
        "the end has come"
    );
    limiter.limits.clear("A", PAYMENT);
    assert_eq!(limiter.check("A", PAYMENT, 11, 0).unwrap().policy(), &one);
    assert!(allowed(&limiter, "B", 12));
    assert!(!allowed(&limiter, "B", 13));
    limiter.limits.set_default(PAYMENT, two);
    assert!(allowed(&limiter, "B", 14));
    limiter.counters.reset("B", PAYMENT);
    assert_eq!(
        limiter.check("B", PAYMENT, 15, 0).unwrap().remaining(),
        Some(2)
    );
    let error = limiter.limits.charge("B", PAYMENT, at(16), 3).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a cost of 3 never fits a limit of 2 per 60s"
    );
}

/// A count without a window in the policy in force is dropped, and later starts at zero.
#[test]
fn a_temporary_policy_keeps_the_windows_that_it_names() {
    let hour = |limit| {
        Policy::new(
            Algorithm::Fixed,
            Counting::Admitted,
            &[Window::per_hour(limit).unwrap()],
        )
        .unwrap()
    };
    for (temporary, left) in [(hour(1000), 22), (Policy::unlimited(), 24)] {
        let mut limiter = Keys::new(hour(25), 100, OnFull::RefuseNew);
        assert!(allowed(&limiter, "A", 0));
        limiter
            .limits
            .set_temporary("A", PAYMENT, temporary, at(10));
        assert!(allowed(&limiter, "A", 5));
        assert_eq!(
            limiter.check("A", PAYMENT, 10, 1).unwrap().remaining(),
            Some(left)
        );
    }
}

#[test]
fn agreements_end_and_are_forgotten() {
    let (own, temporary) = (Policy::unlimited(), default_limits(CallType::Token));
    let mut limits = Limits::default();
    limits.set_override("A", PAYMENT, own);
    limits.set_temporary("A", PAYMENT, temporary, at(10));
    limits.set_temporary("A", CallType::Token, own, at(10));
    assert_eq!(*limits.policy("A", PAYMENT, at(9)), temporary);
    limits.forget_expired(at(10));
    assert_eq!(
        *limits.policy("A", PAYMENT, at(9)),
        own,
        "gone even for a clock that steps back"
    );
    assert_eq!(
        *limits.policy("A", CallType::Token, at(9)),
        default_limits(CallType::Token)
    );
    limits.clear("A", PAYMENT);
    assert_eq!(*limits.policy("A", PAYMENT, at(9)), default_limits(PAYMENT));
    limits.clear("nobody", PAYMENT);
}

/// A customer cannot escape a limit by filling the room with other keys.
#[test]
fn a_million_keys_by_default_and_then_new_ones_are_refused() {
    assert_eq!(
        Capacity::default(),
        Capacity::new(1_000_000, OnFull::RefuseNew)
    );
}
