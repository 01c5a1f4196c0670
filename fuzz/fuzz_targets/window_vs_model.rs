//! Takes requests. Each decision equals that of a log of charges in 128-bit integers, the time of
//! the next allowed request is exact, and nothing panics.

use crate::stores::Calls;
use arbitrary::Arbitrary;
use bankrail_rate_limit::{Algorithm, Counting, Decision, Policy, State, Window, decide};
use bankrail_values::Timestamp;
use std::time::Duration;

/// Two policies with windows of the same lengths.
#[derive(Arbitrary, Debug)]
pub struct Shape {
    windows: Vec<(u16, u8)>,
    second_limits: [u8; 3],
    sliding: bool,
    attempts: bool,
}

impl Shape {
    pub fn policies(&self) -> Option<[Policy; 2]> {
        let windows = |second: bool| -> Option<Vec<Window>> {
            let windows = self.windows.iter().zip(self.second_limits);
            windows
                .map(|((millis, limit), other)| {
                    let limit = u32::from(if second { other } else { *limit });
                    Window::new(Duration::from_millis(u64::from(*millis)), limit).ok()
                })
                .collect()
        };
        let algorithm = if self.sliding {
            Algorithm::Sliding
        } else {
            Algorithm::Fixed
        };
        let counting = if self.attempts {
            Counting::Attempts
        } else {
            Counting::Admitted
        };
        let policy = |second| Policy::new(algorithm, counting, &windows(second)?).ok();
        Some([policy(false)?, policy(true)?])
    }
}

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
    under_second: bool,
}

/// The charges of each length of a window: the length, the time and the cost.
#[derive(Clone)]
pub struct Log {
    charges: Vec<(i64, i64, u32)>,
    pub last: i64,
}

impl Log {
    pub fn new() -> Self {
        Self {
            charges: Vec::new(),
            last: i64::MIN,
        }
    }

    /// Decides, and keeps the charge or what a step of the clock has changed. Returns the decision,
    /// whether anything was kept, and the charges as they count now.
    pub fn decide(&mut self, policy: &Policy, now: i64, cost: u32) -> (bool, bool, Self) {
        let mut seen = self.at(now);
        let now = seen.last;
        let allowed = seen.allows(policy, now, cost);
        let charged = cost > 0 && (allowed || policy.counting() == Counting::Attempts);
        if charged {
            let windows = policy.windows().iter();
            let charges = windows.map(|window| (i64::from(window.millis()), now, cost));
            seen.charges.extend(charges);
        }
        let kept = charged || (cost > 0 && self.last > now);
        if kept {
            *self = seen.clone();
        }
        (allowed, kept, seen)
    }

    /// The charges as they count at a time, and when that is. Those of a window that is later then,
    /// and of the one before it, count as charged then, or no longer.
    fn at(&self, now: i64) -> Self {
        let longest = self.charges.iter().map(|(length, ..)| *length).max();
        let lead = self.last.saturating_sub(now);
        // Clocks differ by a minute at most.
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

    fn allows(&self, policy: &Policy, now: i64, cost: u32) -> bool {
        policy.windows().iter().all(|window| {
            let length = i64::from(window.millis());
            let this = now.div_euclid(length);
            let counted = |wanted: i64| -> i128 {
                let charges = self.charges.iter();
                charges
                    .filter(|(of, at, _)| *of == length && at.div_euclid(length) == wanted)
                    .map(|(_, _, cost)| i128::from(*cost))
                    .sum()
            };
            let remaining = i128::from((this + 1) * length - now);
            let previous = if policy.algorithm() == Algorithm::Sliding {
                counted(this - 1) * remaining
            } else {
                0
            };
            let length = i128::from(length);
            (counted(this) + i128::from(cost)) * length + previous
                <= i128::from(window.limit()) * length
        })
    }
}

pub fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).expect("32 bits of milliseconds are in range")
}

/// What a decision tells beside its answer follows from the charges.
fn judge_answer(decision: &Decision, policy: &Policy, seen: &Log, cost: u32) {
    let left = decision.remaining();
    assert_eq!(left, decision.windows().map(|window| window.remaining).min());
    if let Some(left) = left {
        assert!(left == 0 || seen.allows(policy, seen.last, left), "{left}");
        assert!(!seen.allows(policy, seen.last, left + 1), "{left} and one more");
    }
    let refused = !decision.is_allowed();
    assert_eq!(decision.windows().any(|window| window.refused), refused);
    assert_eq!(decision.refused_by().is_some(), refused);
    assert_eq!(decision.retry_after_seconds().is_some(), refused);
    assert!(decision.retry_after_seconds().is_none_or(|seconds| seconds > 0));
    for window in decision.windows() {
        let length = i64::from(window.window.millis());
        let end = (seen.last.div_euclid(length) + 1) * length;
        assert_eq!(window.ends_at.unix_millis(), end);
    }
    match decision.next_chance(cost) {
        Ok(next) => assert!(seen.allows(policy, next.unix_millis(), cost)),
        Err(error) => crate::invented::logged(&error),
    }
    let state = decision.state();
    let counts: Vec<_> = state.counts().collect();
    assert_eq!(State::from_counts(state.high_water(), &counts).as_ref(), Some(state));
    let shown = format!("{decision:?} {policy:?}");
    assert!(!shown.contains(char::is_control));
}

fuzz_target!(|trace: Trace| {
    let Some([first, second]) = trace.shape.policies() else {
        return;
    };
    let (mut state, mut log, mut now) = (State::new(), Log::new(), i64::from(trace.start));
    for request in &trace.requests.0 {
        now += i64::from(request.step);
        let (policy, cost) = (
            if request.under_second {
                &second
            } else {
                &first
            },
            u32::from(request.cost),
        );
        let before = state;
        let Ok(decision) = decide(&mut state, policy, at(now), cost) else {
            assert!(policy.check_cost(cost).is_err());
            assert_eq!(state, before);
            continue;
        };
        let (allowed, kept, seen) = log.decide(policy, now, cost);
        assert_eq!(decision.is_allowed(), allowed);
        assert!(kept || state == before);
        judge_answer(&decision, policy, &seen, cost);
        if let Some(retry_at) = decision.retry_at() {
            let retry_at = retry_at.unix_millis();
            assert!(seen.allows(policy, retry_at, cost), "refused at {retry_at}");
            assert!(
                !seen.allows(policy, retry_at - 1, cost),
                "allowed before {retry_at}"
            );
        }
    }
});
