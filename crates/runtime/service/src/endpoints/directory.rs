//! The bank's directory of customers.

use crate::ApiKeyHash;
use bankrail_client_assertion::CustomerCode;
use bankrail_client_assertion::token::ScopeSet;
use bankrail_jose::{KeySet, VerifyingKey};
use bankrail_values::StoreFuture;
use std::fmt;
use std::sync::Arc;

/// The bank's directory of customers. The suite of the feature `testing` checks the rules of this
/// trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no directory of customers",
    label = "not a `Directory`",
    note = "pass an `Arc` of a `CustomerFolder` or `SqliteDirectory` of `bankrail_bank`, or implement `Directory`",
    note = "`directory_suite` of the feature `testing` checks an implementation"
)]
pub trait Directory: fmt::Debug + Send + Sync {
    /// Returns the customer to whom this API key was given; `None` for a key that belongs to no
    /// customer.
    ///
    /// A customer may have several keys, so that one can be replaced without an interruption.
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>>;
}

/// A customer of the directory (Specification: "What the service does", pre-requisites: API key,
/// customer code and public key are arranged beforehand).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Customer {
    /// The code: the `sub` of the customer's assertions.
    pub code: CustomerCode,
    /// The public keys that the customer supplied. There may be several, so that one can be
    /// replaced.
    pub keys: KeySet<VerifyingKey>,
    /// The scopes that the customer may have. A token has the requested ones among them.
    pub scopes: ScopeSet,
}

impl Customer {
    /// Creates a customer.
    #[must_use]
    pub fn new(code: CustomerCode, keys: KeySet<VerifyingKey>, scopes: ScopeSet) -> Self {
        Self { code, keys, scopes }
    }
}
