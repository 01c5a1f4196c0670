//! A few connections, opened when needed.

use super::session::{Prepared, Session};
use super::{DatabaseError, Fault};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{AsyncMessage, Client, Config, Error, Socket, Transaction};

type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Client, Error>> + Send + 'a>>;

/// Opens a connection and starts the task that drives it. Notifications that reach the connection are told to `tell`,
/// several as one.
trait Connect: Send + Sync {
    fn connect(&self, tell: Option<mpsc::Sender<()>>) -> Connecting<'_>;
}

struct Connector<T> {
    config: Config,
    tls: T,
    settings: String,
}

/// The settings of each session.
///
/// - The rules against storing a message twice need this isolation level, whatever the database's default.
/// - A worker that is cut off within a transaction must not keep its locks until the server notices. The time-out of an
///   operation is shorter.
/// - A plan is kept for all parameters, and goes by the indexes. The planner knows neither how few rows are in a queue
///   nor how many old versions of rows are, and would otherwise read whole tables now and then.
fn settings(timeout: Duration) -> String {
    let millis = timeout.as_millis().saturating_mul(2).clamp(1, 2_147_483_647);
    format!(
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
        SET idle_in_transaction_session_timeout = {millis}; SET lock_timeout = {millis};
        SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
        SET jit = off; SET plan_cache_mode = force_generic_plan"
    )
}

/// The planner's own choice again, until the transaction ends: for statements that are not the store's, and for those
/// that look at much.
pub(super) const PLAN_FREELY: &str = "SET LOCAL enable_seqscan TO DEFAULT; SET LOCAL enable_bitmapscan TO DEFAULT;
    SET LOCAL enable_hashjoin TO DEFAULT; SET LOCAL enable_mergejoin TO DEFAULT; SET LOCAL jit TO DEFAULT;
    SET LOCAL plan_cache_mode TO DEFAULT";

impl<T> Connect for Connector<T>
where
    T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    T::Stream: Send,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    fn connect(&self, tell: Option<mpsc::Sender<()>>) -> Connecting<'_> {
        Box::pin(async move {
            let (client, mut connection) = self.config.connect(self.tls.clone()).await?;
            tokio::spawn(async move {
                while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                    match (message.map_err(DatabaseError::from), &tell) {
                        (Ok(AsyncMessage::Notification(_)), Some(tell)) => drop(tell.try_send(())),
                        (Ok(_), _) => {}
                        (Err(error), _) => {
                            tracing::warn!(%error, "a database connection was lost");
                            break;
                        }
                    }
                }
            });
            client.batch_execute(&self.settings).await?;
            Ok(client)
        })
    }
}

struct Connection {
    client: Client,
    prepared: Prepared,
}

pub(super) struct Pool {
    connector: Box<dyn Connect>,
    idle: Mutex<Vec<Connection>>,
    permits: Semaphore,
}

impl Pool {
    pub(super) fn new<T>(config: Config, tls: T, most: usize, timeout: Duration) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let connector = Box::new(Connector { config, tls, settings: settings(timeout) });
        Self { connector, idle: Mutex::default(), permits: Semaphore::new(most) }
    }

    /// Takes a connection that was open when it was last used, or opens one.
    pub(super) async fn take(&self) -> Result<Pooled<'_>, Fault> {
        let permit = self.permits.acquire().await.expect("the semaphore is never closed");
        let idle = {
            let mut idle = self.idle();
            idle.retain(|connection| !connection.client.is_closed());
            idle.pop()
        };
        let connection = match idle {
            Some(connection) => connection,
            None => {
                let client = self.connector.connect(None).await.map_err(|error| Fault::Connect(error.into()))?;
                Connection { client, prepared: Prepared::default() }
            }
        };
        Ok(Pooled { connection, pool: self, _permit: permit })
    }

    /// A connection of its own, beside those of the pool, which listens on a channel.
    pub(super) async fn listen(&self, channel: &str) -> Result<Notifications, Fault> {
        let (tell, told) = mpsc::channel(1);
        let client = self.connector.connect(Some(tell)).await.map_err(|error| Fault::Connect(error.into()))?;
        client.batch_execute(&format!("LISTEN \"{}\"", channel.replace('"', "\"\""))).await?;
        Ok(Notifications { told, _client: client })
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the configuration, which holds the password.
        out.debug_struct("Pool").field("free", &self.permits.available_permits()).finish_non_exhaustive()
    }
}

/// What a connection of its own hears on a channel (`LISTEN`), of
/// [`PostgresStore::listen`](super::PostgresStore::listen). Dropping it closes the connection.
pub struct Notifications {
    told: mpsc::Receiver<()>,
    _client: Client,
}

impl Notifications {
    /// Waits for the next notification; several that came meanwhile are one. `None`: the connection was lost.
    pub async fn next(&mut self) -> Option<()> {
        self.told.recv().await
    }
}

impl fmt::Debug for Notifications {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Notifications").finish_non_exhaustive()
    }
}

/// A connection in use. It is closed when dropped without [`Pooled::give_back`], which undoes a transaction whose
/// commit was not sent.
pub(super) struct Pooled<'a> {
    connection: Connection,
    pool: &'a Pool,
    _permit: SemaphorePermit<'a>,
}

#[allow(dead_code, reason = "not used with every feature")]
impl Pooled<'_> {
    /// For statements that are each a transaction.
    pub(super) fn each(&self) -> Session<'_> {
        Session::each(&self.connection.client, &self.connection.prepared)
    }

    /// For an operation that is a transaction.
    pub(super) fn own(&self) -> Session<'_> {
        Session::own(&self.connection.client, &self.connection.prepared)
    }

    /// Sends a statement whose answer is no rows. Not prepared, so that what is sent after it runs after it.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Error> {
        self.connection.client.batch_execute(sql).await
    }

    /// Begins a transaction for a caller's work.
    pub(super) async fn begin(&mut self) -> Result<(Transaction<'_>, &Prepared), Error> {
        Ok((self.connection.client.transaction().await?, &self.connection.prepared))
    }

    /// Keeps the connection for the next operation.
    pub(super) fn give_back(self) {
        self.pool.idle().push(self.connection);
    }
}
