//! A customer's sealed tokens, with one or two statements for each operation.

use super::PostgresStore;
use super::values::params;
use crate::cached::check_sealed;
use bankrail_client_assertion::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_values::{EXPIRY_GRACE, StoreFuture, Timestamp};

const GET: &str =
    "SELECT sealed, expires FROM bankrail_cached_token WHERE key = $1 AND expires > $2";

const PUT: &str = "INSERT INTO bankrail_cached_token (key, sealed, expires) VALUES ($1, $2, $3)
    ON CONFLICT (key) DO UPDATE SET sealed = excluded.sealed, expires = excluded.expires";

const REMOVE: &str = "DELETE FROM bankrail_cached_token WHERE key = $1 AND sealed = $2";

const SWEEP: &str = "DELETE FROM bankrail_cached_token WHERE key = ANY (ARRAY(
    SELECT key FROM bankrail_cached_token WHERE expires < $1 ORDER BY expires LIMIT 8
        FOR UPDATE SKIP LOCKED))";

impl TokenCache for PostgresStore {
    fn get<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<CachedToken>> {
        Box::pin(self.with_session(async move |session| {
            session
                .first(GET, params![key.as_bytes().as_slice(), now.unix_millis()])
                .await
        }))
    }

    fn put<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        token: &'a CachedToken,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(self.with_session(async move |session| {
            check_sealed(token)?;
            // Swept first, so that a token that has already expired stays until the next one, as in
            // memory.
            let expired = now.saturating_sub(EXPIRY_GRACE).unix_millis();
            session.execute(SWEEP, params![expired]).await?;
            let key = key.as_bytes().as_slice();
            let expires = token.expires_at.unix_millis();
            let values = params![key, token.sealed, expires];
            session.execute(PUT, values).await.map(drop)
        }))
    }

    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()> {
        Box::pin(self.with_session(async move |session| {
            let key = key.as_bytes().as_slice();
            session
                .execute(REMOVE, params![key, token.sealed])
                .await
                .map(drop)
        }))
    }
}
