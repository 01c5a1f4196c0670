//! The engines whose files lose power.

use crate::Failure;
use bankrail_client_assertion::token::TokenCache;
use bankrail_mailbox::{OutboxStore, TransactionalInbox};
use bankrail_statement::TransactionalSeenEntries;
use bankrail_stores::postgres::tokio_postgres::types::Type;
use bankrail_stores::postgres::{PostgresInbox, PostgresStore, PostgresWork};
use bankrail_stores::sqlite::{SqliteInbox, SqliteStore, SqliteWork, rusqlite};
use bankrail_values::StoreError;
use std::sync::Arc;

/// A store of both sides, and the customer's own tables in its transactions.
pub(crate) trait Engine: Clone + Send + Sync + 'static {
    type Inbox: TransactionalInbox<Work = Self::Work> + 'static;
    type Seen: TransactionalSeenEntries<Work = Self::Work> + 'static;
    type Work: Send + 'static;

    fn outbox(&self) -> Arc<dyn OutboxStore>;
    fn inbox(&self) -> Arc<Self::Inbox>;
    fn seen(&self) -> Arc<Self::Seen>;
    fn cache(&self) -> Arc<dyn TokenCache>;
    /// Makes the customer's own tables, unless they are there.
    fn make_tables(&self) -> impl Future<Output = Result<(), Failure>> + Send;
    /// Notes that the message was handled.
    fn handled(name: String) -> Self::Work;
    /// Notes that the entries were imported.
    fn imported(names: Vec<String>) -> Self::Work;
    /// Moves a log into its file, if there is one.
    fn fold(&self) -> impl Future<Output = ()> + Send;
    /// Copies the log into the database file, as another program or a long log would cause. The
    /// next write overwrites the log from its start.
    fn checkpoint(&self) -> impl Future<Output = Result<(), Failure>> + Send;
}

const TABLES: &str = "CREATE TABLE IF NOT EXISTS handled (name TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS imported (name TEXT NOT NULL)";

impl Engine for SqliteStore {
    type Inbox = SqliteInbox;
    type Seen = Self;
    type Work = SqliteWork;

    fn outbox(&self) -> Arc<dyn OutboxStore> {
        Arc::new(Self::outbox(self))
    }

    fn inbox(&self) -> Arc<SqliteInbox> {
        Arc::new(Self::inbox(self))
    }

    fn seen(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    fn cache(&self) -> Arc<dyn TokenCache> {
        Arc::new(self.clone())
    }

    async fn make_tables(&self) -> Result<(), Failure> {
        Ok(self
            .transaction(|transaction| transaction.connection().execute_batch(TABLES))
            .await?)
    }

    fn handled(name: String) -> SqliteWork {
        insert("INSERT INTO handled VALUES (?1)", vec![name])
    }

    fn imported(names: Vec<String>) -> SqliteWork {
        insert("INSERT INTO imported VALUES (?1)", names)
    }

    async fn fold(&self) {
        self.close().await;
    }

    async fn checkpoint(&self) -> Result<(), Failure> {
        let path = self
            .transaction(|transaction| -> Result<_, StoreError> {
                Ok(transaction.connection().path().map(str::to_owned))
            })
            .await?;
        let other = rusqlite::Connection::open(path.ok_or("expected a file")?)?;
        other.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        Ok(())
    }
}

fn insert(sql: &'static str, names: Vec<String>) -> SqliteWork {
    SqliteWork::new(move |transaction| -> rusqlite::Result<()> {
        for name in names {
            transaction.connection().execute(sql, [name])?;
        }
        Ok(())
    })
}

impl Engine for PostgresStore {
    type Inbox = PostgresInbox;
    type Seen = Self;
    type Work = PostgresWork;

    fn outbox(&self) -> Arc<dyn OutboxStore> {
        Arc::new(Self::outbox(self))
    }

    fn inbox(&self) -> Arc<PostgresInbox> {
        Arc::new(Self::inbox(self))
    }

    fn seen(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    fn cache(&self) -> Arc<dyn TokenCache> {
        Arc::new(self.clone())
    }

    async fn make_tables(&self) -> Result<(), Failure> {
        for table in TABLES.split(';') {
            self.transaction(async |sql| -> Result<u64, StoreError> {
                sql.execute(table, &[]).await
            })
            .await?;
        }
        Ok(())
    }

    fn handled(name: String) -> PostgresWork {
        insert_there("INSERT INTO handled VALUES ($1)", vec![name])
    }

    fn imported(names: Vec<String>) -> PostgresWork {
        insert_there("INSERT INTO imported VALUES ($1)", names)
    }

    async fn fold(&self) {}

    async fn checkpoint(&self) -> Result<(), Failure> {
        Ok(())
    }
}

fn insert_there(sql: &'static str, names: Vec<String>) -> PostgresWork {
    PostgresWork::new(move |transaction| {
        Box::pin(async move {
            for name in names {
                transaction.query_typed(sql, &[(&name, Type::TEXT)]).await?;
            }
            Ok(())
        })
    })
}
