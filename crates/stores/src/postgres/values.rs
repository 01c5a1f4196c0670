//! Values of messages in tables. A value that cannot be read back is a corrupt record.

use super::{Fault, get};
use bankrail_mailbox::{EntryId, Fingerprint, Kind, OpaqueBytes};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

/// An entry's number in the database. A number that no row can have becomes one that no row has.
pub(super) fn number(id: EntryId) -> i64 {
    i64::try_from(id.get()).unwrap_or(i64::MAX)
}

pub(super) fn entry_id(number: i64) -> Result<EntryId, Fault> {
    u64::try_from(number).map(EntryId::new).map_err(Fault::corrupt)
}

/// A count or number that is not negative.
pub(super) fn unsigned<F, T>(row: &Row, column: &str) -> Result<T, Fault>
where
    F: for<'a> FromSql<'a> + TryInto<T>,
    F::Error: std::error::Error + Send + Sync + 'static,
{
    get::<F>(row, column)?.try_into().map_err(Fault::corrupt)
}

/// Reads a column that holds a stable name.
pub(super) fn named<T>(row: &Row, column: &str, from_name: impl FnOnce(&str) -> Option<T>) -> Result<T, Fault> {
    let name: &str = get(row, column)?;
    from_name(name).ok_or_else(|| Fault::corrupt(format!("expected a known name, found {name:?}")))
}

pub(super) fn kind(row: &Row) -> Result<Kind, Fault> {
    named(row, "kind", |name| Kind::parse(name).ok())
}

pub(super) fn bytes(row: &Row, column: &str) -> Result<OpaqueBytes, Fault> {
    Ok(get::<Vec<u8>>(row, column)?.into())
}

pub(super) fn fingerprint(row: &Row) -> Result<Fingerprint, Fault> {
    let bytes: &[u8] = get(row, "fingerprint")?;
    bytes.try_into().map(Fingerprint::from_bytes).map_err(Fault::corrupt)
}

/// Text without U+0000, which PostgreSQL does not hold.
pub(super) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// A row that this version cannot read, by its number.
pub(super) struct Unreadable(pub(super) EntryId);

/// Reads a row with an `id`. An error in another column makes only this row unreadable.
pub(super) fn readable<T>(
    row: &Row,
    read: impl FnOnce(&Row) -> Result<T, Fault>,
) -> Result<Result<T, Unreadable>, Fault> {
    let id = entry_id(get(row, "id")?)?;
    Ok(read(row).map_err(|fault| {
        tracing::error!(entry = %id, error = ?fault, "a stored entry is unreadable");
        Unreadable(id)
    }))
}
