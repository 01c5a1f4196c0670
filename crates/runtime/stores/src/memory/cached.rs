//! A customer's sealed tokens.

use super::expiring::Expiring;
use super::{MemoryStore, lock, operations};
use crate::cached::check_sealed;
use bankrail_client_assertion::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_values::{StoreFuture, Timestamp};

pub(super) type CachedTokens = Expiring<TokenCacheKey, CachedToken>;

impl TokenCache for MemoryStore {
    operations! {
        self.parts.cached;
        get(key: &'a TokenCacheKey, now: Timestamp) -> Option<CachedToken> = tokens => {
            Ok(tokens.get(key).map(|(_, token)| token).filter(|token| token.is_valid_at(now)).cloned())
        };
        put(key: &'a TokenCacheKey, token: &'a CachedToken, now: Timestamp) -> () = tokens, capacity => {
            check_sealed(token)?;
            tokens.sweep(now);
            tokens.insert(*key, token.expires_at, token.clone(), capacity)
        };
        remove(key: &'a TokenCacheKey, token: &'a CachedToken) -> () = tokens => {
            if tokens.get(key).is_some_and(|(_, own)| own.sealed == token.sealed) {
                tokens.remove(key);
            }
            Ok(())
        };
    }
}
