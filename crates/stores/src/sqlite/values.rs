//! Values as they stand in tables. What cannot be read back is a corrupt record.

use super::connection::Fault;
use bankrail_values::{HyphenatedUuid, Timestamp};
use bankrail_webhook::headers::{DeliveryHeaders, Priority};
use bankrail_webhook::{EntryId, MessageKind};
use rusqlite::{Connection, Params, Row};

pub(super) fn instant(millis: i64) -> Result<Timestamp, Fault> {
    Timestamp::from_unix_millis(millis).ok_or_else(|| Fault::corrupt(format!("no such instant: {millis} ms")))
}

/// An entry's number in the database; a number that no row can have stays one.
pub(super) fn number(id: EntryId) -> i64 {
    i64::try_from(id.get()).unwrap_or(i64::MAX)
}

pub(super) fn entry_id(number: i64) -> Result<EntryId, Fault> {
    u64::try_from(number).map(EntryId::new).map_err(Fault::corrupt)
}

pub(super) fn named<T>(name: &str, from_name: impl FnOnce(&str) -> Option<T>) -> Result<T, Fault> {
    from_name(name).ok_or_else(|| Fault::corrupt(format!("no such name: {name:?}")))
}

/// Reads the columns `kind, request_key, message_id, correlation_id, priority`, from `first` on.
pub(super) fn kind_and_headers(row: &Row<'_>, first: usize) -> Result<(MessageKind, DeliveryHeaders), Fault> {
    let text =
        |offset: usize| -> Result<_, Fault> { row.get_ref(first + offset)?.as_str_or_null().map_err(Fault::corrupt) };
    let kind = named(text(0)?.unwrap_or_default(), MessageKind::from_name)?;
    let uuid = |text: Option<&str>| text.map(HyphenatedUuid::parse).transpose().map_err(Fault::corrupt);
    let message_id = uuid(text(2)?)?.ok_or_else(|| Fault::corrupt("no message id"))?;
    let mut headers = DeliveryHeaders::new(message_id);
    headers.request_key = uuid(text(1)?)?;
    headers.correlation_id = uuid(text(3)?)?;
    headers.priority = text(4)?.map(|name| named(name, Priority::from_name)).transpose()?;
    Ok((kind, headers))
}

/// The answer to a `SELECT count(*)`.
pub(super) fn count(connection: &Connection, sql: &str, parameters: impl Params) -> Result<u64, Fault> {
    let rows: i64 = connection.prepare_cached(sql)?.query_row(parameters, |row| row.get(0))?;
    u64::try_from(rows).map_err(Fault::corrupt)
}

/// A row that this version cannot read, by its number.
pub(super) struct Unreadable(pub(super) i64);

/// Reads a row that begins with its number. What is wrong with its other columns is wrong with this row alone.
pub(super) fn readable<T>(
    row: &Row<'_>,
    read: impl FnOnce(&Row<'_>) -> Result<T, Fault>,
) -> Result<Result<T, Unreadable>, Fault> {
    let id: i64 = row.get(0)?;
    Ok(read(row).map_err(|fault| {
        tracing::error!(entry = id, error = ?fault, "a stored entry is unreadable");
        Unreadable(id)
    }))
}
