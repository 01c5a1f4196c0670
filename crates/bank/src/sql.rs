//! Statements of SQLite, each prepared once.

use bankrail_stores::sqlite::rusqlite::types::FromSql;
use bankrail_stores::sqlite::rusqlite::{Connection, Params, Row};
use bankrail_stores::sqlite::store_error;
use bankrail_values::{StoreError, StoreErrorKind};

/// Runs a statement, and returns how many rows it has changed.
pub(crate) fn run(connection: &Connection, sql: &str, parameters: impl Params) -> Result<usize, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    statement.execute(parameters).map_err(store_error)
}

/// All rows of a query.
pub(crate) fn rows<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(store_error)?;
    let mut rows = statement.query(parameters).map_err(store_error)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next().map_err(store_error)? {
        all.push(read(row)?);
    }
    Ok(all)
}

/// The row of a query that finds at most one.
pub(crate) fn row<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    Ok(rows(connection, sql, parameters, read)?.pop())
}

pub(crate) fn get<T: FromSql>(row: &Row<'_>, column: &str) -> Result<T, StoreError> {
    row.get(column).map_err(store_error)
}

/// A record that this version cannot read.
pub(crate) fn corrupt(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, cause)
}
