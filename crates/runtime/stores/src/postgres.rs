//! Inbox, outbox, seen entries, histories, counters and cached tokens in PostgreSQL 12 or later.
//! Several workers on several machines may share a database, which also has the tables of a bank's
//! ledger and directory of customers.
//!
//! [`PostgresStore`] is a cheap handle to a few connections, which are opened when needed and
//! reopened after a loss. It needs a Tokio runtime.
//!
//! - Workers lease one after the other, and work at the same time. No worker waits for another's
//!   handler.
//! - The cost of a lease depends neither on the backlog nor on earlier deliveries, even while
//!   another transaction, such as a dump, keeps old versions of rows in the tables.
//! - [`InTransaction`] runs operations inside the caller's transaction, on the caller's
//!   connection: a message is received or enqueued, and a history changed, together with the
//!   caller's rows, or not at all. A message is completed and a page recorded together with
//!   [`PostgresWork`].
//! - [`PostgresStore::transaction`] and [`PostgresStore::read`] run the caller's statements on the
//!   store's connections.
//! - An enqueue wakes the idle workers of other processes (`Outbox::changed`): a store with
//!   waiting workers listens on a separate connection. As a rule, enqueues notify only while a
//!   worker is idle, because transactions that notify wait for each other's commit.
//! - Each session sets isolation level, time-outs and the planner's switches once, and prepares
//!   each statement once. So connect to the server itself or through a pooler that keeps sessions;
//!   through another pooler, set [`PostgresOptions::transaction_pooling`]. The server plans the
//!   caller's `PostgresWork` with its defaults.
//! - Tables are named `bankrail_…` and are in the first schema of the connection's search path.
//! - Message bodies are stored as they were received, in clear: protect the database like the data
//!   in it.
//! - Errors contain the SQLSTATE and the names of constraint and table ([`DatabaseError`]), but not
//!   the server's text, which may quote row values.
//! - A connection string may name several servers, one of which accepts writes: `host=a,b
//!   target_session_attrs=read-write connect_timeout=2`. When another one takes over, operations
//!   fail until it accepts writes, and connections to read-only servers are closed.
//! - An answer is as durable as the server's `synchronous_commit` makes it; leave it on.
//! - Hundreds of messages a second fill a log of the server's default `max_wal_size` (1 GB) in
//!   minutes, and each forced checkpoint makes the log grow faster. Set several gigabytes.

use crate::columns::FromRow;
use bankrail_values::{StoreError, StoreErrorKind};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Socket;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{ToSql, Type};

#[cfg(feature = "client-assertion")]
mod cached;
#[cfg(feature = "rate-limit")]
mod counters;
mod error;
#[cfg(feature = "webhook")]
mod histories;
#[cfg(feature = "mailbox")]
mod inbox;
#[cfg(feature = "mailbox")]
mod outbox;
mod pool;
mod schema;
#[cfg(feature = "statement")]
mod seen;
mod session;
mod transaction;
mod values;

#[cfg(feature = "rate-limit")]
pub use counters::PostgresCounters;
pub use error::DatabaseError;
#[cfg(feature = "webhook")]
pub use histories::PostgresHistories;
pub use pool::Notifications;
pub use transaction::InTransaction;
pub use transaction::{PostgresWork, PostgresWorkFuture};
#[cfg(feature = "mailbox")]
pub use {inbox::PostgresInbox, outbox::PostgresOutbox};

/// The PostgreSQL client of the transactions of [`InTransaction`].
pub use tokio_postgres;

use pool::{PLAN_FREELY, Pool, Pooled};
use session::{Session, Transactions};

/// All stores of the enabled features in a PostgreSQL database.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use bankrail_stores::postgres::{PostgresOptions, PostgresStore, tokio_postgres::NoTls};
///
/// let config = "host=/run/postgresql user=bankrail dbname=bankrail";
/// let store = PostgresStore::connect(config, NoTls, PostgresOptions::new()).await?;
/// let the_same = store.clone();
/// # drop(the_same);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PostgresStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    pool: Pool,
    timeout: Duration,
    /// The workers that wait for messages.
    #[cfg(feature = "mailbox")]
    idle: outbox::Idle,
    /// Notified after each transaction of a caller's work, which may have changed a history.
    #[cfg(feature = "webhook")]
    committed: tokio::sync::Notify,
}

impl PostgresStore {
    /// Connects and brings the tables up to date. `config` is a connection string or URL in the
    /// form of libpq. `tls` is a TLS connector, or [`NoTls`](tokio_postgres::NoTls) for a local
    /// socket or a protected network.
    ///
    /// [`PostgresOptions::operation_timeout`] bounds only connecting: tables of an earlier version
    /// with many messages may take minutes. Programs of an earlier version must not run at the same
    /// time or later.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub async fn connect<T>(
        config: &str,
        tls: T,
        options: PostgresOptions,
    ) -> Result<Self, ConnectError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as tokio_postgres::tls::TlsConnect<Socket>>::Future: Send,
    {
        let timeout = options.operation_timeout;
        let pool = Pool::new(
            config.parse().map_err(ConnectError::database)?,
            tls,
            &options,
        );
        let taken = tokio::time::timeout(timeout, pool.take())
            .await
            .map_err(ConnectError::failed)?;
        let mut client = taken.map_err(|fault| match fault {
            Fault::Connect(error) | Fault::Sql(error) => ConnectError::failed(error),
            other => ConnectError::failed(StoreError::from(other)),
        })?;
        // Without the time-out: a migration of millions of rows takes longer than an operation.
        schema::migrate(&mut client).await?;
        client.give_back();
        let inner = Inner {
            pool,
            timeout,
            #[cfg(feature = "mailbox")]
            idle: outbox::Idle::default(),
            #[cfg(feature = "webhook")]
            committed: tokio::sync::Notify::new(),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Checks that the database can be written, for a check of readiness. The check commits an
    /// update that leaves its row unchanged, so that a full disk or a standby is noticed.
    ///
    /// # Errors
    /// [`StoreError`] if there is no connection, nothing can be written, or no answer comes within
    /// [`PostgresOptions::operation_timeout`].
    pub fn check(&self) -> impl Future<Output = Result<(), StoreError>> + Send + use<> {
        let store = self.clone();
        let sql = "UPDATE bankrail_schema SET version = version";
        async move {
            store
                .with_session(async |session| session.execute(sql, &[]).await.map(drop))
                .await
        }
    }

    /// Returns the inbox of this store.
    #[cfg(feature = "mailbox")]
    #[must_use]
    pub fn inbox(&self) -> PostgresInbox {
        PostgresInbox {
            store: self.clone(),
        }
    }

    /// Returns the outbox of this store.
    #[cfg(feature = "mailbox")]
    #[must_use]
    pub fn outbox(&self) -> PostgresOutbox {
        PostgresOutbox {
            store: self.clone(),
        }
    }

    /// Returns the rate-limit counters of this store, which decide with this clock.
    #[cfg(feature = "rate-limit")]
    #[must_use]
    pub fn counters(&self, clock: crate::CounterClock) -> PostgresCounters {
        PostgresCounters {
            store: self.clone(),
            clock,
        }
    }

    /// Returns the histories of mandates and payments in this store.
    #[cfg(feature = "webhook")]
    #[must_use]
    pub fn histories(&self) -> PostgresHistories {
        PostgresHistories {
            store: self.clone(),
        }
    }
}

/// A parameter with its type, so that an unprepared statement takes one round trip.
type Typed<'a> = (&'a (dyn ToSql + Sync), Type);

impl PostgresStore {
    /// Runs an operation within its maximum duration. Its connection is used again only if it
    /// succeeds; otherwise the connection is closed, which undoes a transaction whose commit was
    /// not sent.
    async fn timed<T>(
        &self,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, StoreError> {
        match tokio::time::timeout(self.inner.timeout, work).await {
            Ok(answer) => answer.map_err(|fault| {
                self.inner.pool.look_at(&fault);
                StoreError::from(fault)
            }),
            Err(late) => Err(StoreError::new(StoreErrorKind::Timeout, late)),
        }
    }

    /// Runs an operation whose statements are each a transaction, within its maximum duration.
    async fn with_session<T>(
        &self,
        work: impl AsyncFnOnce(Session<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.run(Transactions::Each, work).await
    }

    /// Runs an operation that is one transaction ([`Transactions::Own`]), within its maximum
    /// duration.
    async fn with_transaction<T>(
        &self,
        work: impl AsyncFnOnce(Session<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.run(Transactions::Own, work).await
    }

    async fn run<T>(
        &self,
        transactions: Transactions,
        work: impl AsyncFnOnce(Session<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.timed(async {
            let client = self.client().await?;
            let answer = work(client.session(transactions)).await?;
            client.give_back();
            Ok(answer)
        })
        .await
    }

    async fn client(&self) -> Result<Pooled<'_>, Fault> {
        self.inner.pool.take().await
    }

    /// Runs a query of an operator. Because it may read many rows, it is planned each time, for its
    /// parameters and the present tables.
    async fn survey<T: FromRow>(
        &self,
        sql: &'static str,
        parameters: &[Typed<'_>],
    ) -> Result<Vec<T>, StoreError> {
        self.timed(async {
            let mut client = self.client().await?;
            let (transaction, _) = client.begin().await?;
            transaction.batch_execute(PLAN_FREELY).await?;
            let rows = transaction.query_typed(sql, parameters).await?;
            transaction.commit().await?;
            client.give_back();
            rows.iter().map(|row| Ok(T::read(row)?)).collect()
        })
        .await
    }
}

bankrail_values::options! {
    /// Options of a [`PostgresStore`].
    #[derive(Clone, Debug)]
    pub struct PostgresOptions {
        /// The maximum number of connections, at least one; further operations wait. Connections
        /// that listen are extra: that of [`PostgresStore::listen`], and one while workers wait for
        /// messages. Default: 8.
        connections(usize => |most| most.max(1)): usize = 8,
        /// The maximum duration of an operation, the wait for a connection included. A longer one
        /// fails with [`StoreErrorKind::Timeout`]. At most 10 s for a dispatcher, which releases
        /// unanswered leases for 30 s. Default: 5 s.
        operation_timeout: Duration = Duration::from_secs(5),
        /// True for a pooler without sessions, such as PgBouncer with `pool_mode = transaction`.
        /// Statements are then not prepared, each transaction makes the settings of a session, and
        /// [`PostgresStore::listen`] fails: a `DirectoryFollower` and a dispatcher poll at their
        /// intervals. Default: false.
        ///
        /// - Without this option, such a pooler mixes up connections, because statements of two
        ///   programs may have the same name. If the store notices that, the operation fails with
        ///   an error that names this option. Set it, or let the pooler keep sessions.
        /// - Such poolers refuse the parameter `options` of a connection string, or ignore it. A
        ///   `search_path` can be set for the role or the database.
        transaction_pooling: bool = false,
    }
}

/// The error of a PostgreSQL database that could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The tables were written by a later version of this crate.
    #[error("database: expected tables of version {known} at most, found {found}")]
    NewerSchema {
        /// The version found.
        found: u32,
        /// The highest version that this crate knows.
        known: u32,
    },
    /// Another failure, such as a bad connection string, no server, no permission or no answer in
    /// time.
    #[error("cannot connect to the database")]
    Failed {
        /// The cause, which is a [`DatabaseError`] except after a time-out.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl ConnectError {
    fn failed(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed {
            source: source.into(),
        }
    }

    fn database(error: tokio_postgres::Error) -> Self {
        Self::failed(DatabaseError::from(error))
    }
}

/// The cause of a failed operation.
#[derive(Debug)]
enum Fault {
    /// There was no connection, and the operation did not begin.
    Connect(DatabaseError),
    Sql(DatabaseError),
    /// Another worker won a race; a retry reads the new state.
    Lost(&'static str),
    Store(StoreError),
}

impl Fault {
    /// Returns the fault of a record that this version cannot read.
    fn corrupt(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Store(crate::columns::corrupt(cause))
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Sql(error.into())
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        use tokio_postgres::error::SqlState;
        let is = |code: &str, states: &[SqlState]| states.iter().any(|state| state.code() == code);
        match fault {
            Fault::Connect(error) => Self::new(StoreErrorKind::Unavailable, error),
            Fault::Lost(cause) => Self::new(StoreErrorKind::Unavailable, cause),
            Fault::Store(error) => error,
            Fault::Sql(error) => {
                let kind = match error.code() {
                    Some(code) if is(code, &[SqlState::DISK_FULL]) => StoreErrorKind::Full,
                    Some(code)
                        if is(code, &[SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED]) =>
                    {
                        StoreErrorKind::Corrupt
                    }
                    // The server answered: the operation was undone.
                    Some(_) => StoreErrorKind::Unavailable,
                    // The connection was lost: the operation may have been committed.
                    None => StoreErrorKind::Timeout,
                };
                Self::new(kind, error)
            }
        }
    }
}
