//! Properties that hold for any trace.

use crate::oracle::{Shape, Step, shapes, steps};
use crate::{at, policy};
use bankrail_rate_limit::{Algorithm, Counting, Decision, Policy, State, Window, decide};
use proptest::prelude::*;
use std::time::Duration;

const EARLIEST: i64 = bankrail_values::Timestamp::MIN.unix_millis();
const LATEST: i64 = bankrail_values::Timestamp::MAX.unix_millis();

/// Returns the state after a trace, the time after it, and the last decision on a request that
/// could fit.
fn after(shape: &Shape, steps: &[Step]) -> (State, i64, Option<Decision>) {
    let (mut state, mut now, mut last) = (State::new(), shape.start, None);
    for step in steps {
        now += shape.millis_of(step);
        if let Ok(decision) = decide(&mut state, shape.policy_of(step), at(now), step.cost) {
            last = Some(decision);
        }
    }
    (state, now, last)
}

fn allowed(state: &State, policy: &Policy, now: i64, cost: u32) -> bool {
    decide(&mut { *state }, policy, at(now), cost).is_ok_and(|decision| decision.is_allowed())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_retry_time_is_refused_before_and_allowed_at(shape in shapes(), steps in steps(), cost in 1_u32..12) {
        let (_, _, Some(decision)) = after(&shape, &steps) else { return Ok(()) };
        let (state, policy) = (*decision.state(), *decision.policy());
        if let Some(retry_at) = decision.retry_at() {
            prop_assert_eq!(decision.next_chance(decision.cost()), Ok(retry_at));
            prop_assert!(retry_at > decision.asked_at());
            let longest = policy.windows()[0].length();
            let wait = retry_at.saturating_since(decision.asked_at());
            prop_assert_eq!(decision.retry_after(), Some(wait.min(2 * longest)));
        }
        let Ok(chance) = decision.next_chance(cost) else { return Ok(()) };
        let chance = chance.unix_millis();
        prop_assert!(allowed(&state, &policy, chance, cost));
        // With short windows every earlier millisecond is tried, otherwise the last one and a
        // spread of others.
        let from = state.high_water().unwrap().unix_millis();
        let stride = usize::try_from((chance - from) / 400 + 1).unwrap();
        for earlier in (from..chance).step_by(stride).chain((from..chance).rev().take(2)) {
            prop_assert!(!allowed(&state, &policy, earlier, cost), "{} before {}", earlier, chance);
        }
    }

    #[test]
    fn what_remains_fits_and_no_more(shape in shapes(), steps in steps()) {
        let (state, now, _) = after(&shape, &steps);
        for policy in &shape.policies {
            let look = decide(&mut { state }, policy, at(now), 0).unwrap();
            let remaining = look.remaining().unwrap();
            prop_assert!(remaining == 0 || allowed(&state, policy, now, remaining));
            prop_assert!(!allowed(&state, policy, now, remaining + 1));
            for status in look.windows() {
                prop_assert!(status.remaining >= remaining && status.remaining <= status.window.limit());
                prop_assert!(status.ends_at > at(now));
            }
        }
    }

    #[test]
    fn a_spent_state_is_as_good_as_new_and_not_before(shape in shapes(), steps in steps()) {
        let (state, _, _) = after(&shape, &steps);
        let Some(expires_at) = state.expires_at() else { return Ok(()) };
        let windows: Vec<Window> = shape.policies[0].windows().to_vec();
        let sliding = Policy::new(Algorithm::Sliding, Counting::Admitted, &windows).unwrap();
        let fits = |millis: i64| {
            windows.iter().all(|window| {
                let alone = Policy::new(Algorithm::Sliding, Counting::Admitted, &[*window]).unwrap();
                allowed(&state, &alone, millis, window.limit())
            })
        };
        prop_assert!(fits(expires_at.unix_millis()));
        prop_assert!(!fits(expires_at.unix_millis() - 1));
        let mut old = state;
        let mut new = State::new();
        prop_assert_eq!(
            decide(&mut old, &sliding, expires_at, 1).unwrap(),
            decide(&mut new, &sliding, expires_at, 1).unwrap()
        );
        prop_assert_eq!(old, new);
    }

    #[test]
    fn a_higher_limit_never_refuses_what_a_lower_one_allows(shape in shapes(), steps in steps(), more in 1_u32..5) {
        let (state, now, _) = after(&shape, &steps);
        for policy in &shape.policies {
            let raised: Vec<Window> =
                policy.windows().iter().map(|w| Window::new(w.length(), w.limit() + more).unwrap()).collect();
            let raised = Policy::new(policy.algorithm(), policy.counting(), &raised).unwrap();
            for cost in 0..4 {
                prop_assert!(!allowed(&state, policy, now, cost) || allowed(&state, &raised, now, cost));
            }
        }
    }

    #[test]
    fn no_trailing_window_holds_twice_the_limit(
        gaps in proptest::collection::vec(0_i64..30, 1..300),
        limit in 1_u32..9,
    ) {
        let policy = policy(Algorithm::Sliding, Counting::Admitted, &[(50, limit)]);
        let (mut state, mut now, mut admitted) = (State::new(), 0, Vec::new());
        for gap in gaps {
            now += gap;
            while decide(&mut state, &policy, at(now), 1).unwrap().is_allowed() {
                admitted.push(now);
            }
        }
        for (n, end) in admitted.iter().enumerate() {
            let within = admitted[..=n].iter().filter(|start| end - **start < 50).count();
            prop_assert!(within < 2 * limit as usize, "{} within 50 ms of {}", within, end);
        }
    }

    #[test]
    fn any_input_is_answered_with_bounded_numbers(
        lengths in proptest::collection::btree_set(1_u64..=u64::from(u32::MAX), 1..=3),
        limit in 1_u32..=u32::MAX,
        times in proptest::collection::vec(EARLIEST..=LATEST, 1..20),
        cost in 0_u32..=u32::MAX,
        counting in prop_oneof![Just(Counting::Attempts), Just(Counting::Admitted)],
    ) {
        let windows: Vec<Window> = lengths
            .iter()
            .map(|length| {
                let most = Window::new(Duration::from_millis(*length), 1).unwrap().ceiling();
                Window::new(Duration::from_millis(*length), limit.min(most)).unwrap()
            })
            .collect();
        let policy = Policy::new(Algorithm::Sliding, counting, &windows).unwrap();
        let cost = policy.windows().iter().map(|window| window.limit()).chain([cost]).min().unwrap();
        let mut state = State::new();
        for time in times {
            let decision = decide(&mut state, &policy, at(time), cost).unwrap();
            for (count, window) in state.counts().zip(policy.windows()) {
                prop_assert!(count.current <= window.ceiling() && count.previous <= window.ceiling());
            }
            prop_assert!(decision.retry_at().is_none_or(|retry| retry >= decision.asked_at()));
            let _ = (decision.remaining(), decision.refused_by(), state.expires_at());
        }
    }
}
