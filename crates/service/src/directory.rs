//! The bank's directory of customers.

use crate::ApiKeyHash;
use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::ScopeSet;
use bankrail_jose::{KeySet, VerifyingKey};
use bankrail_values::StoreFuture;
use std::fmt;
use std::sync::Arc;

/// The bank's directory of customers.
pub trait Directory: fmt::Debug + Send + Sync {
    /// The customer to whom this API key was given; `None` for a key that belongs to no customer.
    ///
    /// A customer may have several keys, so that one can be exchanged without an interruption.
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>>;
}

/// What is known of a customer (Specification: "What the service does", pre-requisites: API key, customer code and
/// public key are arranged beforehand).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Customer {
    /// The code: the `sub` of the customer's assertions.
    pub code: CustomerCode,
    /// The public keys that the customer supplied. More than one while they are exchanged.
    pub keys: KeySet<VerifyingKey>,
    /// What the customer may ask for. A token is limited to these and to what was asked.
    pub scopes: ScopeSet,
}

impl Customer {
    /// A customer.
    #[must_use]
    pub fn new(code: CustomerCode, keys: KeySet<VerifyingKey>, scopes: ScopeSet) -> Self {
        Self { code, keys, scopes }
    }
}
