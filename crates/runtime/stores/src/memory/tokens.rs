//! Used assertions and access tokens, both hashed.

use super::expiring::Expiring;
use super::{MemoryStore, run};
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{KEPT_CLAIMS, ReplayKey, ReplayStore};
use bankrail_values::{StoreError, StoreFuture, Timestamp};

#[derive(Clone, Debug, Default)]
pub(super) struct Tokens {
    claims: Expiring<[u8; 32], ()>,
    grants: Expiring<TokenHash, TokenGrant>,
}

impl ReplayStore for MemoryStore {
    fn claim(&self, key: ReplayKey, now: Timestamp) -> StoreFuture<'_, bool> {
        run(&self.parts.tokens, move |tokens| {
            tokens.claim(key, now, self.parts.capacity)
        })
    }
}

impl TokenStore for MemoryStore {
    fn grant_once(
        &self,
        claim: Option<ReplayKey>,
        hash: TokenHash,
        grant: TokenGrant,
    ) -> StoreFuture<'_, bool> {
        run(&self.parts.tokens, move |tokens| {
            let capacity = self.parts.capacity;
            tokens.grants.sweep(grant.issued_at, 0);
            // Before the claim: an assertion is not used up without its grant.
            tokens.grants.check_room(&hash, capacity)?;
            if let Some(key) = claim
                && !tokens.claim(key, grant.issued_at, capacity)?
            {
                return Ok(false);
            }
            tokens
                .grants
                .insert(hash, grant.expires_at, grant, capacity)
                .map(|()| true)
        })
    }

    fn find(&self, hash: TokenHash, now: Timestamp) -> StoreFuture<'_, Option<TokenGrant>> {
        run(&self.parts.tokens, move |tokens| {
            let grant = tokens.grants.get(&hash).map(|(_, grant)| grant);
            Ok(grant.filter(|grant| grant.is_valid_at(now)).cloned())
        })
    }

    fn revoke(&self, hash: TokenHash) -> StoreFuture<'_, bool> {
        run(&self.parts.tokens, move |tokens| {
            Ok(tokens.grants.remove(&hash).is_some())
        })
    }
}

impl Tokens {
    fn claim(
        &mut self,
        key: ReplayKey,
        now: Timestamp,
        capacity: usize,
    ) -> Result<bool, StoreError> {
        // Half of the room at most, so that a small store does not fill up.
        self.claims.sweep(now, KEPT_CLAIMS.min(capacity / 2));
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
}
