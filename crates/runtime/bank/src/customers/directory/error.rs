//! Errors of changes.

use crate::customers::CustomersError;
use bankrail_values::StoreError;

/// Why a customer was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CustomerChangeError {
    /// The record breaks a rule, by itself or together with another customer's.
    #[error("the record is refused")]
    Refused(#[source] CustomersError),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}
