//! An API key that was given to a customer.

use bankrail_service::ApiKeyHash;
use bankrail_values::Timestamp;

/// An API key of a customer, as its hash, with its validity.
///
/// A key is replaced without an interruption while two are valid: add the new one, and let the old
/// one expire when the customer has changed over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiKeyRecord {
    /// The hash.
    pub hash: ApiKeyHash,
    /// The first instant at which the key is valid; `None` if it always was.
    pub not_before: Option<Timestamp>,
    /// The first instant at which the key is no longer valid; `None` if it lasts.
    pub expires: Option<Timestamp>,
}

impl ApiKeyRecord {
    /// Creates a record of a key that is valid at any time.
    #[must_use]
    pub const fn new(hash: ApiKeyHash) -> Self {
        Self {
            hash,
            not_before: None,
            expires: None,
        }
    }

    /// Returns true if the key is valid at `now`.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.not_before.is_none_or(|from| from <= now)
            && self.expires.is_none_or(|until| now < until)
    }
}
