//! The archive of received pages and refused deliveries.

use super::SqliteStore;
use super::connection::Fault;
use super::statements::{all, first, run};
use crate::columns::row_number;
use bankrail_mailbox::{ArchiveLabel, ArchiveRecord, ArchiveStore, OpaqueBytes};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};

// Selects the end of the last record. `begin` counts the bytes of all earlier records of a kind, so
// that no statement adds up the lengths of all records.
const END: &str = "SELECT begin + length(sealed) FROM bankrail_archive WHERE kind = ?1
    ORDER BY begin DESC LIMIT 1";

const ADD: &str = "INSERT INTO bankrail_archive (kind, subject, call, at, begin, sealed)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const FORGET: &str = "DELETE FROM bankrail_archive WHERE kind = ?1 AND at < ?2";

const SHRINK: &str = "DELETE FROM bankrail_archive WHERE kind = ?1 AND begin < ?2";

const RECORDS: &str =
    "SELECT number, kind, subject, call, at, length(sealed) AS bytes FROM bankrail_archive
    WHERE number > ?1 ORDER BY number LIMIT ?2";

const CONTENT: &str = "SELECT sealed FROM bankrail_archive WHERE number = ?1";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[END, ADD, FORGET, SHRINK, RECORDS, CONTENT];

impl ArchiveStore for SqliteStore {
    fn add<'a>(
        &'a self,
        label: &'a ArchiveLabel,
        sealed: &'a OpaqueBytes,
        oldest: Timestamp,
        max_kind_bytes: u64,
    ) -> StoreFuture<'a, ()> {
        let label = label.clone();
        let sealed = sealed.clone();
        self.database
            .write(move |connection| add(connection, &label, &sealed, oldest, max_kind_bytes))
    }

    fn records(&self, after: u64, most: u32) -> StoreFuture<'_, Vec<ArchiveRecord>> {
        self.database
            .read(move |connection| all(connection, RECORDS, params![row_number(after), most]))
    }

    fn content(&self, number: u64) -> StoreFuture<'_, Option<OpaqueBytes>> {
        self.database
            .read(move |connection| first(connection, CONTENT, [row_number(number)]))
    }
}

fn add(
    connection: &Connection,
    label: &ArchiveLabel,
    sealed: &[u8],
    oldest: Timestamp,
    max_kind_bytes: u64,
) -> Result<(), Fault> {
    let bytes = i64::try_from(sealed.len()).unwrap_or(i64::MAX);
    if bytes > row_number(max_kind_bytes) {
        let reason =
            format!("archive: expected a record of at most {max_kind_bytes} bytes, found {bytes}");
        return Err(Fault::Store(StoreError::new(StoreErrorKind::Full, reason)));
    }
    let kind = label.kind.as_str();
    let begin: Option<i64> = connection
        .prepare_cached(END)?
        .query_row([kind], |row| row.get(0))
        .optional()?;
    let begin = begin.unwrap_or_default();
    let call = label.call.map(|call| call.to_string());
    run(
        connection,
        ADD,
        params![
            kind,
            label.subject,
            call,
            label.at.unix_millis(),
            begin,
            sealed
        ],
    )?;
    run(connection, FORGET, params![kind, oldest.unix_millis()])?;
    let most = begin
        .saturating_add(bytes)
        .saturating_sub(row_number(max_kind_bytes));
    run(connection, SHRINK, params![kind, most]).map(drop)
}
