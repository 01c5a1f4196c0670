//! A reference that keeps each charge with its time and computes in fractions.

use crate::{at, policy};
use bankrail_rate_limit::{Algorithm, Counting, Policy, State, decide};
use num_rational::Ratio;
use proptest::prelude::*;

/// What was charged, and when it was taken to have happened.
#[derive(Default)]
struct Log(Vec<(i64, u32)>);

impl Log {
    fn decide(&mut self, policy: &Policy, now: i64, cost: u32) -> bool {
        let now = self.0.iter().map(|(at, _)| *at).chain([now]).max().unwrap();
        let allowed = policy.windows().iter().all(|window| {
            let length = i64::from(window.millis());
            let window_of = |time: i64| time.div_euclid(length);
            let counted = |wanted: i64| -> i128 {
                self.0
                    .iter()
                    .filter(|(at, _)| window_of(*at) == wanted)
                    .map(|(_, cost)| i128::from(*cost))
                    .sum()
            };
            let remaining = Ratio::new(
                i128::from((window_of(now) + 1) * length - now),
                i128::from(length),
            );
            let mut rate = Ratio::from(counted(window_of(now)) + i128::from(cost));
            if policy.algorithm() == Algorithm::Sliding {
                rate += remaining * counted(window_of(now) - 1);
            }
            rate <= Ratio::from(i128::from(window.limit()))
        });
        if cost > 0 && (allowed || policy.counting() == Counting::Attempts) {
            self.0.push((now, cost));
        }
        allowed
    }
}

/// One to three windows of different lengths, and the limits that they change to while running.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) lengths: Vec<u64>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) start: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Which of the shape's policies holds.
    pub(crate) policy: usize,
    /// Which window the step is measured in, in how many of them, plus how many milliseconds.
    pub(crate) window: usize,
    pub(crate) windows: i64,
    pub(crate) millis: i64,
    pub(crate) cost: u32,
}

impl Shape {
    pub(crate) fn millis_of(&self, step: &Step) -> i64 {
        step.windows * i64::try_from(self.lengths[step.window % self.lengths.len()]).unwrap()
            + step.millis
    }

    pub(crate) fn policy_of(&self, step: &Step) -> &Policy {
        &self.policies[step.policy % self.policies.len()]
    }
}

pub(crate) fn shapes() -> impl Strategy<Value = Shape> {
    let lengths = prop_oneof![
        proptest::sample::subsequence(vec![1, 2, 3, 7, 10, 16, 60], 1..=3),
        proptest::sample::subsequence(
            vec![1_000, 60_000, 3_600_000, 86_400_000, 4_294_967_295],
            1..=3
        ),
    ];
    let start = prop_oneof![
        Just(0),
        -200_i64..200,
        1_627_520_000_000_i64..1_627_530_000_000
    ];
    (lengths, start, 1_usize..=3)
        .prop_flat_map(|(lengths, start, policies)| {
            let algorithm = prop_oneof![1 => Just(Algorithm::Fixed), 3 => Just(Algorithm::Sliding)];
            let counting = prop_oneof![Just(Counting::Attempts), Just(Counting::Admitted)];
            let limits = proptest::collection::vec(1_u32..12, lengths.len());
            let policies = proptest::collection::vec((algorithm, counting, limits), policies);
            (Just(lengths), Just(start), policies)
        })
        .prop_map(|(lengths, start, policies)| {
            let windows =
                |limits: Vec<u32>| lengths.iter().copied().zip(limits).collect::<Vec<_>>();
            let policies = policies
                .into_iter()
                .map(|(algorithm, counting, limits)| policy(algorithm, counting, &windows(limits)))
                .collect();
            Shape {
                lengths,
                policies,
                start,
            }
        })
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let windows = prop_oneof![6 => Just(0_i64), 2 => Just(1), 1 => Just(2), 1 => Just(3), 1 => Just(-1), 1 => Just(-3)];
    let millis = prop_oneof![4 => Just(0_i64), 2 => Just(1), 2 => Just(-1), 2 => -5_i64..40];
    let cost = prop_oneof![8 => Just(1_u32), 1 => Just(0), 3 => 0_u32..13];
    let step = (0_usize..3, 0_usize..3, windows, millis, cost).prop_map(
        |(policy, window, windows, millis, cost)| Step {
            policy,
            window,
            windows,
            millis,
            cost,
        },
    );
    proptest::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn decisions_equal_the_log_in_fractions(shape in shapes(), steps in steps()) {
        let (mut state, mut log, mut now) = (State::new(), Log::default(), shape.start);
        for (n, step) in steps.iter().enumerate() {
            now += shape.millis_of(step);
            let policy = shape.policy_of(step);
            let before = state;
            match decide(&mut state, policy, at(now), step.cost) {
                Ok(decision) => {
                    prop_assert_eq!(decision.is_allowed(), log.decide(policy, now, step.cost), "step {}", n);
                    let charged = step.cost > 0 && (decision.is_allowed() || policy.counting() == Counting::Attempts);
                    if charged {
                        prop_assert_eq!(&state, decision.state());
                    } else {
                        prop_assert_eq!(state, before);
                    }
                }
                Err(error) => {
                    prop_assert!(error.cost > error.window.limit());
                    prop_assert!(policy.windows().contains(&error.window));
                    prop_assert_eq!(state, before);
                }
            }
        }
    }
}
