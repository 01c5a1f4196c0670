//! Used assertions.

use super::SqliteStore;
use super::connection::Fault;
use super::sweep::sweep;
use bankrail_client_assertion::ReplayStore;
use bankrail_values::{EXPIRY_GRACE, StoreFuture, Timestamp};
use rusqlite::{Connection, params};

/// A row can be claimed again only after its `expires`, not at that instant itself.
const CLAIM: &str = "INSERT INTO bankrail_replay (key, expires) VALUES (?1, ?3)
    ON CONFLICT (key) DO UPDATE SET expires = excluded.expires WHERE expires < ?2";

const SWEEP: &str = "DELETE FROM bankrail_replay WHERE key =
    (SELECT key FROM bankrail_replay WHERE expires < ?1 ORDER BY expires LIMIT 1)";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[CLAIM, SWEEP];

impl ReplayStore for SqliteStore {
    fn claim(&self, key: [u8; 32], now: Timestamp, expires: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.database.write(move |connection| claim(connection, key, now, expires)))
    }
}

pub(super) fn claim(connection: &Connection, key: [u8; 32], now: Timestamp, expires: Timestamp) -> Result<bool, Fault> {
    let before = now.saturating_sub(EXPIRY_GRACE);
    sweep(connection, SWEEP, before)?;
    let claimed = connection.prepare_cached(CLAIM)?.execute(params![key, now.unix_millis(), expires.unix_millis()])?;
    Ok(claimed == 1)
}
