//! Used assertions and access tokens, both hashed.

use super::expiring::Expiring;
use super::{MemoryStore, lock, operations};
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_values::{StoreError, StoreFuture, Timestamp};

#[derive(Debug, Default)]
pub(super) struct Tokens {
    claims: Expiring<[u8; 32], ()>,
    grants: Expiring<TokenHash, TokenGrant>,
}

impl ReplayStore for MemoryStore {
    operations! {
        self.parts.tokens;
        claim(key: ReplayKey, now: Timestamp) -> bool = t, capacity => t.claim(key, now, capacity);
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
        key: ReplayKey,
        now: Timestamp,
        capacity: usize,
    ) -> Result<bool, StoreError> {
        self.claims.sweep(now);
        if self
            .claims
            .get(&key.key)
            .is_some_and(|&(until, ())| !ReplayKey::new(key.key, until).is_free_at(now))
        {
            return Ok(false);
        }
        self.claims
            .insert(key.key, key.expires_at, (), capacity)
            .map(|()| true)
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
        if let Some(key) = claim
            && !self.claim(key, grant.issued_at, capacity)?
        {
            return Ok(false);
        }
        self.grants
            .insert(hash, grant.expires_at, grant, capacity)
            .map(|()| true)
    }
}
