//! The circuit breaker: deliveries to an endpoint that keeps failing are paused until it answers
//! again.
//!
//! The outbox keeps the circuits and leases by them, so that all dispatchers over it pause
//! deliveries to a failing endpoint, also after a restart. What a delivery changes is decided here.

use bankrail_mailbox::Circuit;
use bankrail_values::Timestamp;
use std::time::Duration;

bankrail_values::options! {
    /// When an endpoint's circuit opens, and for how long.
    ///
    /// Each dispatcher counts the failures that it sees itself. The first one to see enough of them
    /// opens the circuit for all dispatchers over the outbox. After the pause one message is
    /// delivered as a trial, whichever dispatcher leases it; if it fails, the circuit opens for
    /// longer. The first delivery that the endpoint answers closes the circuit: the trial, or one
    /// that was under way when the circuit opened, of whichever dispatcher. So does
    /// [`Dispatcher::resume`](super::Dispatcher::resume). A failure of a delivery that began before
    /// the circuit opened does not prolong it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct BreakerPolicy {
        /// How many failures in a row, seen by one dispatcher, open the circuit. Default: 5.
        failures: u32 = 5,
        /// How long the circuit stays open the first time. The pause doubles each time the trial
        /// after it fails. Default: 30 seconds.
        first_pause: Duration = Duration::from_secs(30),
        /// The longest time that the circuit stays open. Default: 10 minutes.
        longest_pause: Duration = Duration::from_secs(600),
        /// The duration of a delivery, sealing included, from which on its answer counts as a
        /// failure of the endpoint. The message itself is delivered or not, as the answer says.
        /// Default: 10 seconds, two thirds of the time-out.
        slow_answer: Duration = Duration::from_secs(10),
    }
}

impl BreakerPolicy {
    /// The pause of a circuit that has opened `openings` times before.
    fn pause(&self, openings: u32) -> Duration {
        self.first_pause
            .saturating_mul(2_u32.saturating_pow(openings))
            .min(self.longest_pause)
    }

    /// The health that a delivery shows, its duration included.
    pub(super) fn judge(&self, health: Health, took: Duration) -> Health {
        if health == Health::Good && took >= self.slow_answer {
            Health::Bad
        } else {
            health
        }
    }
}

/// What a delivery shows about its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    /// The receiver answers, even if it refuses the message.
    Good,
    /// The receiver does not answer, answers late, or its answer is not a receiver's; or sealing
    /// exceeded its time.
    Bad,
    /// The delivery says nothing about whether the receiver works.
    Unknown,
}

/// A delivery that has ended, for the circuit of its endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// The circuit when its entry was leased. If it had opened, the delivery was the trial.
    pub(super) circuit: Option<Circuit>,
    pub(super) health: Health,
    /// How long the endpoint asked to be left alone.
    pub(super) rest: Option<Duration>,
    pub(super) at: Timestamp,
}

/// The failures in a row of one endpoint that one dispatcher has seen.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    failures: u32,
}

impl Breaker {
    /// What the outbox is to join with the circuit that it keeps: an opening or a rest. Usually
    /// there is neither.
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
                    news.open_until = Some(delivery.at.saturating_add(policy.pause(openings)));
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
        let policy = BreakerPolicy::new().slow_answer(Duration::from_secs(2));
        let health = |health, millis| policy.judge(health, Duration::from_millis(millis));
        assert_eq!(health(Health::Good, 1_999), Health::Good);
        assert_eq!(health(Health::Good, 2_000), Health::Bad);
        assert_eq!(health(Health::Bad, 0), Health::Bad);
        assert_eq!(health(Health::Unknown, 2_000), Health::Unknown);
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
