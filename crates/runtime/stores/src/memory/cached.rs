//! A customer's sealed tokens.

use super::expiring::Expiring;
use super::{MemoryStore, run};
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
        run(&self.parts.cached, move |tokens| {
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
        run(&self.parts.cached, move |tokens| {
            check_sealed(token)?;
            tokens.sweep(now, 0);
            tokens.insert(*key, token.expires_at, token.clone(), self.parts.capacity)
        })
    }

    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()> {
        run(&self.parts.cached, move |tokens| {
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
