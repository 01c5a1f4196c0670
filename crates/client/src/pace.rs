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
    /// It waits, however long. Statements allow 25 calls an hour, so that can be most of an hour: put a time-out around
    /// the call where that is too long; a call given up while it waits has not been charged.
    #[default]
    Wait,
    /// It waits if that takes no longer than this, and fails at once if it takes longer.
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
        let charge = Charge::new(&self.customer, self.call_type, self.policy, now, 1)
            .expect("a limit is at least 1, so a cost of 1 fits every policy");
        let decision = self.counters.charge(charge).await.map_err(|error| Held::Store(cause(error)))?;
        Ok(decision.retry_at())
    }
}
