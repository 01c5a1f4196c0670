//! Records of customers.

use super::EndpointRecord;
use super::{ApiKeyRecord, LimitOverride};
use bankrail_rate_limit::{CallType, Limits, PolicyError};
use bankrail_service::{Customer, RegisteredAccount};
use bankrail_statement::AccountId;

/// The record of one customer: all that the bank arranges with the customer (Specification: "What
/// the service does", pre-requisites; "Limits", rule 1; "Webhook receivers").
/// [`CustomerSet::new`](super::CustomerSet::new) validates it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CustomerRecord {
    /// Code, public keys and scopes.
    pub customer: Customer,
    /// The API keys, at most 16. A customer without any cannot call the provider.
    pub api_keys: Vec<ApiKeyRecord>,
    /// Limits that differ from the defaults: at most one lasting and one temporary for each call
    /// type.
    pub limits: Vec<LimitOverride>,
    /// The accounts that are registered for statements, at most 10,000.
    ///
    /// An account may be registered for several customers, with the same details.
    pub accounts: Vec<(AccountId, RegisteredAccount)>,
    /// The customer's webhook receivers, at most 64. Their ids differ from those of all other
    /// customers.
    ///
    /// Never give an id to another customer, not even after the first one is gone: messages to it
    /// that are still in the outbox would be encrypted for and delivered to the new one. Drop those
    /// messages first.
    pub endpoints: Vec<EndpointRecord>,
}

impl CustomerRecord {
    /// The maximum number of API keys of a customer.
    pub const MAX_API_KEYS: usize = 16;
    /// The maximum number of accounts of a customer.
    pub const MAX_ACCOUNTS: usize = 10_000;
    /// The maximum number of webhook endpoints of a customer.
    pub const MAX_ENDPOINTS: usize = 64;

    /// Creates the record of a customer without API keys, limits, accounts and endpoints.
    #[must_use]
    pub fn new(customer: Customer) -> Self {
        Self {
            customer,
            api_keys: Vec::new(),
            limits: Vec::new(),
            accounts: Vec::new(),
            endpoints: Vec::new(),
        }
    }

    /// Sets the customer's limits in `limits`, over the defaults of all customers. Earlier limits
    /// of this customer for the same call types are replaced.
    ///
    /// # Errors
    /// [`PolicyError`] if the limits of all customers have windows of other lengths than the
    /// specification's, and there are more than three together. That call type then keeps its
    /// limits; the others are set.
    pub fn set_limits(&self, limits: &mut Limits) -> Result<(), PolicyError> {
        set_limits(self.customer.code.as_str(), &self.limits, limits)
    }
}

pub(super) fn set_limits(
    code: &str,
    agreed: &[LimitOverride],
    limits: &mut Limits,
) -> Result<(), PolicyError> {
    let mut outcome = Ok(());
    for call_type in CallType::ALL {
        let of_type = || agreed.iter().filter(|limit| limit.call_type() == call_type);
        let everybody = *limits.default_policy(call_type);
        let lasting = of_type()
            .find(|limit| limit.ends().is_none())
            .map(|limit| limit.policy(&everybody))
            .transpose();
        let base = lasting
            .as_ref()
            .ok()
            .copied()
            .flatten()
            .unwrap_or(everybody);
        let temporary = of_type().find_map(|limit| Some((limit.ends()?, limit)));
        let temporary = temporary
            .map(|(until, limit)| limit.policy(&base).map(|policy| (policy, until)))
            .transpose();
        match (lasting, temporary) {
            (Ok(None), Ok(None)) => {}
            (Ok(lasting), Ok(temporary)) => {
                limits.clear(code, call_type);
                if let Some(policy) = lasting {
                    limits.set_override(code, call_type, policy);
                }
                if let Some((policy, until)) = temporary {
                    limits.set_temporary(code, call_type, policy, until);
                }
            }
            (Err(error), _) | (_, Err(error)) => outcome = Err(error),
        }
    }
    outcome
}

/// Records are equal if all their parts are equal and in the same order.
impl PartialEq for CustomerRecord {
    fn eq(&self, other: &Self) -> bool {
        let (own, its) = (&self.customer, &other.customer);
        (&own.code, &own.scopes, own.keys.keys()) == (&its.code, &its.scopes, its.keys.keys())
            && self.endpoints == other.endpoints
            && self.api_keys == other.api_keys
            && self.limits == other.limits
            && self.accounts == other.accounts
    }
}

impl Eq for CustomerRecord {}
