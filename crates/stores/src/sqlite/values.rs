//! Values in tables. A value that cannot be read back is a corrupt record.

use super::connection::Fault;
use bankrail_mailbox::{EntryId, Kind, OpaqueBytes};
use rusqlite::{Connection, Params, Row};

/// An entry's number in the database. A number that no row can have becomes one that no row has.
pub(super) fn number(id: EntryId) -> i64 {
    i64::try_from(id.get()).unwrap_or(i64::MAX)
}

pub(super) fn entry_id(number: i64) -> Result<EntryId, Fault> {
    u64::try_from(number).map(EntryId::new).map_err(Fault::corrupt)
}

/// Reads a column that holds a stable name.
pub(super) fn named<T>(row: &Row<'_>, column: &str, from_name: impl FnOnce(&str) -> Option<T>) -> Result<T, Fault> {
    let name = row.get_ref(column)?.as_str().map_err(Fault::corrupt)?;
    from_name(name).ok_or_else(|| Fault::corrupt(format!("expected a known name, found {name:?}")))
}

pub(super) fn kind(row: &Row<'_>) -> Result<Kind, Fault> {
    named(row, "kind", |name| Kind::parse(name).ok())
}

pub(super) fn bytes(row: &Row<'_>, column: &str) -> Result<OpaqueBytes, Fault> {
    Ok(row.get::<_, Vec<u8>>(column)?.into())
}

/// The answer to a `SELECT count(*)`.
pub(super) fn count(connection: &Connection, sql: &str, parameters: impl Params) -> Result<u64, Fault> {
    let rows: i64 = connection.prepare_cached(sql)?.query_row(parameters, |row| row.get(0))?;
    u64::try_from(rows).map_err(Fault::corrupt)
}

/// A row that this version cannot read, by its number.
pub(super) struct Unreadable(pub(super) i64);

/// Reads a row with an `id`. An error in another column makes only this row unreadable.
pub(super) fn readable<T>(
    row: &Row<'_>,
    read: impl FnOnce(&Row<'_>) -> Result<T, Fault>,
) -> Result<Result<T, Unreadable>, Fault> {
    let id: i64 = row.get("id")?;
    Ok(read(row).map_err(|fault| {
        tracing::error!(entry = id, error = ?fault, "a stored entry is unreadable");
        Unreadable(id)
    }))
}
