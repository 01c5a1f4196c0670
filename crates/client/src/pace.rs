//! Calls kept within the service's limits before they are sent.

use crate::transport::{Cause, RetryAfter, cause};
use bankrail_rate_limit::{CallType, Charge, CounterStore, Policy};
use bankrail_values::{Clock, Timestamp};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What happens to a call that the service's limits do not allow yet.
///
/// Calls that were answered with `Retry-After` are held back by it in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pacing {
    /// It waits, however long, and keeps a tenth of a second away from the turns of the limits' windows, so that a
    /// service whose clock is that much off does not count it in another window. Statements allow 25 calls an hour, so that can be most of an hour: put a time-out around
    /// the call where that is too long; a call given up while it waits has not been charged.
    #[default]
    Wait,
    /// It waits in the same way if that takes no longer than this, and fails at once if it takes longer.
    WaitUpTo(Duration),
    /// It fails at once, with the time from which it would be allowed.
    Fail,
}

/// Paces the calls of one type.
#[derive(Debug)]
pub(crate) struct Pace {
    pub(crate) pacing: Pacing,
    pub(crate) counters: Arc<dyn CounterStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) customer: String,
    pub(crate) call_type: CallType,
    pub(crate) policy: Policy,
    not_before: Mutex<Option<Timestamp>>,
}

/// A call that was not sent.
#[derive(Clone, Debug)]
pub(crate) enum Held {
    Until(Timestamp),
    Store(Cause),
}

impl Pace {
    pub(crate) fn new(
        pacing: Pacing,
        counters: Arc<dyn CounterStore>,
        clock: Arc<dyn Clock>,
        customer: String,
        call_type: CallType,
        policy: Policy,
    ) -> Self {
        Self { pacing, counters, clock, customer, call_type, policy, not_before: Mutex::new(None) }
    }

    /// Returns when the call may be sent. It is charged then, and not before.
    pub(crate) async fn admit(&self) -> Result<(), Held> {
        /// A clock may be set while a call waits, so it is looked at now and then.
        const LONGEST_NAP: Duration = Duration::from_secs(30);
        let begun = self.clock.now();
        loop {
            // Once in each round and not until the clock agrees: a clock that stands still must not stop a call here.
            if let Some(nap) = self.until_clear_of_boundaries(self.clock.now()) {
                tokio::time::sleep(nap).await;
            }
            let now = self.clock.now();
            let Some(opens) = self.ask(now).await? else { return Ok(()) };
            let patient = match self.pacing {
                Pacing::Wait => true,
                Pacing::WaitUpTo(longest) => opens <= begun.saturating_add(longest),
                Pacing::Fail => false,
            };
            if !patient {
                return Err(Held::Until(opens));
            }
            let wait = opens.saturating_since(now);
            tracing::debug!(call_type = %self.call_type, ?wait, "held back by the rate limit");
            tokio::time::sleep(wait.clamp(Duration::from_millis(1), LONGEST_NAP)).await;
        }
    }

    /// Remembers a refusal of the service; says when it ends.
    pub(crate) fn refused(&self, retry_after: Option<RetryAfter>) -> Option<Timestamp> {
        let until = retry_after?.instant(self.clock.now());
        let mut not_before = self.not_before.lock().unwrap_or_else(PoisonError::into_inner);
        *not_before = Some(not_before.map_or(until, |earlier| earlier.max(until)));
        Some(until)
    }

    /// Charges the call if it is allowed; when it will be if not.
    async fn ask(&self, now: Timestamp) -> Result<Option<Timestamp>, Held> {
        if let Some(until) = *self.not_before.lock().unwrap_or_else(PoisonError::into_inner)
            && now < until
        {
            return Ok(Some(until));
        }
        let guard = self.guard();
        let charge = Charge::new(&self.customer, self.call_type, self.policy, now.saturating_sub(guard), 1)
            .expect("a limit is at least 1, so a cost of 1 fits every policy");
        let decision = self.counters.charge(charge).await.map_err(|error| Held::Store(cause(error)))?;
        Ok(decision.retry_at().map(|at| at.saturating_add(guard)))
    }

    /// How far the service's clock may be from ours, the way there included: a call that is counted in another window
    /// there than here could be one too many. Calls are kept away from the turns of windows by this much, and judged as
    /// of that much earlier. None for a caller who wants no waiting.
    fn guard(&self) -> Duration {
        const GUARD: Duration = Duration::from_millis(100);
        let shortest = self.policy.windows().iter().map(|window| window.length()).min().unwrap_or_default();
        if self.pacing == Pacing::Fail { Duration::ZERO } else { GUARD.min(shortest / 4) }
    }

    fn until_clear_of_boundaries(&self, now: Timestamp) -> Option<Duration> {
        let guard = self.guard().as_millis();
        let naps = self.policy.windows().iter().map(|window| {
            let length = window.length().as_millis();
            let elapsed = now.saturating_since(Timestamp::UNIX_EPOCH).as_millis() % length;
            match elapsed {
                _ if elapsed < guard => guard - elapsed,
                _ if elapsed >= length - guard => length - elapsed + guard,
                _ => 0,
            }
        });
        let nap = naps.max().filter(|nap| *nap > 0)?;
        Some(Duration::from_millis(u64::try_from(nap).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_rate_limit::{Algorithm, Counting, Limiter, State, decide, default_limits};
    use bankrail_values::ManualClock;
    use tokio::time::Instant;

    /// Shows tokio's time, which tests may stop.
    #[derive(Debug)]
    struct TokioClock(Instant);

    impl Clock for TokioClock {
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH.saturating_add(self.0.elapsed())
        }
    }

    fn statements(pacing: Pacing) -> Pace {
        let policy = default_limits(CallType::Statement).with_counting(Counting::Admitted);
        let clock = Arc::new(TokioClock(Instant::now()));
        Pace::new(pacing, Arc::new(Limiter::default()), clock, "C".to_owned(), CallType::Statement, policy)
    }

    #[tokio::test(start_paused = true)]
    async fn calls_wait_until_they_are_allowed_and_no_hour_sees_more_than_its_limit() {
        let pace = statements(Pacing::Wait);
        let mut sent = Vec::new();
        for _ in 0..80 {
            pace.admit().await.unwrap();
            sent.push(pace.clock.now().unix_millis() / 3_600_000);
        }
        for hour in 0..4 {
            assert!(sent.iter().filter(|at| **at == hour).count() <= 25, "hour {hour}: {sent:?}");
        }
        assert!(sent.last() <= Some(&4), "no slower than the limit: {sent:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_given_up_while_it_waits_is_not_charged() {
        let pace = statements(Pacing::Wait);
        for _ in 0..25 {
            pace.admit().await.unwrap();
        }
        for _ in 0..10 {
            assert!(tokio::time::timeout(Duration::from_secs(1), pace.admit()).await.is_err());
        }
        let before = pace.clock.now();
        pace.admit().await.unwrap();
        // 25 calls in the hour before weigh 24 from the 144th second of the next hour on; then the guard.
        let waited = Timestamp::UNIX_EPOCH.saturating_add(Duration::from_millis((3600 + 144) * 1000 + 100));
        assert!(before < waited && pace.clock.now() == waited, "{}", pace.clock.now());
    }

    #[tokio::test(start_paused = true)]
    async fn a_bound_on_waiting_is_kept_in_both_directions() {
        let pace = statements(Pacing::WaitUpTo(Duration::from_secs(90)));
        pace.refused(Some(RetryAfter::In(Duration::from_secs(91))));
        assert!(matches!(pace.admit().await, Err(Held::Until(at)) if at.unix_seconds() == 91));
        tokio::time::advance(Duration::from_secs(1)).await;
        pace.admit().await.unwrap();
        assert_eq!(pace.clock.now().unix_seconds(), 91);
    }

    /// Specification: "Limits", rule 1, as the service may count: by its own clock, by either algorithm.
    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_a_little_off_does_not_make_a_call_one_too_many() {
        let pace = statements(Pacing::Wait);
        let mut sent = Vec::new();
        for _ in 0..60 {
            pace.admit().await.unwrap();
            sent.push(pace.clock.now());
        }
        for algorithm in [Algorithm::Fixed, Algorithm::Sliding] {
            for skew in [-100_i64, -1, 0, 99] {
                let policy = default_limits(CallType::Statement).with_algorithm(algorithm);
                let mut state = State::new();
                for at in &sent {
                    let there = Timestamp::saturating_from_unix_millis(at.unix_millis() + skew);
                    assert!(decide(&mut state, &policy, there, 1).unwrap().is_allowed(), "{algorithm:?} {skew} {at}");
                }
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_stands_still_stops_no_call() {
        let mut pace = statements(Pacing::Wait);
        pace.clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
        pace.admit().await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn the_later_of_two_refusals_holds() {
        let pace = statements(Pacing::Fail);
        pace.refused(Some(RetryAfter::In(Duration::from_secs(60))));
        pace.refused(Some(RetryAfter::In(Duration::from_secs(5))));
        pace.refused(None);
        assert!(matches!(pace.admit().await, Err(Held::Until(at)) if at.unix_seconds() == 60));
    }
}
