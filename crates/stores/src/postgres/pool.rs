//! A few connections, opened when needed.

use super::{DatabaseError, Fault};
use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, Socket};

type Connecting<'a> = Pin<Box<dyn Future<Output = Result<Client, Error>> + Send + 'a>>;

/// Opens a connection and starts the task that drives it.
trait Connect: Send + Sync {
    fn connect(&self) -> Connecting<'_>;
}

struct Connector<T> {
    config: Config,
    tls: T,
    session: String,
}

/// The settings of each session.
///
/// - The rules against storing a message twice need this isolation level, whatever the database's default.
/// - A worker that is cut off within a transaction must not keep its locks until the server notices. The time-out of an
///   operation is shorter.
fn session(timeout: Duration) -> String {
    let millis = timeout.as_millis().saturating_mul(2).clamp(1, 2_147_483_647);
    format!(
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
        SET idle_in_transaction_session_timeout = {millis}; SET lock_timeout = {millis}"
    )
}

impl<T> Connect for Connector<T>
where
    T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
    T::Stream: Send,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
{
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            let (client, connection) = self.config.connect(self.tls.clone()).await?;
            tokio::spawn(async move {
                if let Err(error) = connection.await.map_err(DatabaseError::from) {
                    tracing::warn!(%error, "a database connection was lost");
                }
            });
            client.batch_execute(&self.session).await?;
            Ok(client)
        })
    }
}

pub(super) struct Pool {
    connector: Box<dyn Connect>,
    idle: Mutex<Vec<Client>>,
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
        let connector = Box::new(Connector { config, tls, session: session(timeout) });
        Self { connector, idle: Mutex::default(), permits: Semaphore::new(most) }
    }

    /// Takes a connection that was open when it was last used, or opens one.
    pub(super) async fn take(&self) -> Result<Pooled<'_>, Fault> {
        let permit = self.permits.acquire().await.expect("the semaphore is never closed");
        let idle = {
            let mut idle = self.idle();
            idle.retain(|client| !client.is_closed());
            idle.pop()
        };
        let client = match idle {
            Some(client) => client,
            None => self.connector.connect().await.map_err(|error| Fault::Connect(error.into()))?,
        };
        Ok(Pooled { client, pool: self, _permit: permit })
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the configuration, which holds the password.
        out.debug_struct("Pool").field("free", &self.permits.available_permits()).finish_non_exhaustive()
    }
}

/// A connection in use. It is closed when dropped without [`Pooled::give_back`].
pub(super) struct Pooled<'a> {
    client: Client,
    pool: &'a Pool,
    _permit: SemaphorePermit<'a>,
}

impl Pooled<'_> {
    /// Keeps the connection for the next operation.
    pub(super) fn give_back(self) {
        self.pool.idle().push(self.client);
    }
}

impl Deref for Pooled<'_> {
    type Target = Client;
    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Pooled<'_> {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}
