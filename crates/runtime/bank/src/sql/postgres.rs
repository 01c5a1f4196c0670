//! Queries on PostgreSQL.

use super::{Engine, Sql, Value};
use bankrail_stores::Cells;
use bankrail_stores::postgres::tokio_postgres::types::{ToSql, Type};
use bankrail_stores::postgres::{InTransaction, PostgresStore};
use bankrail_values::{StoreError, StoreErrorKind};
use std::ops::ControlFlow;
use tokio::runtime::Handle;

impl Sql for InTransaction<'_> {
    const SHARED: bool = true;

    async fn run(&self, sql: &'static str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        self.execute(sql, &typed(values)).await
    }

    async fn read_each(
        &self,
        sql: &'static str,
        values: &[Value<'_>],
        mut read: impl FnMut(&dyn Cells) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        for row in self.query(sql, &typed(values)).await? {
            if read(&row)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn typed<'a>(values: &'a [Value<'_>]) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    let typed = |value: &'a Value<'_>| -> (&'a (dyn ToSql + Sync), Type) {
        match value {
            Value::Integer(number) => (number, Type::INT8),
            Value::Bool(is) => (is, Type::BOOL),
            Value::Text(text) => (text, Type::TEXT),
        }
    };
    values.iter().map(typed).collect()
}

impl Engine for PostgresStore {
    type Connection<'a> = InTransaction<'a>;

    async fn write<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        work: impl for<'a, 'c> AsyncFn(&'a InTransaction<'c>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        self.transaction(work).await
    }

    /// Runs work on a thread that may wait for a file.
    async fn write_long<T: Send + 'static, E: From<StoreError> + Send + 'static>(
        &self,
        work: impl for<'a, 'c> AsyncFnOnce(&'a InTransaction<'c>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let (store, runtime) = (self.clone(), Handle::current());
        let work = move || runtime.block_on(store.long_transaction(work));
        let panicked = |error| StoreError::new(StoreErrorKind::Unavailable, error);
        tokio::task::spawn_blocking(work).await.map_err(panicked)?
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl for<'a, 'c> AsyncFnOnce(&'a InTransaction<'c>) -> Result<T, StoreError>
        + Send
        + 'static,
    ) -> Result<T, StoreError> {
        PostgresStore::read(self, work).await
    }

    async fn read_long<T: Send + 'static>(
        &self,
        work: impl for<'a, 'c> AsyncFnOnce(&'a InTransaction<'c>) -> Result<T, StoreError>
        + Send
        + 'static,
    ) -> Result<T, StoreError> {
        self.long_read(work).await
    }
}
