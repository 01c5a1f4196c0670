//! A customer's sealed tokens: one or two statements for each operation.

use super::{Fault, PostgresStore, Typed, get, instant};
use crate::cached::check_sealed;
use bankrail_client_assertion::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_values::{EXPIRY_GRACE, StoreFuture, Timestamp};
use tokio_postgres::types::Type;

const GET: &str = "SELECT sealed, expires FROM bankrail_cached_token WHERE key = $1 AND expires > $2";

const PUT: &str = "INSERT INTO bankrail_cached_token (key, sealed, expires) VALUES ($1, $2, $3)
    ON CONFLICT (key) DO UPDATE SET sealed = excluded.sealed, expires = excluded.expires";

const REMOVE: &str = "DELETE FROM bankrail_cached_token WHERE key = $1 AND sealed = $2";

const SWEEP: &str = "DELETE FROM bankrail_cached_token WHERE key = ANY (ARRAY(
    SELECT key FROM bankrail_cached_token WHERE expires < $1 ORDER BY expires LIMIT 8 FOR UPDATE SKIP LOCKED))";

impl TokenCache for PostgresStore {
    fn get<'a>(&'a self, key: &'a TokenCacheKey, now: Timestamp) -> StoreFuture<'a, Option<CachedToken>> {
        Box::pin(self.timed(async move {
            let key = key.as_bytes().as_slice();
            let rows = self.query(GET, &[(&key, Type::BYTEA), (&now.unix_millis(), Type::INT8)]).await?;
            let Some(row) = rows.first() else { return Ok(None) };
            Ok(Some(CachedToken::new(get(row, "sealed")?, instant(get(row, "expires")?)?)))
        }))
    }

    fn put<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken, now: Timestamp) -> StoreFuture<'a, ()> {
        Box::pin(self.timed(async move {
            check_sealed(token).map_err(Fault::Store)?;
            let parameters: [Typed<'_>; 3] = [
                (&key.as_bytes().as_slice(), Type::BYTEA),
                (&token.sealed, Type::BYTEA),
                (&token.expires_at.unix_millis(), Type::INT8),
            ];
            let before = now.saturating_sub(EXPIRY_GRACE).unix_millis();
            // Swept first, so that a token that has already expired stays until the next one, as in memory.
            let client = self.client().await?;
            client.each().execute(SWEEP, &[(&before, Type::INT8)]).await?;
            client.each().execute(PUT, &parameters).await?;
            client.give_back();
            Ok(())
        }))
    }

    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()> {
        Box::pin(self.timed(async move {
            let key = key.as_bytes().as_slice();
            self.execute(REMOVE, &[(&key, Type::BYTEA), (&token.sealed, Type::BYTEA)]).await?;
            Ok(())
        }))
    }
}
