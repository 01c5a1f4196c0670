//! Used assertions and access tokens, both hashed.

use super::expiring::Expiring;
use super::{MemoryStore, lock, operations};
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{ReplayKey, ReplayStore, is_free_again};
use bankrail_values::{StoreError, StoreFuture, Timestamp};

#[derive(Debug, Default)]
pub(super) struct Tokens {
    claims: Expiring<[u8; 32], ()>,
    grants: Expiring<TokenHash, TokenGrant>,
}

impl ReplayStore for MemoryStore {
    operations! {
        self.parts.tokens;
        claim(key: [u8; 32], now: Timestamp, expires: Timestamp) -> bool = t, capacity => {
            t.claim(key, now, expires, capacity)
        };
    }
}

impl TokenStore for MemoryStore {
    operations! {
        self.parts.tokens;
        grant_once(claim: Option<ReplayKey>, hash: TokenHash, grant: TokenGrant) -> bool = t, capacity => {
            t.grant_once(claim, hash, grant, capacity)
        };
        find(hash: TokenHash, now: Timestamp) -> Option<TokenGrant> = t => {
            Ok(t.grants.get(&hash).map(|(_, grant)| grant).filter(|grant| grant.is_valid_at(now)).cloned())
        };
        revoke(hash: TokenHash) -> bool = t => Ok(t.grants.remove(&hash).is_some());
    }
}

impl Tokens {
    fn claim(
        &mut self,
        key: [u8; 32],
        now: Timestamp,
        expires: Timestamp,
        capacity: usize,
    ) -> Result<bool, StoreError> {
        self.claims.sweep(now);
        if self.claims.get(&key).is_some_and(|&(until, ())| !is_free_again(until, now)) {
            return Ok(false);
        }
        self.claims.insert(key, expires, (), capacity).map(|()| true)
    }

    fn grant_once(
        &mut self,
        claim: Option<ReplayKey>,
        hash: TokenHash,
        grant: TokenGrant,
        capacity: usize,
    ) -> Result<bool, StoreError> {
        self.grants.sweep(grant.issued_at);
        // Before the claim: an assertion is not used up without its grant.
        self.grants.check_room(&hash, capacity)?;
        if let Some(ReplayKey { key, expires, .. }) = claim
            && !self.claim(key, grant.issued_at, expires, capacity)?
        {
            return Ok(false);
        }
        self.grants.insert(hash, grant.expires_at, grant, capacity).map(|()| true)
    }
}
