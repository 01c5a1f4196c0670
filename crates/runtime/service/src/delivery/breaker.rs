//! The circuit breaker: deliveries to an endpoint that keeps failing are paused until it answers
//! again.
//!
//! The outbox stores the circuits and leases entries accordingly, so that all dispatchers over it
//! pause deliveries to a failing endpoint, also after a restart. This module decides the change
//! that a delivery makes.

use bankrail_mailbox::Circuit;
use bankrail_values::Timestamp;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

bankrail_values::options! {
    /// The number of failures that open an endpoint's circuit.
    ///
    /// The circuit opens for 30 s, and for twice as long each time the trial after it fails, up to
    /// 10 min. An answer that takes 10 s or longer counts as a failure of the endpoint, also if it
    /// accepts the message.
    ///
    /// Each dispatcher counts its own failures. The first one with enough failures opens the
    /// circuit for all dispatchers over the outbox. After the pause one message is delivered as a
    /// trial, whichever dispatcher leases it; if it fails, the circuit opens for longer. The first
    /// delivery that the endpoint answers closes the circuit: the trial, or one that was under way
    /// when the circuit opened, by any dispatcher.
    /// [`Dispatcher::resume`](super::Dispatcher::resume) closes it too. A receiver that was down
    /// and is up again gets its trial at once ([`Transport::is_up`](super::Transport::is_up)). A
    /// failure of a delivery that began before the circuit opened does not prolong it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct BreakerPolicy {
        /// The failures in a row, seen by one dispatcher, that open the circuit. Default: 5.
        failures: u32 = 5,
    }
}

/// The time that a circuit stays open after its first opening. The pause doubles each time the
/// trial after it fails.
const FIRST_PAUSE: Duration = Duration::from_secs(30);

/// The longest time that a circuit stays open.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// The duration of a delivery, sealing included, from which on its answer counts as a failure of
/// the endpoint: two thirds of the default time-out. Only the answer's status decides whether the
/// message is delivered.
const SLOW_ANSWER: Duration = Duration::from_secs(10);

/// Returns the pause of a circuit that has opened `openings` times before.
fn pause(openings: u32) -> Duration {
    FIRST_PAUSE
        .saturating_mul(2_u32.saturating_pow(openings))
        .min(LONGEST_PAUSE)
}

/// The condition of a receiver, as a delivery shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    /// The receiver answers, even if it refuses the message.
    Good,
    /// The receiver does not answer, answers late, or something else answers in its place; or
    /// sealing exceeded its time.
    Bad,
    /// The delivery shows nothing about the receiver.
    Unknown,
}

impl Health {
    /// Counts an answer that took too long as a failure.
    pub(super) fn after(self, took: Duration) -> Self {
        if self == Self::Good && took >= SLOW_ANSWER {
            Self::Bad
        } else {
            self
        }
    }
}

/// The failures in a row of one endpoint that one dispatcher has seen.
// Locked for one step of the count, never over an await.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<u32>);

impl Breaker {
    /// Returns the opening or the rest that the outbox joins with the circuit that it keeps, after
    /// a delivery that ended at `at`; usually there is neither. `circuit` is the one of when its
    /// entry was leased: if that had opened, the delivery was the trial. `rest` is the pause that
    /// the endpoint asked for.
    pub(super) fn after(
        &self,
        circuit: Option<Circuit>,
        health: Health,
        rest: Option<Duration>,
        at: Timestamp,
        policy: &BreakerPolicy,
    ) -> Option<Circuit> {
        let mut failures = self.lock();
        let openings = circuit.map_or(0, |circuit| circuit.openings);
        let rest = rest.filter(|rest| !rest.is_zero());
        let rests_until = rest.map(|rest| at.saturating_add(rest));
        let mut news = Circuit {
            rests_until,
            ..Circuit::default()
        };
        match health {
            Health::Good => *failures = 0,
            Health::Bad => {
                *failures = failures.saturating_add(1);
                if openings > 0 || *failures >= policy.failures {
                    *failures = 0;
                    news.openings = openings.saturating_add(1);
                    news.open_until = Some(at.saturating_add(pause(openings)));
                }
            }
            Health::Unknown => {}
        }
        news.held_until().map(|_| news)
    }

    pub(super) fn failures(&self) -> u32 {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, u32> {
        // A number is whole, also after a panic elsewhere.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_millis(seconds * 1000).unwrap()
    }

    /// Returns the change after a delivery that ended at this second and asked for no rest.
    fn after(
        breaker: &Breaker,
        circuit: Option<Circuit>,
        health: Health,
        seconds: i64,
        policy: &BreakerPolicy,
    ) -> Option<Circuit> {
        breaker.after(circuit, health, None, at(seconds), policy)
    }

    fn open(openings: u32, until: i64) -> Circuit {
        Circuit {
            openings,
            open_until: Some(at(until)),
            rests_until: None,
        }
    }

    #[test]
    fn opens_after_failures_in_a_row() {
        let policy = BreakerPolicy::default();
        let breaker = Breaker::default();
        for health in [
            Health::Bad,
            Health::Bad,
            Health::Bad,
            Health::Bad,
            Health::Good,
        ] {
            assert_eq!(after(&breaker, None, health, 0, &policy), None);
        }
        for health in [
            Health::Bad,
            Health::Bad,
            Health::Unknown,
            Health::Bad,
            Health::Bad,
        ] {
            assert_eq!(after(&breaker, None, health, 0, &policy), None);
        }
        let opened = after(&breaker, None, Health::Bad, 0, &policy);
        assert_eq!(opened, Some(open(1, 30)));
        for health in [Health::Good, Health::Unknown] {
            assert_eq!(
                after(&breaker, opened, health, 31, &policy),
                None,
                "after {health:?} it is not held again"
            );
        }
    }

    #[test]
    fn each_failed_trial_doubles_the_pause_up_to_the_longest() {
        let policy = BreakerPolicy::default();
        // The trials may be of different dispatchers, which have seen no other failure.
        let mut circuit = None;
        let mut now = 0;
        for (openings, pause) in (1..).zip([30, 60, 120, 240, 480, 600, 600]) {
            let breaker = Breaker(Mutex::new(if openings == 1 { 4 } else { 0 }));
            circuit = after(&breaker, circuit, Health::Bad, now, &policy);
            assert_eq!(circuit, Some(open(openings, now + pause)));
            now += pause;
        }
        let opened = Some(open(u32::MAX, 0));
        let highest = after(&Breaker::default(), opened, Health::Bad, 0, &policy);
        assert_eq!(highest, Some(open(u32::MAX, 600)));
    }

    #[test]
    fn deliveries_that_began_before_the_circuit_opened_do_not_lengthen_it() {
        let policy = BreakerPolicy::new().failures(1);
        let breaker = Breaker::default();
        let first = after(&breaker, None, Health::Bad, 0, &policy).unwrap();
        let late = after(&breaker, None, Health::Bad, 20, &policy).unwrap();
        assert_eq!(first.joined(late), first);
    }

    #[test]
    fn a_late_answer_is_a_failure() {
        let health = |health: Health, millis| health.after(Duration::from_millis(millis));
        assert_eq!(health(Health::Good, 9_999), Health::Good);
        assert_eq!(health(Health::Good, 10_000), Health::Bad);
        assert_eq!(health(Health::Bad, 0), Health::Bad);
        assert_eq!(health(Health::Unknown, 10_000), Health::Unknown);
    }

    #[test]
    fn a_rest_lasts_until_the_latest_retry_after() {
        let policy = BreakerPolicy::default();
        let breaker = Breaker::default();
        let rest = |seconds| {
            let asked = Some(Duration::from_secs(seconds));
            let news = breaker.after(None, Health::Bad, asked, at(0), &policy);
            news.unwrap()
        };
        let (long, short) = (rest(60), rest(20));
        assert_eq!(
            long,
            Circuit {
                rests_until: Some(at(60)),
                ..Circuit::default()
            }
        );
        assert_eq!(long.joined(short), long);
        let at_once = Some(Duration::ZERO);
        let news = Breaker::default().after(None, Health::Unknown, at_once, at(0), &policy);
        assert_eq!(news, None);
        let rests = long.closed(at(59)).unwrap();
        assert!(
            rests.is_held(at(59)) && !rests.is_held(at(60)),
            "an answer does not end it"
        );
    }
}
