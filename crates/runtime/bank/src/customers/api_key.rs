//! An API key that was given to a customer.

use bankrail_service::ApiKeyHash;
use bankrail_values::Timestamp;

/// An API key of a customer, as its hash, and when it is valid.
///
/// A key is replaced without an interruption while two are valid: add the new one, and let the old
/// one expire when the customer has changed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyRecord {
    pub(super) hash: ApiKeyHash,
    pub(super) not_before: Option<Timestamp>,
    pub(super) expires: Option<Timestamp>,
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

    /// Sets the first instant at which the key is valid. Default: always.
    #[must_use]
    pub const fn not_before(mut self, instant: Timestamp) -> Self {
        self.not_before = Some(instant);
        self
    }

    /// Sets the first instant at which the key is no longer valid. Default: never.
    #[must_use]
    pub const fn expires(mut self, instant: Timestamp) -> Self {
        self.expires = Some(instant);
        self
    }

    /// Returns the hash.
    #[must_use]
    pub const fn hash(&self) -> ApiKeyHash {
        self.hash
    }

    /// Returns the first instant at which the key is valid.
    #[must_use]
    pub const fn valid_from(&self) -> Option<Timestamp> {
        self.not_before
    }

    /// Returns the first instant at which the key is no longer valid.
    #[must_use]
    pub const fn valid_until(&self) -> Option<Timestamp> {
        self.expires
    }

    /// Returns true if the key is valid at `now`.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        self.not_before.is_none_or(|from| from <= now)
            && self.expires.is_none_or(|until| now < until)
    }
}
