//! Access tokens, hashed.

use super::connection::Fault;
use super::sweep::sweep;
use super::{SqliteStore, instant, replay};
use bankrail_client_assertion::token::{ScopeSet, TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{CustomerCode, ReplayKey, ReplayStore};
use bankrail_values::{EXPIRY_GRACE, StoreFuture, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};
use std::any::Any;
use std::sync::Arc;

const INSERT: &str = "INSERT OR REPLACE INTO bankrail_token (hash, customer, scopes, issued, expires)
    VALUES (?1, ?2, ?3, ?4, ?5)";

const FIND: &str = "SELECT customer, scopes, issued, expires FROM bankrail_token WHERE hash = ?1 AND expires > ?2";

const SWEEP: &str = "DELETE FROM bankrail_token WHERE hash =
    (SELECT hash FROM bankrail_token WHERE expires < ?1 ORDER BY expires LIMIT 1)";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[INSERT, FIND, SWEEP];

impl TokenStore for SqliteStore {
    fn insert(&self, hash: TokenHash, grant: TokenGrant) -> StoreFuture<'_, ()> {
        Box::pin(self.database.write(move |connection| insert(connection, hash, &grant)))
    }

    fn insert_once<'a>(
        &'a self,
        hash: TokenHash,
        grant: &'a TokenGrant,
        claim: ReplayKey,
        replay: &'a dyn ReplayStore,
    ) -> Option<StoreFuture<'a, bool>> {
        let replay: &dyn Any = replay;
        let same = replay.downcast_ref::<Self>()?;
        if !Arc::ptr_eq(&same.database, &self.database) {
            return None;
        }
        let grant = grant.clone();
        Some(Box::pin(self.database.write(move |connection| {
            if !replay::claim(connection, claim.key, grant.issued_at, claim.expires)? {
                return Ok(false);
            }
            insert(connection, hash, &grant)?;
            Ok(true)
        })))
    }

    fn find(&self, hash: TokenHash, now: Timestamp) -> StoreFuture<'_, Option<TokenGrant>> {
        Box::pin(self.database.read(move |connection| find(connection, hash, now)))
    }

    fn revoke(&self, hash: TokenHash) -> StoreFuture<'_, bool> {
        Box::pin(self.database.write(move |connection| {
            let mut revoke = connection.prepare_cached("DELETE FROM bankrail_token WHERE hash = ?1")?;
            Ok(revoke.execute([hash.as_bytes()])? == 1)
        }))
    }
}

fn insert(connection: &Connection, hash: TokenHash, grant: &TokenGrant) -> Result<(), Fault> {
    // Swept first, so that a grant that has already expired stays until the next insertion, as in memory.
    let before = grant.issued_at.saturating_sub(EXPIRY_GRACE);
    sweep(connection, SWEEP, before)?;
    connection.prepare_cached(INSERT)?.execute(params![
        hash.as_bytes(),
        grant.customer.as_str(),
        grant.scopes.to_string(),
        grant.issued_at.unix_millis(),
        grant.expires_at.unix_millis(),
    ])?;
    Ok(())
}

fn find(connection: &Connection, hash: TokenHash, now: Timestamp) -> Result<Option<TokenGrant>, Fault> {
    let mut find = connection.prepare_cached(FIND)?;
    let row = find
        .query_row(params![hash.as_bytes(), now.unix_millis()], |row| {
            let text = |column| row.get::<_, String>(column);
            Ok((text("customer")?, text("scopes")?, row.get("issued")?, row.get("expires")?))
        })
        .optional()?;
    let Some((customer, scopes, issued, expires)) = row else { return Ok(None) };
    let customer = CustomerCode::parse(&customer).map_err(Fault::corrupt)?;
    let scopes = ScopeSet::parse(&scopes).map_err(Fault::corrupt)?;
    Ok(Some(TokenGrant::new(customer, scopes, instant(issued)?, instant(expires)?)))
}
