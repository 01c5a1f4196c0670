//! A reference that stores each charge with its time and computes in fractions.

use crate::{at, policy};
use bankrail_rate_limit::{Algorithm, Counting, Policy, State, decide};
use num_rational::Ratio;
use proptest::prelude::*;

/// The charges for each length of a window: the length, the time and the cost.
#[derive(Default)]
struct Log {
    charges: Vec<(i64, i64, u32)>,
    last: i64,
}

impl Log {
    /// Returns the charges as they count at a time, and the time at which they count. Charges of a
    /// later window, and of the one before it, count as charged at that time, or are dropped.
    fn at(&self, now: i64) -> Self {
        let longest = self.charges.iter().map(|(length, ..)| *length).max();
        let lead = self.last.saturating_sub(now);
        // Clocks may differ by at most a minute.
        let now = match longest {
            Some(longest) if lead > 0 && lead <= longest.min(60_000) => self.last,
            _ => now,
        };
        let counted = |&(length, at, cost): &(i64, i64, u32)| {
            let later = self.last.div_euclid(length);
            if later <= now.div_euclid(length) {
                return Some((length, at, cost));
            }
            let counts = self.last - now <= 2 * length && at.div_euclid(length) >= later - 1;
            counts.then_some((length, now, cost))
        };
        Self {
            charges: self.charges.iter().filter_map(counted).collect(),
            last: now,
        }
    }

    fn decide(&mut self, policy: &Policy, now: i64, cost: u32) -> bool {
        let mut seen = self.at(now);
        let now = seen.last;
        let allowed = policy.windows().iter().all(|window| {
            let length = i64::from(window.millis());
            let window_of = |time: i64| time.div_euclid(length);
            let counted = |wanted: i64| -> i128 {
                let charges = seen.charges.iter();
                charges
                    .filter(|(of, at, _)| *of == length && window_of(*at) == wanted)
                    .map(|(_, _, cost)| i128::from(*cost))
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
            let windows = policy.windows().iter();
            let charges = windows.map(|window| (i64::from(window.millis()), now, cost));
            seen.charges.extend(charges);
            *self = seen;
        } else if cost > 0 && !self.charges.is_empty() && self.last > now {
            *self = seen;
        }
        allowed
    }
}

/// One to three windows of different lengths, and the limits that they are changed to during a
/// trace.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) lengths: Vec<u64>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) start: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// The index of the shape's policy in force.
    pub(crate) policy: usize,
    /// The window in whose lengths the step is measured; the step also has their number and further
    /// milliseconds.
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
    let windows = prop_oneof![6 => Just(0_i64), 2 => Just(1), 1 => Just(2), 1 => Just(3), 1 => Just(-1), 1 => Just(-2), 1 => Just(-3), 1 => prop_oneof![Just(1_000), Just(-1_000)]];
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
                    let judged = decision.state().high_water();
                    let ahead = before.high_water() > judged;
                    let charged = decision.is_allowed() || policy.counting() == Counting::Attempts;
                    if step.cost > 0 && (charged || ahead) {
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
