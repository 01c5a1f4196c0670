//! The circuit breaker: deliveries to an endpoint that keeps failing are paused until it answers again.

use super::snapshot::CircuitState;
use bankrail_values::Timestamp;
use std::time::Duration;

/// When an endpoint's circuit opens, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerPolicy {
    failures: u32,
    first_pause: Duration,
    longest_pause: Duration,
    slow_answer: Duration,
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        Self {
            failures: 5,
            first_pause: Duration::from_secs(30),
            longest_pause: Duration::from_secs(600),
            slow_answer: Duration::from_secs(10),
        }
    }
}

impl BreakerPolicy {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many failures in a row open the circuit. Default: 5.
    #[must_use]
    pub fn failures(mut self, failures: u32) -> Self {
        self.failures = failures;
        self
    }

    /// How long the circuit stays open the first time. The pause doubles each time the trial after it fails. Default:
    /// 30 seconds.
    #[must_use]
    pub fn first_pause(mut self, pause: Duration) -> Self {
        self.first_pause = pause;
        self
    }

    /// The longest time that the circuit stays open. Default: 10 minutes.
    #[must_use]
    pub fn longest_pause(mut self, pause: Duration) -> Self {
        self.longest_pause = pause;
        self
    }

    /// The duration of a delivery, sealing included, from which on its answer counts as a failure of the endpoint. The
    /// message itself is delivered or not, as the answer says. Default: 10 seconds, two thirds of the time-out.
    #[must_use]
    pub fn slow_answer(mut self, duration: Duration) -> Self {
        self.slow_answer = duration;
        self
    }

    /// The health that a delivery shows, its duration included.
    pub(super) fn judge(&self, health: Health, took: Duration) -> Health {
        if health == Health::Good && took >= self.slow_answer { Health::Bad } else { health }
    }
}

/// What a delivery shows about its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    /// The receiver answers, even if it refuses the message.
    Good,
    /// The receiver does not answer, not like a receiver, or late; or a message for it was not sealed in time.
    Bad,
    /// Nothing.
    Unknown,
}

/// The circuit of one endpoint.
///
/// - Closed, it allows every delivery.
/// - Open, it allows none.
/// - After the pause, it allows one delivery as a trial, whose outcome closes it or opens it for longer.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    failures: u32,
    pauses: u32,
    open_until: Option<Timestamp>,
    trial_running: bool,
    /// The time of the endpoint's `Retry-After`.
    rests_until: Option<Timestamp>,
}

/// Whether a delivery may start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    Free,
    /// Not before this time: the circuit is open, the endpoint rests, or a trial is running.
    NotBefore(Timestamp),
}

impl Breaker {
    pub(crate) fn ask(&mut self, now: Timestamp) -> Passage {
        if let Some(until) = self.rests_until.filter(|until| now < *until) {
            return Passage::NotBefore(until);
        }
        match self.open_until {
            None => Passage::Free,
            Some(until) if now < until => Passage::NotBefore(until),
            // The outcome of the trial may come at any time. Until then, `is_open` keeps the entry from being leased.
            Some(_) if self.trial_running => Passage::NotBefore(now),
            Some(_) => {
                self.trial_running = true;
                Passage::Free
            }
        }
    }

    /// The endpoint answered, even if it refused the message. Its `Retry-After` still applies.
    pub(crate) fn succeeded(&mut self) {
        *self = Self { rests_until: self.rests_until, ..Self::default() };
    }

    /// The endpoint asked for a pause with a `Retry-After`.
    pub(crate) fn rest(&mut self, until: Timestamp) {
        self.rests_until = self.rests_until.max(Some(until));
    }

    pub(crate) fn failed(&mut self, now: Timestamp, policy: &BreakerPolicy) {
        self.failures = self.failures.saturating_add(1);
        // Deliveries that started before the circuit opened do not lengthen the pause.
        let reopens = self.trial_running || self.open_until.is_none();
        if reopens && (self.trial_running || self.failures >= policy.failures) {
            let factor = 2_u32.saturating_pow(self.pauses);
            let pause = policy.first_pause.saturating_mul(factor).min(policy.longest_pause);
            self.open_until = Some(now.saturating_add(pause));
            self.pauses = self.pauses.saturating_add(1);
        }
        self.trial_running = false;
    }

    /// A delivery ended without showing whether the endpoint works.
    pub(crate) fn abandoned(&mut self) {
        self.trial_running = false;
    }

    /// What an operator sees.
    pub(super) fn state(&self, now: Timestamp) -> CircuitState {
        match (self.rests_until, self.open_until) {
            (_, Some(until)) if now < until => CircuitState::Open { until },
            (Some(until), _) if now < until => CircuitState::Resting { until },
            (_, Some(_)) => CircuitState::Trial,
            (_, None) => CircuitState::Closed { failures: self.failures },
        }
    }

    /// Whether no delivery may start: the circuit is open, the endpoint rests, or a trial is running.
    pub(crate) fn is_open(&self, now: Timestamp) -> bool {
        self.rests_until.is_some_and(|until| now < until)
            || self.open_until.is_some_and(|until| now < until || self.trial_running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_millis(seconds * 1000).unwrap()
    }

    #[test]
    fn opens_after_failures_in_a_row_and_closes_after_a_good_trial() {
        let policy = BreakerPolicy::default();
        let mut breaker = Breaker::default();
        for _ in 0..4 {
            breaker.failed(at(0), &policy);
        }
        breaker.succeeded();
        for _ in 0..4 {
            breaker.failed(at(0), &policy);
            assert_eq!(breaker.ask(at(0)), Passage::Free);
        }
        assert_eq!(breaker.state(at(0)), CircuitState::Closed { failures: 4 });
        breaker.failed(at(0), &policy);
        assert_eq!(breaker.state(at(29)), CircuitState::Open { until: at(30) });
        assert_eq!(breaker.state(at(30)), CircuitState::Trial);
        assert_eq!(breaker.ask(at(29)), Passage::NotBefore(at(30)));
        assert!(breaker.is_open(at(29)) && !breaker.is_open(at(30)));
        assert_eq!(breaker.ask(at(30)), Passage::Free);
        assert_eq!(breaker.ask(at(30)), Passage::NotBefore(at(30)), "one trial at a time");
        assert!(breaker.is_open(at(30)), "its trial is running");
        breaker.succeeded();
        assert_eq!(breaker.ask(at(31)), Passage::Free);
        assert_eq!(breaker.ask(at(31)), Passage::Free);
    }

    #[test]
    fn each_failed_trial_doubles_the_pause_up_to_the_longest() {
        let policy = BreakerPolicy::default();
        let mut breaker = Breaker::default();
        let mut now = 0;
        for _ in 0..5 {
            breaker.failed(at(now), &policy);
        }
        for pause in [30, 60, 120, 240, 480, 600, 600] {
            assert_eq!(breaker.ask(at(now)), Passage::NotBefore(at(now + pause)));
            // A failure of a delivery that started before the circuit opened changes nothing.
            breaker.failed(at(now), &policy);
            assert_eq!(breaker.ask(at(now)), Passage::NotBefore(at(now + pause)));
            now += pause;
            assert_eq!(breaker.ask(at(now)), Passage::Free);
            breaker.failed(at(now), &policy);
        }
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
        let mut breaker = Breaker::default();
        breaker.rest(at(60));
        breaker.rest(at(20));
        breaker.succeeded();
        assert_eq!(breaker.state(at(59)), CircuitState::Resting { until: at(60) });
        assert_eq!(breaker.ask(at(59)), Passage::NotBefore(at(60)));
        assert!(breaker.is_open(at(59)) && !breaker.is_open(at(60)));
        assert_eq!(breaker.ask(at(60)), Passage::Free);
    }

    #[test]
    fn an_abandoned_trial_allows_the_next_one() {
        let policy = BreakerPolicy::new().failures(1);
        let mut breaker = Breaker::default();
        breaker.failed(at(0), &policy);
        assert_eq!(breaker.ask(at(30)), Passage::Free);
        breaker.abandoned();
        assert_eq!(breaker.ask(at(30)), Passage::Free);
    }
}
