//! Statements and the rows that they return.

use super::connection::Fault;
use crate::columns::{Cells, FromRow, corrupt};
use bankrail_values::{StoreError, Timestamp};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};
use std::cell::Cell;

/// A row of SQLite, whose [`Cells`] are read by the names of their columns. A column is found at
/// once if columns are read in the order of the statement, otherwise by a search.
#[allow(missing_debug_implementations, reason = "a row has none")]
#[doc(hidden)]
pub struct RowCells<'a> {
    row: &'a Row<'a>,
    /// The index of the column after the last one that was read.
    next: Cell<usize>,
}

impl<'a> RowCells<'a> {
    /// Makes the cells of a row that a statement has just returned.
    #[must_use]
    pub fn new(row: &'a Row<'a>) -> Self {
        Self {
            row,
            next: Cell::new(0),
        }
    }

    fn cell(&self, column: &str) -> Result<ValueRef<'_>, StoreError> {
        let next = self.next.get();
        let statement = self.row.as_ref();
        let at = match statement.column_name(next) {
            Ok(name) if name == column => next,
            _ => statement.column_index(column).map_err(super::store_error)?,
        };
        self.next.set(at + 1);
        self.row.get_ref(at).map_err(super::store_error)
    }
}

impl Cells for RowCells<'_> {
    fn integer(&self, column: &str) -> Result<Option<i64>, StoreError> {
        self.cell(column)?.as_i64_or_null().map_err(corrupt)
    }

    fn text(&self, column: &str) -> Result<Option<&str>, StoreError> {
        self.cell(column)?.as_str_or_null().map_err(corrupt)
    }

    fn blob(&self, column: &str) -> Result<Option<&[u8]>, StoreError> {
        self.cell(column)?.as_blob_or_null().map_err(corrupt)
    }
}

/// Returns the number of changed rows.
pub(super) fn run(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
) -> Result<usize, Fault> {
    Ok(connection.prepare_cached(sql)?.execute(parameters)?)
}

/// Returns true if a statement that changes at most one row has changed one.
pub(super) fn changes(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
) -> Result<bool, Fault> {
    Ok(run(connection, sql, parameters)? == 1)
}

pub(super) fn all<T: FromRow>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
) -> Result<Vec<T>, Fault> {
    connection
        .prepare_cached(sql)?
        .query_and_then(parameters, |row| Ok(T::read(&RowCells::new(row))?))?
        .collect()
}

pub(super) fn first<T: FromRow>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
) -> Result<Option<T>, Fault> {
    connection
        .prepare_cached(sql)?
        .query_and_then(parameters, |row| Ok(T::read(&RowCells::new(row))?))?
        .next()
        .transpose()
}

/// Returns the first `limit` rows that this version can read.
#[cfg(feature = "mailbox")]
pub(super) fn readable_page<T: FromRow>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    limit: u32,
) -> Result<Vec<T>, Fault> {
    let mut list = connection.prepare_cached(sql)?;
    let rows = list.query_and_then(parameters, |row| {
        Ok(crate::columns::readable(&RowCells::new(row))?)
    })?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    rows.filter_map(|row| row.map(Result::ok).transpose())
        .take(limit)
        .collect()
}

/// Deletes some expired rows, with a statement that deletes the row that expired first, if it
/// expired before the parameter. More than one for each insertion, so that a backlog shrinks.
pub(super) fn sweep(connection: &Connection, first: &str, now: Timestamp) -> Result<(), Fault> {
    const SWEPT_ROWS: u32 = 8;
    let before = now
        .saturating_sub(bankrail_values::EXPIRY_GRACE)
        .unix_millis();
    let mut delete = connection.prepare_cached(first)?;
    for _ in 0..SWEPT_ROWS {
        if delete.execute([before])? == 0 {
            break;
        }
    }
    Ok(())
}
