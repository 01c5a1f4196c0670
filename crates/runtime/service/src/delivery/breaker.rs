//! The circuit breaker: deliveries to an endpoint that keeps failing are paused until it answers
//! again.
//!
//! The outbox keeps the circuits and leases by them, so that all dispatchers over it pause
//! deliveries to a failing endpoint, also after a restart. This module decides the change that a
//! delivery makes.

use bankrail_mailbox::Circuit;
use bankrail_values::Timestamp;
use std::time::Duration;

bankrail_values::options! {
    /// The number of failures that open an endpoint's circuit.
    ///
    /// The circuit opens for 30 s, and for twice as long each time the trial after it fails, up to
    /// 10 min. An answer that takes 10 s or longer counts as a failure of the endpoint, also if it
    /// accepts the message.
    ///
    /// Each dispatcher counts the failures that it sees itself. The first one to see enough of them
    /// opens the circuit for all dispatchers over the outbox. After the pause one message is
    /// delivered as a trial, whichever dispatcher leases it; if it fails, the circuit opens for
    /// longer. The first delivery that the endpoint answers closes the circuit: the trial, or one
    /// that was under way when the circuit opened, of whichever dispatcher. So does
    /// [`Dispatcher::resume`](super::Dispatcher::resume). A receiver that was down and is up again
    /// gets its trial at once ([`Transport::is_up`](super::Transport::is_up)). A failure of a
    /// delivery that began before the circuit opened does not prolong it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct BreakerPolicy {
        /// The failures in a row, seen by one dispatcher, that open the circuit. Default: 5.
        failures: u32 = 5,
    }
}

/// The time that a circuit stays open after it opened first. The pause doubles each time the trial
/// after it fails.
const FIRST_PAUSE: Duration = Duration::from_secs(30);

/// The longest time that a circuit stays open.
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// The duration of a delivery, sealing included, from which on an answer counts as a failure of the
/// endpoint: two thirds of the default time-out. The message is delivered or not by the answer's
/// status alone.
const SLOW_ANSWER: Duration = Duration::from_secs(10);

/// Returns the pause of a circuit that has opened `openings` times before.
fn pause(openings: u32) -> Duration {
    FIRST_PAUSE
        .saturating_mul(2_u32.saturating_pow(openings))
        .min(LONGEST_PAUSE)
}

/// The condition of a receiver that a delivery shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    /// The receiver answers, even if it refuses the message.
    Good,
    /// The receiver does not answer, answers late, or its answer is not a receiver's; or sealing
    /// exceeded its time.
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

/// A delivery that has ended, for the circuit of its endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// The circuit when its entry was leased. If it had opened, the delivery was the trial.
    pub(super) circuit: Option<Circuit>,
    pub(super) health: Health,
    /// The pause that the endpoint asked for.
    pub(super) rest: Option<Duration>,
    pub(super) at: Timestamp,
}

/// The failures in a row of one endpoint that one dispatcher has seen.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
}

impl Breaker {
    /// Returns the opening or the rest that the outbox joins with the circuit that it keeps;
    /// usually there is neither.
    pub(super) fn after(&mut self, delivery: Ended, policy: &BreakerPolicy) -> Option<Circuit> {
        let openings = delivery.circuit.map_or(0, |circuit| circuit.openings);
        let rest = delivery.rest.filter(|rest| !rest.is_zero());
        let rests_until = rest.map(|rest| delivery.at.saturating_add(rest));
        let mut news = Circuit {
            rests_until,
            ..Circuit::default()
        };
        match delivery.health {
            Health::Good => self.failures = 0,
            Health::Bad => {
                self.failures = self.failures.saturating_add(1);
                if openings > 0 || self.failures >= policy.failures {
                    self.failures = 0;
                    news.openings = openings.saturating_add(1);
                    news.open_until = Some(delivery.at.saturating_add(pause(openings)));
                }
            }
            Health::Unknown => {}
        }
        news.held_until().map(|_| news)
    }

    pub(super) fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_millis(seconds * 1000).unwrap()
    }

    fn ended(circuit: Option<Circuit>, health: Health, seconds: i64) -> Ended {
        Ended {
            circuit,
            health,
            rest: None,
            at: at(seconds),
        }
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
        let mut breaker = Breaker::default();
        for health in [
            Health::Bad,
            Health::Bad,
            Health::Bad,
            Health::Bad,
            Health::Good,
        ] {
            assert_eq!(breaker.after(ended(None, health, 0), &policy), None);
        }
        for health in [
            Health::Bad,
            Health::Bad,
            Health::Unknown,
            Health::Bad,
            Health::Bad,
        ] {
            assert_eq!(breaker.after(ended(None, health, 0), &policy), None);
        }
        let opened = breaker.after(ended(None, Health::Bad, 0), &policy);
        assert_eq!(opened, Some(open(1, 30)));
        for health in [Health::Good, Health::Unknown] {
            assert_eq!(
                breaker.after(ended(opened, health, 31), &policy),
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
            let mut breaker = Breaker {
                failures: if openings == 1 { 4 } else { 0 },
            };
            circuit = breaker.after(ended(circuit, Health::Bad, now), &policy);
            assert_eq!(circuit, Some(open(openings, now + pause)));
            now += pause;
        }
        let highest =
            Breaker::default().after(ended(Some(open(u32::MAX, 0)), Health::Bad, 0), &policy);
        assert_eq!(highest, Some(open(u32::MAX, 600)));
    }

    #[test]
    fn deliveries_that_began_before_the_circuit_opened_do_not_lengthen_it() {
        let policy = BreakerPolicy::new().failures(1);
        let mut breaker = Breaker::default();
        let first = breaker.after(ended(None, Health::Bad, 0), &policy).unwrap();
        let late = breaker
            .after(ended(None, Health::Bad, 20), &policy)
            .unwrap();
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
        let mut breaker = Breaker::default();
        let mut rest = |seconds| {
            let asked = Ended {
                rest: Some(Duration::from_secs(seconds)),
                ..ended(None, Health::Bad, 0)
            };
            breaker.after(asked, &policy).unwrap()
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
        let at_once = Ended {
            rest: Some(Duration::ZERO),
            ..ended(None, Health::Unknown, 0)
        };
        assert_eq!(Breaker::default().after(at_once, &policy), None);
        let rests = long.closed(at(59)).unwrap();
        assert!(
            rests.is_held(at(59)) && !rests.is_held(at(60)),
            "an answer does not end it"
        );
    }
}
