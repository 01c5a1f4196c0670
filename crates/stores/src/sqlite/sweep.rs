//! Removing expired records, a few with each write.

use super::connection::Fault;
use bankrail_values::Timestamp;
use rusqlite::Connection;

/// The maximum number of expired rows that one write deletes. More than one, so that a backlog shrinks.
const MOST: u32 = 8;

/// Deletes rows by a statement that deletes the row that expired first, if it expired before its parameter.
pub(super) fn sweep(connection: &Connection, first: &str, before: Timestamp) -> Result<(), Fault> {
    let mut delete = connection.prepare_cached(first)?;
    for _ in 0..MOST {
        if delete.execute([before.unix_millis()])? == 0 {
            break;
        }
    }
    Ok(())
}
