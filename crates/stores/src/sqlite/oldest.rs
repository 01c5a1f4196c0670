//! The age of what waits, for monitoring.

use super::connection::Fault;
use super::instant;
use bankrail_values::Timestamp;
use rusqlite::{Connection, OptionalExtension};

// `+ 0` keeps SQLite from walking the table in the order of `id` past all finished entries: it reads the index of the
// pending ones instead.
pub(super) const OUTBOX: &str = "SELECT enqueued FROM bankrail_outbox WHERE id = (
    SELECT min(id + 0) FROM bankrail_outbox WHERE state = 'pending'
        AND endpoint NOT IN (SELECT endpoint FROM bankrail_stopped))";

pub(super) const INBOX: &str = "SELECT received FROM bankrail_inbox WHERE id = (SELECT min(id) FROM (
    SELECT min(id + 0) AS id FROM bankrail_inbox WHERE state = 'pending' AND waits IS NULL
    UNION ALL SELECT min(id + 0) FROM bankrail_inbox WHERE state = 'pending' AND waits IS NOT NULL))";

/// Reads the only column of the only row, an instant.
pub(super) fn oldest(connection: &Connection, sql: &str) -> Result<Option<Timestamp>, Fault> {
    let millis: Option<i64> = connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    millis.map(instant).transpose()
}
