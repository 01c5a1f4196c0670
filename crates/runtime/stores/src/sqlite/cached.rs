//! A customer's sealed tokens.

use super::SqliteStore;
use super::connection::Fault;
use super::statements::{first, run, sweep};
use crate::cached::check_sealed;
use bankrail_client_assertion::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_values::{StoreFuture, Timestamp};
use rusqlite::{Connection, params};

const GET: &str =
    "SELECT sealed, expires FROM bankrail_cached_token WHERE key = ?1 AND expires > ?2";

const PUT: &str =
    "INSERT OR REPLACE INTO bankrail_cached_token (key, sealed, expires) VALUES (?1, ?2, ?3)";

const REMOVE: &str = "DELETE FROM bankrail_cached_token WHERE key = ?1 AND sealed = ?2";

const SWEEP: &str = "DELETE FROM bankrail_cached_token WHERE key =
    (SELECT key FROM bankrail_cached_token WHERE expires < ?1 ORDER BY expires LIMIT 1)";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[GET, PUT, REMOVE, SWEEP];

impl TokenCache for SqliteStore {
    fn get<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<CachedToken>> {
        let key = *key;
        self.database.read(move |connection| {
            first(connection, GET, params![key.as_bytes(), now.unix_millis()])
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        token: &'a CachedToken,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        let key = *key;
        let token = token.clone();
        self.database
            .write(move |connection| put(connection, key, &token, now))
    }

    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()> {
        let key = *key;
        let token = token.clone();
        self.database.write(move |connection| {
            run(connection, REMOVE, params![key.as_bytes(), token.sealed]).map(drop)
        })
    }
}

fn put(
    connection: &Connection,
    key: TokenCacheKey,
    token: &CachedToken,
    now: Timestamp,
) -> Result<(), Fault> {
    check_sealed(token)?;
    // Swept first, so that a token that has already expired stays until the next one, as in memory.
    sweep(connection, SWEEP, now)?;
    run(
        connection,
        PUT,
        params![key.as_bytes(), token.sealed, token.expires_at.unix_millis()],
    )
    .map(drop)
}
