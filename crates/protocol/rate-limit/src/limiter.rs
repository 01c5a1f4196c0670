//! Limits over counters.

use crate::{
    CallType, Charge, CostError, CounterStore, Decision, Limits, MemoryCounters, OnStoreFailure,
    Policy,
};
use bankrail_values::{StoreError, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// [`Limits`] over counters, in this process or shared by several machines. The limits may change
/// while requests are being judged.
///
/// Without a runtime, or in code that may not await, [`Limits::charge`] and
/// [`MemoryCounters::charge`] do the same in two steps.
///
/// ```
/// use bankrail_rate_limit::{CallType, Limiter, Limits, MemoryCounters, OnStoreFailure};
/// use std::sync::Arc;
/// let mut limits = Limits::default();
/// limits.set_on_store_failure(CallType::Statement, OnStoreFailure::Allow);
/// let limiter = Limiter::new(limits, Arc::new(MemoryCounters::default()));
/// # async fn ask(limiter: Limiter) -> Result<(), Box<dyn std::error::Error>> {
/// let now = "2021-07-29T01:02:03.450Z".parse()?;
/// assert!(limiter.check("ACME", CallType::Statement, now, 1).await?.is_allowed());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Limiter {
    limits: RwLock<Limits>,
    counters: Arc<dyn CounterStore>,
    /// The number of decisions that dropped counts from a clock that was ahead.
    ahead: AtomicU64,
}

impl Limiter {
    /// Makes a limiter of these limits over these counters.
    #[must_use]
    pub fn new(limits: Limits, counters: Arc<dyn CounterStore>) -> Self {
        Self {
            limits: RwLock::new(limits),
            counters,
            ahead: AtomicU64::new(0),
        }
    }

    /// Decides on one request and charges it, under the policy in force for this customer and call
    /// type at `now`, like [`decide`](crate::decide). A cost of 0 charges nothing. With the feature
    /// `metrics` the decision is counted.
    ///
    /// # Errors
    /// [`CheckError::Cost`] when `cost` is above the limit of a window, and nothing is charged.
    /// [`CheckError::Store`] when the counters do not answer and the call type's [`OnStoreFailure`]
    /// is [`OnStoreFailure::Refuse`].
    pub async fn check(
        &self,
        customer: &str,
        call_type: CallType,
        now: Timestamp,
        cost: u32,
    ) -> Result<CheckOutcome, CheckError> {
        let policy = self.policy(customer, call_type, now);
        let charge = Charge::new(customer, call_type, &policy, now, cost)?;
        let answer = match self.counters.charge(charge).await {
            Ok(decision) => {
                if decision.clock_was_ahead() {
                    self.warn_of_clock(call_type, now);
                }
                Ok(CheckOutcome::Decided(decision))
            }
            Err(error) => match self.read().on_store_failure(call_type) {
                OnStoreFailure::Refuse => Err(error.into()),
                OnStoreFailure::Allow => Ok(CheckOutcome::Unchecked { error }),
            },
        };
        #[cfg(feature = "metrics")]
        count(call_type, &answer);
        answer
    }

    /// Returns the policy in force for this customer's calls at `now`.
    #[must_use]
    pub fn policy(&self, customer: &str, call_type: CallType, now: Timestamp) -> Policy {
        *self.read().policy(customer, call_type, now)
    }

    /// Changes the limits. Each decision is under one policy. [`Limits`] documents which counters
    /// survive a change.
    pub fn change_limits(&self, change: impl FnOnce(&mut Limits)) {
        change(&mut self.limits.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Logs counts that a wrong clock made, at the first, the second, the fourth and so on, because
    /// each customer may have some.
    #[cold]
    fn warn_of_clock(&self, call_type: CallType, now: Timestamp) {
        // Relaxed, because nothing else depends on the number.
        let times = self.ahead.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if times.is_power_of_two() {
            tracing::warn!(%call_type, %now, times, "counts of a clock that was ahead were dropped");
        }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Limits> {
        self.limits.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Limiter {
    /// Returns the specification's table, counted in this process.
    fn default() -> Self {
        Self::new(Limits::default(), Arc::new(MemoryCounters::default()))
    }
}

/// Counts a decision. `docs/metrics.md` has the name and the labels, which are stable.
#[cfg(feature = "metrics")]
fn count(call_type: CallType, answer: &Result<CheckOutcome, CheckError>) {
    let decision = match answer {
        Ok(CheckOutcome::Decided(decision)) if decision.is_allowed() => "allowed",
        Ok(CheckOutcome::Decided(_)) => "refused",
        Ok(CheckOutcome::Unchecked { .. }) => "unchecked",
        Err(_) => "unreachable",
    };
    let call_type = call_type.as_str();
    metrics::counter!("bankrail_limit_decisions_total", "call_type" => call_type, "decision" => decision).increment(1);
}

/// The result of [`Limiter::check`].
#[derive(Debug)]
#[non_exhaustive]
#[must_use = "a refused request must not be served"]
pub enum CheckOutcome {
    /// The counters decided.
    Decided(Decision),
    /// The counters did not answer, and the request is allowed ([`OnStoreFailure::Allow`]).
    Unchecked {
        /// The reason why the counters did not decide.
        error: StoreError,
    },
}

impl CheckOutcome {
    /// Returns true if the request may be served.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        match self {
            Self::Decided(decision) => decision.is_allowed(),
            Self::Unchecked { .. } => true,
        }
    }

    /// Returns the decision, if there was one.
    #[must_use]
    pub const fn decision(&self) -> Option<&Decision> {
        match self {
            Self::Decided(decision) => Some(decision),
            Self::Unchecked { .. } => None,
        }
    }
}

/// The reason why a [`Limiter`] did not decide.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The cost is above the limit of a window and never fits. Nothing was charged.
    #[error("the request can never be allowed")]
    Cost(#[from] CostError),
    /// The counters did not answer. The kind of the error shows if they may have charged.
    #[error("the counters could not be reached")]
    Store(#[from] StoreError),
}
