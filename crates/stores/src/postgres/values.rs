//! Values as they stand in tables. What cannot be read back is a corrupt record.

use super::Fault;
use bankrail_values::{HyphenatedUuid, Timestamp};
use bankrail_webhook::headers::{DeliveryHeaders, Priority};
use bankrail_webhook::{EntryId, MessageKind};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

/// A column.
pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T, Fault> {
    row.try_get(column).map_err(Fault::corrupt)
}

pub(super) fn instant(row: &Row, column: usize) -> Result<Timestamp, Fault> {
    let millis = get(row, column)?;
    Timestamp::from_unix_millis(millis).ok_or_else(|| Fault::corrupt(format!("no such instant: {millis} ms")))
}

/// An entry's number in the database; a number that no row can have stays one.
pub(super) fn number(id: EntryId) -> i64 {
    i64::try_from(id.get()).unwrap_or(i64::MAX)
}

pub(super) fn entry_id(number: i64) -> Result<EntryId, Fault> {
    u64::try_from(number).map(EntryId::new).map_err(Fault::corrupt)
}

/// A count or number that is not negative.
pub(super) fn unsigned<F, T>(row: &Row, column: usize) -> Result<T, Fault>
where
    F: for<'a> FromSql<'a> + TryInto<T>,
    F::Error: std::error::Error + Send + Sync + 'static,
{
    get::<F>(row, column)?.try_into().map_err(Fault::corrupt)
}

pub(super) fn named<T>(name: &str, from_name: impl FnOnce(&str) -> Option<T>) -> Result<T, Fault> {
    from_name(name).ok_or_else(|| Fault::corrupt(format!("no such name: {name:?}")))
}

/// Reads the columns `kind, request_key, message_id, correlation_id, priority`, from `first` on.
pub(super) fn kind_and_headers(row: &Row, first: usize) -> Result<(MessageKind, DeliveryHeaders), Fault> {
    let kind = named(get(row, first)?, MessageKind::from_name)?;
    let text = |offset: usize| get::<Option<&str>>(row, first + offset);
    let uuid = |text: Option<&str>| text.map(HyphenatedUuid::parse).transpose().map_err(Fault::corrupt);
    let message_id = uuid(text(2)?)?.ok_or_else(|| Fault::corrupt("no message id"))?;
    let mut headers = DeliveryHeaders::new(message_id);
    headers.request_key = uuid(text(1)?)?;
    headers.correlation_id = uuid(text(3)?)?;
    headers.priority = text(4)?.map(|name| named(name, Priority::from_name)).transpose()?;
    Ok((kind, headers))
}

/// Text without U+0000, which PostgreSQL does not hold.
pub(super) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// A row that this version cannot read, by its number.
pub(super) struct Unreadable(pub(super) EntryId);

/// Reads a row that begins with its number. What is wrong with its other columns is wrong with this row alone.
pub(super) fn readable<T>(
    row: &Row,
    read: impl FnOnce(&Row) -> Result<T, Fault>,
) -> Result<Result<T, Unreadable>, Fault> {
    let id = entry_id(get(row, 0)?)?;
    Ok(read(row).map_err(|fault| {
        tracing::error!(entry = %id, error = ?fault, "a stored entry is unreadable");
        Unreadable(id)
    }))
}
