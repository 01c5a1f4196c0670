//! The trait of the engines that store counters.

use crate::{CallType, CostError, Decision, Policy};
use bankrail_values::{StoreFuture, Timestamp};
use std::fmt;

/// One request to be decided on: its customer, call type, policy, time and cost. The cost is at
/// most the limit of each of the policy's windows. [`Limits::charge`](crate::Limits::charge) makes
/// one under the policy in force.
#[derive(Clone, Copy, Debug)]
pub struct Charge<'a> {
    customer: &'a str,
    call_type: CallType,
    policy: &'a Policy,
    now: Timestamp,
    cost: u32,
}

impl<'a> Charge<'a> {
    /// Makes a request of `customer`.
    ///
    /// # Errors
    /// [`CostError`] when `cost` is above the limit of a window of `policy`, so that it never fits.
    #[inline]
    pub fn new(
        customer: &'a str,
        call_type: CallType,
        policy: &'a Policy,
        now: Timestamp,
        cost: u32,
    ) -> Result<Self, CostError> {
        policy.check_cost(cost)?;
        Ok(Self {
            customer,
            call_type,
            policy,
            now,
            cost,
        })
    }

    /// Returns the customer.
    #[must_use]
    pub const fn customer(&self) -> &'a str {
        self.customer
    }

    /// Returns the call type. A customer's call types are counted separately.
    #[must_use]
    pub const fn call_type(&self) -> CallType {
        self.call_type
    }

    /// Returns the policy.
    #[must_use]
    pub const fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// Returns the caller's time. An engine that several machines share may use its own time
    /// instead.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the cost; 0 charges nothing.
    #[must_use]
    pub const fn cost(&self) -> u32 {
        self.cost
    }
}

/// An engine that stores counters: in this process ([`MemoryCounters`](crate::MemoryCounters)), in
/// a file that outlives it, or on a server that several machines share.
///
/// Every engine answers as [`decide`](crate::decide) does on a [`State`](crate::State) for each
/// customer and call type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not keep counters",
    label = "not a `CounterStore`",
    note = "pass an `Arc` of a `MemoryCounters`, `SqliteStore` or `RedisCounters`, or of `PostgresStore::counters()`",
    note = "`bankrail-stores` implements it with the feature `rate-limit`, which `bankrail` switches on by itself"
)]
pub trait CounterStore: fmt::Debug + Send + Sync {
    /// Decides and charges in one atomic step.
    ///
    /// A failure with [`StoreErrorKind::Timeout`](bankrail_values::StoreErrorKind::Timeout) may
    /// have charged, so it must not be repeated blindly.
    fn charge<'a>(&'a self, charge: Charge<'a>) -> StoreFuture<'a, Decision>;
}

impl<S: CounterStore + ?Sized> CounterStore for std::sync::Arc<S> {
    fn charge<'a>(&'a self, charge: Charge<'a>) -> StoreFuture<'a, Decision> {
        (**self).charge(charge)
    }
}
