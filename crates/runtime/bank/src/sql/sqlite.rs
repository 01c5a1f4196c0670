//! Queries on SQLite.

use super::{Engine, Sql, Value};
use bankrail_stores::Cells;
use bankrail_stores::sqlite::rusqlite::{self, CachedStatement, Connection};
use bankrail_stores::sqlite::{RowCells, SqliteStore, TransactionError, store_error};
use bankrail_values::StoreError;
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The names of parameters. They are found by name, because SQLite numbers parameters in the order
/// in which a query has them.
const NAMES: [&str; 8] = ["$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8"];

impl Sql for Connection {
    const SHARED: bool = false;

    async fn run(&self, sql: &'static str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let changed = prepared(self, sql, values).and_then(|mut statement| statement.raw_execute());
        // Lossless: a number of rows has at most 64 bits.
        Ok(changed.map_err(store_error)?.try_into().unwrap_or(u64::MAX))
    }

    async fn read_each(
        &self,
        sql: &'static str,
        values: &[Value<'_>],
        mut read: impl FnMut(&dyn Cells) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut statement = prepared(self, sql, values).map_err(store_error)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(store_error)? {
            if read(&RowCells::new(row))?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn prepared<'a>(
    connection: &'a Connection,
    sql: &str,
    values: &[Value<'_>],
) -> rusqlite::Result<CachedStatement<'a>> {
    let mut statement = connection.prepare_cached(sql)?;
    for (name, value) in NAMES.into_iter().zip(values) {
        // There is no parameter 0, so SQLite refuses a value that the statement has no place for.
        let at = statement.parameter_index(name)?.unwrap_or_default();
        match value {
            Value::Integer(number) => statement.raw_bind_parameter(at, number)?,
            Value::Bool(is) => statement.raw_bind_parameter(at, is)?,
            Value::Text(text) => statement.raw_bind_parameter(at, text)?,
        }
    }
    Ok(statement)
}

/// Runs asynchronous work on SQLite, which never waits, to its end.
pub(crate) fn now<T>(work: impl Future<Output = T>) -> T {
    // Polled once, because nothing that SQLite does is asynchronous.
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => unreachable!("no statement of SQLite waits"),
    }
}

/// Runs a part of a transaction within a savepoint: its effects stay together, even if the caller
/// commits after an error.
pub(crate) fn whole<T, E: From<StoreError>>(
    connection: &Connection,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let run = |sql| connection.execute_batch(sql).map_err(store_error);
    run("SAVEPOINT bankrail_whole")?;
    let done = now(work);
    if done.is_err() {
        // This fails when SQLite has already ended the whole transaction. Then the first error is
        // the reason.
        let _ = run("ROLLBACK TO bankrail_whole; RELEASE bankrail_whole");
        return done;
    }
    run("RELEASE bankrail_whole")?;
    done
}

impl Engine for SqliteStore {
    type Connection<'a> = Connection;

    async fn write<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        work: impl for<'a> AsyncFn(&'a Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let work = self.shared_transaction(move |transaction| now(work(transaction.connection())));
        work.await.map_err(TransactionError::into_error)
    }

    async fn write_long<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        work: impl for<'a> AsyncFnOnce(&'a Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let work = self.transaction(|transaction| now(work(transaction.connection())));
        work.await.map_err(TransactionError::into_error)
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl for<'a> AsyncFnOnce(&'a Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        SqliteStore::read(self, |connection| now(work(connection)))
            .await
            .map_err(TransactionError::into_error)
    }

    async fn read_long<T: Send + 'static>(
        &self,
        work: impl for<'a> AsyncFnOnce(&'a Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        Engine::read(self, work).await
    }
}
