//! The pool of a few connections, which are opened when needed.

use super::session::{Pooling, Prepared, Session, Transactions};
use super::{DatabaseError, Fault, PostgresOptions};
use bankrail_values::{StoreError, StoreErrorKind};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{
    AsyncMessage, Client, Config, Error, IsolationLevel, SimpleQueryMessage, Socket, Transaction,
};

/// Opens a connection and starts the task that drives it. The task forwards notifications to the
/// sender, several as one.
type Connect = dyn Fn(Option<mpsc::Sender<()>>) -> Connecting + Send + Sync;

type Connecting = Pin<Box<dyn Future<Output = Result<Client, DatabaseError>> + Send>>;

/// Returns the settings of each session, or of each transaction (`SET LOCAL`), except the isolation
/// level.
///
/// - The time-outs end the transaction of a worker that is cut off, so that it does not keep its
///   locks until the server notices. They are twice the time-out of an operation, which ends first.
/// - The server keeps one plan for all parameters, and uses indexes. The planner knows neither
///   the few rows of a queue nor the many old versions of rows, and would sometimes read whole
///   tables.
fn settings(set: &str, timeout: Duration) -> String {
    let millis = timeout
        .as_millis()
        .saturating_mul(2)
        .clamp(1, 2_147_483_647);
    format!(
        "{set} idle_in_transaction_session_timeout = {millis}; {set} lock_timeout = {millis};
        {set} enable_seqscan = off; {set} enable_bitmapscan = off; {set} enable_hashjoin = off;
        {set} enable_mergejoin = off; {set} jit = off; {set} plan_cache_mode = force_generic_plan"
    )
}

// Selects the mark of a used connection. A new connection has no such setting, unless a pooler has
// passed it on from another client.
const IS_NEW: &str = "SELECT coalesce(current_setting('bankrail.session', true), '')";

// Sets the isolation level, because the database may have another default, under which two
// transactions could store the same message.
const ISOLATION: &str = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED";

// Restores the planner's defaults until the transaction ends, for the caller's statements and for
// queries of many rows.
pub(super) const PLAN_FREELY: &str = "SET LOCAL enable_seqscan TO DEFAULT;
    SET LOCAL enable_bitmapscan TO DEFAULT;
    SET LOCAL enable_hashjoin TO DEFAULT;
    SET LOCAL enable_mergejoin TO DEFAULT;
    SET LOCAL jit TO DEFAULT;
    SET LOCAL plan_cache_mode TO DEFAULT";

/// Connects, and makes the settings of the session, if it is to have any.
async fn connect<T>(
    config: Config,
    tls: T,
    settings: Option<Arc<str>>,
    sender: Option<mpsc::Sender<()>>,
) -> Result<Client, DatabaseError>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let (client, mut connection) = config.connect(tls).await?;
    tokio::spawn(async move {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            match (message.map_err(DatabaseError::from), &sender) {
                (Ok(AsyncMessage::Notification(_)), Some(sender)) => drop(sender.try_send(())),
                (Ok(_), _) => {}
                (Err(error), _) => {
                    tracing::warn!(%error, "a database connection was lost");
                    break;
                }
            }
        }
    });
    if let Some(settings) = settings {
        for message in client.simple_query(&settings).await? {
            if matches!(message, SimpleQueryMessage::Row(row) if row.get(0) != Some("")) {
                return Err(DatabaseError::session_passed_on());
            }
        }
    }
    Ok(client)
}

struct Connection {
    client: Client,
    prepared: Prepared,
    generation: u64,
}

pub(super) struct Pool {
    connect: Box<Connect>,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
    /// The settings of each transaction, with transaction pooling.
    local: Option<String>,
    /// The generation of connections in use. Connections of an earlier generation are closed.
    generation: AtomicU64,
}

impl Pool {
    pub(super) fn new<T>(config: Config, tls: T, options: &PostgresOptions) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let timeout = options.operation_timeout;
        let (local, settings) = if options.transaction_pooling {
            (Some(settings("SET LOCAL", timeout)), None)
        } else {
            let settings = settings("SET", timeout);
            let once = format!("{IS_NEW}; SET bankrail.session = 'kept'; {ISOLATION}; {settings}");
            (None, Some(Arc::from(once)))
        };
        let connect = move |sender| -> Connecting {
            let (config, tls, settings) = (config.clone(), tls.clone(), settings.clone());
            Box::pin(connect(config, tls, settings, sender))
        };
        Self {
            connect: Box::new(connect),
            idle: Mutex::default(),
            permits: Semaphore::new(options.connections),
            local,
            generation: AtomicU64::new(0),
        }
    }

    /// Takes an idle connection, or opens one.
    pub(super) async fn take(&self) -> Result<Pooled<'_>, Fault> {
        let permit = self
            .permits
            .acquire()
            .await
            .expect("the semaphore is never closed");
        let idle = {
            let mut idle = self.idle();
            idle.retain(|connection| !connection.client.is_closed());
            idle.pop()
        };
        let connection = match idle {
            Some(connection) => connection,
            None => {
                let generation = self.generation.load(Ordering::Relaxed);
                let client = (self.connect)(None).await.map_err(Fault::Connect)?;
                Connection {
                    client,
                    prepared: Prepared::default(),
                    generation,
                }
            }
        };
        Ok(Pooled {
            connection,
            pool: self,
            _permit: permit,
        })
    }

    /// Closes the idle connections after a failure that shows a read-only server. The server is a
    /// standby now, or another server has taken over, so its data may be old even for reading.
    pub(super) fn look_at(&self, fault: &Fault) {
        let read_only = SqlState::READ_ONLY_SQL_TRANSACTION.code();
        if matches!(fault, Fault::Sql(error) if error.code() == Some(read_only)) {
            self.generation.fetch_add(1, Ordering::Relaxed);
            self.idle().clear();
        }
    }

    /// Returns true if connections keep the settings of their session.
    pub(super) fn keeps_sessions(&self) -> bool {
        self.local.is_none()
    }

    /// Opens a connection outside the pool, and listens on a channel.
    pub(super) async fn listen(&self, channel: &str) -> Result<Notifications, Fault> {
        let notifications = self.apart().await?;
        notifications
            .client
            .batch_execute(&format!("LISTEN \"{}\"", channel.replace('"', "\"\"")))
            .await?;
        Ok(notifications)
    }

    /// Opens a connection outside the pool, for listening.
    pub(super) async fn apart(&self) -> Result<Notifications, Fault> {
        if !self.keeps_sessions() {
            let cause =
                "expected a pooler that keeps sessions, found PostgresOptions::transaction_pooling";
            return Err(Fault::Store(StoreError::new(
                StoreErrorKind::Unavailable,
                cause,
            )));
        }
        let (sender, receiver) = mpsc::channel(1);
        let client = (self.connect)(Some(sender)).await.map_err(Fault::Connect)?;
        Ok(Notifications { receiver, client })
    }

    fn pooling<'a>(&'a self, prepared: &'a Prepared) -> Pooling<'a> {
        self.local
            .as_deref()
            .map_or(Pooling::Session(prepared), Pooling::Transaction)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        // A connection is pushed or popped whole, so a panic elsewhere leaves the list whole.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Prints no part of the configuration, which has the password.
bankrail_values::impl_debug!(Pool, self; free: self.permits.available_permits());

/// Notifications on a channel (`LISTEN`), from
/// [`PostgresStore::listen`](super::PostgresStore::listen). Dropping this closes the connection.
pub struct Notifications {
    pub(super) receiver: mpsc::Receiver<()>,
    pub(super) client: Client,
}

impl Notifications {
    /// Waits for the next notification; several that have arrived meanwhile count as one. Returns
    /// `None` after the connection was lost.
    pub async fn next(&mut self) -> Option<()> {
        self.receiver.recv().await
    }
}

bankrail_values::impl_debug!(Notifications);

/// A connection in use. The connection is closed when dropped without [`Pooled::give_back`], which
/// undoes a transaction whose commit was not sent.
pub(super) struct Pooled<'a> {
    connection: Connection,
    pool: &'a Pool,
    _permit: SemaphorePermit<'a>,
}

impl Pooled<'_> {
    /// Returns a session on this connection. [`Pooled::start`] begins the transaction of
    /// [`Transactions::Others`].
    pub(super) fn session(&self, transactions: Transactions) -> Session<'_> {
        let Connection {
            client, prepared, ..
        } = &self.connection;
        Session::new(client, self.pool.pooling(prepared), transactions)
    }

    /// Sends a statement without rows, unprepared, so that later statements are sent after it.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Error> {
        self.connection.client.batch_execute(sql).await
    }

    /// Begins a transaction with this statement, as [`Pooled::batch`] does.
    pub(super) async fn start(&self, begin: &str) -> Result<(), Error> {
        match &self.pool.local {
            Some(local) => self.batch(&format!("{begin}; {local}")).await,
            None => self.batch(begin).await,
        }
    }

    /// Begins a transaction for a caller's work.
    pub(super) async fn begin(&mut self) -> Result<(Transaction<'_>, Pooling<'_>), Error> {
        let builder = self.connection.client.build_transaction();
        let transaction = builder
            .isolation_level(IsolationLevel::ReadCommitted)
            .start()
            .await?;
        let pooling = self.pool.pooling(&self.connection.prepared);
        if let Pooling::Transaction(local) = pooling {
            transaction.batch_execute(local).await?;
        }
        Ok((transaction, pooling))
    }

    /// Returns the connection to the pool.
    pub(super) fn give_back(self) {
        let mut idle = self.pool.idle();
        if self.connection.generation == self.pool.generation.load(Ordering::Relaxed) {
            idle.push(self.connection);
        }
    }
}
