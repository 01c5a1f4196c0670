//! The issuer's record of a token.

use super::{ScopeSet, TokenHash};
use crate::{CustomerCode, ReplayKey, ReplayStore};
use bankrail_values::{StoreFuture, Timestamp};
use std::fmt;

/// The issuer's record of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenGrant {
    /// The customer to whom the token was issued.
    pub customer: CustomerCode,
    /// The scopes granted.
    pub scopes: ScopeSet,
    /// When the token was issued.
    pub issued_at: Timestamp,
    /// When the token expires. It is not valid at this instant.
    pub expires_at: Timestamp,
}

impl TokenGrant {
    /// A grant.
    #[must_use]
    pub fn new(customer: CustomerCode, scopes: ScopeSet, issued_at: Timestamp, expires_at: Timestamp) -> Self {
        Self { customer, scopes, issued_at, expires_at }
    }

    /// Whether the token is valid at `now`.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

/// An issuer's store of grants, by the hash of the token, until they expire.
///
/// An engine drops a grant once [`EXPIRY_GRACE`](bankrail_values::EXPIRY_GRACE) has passed since its `expires_at`, so
/// that a caller whose clock lags behind another's finds what is valid at its `now`.
pub trait TokenStore: fmt::Debug + Send + Sync {
    /// Stores a grant. An earlier grant under this hash is replaced.
    fn insert(&self, hash: TokenHash, grant: TokenGrant) -> StoreFuture<'_, ()>;

    /// Claims the key of an assertion, at the grant's `issued_at`, and stores the grant if that is the key's first claim
    /// ([`ReplayStore::claim`]): both or neither, in one step. `false`: the assertion was used before.
    ///
    /// `None`: `replay` is another store than this, or the engine has no such step. The caller claims, then inserts.
    fn insert_once<'a>(
        &'a self,
        hash: TokenHash,
        grant: &'a TokenGrant,
        claim: ReplayKey,
        replay: &'a dyn ReplayStore,
    ) -> Option<StoreFuture<'a, bool>> {
        let _ = (hash, grant, claim, replay);
        None
    }

    /// The grant under this hash, if it is valid at `now` ([`TokenGrant::is_valid_at`]).
    fn find(&self, hash: TokenHash, now: Timestamp) -> StoreFuture<'_, Option<TokenGrant>>;

    /// Removes a grant. Returns whether there was one.
    fn revoke(&self, hash: TokenHash) -> StoreFuture<'_, bool>;
}
