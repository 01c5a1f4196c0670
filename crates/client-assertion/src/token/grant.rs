//! What an issuer remembers of a token.

use super::{ScopeSet, TokenHash};
use crate::CustomerCode;
use bankrail_values::{StoreFuture, Timestamp};
use std::fmt;

/// What a token was granted for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenGrant {
    /// Who may use it.
    pub customer: CustomerCode,
    /// What for.
    pub scopes: ScopeSet,
    /// From when.
    pub issued_at: Timestamp,
    /// It is no longer valid at this instant.
    pub expires_at: Timestamp,
}

impl TokenGrant {
    /// A grant.
    #[must_use]
    pub fn new(customer: CustomerCode, scopes: ScopeSet, issued_at: Timestamp, expires_at: Timestamp) -> Self {
        Self { customer, scopes, issued_at, expires_at }
    }

    /// True while the grant holds.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

/// Where an issuer keeps its tokens: hashed, until they expire.
///
/// An engine may drop a grant once `now` has reached its `expires_at`.
pub trait TokenStore: fmt::Debug + Send + Sync {
    /// Keeps a grant. A grant already there under this hash is replaced.
    fn insert(&self, hash: TokenHash, grant: TokenGrant) -> StoreFuture<'_, ()>;

    /// The grant under this hash if it still holds at `now` ([`TokenGrant::is_valid_at`]).
    fn find(&self, hash: TokenHash, now: Timestamp) -> StoreFuture<'_, Option<TokenGrant>>;

    /// Forgets a grant. True if there was one.
    fn revoke(&self, hash: TokenHash) -> StoreFuture<'_, bool>;
}
