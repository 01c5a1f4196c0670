//! The customers of the fake bank.

use bankrail_service::{ApiKeyHash, Customer, Directory};
use bankrail_values::StoreFuture;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Customers in memory: the [`Directory`] of a [`FakeBank`](crate::FakeBank).
#[derive(Debug, Default)]
pub struct FakeDirectory(RwLock<HashMap<ApiKeyHash, Arc<Customer>>>);

impl FakeDirectory {
    /// Returns a directory without customers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives an API key to a customer, who may have several.
    pub fn insert(&self, api_key: ApiKeyHash, customer: Customer) {
        // Ignores a poisoned lock, because no operation leaves half a customer behind.
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(api_key, Arc::new(customer));
    }

    /// Revokes an API key. Returns false if no customer had it.
    pub fn remove(&self, api_key: ApiKeyHash) -> bool {
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&api_key)
            .is_some()
    }
}

impl Directory for FakeDirectory {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        Box::pin(async move {
            Ok(self
                .0
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .get(&key)
                .cloned())
        })
    }
}
