//! Queries that both engines run, each prepared once, and their transactions.
//!
//! A query names its parameters `$1`, `$2` and so on. Code over [`Sql`] is asynchronous for
//! PostgreSQL; on SQLite no query waits, and the store's thread runs the code to its end.

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(feature = "sqlite")]
pub(crate) use sqlite::whole;

use bankrail_stores::Cells;
use bankrail_values::StoreError;
use std::fmt;
use std::ops::ControlFlow;

/// A transaction of an engine, in which queries run.
#[allow(unnameable_types, reason = "only the two engines have it")]
pub trait Sql {
    /// True if other transactions may write at the same time. A row that is read for a change must
    /// then be locked, and changes of customers are notified.
    const SHARED: bool;

    /// Runs a query, and returns the number of rows that it has changed.
    #[allow(async_fn_in_trait, reason = "not for others")]
    async fn run(&self, sql: &'static str, values: &[Value<'_>]) -> Result<u64, StoreError>;

    /// Passes the rows of a query to `read` until that ends the reading.
    #[allow(async_fn_in_trait, reason = "not for others")]
    async fn read_each(
        &self,
        sql: &'static str,
        values: &[Value<'_>],
        read: impl FnMut(&dyn Cells) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError>;
}

/// A store that a ledger and a directory can use:
/// [`SqliteStore`](bankrail_stores::sqlite::SqliteStore) or
/// [`PostgresStore`](bankrail_stores::postgres::PostgresStore). Work takes effect as a whole, or
/// not at all if it returns an error.
#[allow(unnameable_types, reason = "only the two engines have it")]
pub trait Engine: Clone + fmt::Debug + Send + Sync + 'static {
    /// A transaction.
    type Connection<'a>: Sql;

    /// Runs work that writes. The work may share its transaction with other work, and run again if
    /// that is undone.
    #[allow(async_fn_in_trait, reason = "not for others")]
    async fn write<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        work: impl for<'a, 'c> AsyncFn(&'a Self::Connection<'c>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>;

    /// Runs work that writes many rows, or reads from a file meanwhile.
    #[allow(async_fn_in_trait, reason = "not for others")]
    async fn write_long<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        work: impl for<'a, 'c> AsyncFnOnce(&'a Self::Connection<'c>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>;

    /// Runs work that only reads, on one state of the store.
    #[allow(async_fn_in_trait, reason = "not for others")]
    async fn read<T: Send + 'static>(
        &self,
        work: impl for<'a, 'c> AsyncFnOnce(&'a Self::Connection<'c>) -> Result<T, StoreError>
        + Send
        + 'static,
    ) -> Result<T, StoreError>;

    /// Runs work that reads many rows.
    #[allow(async_fn_in_trait, reason = "not for others")]
    async fn read_long<T: Send + 'static>(
        &self,
        work: impl for<'a, 'c> AsyncFnOnce(&'a Self::Connection<'c>) -> Result<T, StoreError>
        + Send
        + 'static,
    ) -> Result<T, StoreError>;
}

/// The value of a parameter.
#[derive(Clone, Copy)]
#[allow(
    unnameable_types,
    missing_debug_implementations,
    clippy::exhaustive_enums,
    reason = "only for the two engines"
)]
pub enum Value<'a> {
    /// A number or `NULL`.
    Integer(Option<i64>),
    /// A truth value.
    Bool(bool),
    /// A text or `NULL`.
    Text(Option<&'a str>),
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(Some(number))
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Integer(Some(number.into()))
    }
}

impl From<bool> for Value<'_> {
    fn from(is: bool) -> Self {
        Self::Bool(is)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(text))
    }
}

impl<'a> From<Option<&'a str>> for Value<'a> {
    fn from(text: Option<&'a str>) -> Self {
        Self::Text(text)
    }
}

/// Returns all rows of a query.
pub(crate) async fn rows<T>(
    connection: &impl Sql,
    sql: &'static str,
    values: &[Value<'_>],
    read: impl Fn(&dyn Cells) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut all = Vec::new();
    let add = |row: &dyn Cells| {
        all.push(read(row)?);
        Ok(ControlFlow::Continue(()))
    };
    connection.read_each(sql, values, add).await?;
    Ok(all)
}

/// Returns the row of a query that finds at most one.
pub(crate) async fn row<T>(
    connection: &impl Sql,
    sql: &'static str,
    values: &[Value<'_>],
    read: impl Fn(&dyn Cells) -> Result<T, StoreError>,
) -> Result<Option<T>, StoreError> {
    Ok(rows(connection, sql, values, read).await?.pop())
}
