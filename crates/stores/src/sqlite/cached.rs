//! A customer's sealed tokens.

use super::connection::Fault;
use super::sweep::sweep;
use super::{SqliteStore, instant};
use crate::cached::check_sealed;
use bankrail_client_assertion::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_values::{EXPIRY_GRACE, StoreFuture, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

const GET: &str = "SELECT sealed, expires FROM bankrail_cached_token WHERE key = ?1 AND expires > ?2";

const PUT: &str = "INSERT OR REPLACE INTO bankrail_cached_token (key, sealed, expires) VALUES (?1, ?2, ?3)";

const REMOVE: &str = "DELETE FROM bankrail_cached_token WHERE key = ?1 AND sealed = ?2";

const SWEEP: &str = "DELETE FROM bankrail_cached_token WHERE key =
    (SELECT key FROM bankrail_cached_token WHERE expires < ?1 ORDER BY expires LIMIT 1)";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[GET, PUT, REMOVE, SWEEP];

impl TokenCache for SqliteStore {
    fn get<'a>(&'a self, key: &'a TokenCacheKey, now: Timestamp) -> StoreFuture<'a, Option<CachedToken>> {
        let key = *key;
        Box::pin(self.database.read(move |connection| get(connection, key, now)))
    }

    fn put<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken, now: Timestamp) -> StoreFuture<'a, ()> {
        if let Err(error) = check_sealed(token) {
            return Box::pin(std::future::ready(Err(error)));
        }
        let (key, token) = (*key, token.clone());
        Box::pin(self.database.write(move |connection| put(connection, key, &token, now)))
    }

    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()> {
        let (key, sealed) = (*key, token.sealed.clone());
        Box::pin(self.database.write(move |connection| {
            connection.prepare_cached(REMOVE)?.execute(params![key.as_bytes(), sealed])?;
            Ok(())
        }))
    }
}

fn get(connection: &Connection, key: TokenCacheKey, now: Timestamp) -> Result<Option<CachedToken>, Fault> {
    let mut get = connection.prepare_cached(GET)?;
    let row = get.query_row(params![key.as_bytes(), now.unix_millis()], |row| Ok((row.get(0)?, row.get(1)?)));
    let Some((sealed, expires)) = row.optional()? else { return Ok(None) };
    Ok(Some(CachedToken::new(sealed, instant(expires)?)))
}

fn put(connection: &Connection, key: TokenCacheKey, token: &CachedToken, now: Timestamp) -> Result<(), Fault> {
    // Swept first, so that a token that has already expired stays until the next one, as in memory.
    let before = now.saturating_sub(EXPIRY_GRACE);
    sweep(connection, SWEEP, before)?;
    let expires = token.expires_at.unix_millis();
    connection.prepare_cached(PUT)?.execute(params![key.as_bytes(), token.sealed, expires])?;
    Ok(())
}
