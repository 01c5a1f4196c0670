//! Limits over counters that an engine keeps, and what happens when it does not answer.

use crate::{CallType, Capacity, Charge, CheckError, CostError, CounterStore, Decision, Limiter, Limits, Policy};
use bankrail_values::{StoreError, Timestamp};
use std::num::NonZeroU32;
use std::sync::{Arc, PoisonError, RwLock};

/// What happens to a request while the store does not answer. Chosen per call type: what moves money refuses, what only
/// reads may go on with its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnStoreError {
    /// The check fails.
    Refuse,
    /// The request is allowed and counted by nobody.
    Allow,
    /// The request is judged here, against each limit divided by so many machines, rounded down. Where nothing is left of a
    /// limit, the check fails.
    LocalShare(NonZeroU32),
}

/// The policies of all customers over a store of counters: the async counterpart of [`Limiter`].
///
/// ```
/// use bankrail_rate_limit::{CallType, Limiter, Limits, OnStoreError, StoreLimiter};
/// use std::sync::Arc;
/// let limiter = StoreLimiter::new(Limits::default(), Arc::new(Limiter::default()))
///     .on_store_error(CallType::Statement, OnStoreError::Allow);
/// # async fn ask(limiter: StoreLimiter) -> Result<(), Box<dyn std::error::Error>> {
/// let now = "2021-07-29T01:02:03.450Z".parse()?;
/// assert!(limiter.check("ACME", CallType::Statement, now, 1).await?.is_allowed());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct StoreLimiter {
    limits: RwLock<Limits>,
    store: Arc<dyn CounterStore>,
    on_error: [OnStoreError; CallType::ALL.len()],
    local: Limiter,
}

impl StoreLimiter {
    /// These limits over this store; [`OnStoreError::Refuse`] for every call type.
    #[must_use]
    pub fn new(limits: Limits, store: Arc<dyn CounterStore>) -> Self {
        Self {
            limits: RwLock::new(limits),
            store,
            on_error: [OnStoreError::Refuse; CallType::ALL.len()],
            local: Limiter::new(Limits::default(), Capacity::default()),
        }
    }

    /// What happens to requests of this type while the store does not answer.
    #[must_use]
    pub fn on_store_error(mut self, call_type: CallType, policy: OnStoreError) -> Self {
        if let Some(place) = self.on_error.get_mut(call_type.index()) {
            *place = policy;
        }
        self
    }

    /// Decides on one request and charges it, under the policy that holds for this customer and call type at `now`.
    ///
    /// # Errors
    /// [`StoreCheckError::Cost`] when `cost` is above the limit of a window, and nothing is charged;
    /// [`StoreCheckError::Store`] when the store did not answer and the call type's [`OnStoreError`] does not help.
    pub async fn check(
        &self,
        customer: &str,
        call_type: CallType,
        now: Timestamp,
        cost: u32,
    ) -> Result<Answer, StoreCheckError> {
        let policy = self.policy(customer, call_type, now);
        let charge = Charge::new(customer, call_type, policy, now, cost)?;
        match self.store.charge(charge).await {
            Ok(decision) => Ok(Answer::Decided(decision)),
            Err(error) => self.without_store(&charge, error),
        }
    }

    /// The policy that holds for this customer's calls at `now`.
    #[must_use]
    pub fn policy(&self, customer: &str, call_type: CallType, now: Timestamp) -> Policy {
        self.limits.read().unwrap_or_else(PoisonError::into_inner).policy(customer, call_type, now)
    }

    /// Changes the limits while requests are being judged. Counters survive.
    pub fn change_limits(&self, change: impl FnOnce(&mut Limits)) {
        change(&mut self.limits.write().unwrap_or_else(PoisonError::into_inner));
    }

    fn without_store(&self, charge: &Charge<'_>, error: StoreError) -> Result<Answer, StoreCheckError> {
        match self.on_error.get(charge.call_type().index()).unwrap_or(&OnStoreError::Refuse) {
            OnStoreError::Refuse => Err(error.into()),
            OnStoreError::Allow => Ok(Answer::Unchecked { error }),
            OnStoreError::LocalShare(parts) => {
                let share = charge.policy().share(*parts).and_then(|policy| charge.with_policy(policy).ok());
                let decision = share.map(|charge| self.local.check_charge(&charge));
                match decision {
                    Some(Ok(decision)) => Ok(Answer::DecidedLocally { decision, error }),
                    Some(Err(CheckError::Full | CheckError::Cost(_))) | None => Err(error.into()),
                }
            }
        }
    }
}

/// What became of a request.
#[derive(Debug)]
#[non_exhaustive]
#[must_use = "a refused request must not be served"]
pub enum Answer {
    /// The store decided.
    Decided(Decision),
    /// The store did not answer; see [`OnStoreError::LocalShare`].
    DecidedLocally {
        /// The decision against this machine's share.
        decision: Decision,
        /// Why the store did not decide.
        error: StoreError,
    },
    /// The store did not answer; see [`OnStoreError::Allow`].
    Unchecked {
        /// Why the store did not decide.
        error: StoreError,
    },
}

impl Answer {
    /// Whether the request may be served.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        match self {
            Self::Decided(decision) | Self::DecidedLocally { decision, .. } => decision.is_allowed(),
            Self::Unchecked { .. } => true,
        }
    }

    /// The decision, if there was one.
    #[must_use]
    pub const fn decision(&self) -> Option<&Decision> {
        match self {
            Self::Decided(decision) | Self::DecidedLocally { decision, .. } => Some(decision),
            Self::Unchecked { .. } => None,
        }
    }

    /// Why the store did not decide.
    #[must_use]
    pub const fn store_error(&self) -> Option<&StoreError> {
        match self {
            Self::Decided(_) => None,
            Self::DecidedLocally { error, .. } | Self::Unchecked { error } => Some(error),
        }
    }
}

/// A [`StoreLimiter`] did not decide.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreCheckError {
    /// The cost never fits. Nothing was charged.
    #[error("the request can never be allowed")]
    Cost(#[from] CostError),
    /// The store did not answer. Whether it charged, its kind tells.
    #[error("the counters could not be reached")]
    Store(#[from] StoreError),
}
