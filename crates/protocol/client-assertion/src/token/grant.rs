//! The issuer's record of a token.

use super::{ScopeSet, TokenHash};
use crate::{CustomerCode, ReplayKey, VerifierOptions};
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
    /// The time at which the token was issued.
    pub issued_at: Timestamp,
    /// The time at which the token expires. It is not valid at this instant.
    pub expires_at: Timestamp,
}

impl TokenGrant {
    /// Returns the record of a token.
    #[must_use]
    pub fn new(
        customer: CustomerCode,
        scopes: ScopeSet,
        issued_at: Timestamp,
        expires_at: Timestamp,
    ) -> Self {
        Self {
            customer,
            scopes,
            issued_at,
            expires_at,
        }
    }

    /// Returns true if the token is valid at `now`: before `expires_at`, and not earlier than
    /// [`VerifierOptions::MAX_LEEWAY`] before `issued_at`. A token issued by a clock that was
    /// further ahead would live longer by that difference. Every engine of [`TokenStore`] decides
    /// like this function.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.expires_at && self.issued_at.saturating_since(now) <= VerifierOptions::MAX_LEEWAY
    }
}

/// An issuer's store of grants, by the hash of the token, until they expire. It also records the
/// use of the assertions that grants were issued for.
///
/// An engine drops a grant once [`EXPIRY_GRACE`](bankrail_values::EXPIRY_GRACE) has passed since
/// its `expires_at`, so that a caller whose clock lags behind another's finds what is valid at its
/// `now`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not store issued access tokens",
    label = "not a `TokenStore`",
    note = "pass an `Arc` of a `SqliteStore`, `MemoryStore` or `RedisStore` of `bankrail_stores`",
    note = "`bankrail-stores` implements it with the feature `client-assertion`, which `bankrail` switches on by itself"
)]
pub trait TokenStore: fmt::Debug + Send + Sync {
    /// Claims the key of an assertion, at the grant's `issued_at`, and stores the grant if that is
    /// the key's first claim ([`ReplayStore::claim`](crate::ReplayStore::claim)): both or neither,
    /// in one transaction where the engine has one. `false`: the assertion was used before. Without
    /// a key there is nothing to claim. An earlier grant under this hash is replaced.
    fn grant_once(
        &self,
        claim: Option<ReplayKey>,
        hash: TokenHash,
        grant: TokenGrant,
    ) -> StoreFuture<'_, bool>;

    /// Stores a grant without an assertion.
    fn insert(&self, hash: TokenHash, grant: TokenGrant) -> StoreFuture<'_, ()> {
        Box::pin(async move { self.grant_once(None, hash, grant).await.map(drop) })
    }

    /// Returns the grant stored under a hash, if it is valid at `now`
    /// ([`TokenGrant::is_valid_at`]).
    fn find(&self, hash: TokenHash, now: Timestamp) -> StoreFuture<'_, Option<TokenGrant>>;

    /// Removes a grant. Returns true if there was one.
    fn revoke(&self, hash: TokenHash) -> StoreFuture<'_, bool>;
}
