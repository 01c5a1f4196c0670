//! The customer's store of access tokens.

use super::ScopeSet;
use crate::CustomerCode;
use bankrail_values::{StoreFuture, Timestamp};
use sha2::{Digest, Sha256};
use std::fmt;

/// A customer's store of access tokens, so that tokens outlive the process and several processes
/// share them, because a customer has only ten token calls in an hour (Specification: "Limits").
///
/// The client seals a token before it stores it. An engine stores the bytes and their expiry, and
/// decides nothing.
///
/// An engine drops a token once [`EXPIRY_GRACE`](bankrail_values::EXPIRY_GRACE) has passed since
/// its `expires_at`, so that a caller whose clock lags behind another's finds what is valid at its
/// `now`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not keep a customer's access tokens",
    label = "not a `TokenCache`",
    note = "pass an `Arc` of a `SqliteStore`, `PostgresStore`, `RedisStore` or `MemoryStore` of `bankrail_stores`",
    note = "`bankrail-stores` implements it with the feature `client-assertion`, which `bankrail` switches on by itself"
)]
pub trait TokenCache: fmt::Debug + Send + Sync {
    /// Returns the token stored under a key, if the token has not expired at `now`
    /// ([`CachedToken::is_valid_at`]).
    fn get<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<CachedToken>>;

    /// Stores a token of at most [`CachedToken::MAX_SEALED_BYTES`] under a key, and replaces an
    /// earlier one.
    ///
    /// The engine uses `now` to drop tokens that expired long ago.
    fn put<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        token: &'a CachedToken,
        now: Timestamp,
    ) -> StoreFuture<'a, ()>;

    /// Removes a token. If other sealed bytes have replaced the token meanwhile, they stay. The
    /// comparison and the removal are one atomic step, also among several processes.
    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()>;
}

bankrail_values::hash_value! {
    /// The key of a cached token: a SHA-256 hash of the parameters of the token's request.
    pub struct TokenCacheKey;
}

impl TokenCacheKey {
    /// Returns the key for the tokens that a customer requests at a token endpoint with a set of
    /// scopes.
    #[must_use]
    pub fn of(token_url: &str, customer: &CustomerCode, scopes: &ScopeSet) -> Self {
        let mut hash = Sha256::new();
        // No part contains a zero byte, so no two triples give the same text.
        for part in [
            "bankrail token cache 1",
            token_url,
            customer.as_str(),
            &scopes.to_string(),
        ] {
            hash.update(part);
            hash.update([0]);
        }
        Self(hash.finalize().into())
    }
}

/// A token as a [`TokenCache`] stores it: sealed, with its expiry in the clear. `Debug` shows none
/// of the bytes.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CachedToken {
    /// The sealed token, opaque to the engine.
    pub sealed: Vec<u8>,
    /// The time at which the token expires. It is not valid at this instant.
    pub expires_at: Timestamp,
}

impl CachedToken {
    /// The maximum number of bytes of a sealed token. A client keeps a longer one in memory only.
    pub const MAX_SEALED_BYTES: usize = 4096;

    /// Returns a token with these sealed bytes, which is valid until `expires_at`.
    #[must_use]
    pub fn new(sealed: Vec<u8>, expires_at: Timestamp) -> Self {
        Self { sealed, expires_at }
    }

    /// Returns true if the token is valid at `now`.
    #[must_use]
    pub fn is_valid_at(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

impl fmt::Debug for CachedToken {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CachedToken")
            .field("sealed", &format_args!("{} bytes", self.sealed.len()))
            .field("expires_at", &self.expires_at)
            .finish()
    }
}
