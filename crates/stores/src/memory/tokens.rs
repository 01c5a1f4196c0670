//! Access tokens, hashed.

use super::{MemoryStore, expiring::Expiring, lock};
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_values::{EXPIRY_GRACE, StoreFuture, Timestamp};

pub(super) type Grants = Expiring<TokenHash, TokenGrant>;

impl TokenStore for MemoryStore {
    fn insert(&self, hash: TokenHash, grant: TokenGrant) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let mut grants = lock(&self.parts.tokens);
            let before = grant.issued_at.saturating_sub(EXPIRY_GRACE);
            grants.sweep(|expires| expires < before);
            grants.insert(hash, grant.expires_at, grant, self.parts.capacity)
        })
    }

    fn find(&self, hash: TokenHash, now: Timestamp) -> StoreFuture<'_, Option<TokenGrant>> {
        Box::pin(async move {
            let grants = lock(&self.parts.tokens);
            Ok(grants.get(&hash).map(|(_, grant)| grant).filter(|grant| grant.is_valid_at(now)).cloned())
        })
    }

    fn revoke(&self, hash: TokenHash) -> StoreFuture<'_, bool> {
        Box::pin(async move { Ok(lock(&self.parts.tokens).remove(&hash).is_some()) })
    }
}
