//! The policies of all customers.

use crate::call_type::default_limits;
use crate::{CallType, Charge, CostError, Policy};
use bankrail_values::Timestamp;
use hashbrown::HashMap;

/// The reaction to a request while the counters do not answer. Choose it for each call type: one
/// that moves money should refuse, one that only reads may allow the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnStoreFailure {
    /// The check fails with the store's error.
    #[default]
    Refuse,
    /// The request is allowed and not counted.
    Allow,
}

/// The policies of all customers: one for each call type, and those of single customers, permanent
/// or until a given time. (Specification: "Limits", rule 1: "Limits may be changed on request per
/// customer; temporary limits can be requested for ad hoc use".)
///
/// - A customer's temporary policy has precedence over its own policy, and that over the call
///   type's.
/// - The counter of a window survives a change to a policy with a window of the same length. A
///   customer who has used 20 of 25 an hour has used 20 of 50 after the limit is raised.
/// - A policy without a window of that length loses the counter. Give a temporary policy every
///   window of the policy that follows it, with a high limit where it should not matter.
///
/// ```
/// use bankrail_rate_limit::{CallType, Limits, Policy, Window, default_limits};
/// let mut limits = Limits::default();
/// let double = Policy::new(
///     default_limits(CallType::Statement).algorithm(),
///     default_limits(CallType::Statement).counting(),
///     &[Window::per_hour(50)?],
/// )?;
/// let noon = "2021-07-29T12:00:00.000Z".parse()?;
/// limits.set_temporary("ACME", CallType::Statement, double, noon);
/// let before = "2021-07-29T11:59:59.999Z".parse()?;
/// assert_eq!(*limits.policy("ACME", CallType::Statement, before), double);
/// assert_eq!(*limits.policy("ACME", CallType::Statement, noon), default_limits(CallType::Statement));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    defaults: [Policy; CallType::COUNT],
    on_store_failure: [OnStoreFailure; CallType::COUNT],
    #[expect(clippy::disallowed_types, reason = "looked up only")]
    overrides: HashMap<Box<str>, Vec<Override>, foldhash::fast::RandomState>,
}

#[derive(Clone, Debug)]
struct Override {
    call_type: CallType,
    policy: Policy,
    /// The time at which a temporary policy ends.
    until: Option<Timestamp>,
}

impl Limits {
    /// Creates the limits of the specification's table for every call type ([`default_limits`]),
    /// with [`OnStoreFailure::Refuse`].
    #[must_use]
    pub fn new() -> Self {
        let mut defaults = [default_limits(CallType::Own1); CallType::COUNT];
        for (policy, call_type) in defaults.iter_mut().zip(CallType::ALL) {
            *policy = default_limits(call_type);
        }
        Self {
            defaults,
            on_store_failure: [OnStoreFailure::Refuse; CallType::COUNT],
            overrides: HashMap::default(),
        }
    }

    /// Makes a request of `customer` under the policy in force at `now`, to be charged to counters.
    /// A cost of 0 charges nothing.
    ///
    /// # Errors
    /// [`CostError`] when `cost` is above the limit of a window, so that it never fits.
    #[inline]
    pub fn charge<'a>(
        &'a self,
        customer: &'a str,
        call_type: CallType,
        now: Timestamp,
        cost: u32,
    ) -> Result<Charge<'a>, CostError> {
        Charge::new(
            customer,
            call_type,
            self.policy(customer, call_type, now),
            now,
            cost,
        )
    }

    /// Returns the policy in force for this customer's calls at `now`.
    #[must_use]
    #[inline]
    pub fn policy(&self, customer: &str, call_type: CallType, now: Timestamp) -> &Policy {
        if self.overrides.is_empty() {
            return self.default_policy(call_type);
        }
        self.agreed(customer, call_type, now)
            .unwrap_or_else(|| self.default_policy(call_type))
    }

    /// Returns the policy of customers without their own policy.
    #[must_use]
    #[inline]
    pub fn default_policy(&self, call_type: CallType) -> &Policy {
        self.defaults
            .get(call_type.index())
            .expect("the array has a place for every call type")
    }

    /// Sets the policy of customers without their own policy.
    pub fn set_default(&mut self, call_type: CallType, policy: Policy) {
        *self
            .defaults
            .get_mut(call_type.index())
            .expect("the array has a place for every call type") = policy;
    }

    /// Returns the reaction to requests of this type while the counters do not answer.
    #[must_use]
    pub fn on_store_failure(&self, call_type: CallType) -> OnStoreFailure {
        self.on_store_failure
            .get(call_type.index())
            .copied()
            .unwrap_or_default()
    }

    /// Sets the reaction to requests of this type while the counters do not answer.
    pub fn set_on_store_failure(&mut self, call_type: CallType, reaction: OnStoreFailure) {
        *self
            .on_store_failure
            .get_mut(call_type.index())
            .expect("the array has a place for every call type") = reaction;
    }

    /// Sets a policy for one customer, without an end.
    pub fn set_override(&mut self, customer: &str, call_type: CallType, policy: Policy) {
        self.agree(
            customer,
            Override {
                call_type,
                policy,
                until: None,
            },
        );
    }

    /// Sets a temporary policy of a customer: `until` is the first instant at which the policy no
    /// longer applies. An earlier temporary policy is replaced.
    pub fn set_temporary(
        &mut self,
        customer: &str,
        call_type: CallType,
        policy: Policy,
        until: Timestamp,
    ) {
        self.agree(
            customer,
            Override {
                call_type,
                policy,
                until: Some(until),
            },
        );
    }

    /// Removes a customer's own and temporary policies for this call type.
    pub fn clear(&mut self, customer: &str, call_type: CallType) {
        if let Some(agreed) = self.overrides.get_mut(customer) {
            agreed.retain(|entry| entry.call_type != call_type);
            if agreed.is_empty() {
                self.overrides.remove(customer);
            }
        }
    }

    /// Forgets temporary policies that have ended.
    pub fn forget_expired(&mut self, now: Timestamp) {
        self.overrides.retain(|_, agreed| {
            agreed.retain(|entry| entry.holds_at(now));
            !agreed.is_empty()
        });
    }

    fn agreed(&self, customer: &str, call_type: CallType, now: Timestamp) -> Option<&Policy> {
        let agreed = self.overrides.get(customer)?.iter();
        let in_force = agreed.filter(|entry| entry.call_type == call_type && entry.holds_at(now));
        // A temporary policy has precedence.
        in_force
            .max_by_key(|entry| entry.until)
            .map(|entry| &entry.policy)
    }

    fn agree(&mut self, customer: &str, new: Override) {
        let agreed = self.overrides.entry(customer.into()).or_default();
        agreed.retain(|entry| {
            entry.call_type != new.call_type || entry.until.is_some() != new.until.is_some()
        });
        agreed.push(new);
    }
}

impl Override {
    fn holds_at(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
