//! Used assertions and access tokens, both hashed.

use super::SqliteStore;
use super::connection::Fault;
use super::statements::{changes, first, sweep};
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_values::{StoreFuture, Timestamp};
use rusqlite::{Connection, params};

// Claims an assertion. The condition of the update is that of `ReplayKey::is_free_at`.
const CLAIM: &str = "INSERT INTO bankrail_replay (key, expires) VALUES (?1, ?3)
    ON CONFLICT (key) DO UPDATE SET expires = excluded.expires WHERE expires < ?2";

// Deletes expired claims beyond the kept ones; 1024 is `KEPT_CLAIMS`.
const SWEEP_CLAIMS: &str =
    "DELETE FROM bankrail_replay WHERE key = (SELECT key FROM bankrail_replay
    WHERE expires < ?1 ORDER BY expires DESC LIMIT 1 OFFSET 1024)";

const INSERT: &str =
    "INSERT OR REPLACE INTO bankrail_token (hash, customer, scopes, issued, expires)
    VALUES (?1, ?2, ?3, ?4, ?5)";

const FIND: &str = "SELECT customer, scopes, issued, expires FROM bankrail_token WHERE hash = ?1";

const REVOKE: &str = "DELETE FROM bankrail_token WHERE hash = ?1";

const SWEEP: &str = "DELETE FROM bankrail_token WHERE hash =
    (SELECT hash FROM bankrail_token WHERE expires < ?1 ORDER BY expires LIMIT 1)";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[CLAIM, SWEEP_CLAIMS, INSERT, FIND, REVOKE, SWEEP];

impl ReplayStore for SqliteStore {
    fn claim(&self, key: ReplayKey, now: Timestamp) -> StoreFuture<'_, bool> {
        self.database
            .write(move |connection| claim(connection, key, now))
    }
}

impl TokenStore for SqliteStore {
    fn grant_once(
        &self,
        key: Option<ReplayKey>,
        hash: TokenHash,
        grant: TokenGrant,
    ) -> StoreFuture<'_, bool> {
        self.database
            .write(move |connection| grant_once(connection, key, hash, &grant))
    }

    fn find(&self, hash: TokenHash, now: Timestamp) -> StoreFuture<'_, Option<TokenGrant>> {
        self.database.read(move |connection| {
            let grant: Option<TokenGrant> = first(connection, FIND, [hash.as_bytes()])?;
            Ok(grant.filter(|grant| grant.is_valid_at(now)))
        })
    }

    fn revoke(&self, hash: TokenHash) -> StoreFuture<'_, bool> {
        self.database
            .write(move |connection| changes(connection, REVOKE, [hash.as_bytes()]))
    }
}

fn claim(connection: &Connection, key: ReplayKey, now: Timestamp) -> Result<bool, Fault> {
    sweep(connection, SWEEP_CLAIMS, now)?;
    changes(
        connection,
        CLAIM,
        params![key.key, now.unix_millis(), key.expires_at.unix_millis()],
    )
}

fn grant_once(
    connection: &Connection,
    key: Option<ReplayKey>,
    hash: TokenHash,
    grant: &TokenGrant,
) -> Result<bool, Fault> {
    if let Some(key) = key
        && !claim(connection, key, grant.issued_at)?
    {
        return Ok(false);
    }
    // Swept first, so that a grant that has already expired stays until the next insertion, as in
    // memory.
    sweep(connection, SWEEP, grant.issued_at)?;
    let issued = grant.issued_at.unix_millis();
    let expires = grant.expires_at.unix_millis();
    let values = params![
        hash.as_bytes(),
        grant.customer.as_str(),
        grant.scopes.to_string(),
        issued,
        expires
    ];
    changes(connection, INSERT, values)
}
