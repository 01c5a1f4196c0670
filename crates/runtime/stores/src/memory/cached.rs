//! A customer's sealed tokens.

use super::expiring::Expiring;
use super::{MemoryStore, lock};
use crate::cached::check_sealed;
use bankrail_client_assertion::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_values::{StoreFuture, Timestamp};

pub(super) type CachedTokens = Expiring<TokenCacheKey, CachedToken>;

impl TokenCache for MemoryStore {
    fn get<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<CachedToken>> {
        Box::pin(async move {
            let tokens = lock(&self.parts.cached);
            let token = tokens.get(key).map(|(_, token)| token);
            Ok(token.filter(|token| token.is_valid_at(now)).cloned())
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        token: &'a CachedToken,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            check_sealed(token)?;
            let mut tokens = lock(&self.parts.cached);
            tokens.sweep(now, 0);
            tokens.insert(*key, token.expires_at, token.clone(), self.parts.capacity)
        })
    }

    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let mut tokens = lock(&self.parts.cached);
            if tokens
                .get(key)
                .is_some_and(|(_, own)| own.sealed == token.sealed)
            {
                tokens.remove(key);
            }
            Ok(())
        })
    }
}
