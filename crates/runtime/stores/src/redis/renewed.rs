//! A connection that is replaced when requests get no answer.

use redis::aio::{ConnectionLike, ConnectionManager};
use redis::{
    Arg, Cmd, ErrorKind, Pipeline, RedisError, RedisFuture, RedisResult, ServerErrorKind, Value,
};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};

/// The minimum time between the starts of two attempts.
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(1);

/// The maximum duration of an attempt.
const LONGEST_ATTEMPT: Duration = Duration::from_secs(5);

/// The time that the connection in use has to answer before another one is opened.
const HEAD_START: Duration = Duration::from_millis(200);

/// A connection that is replaced when requests get no answer, because a server or a node of a
/// cluster hangs or has gone without closing its connections. The `redis` crate itself replaces a
/// connection only after an error for a closed one, and a time-out is no such error.
///
/// - An attempt to replace the connection begins after a request that timed out or was dropped.
///   The attempt sends a request without effect to the same node, on the connection in use and on
///   another one. The other connection replaces the one in use if only the other one answers.
/// - Meanwhile requests go on using the old connection. Requests that wait for an answer on the
///   old connection keep it until they end.
/// - No request is sent again.
/// - There is one attempt at a time, at most one a second, and each takes at most 5 s.
///
/// Clones share everything. The engines open such a connection to one server by themselves. For a
/// cluster:
///
/// ```no_run
/// # use bankrail_stores::redis::{
/// #     RedisCounters, RedisCountersOptions, RedisStore, RedisStoreOptions, RenewedConnection,
/// # };
/// # use redis::cluster::ClusterClientBuilder;
/// # async fn example(nodes: Vec<String>) -> Result<(), Box<dyn std::error::Error>> {
/// let client = ClusterClientBuilder::new(nodes).retries(0).build()?;
/// let cluster = client.get_async_connection().await?;
/// let cluster = RenewedConnection::new(cluster, move || {
///     let client = client.clone();
///     async move { client.get_async_connection().await }
/// });
/// let store = RedisStore::over(cluster.clone(), RedisStoreOptions::new());
/// let counters = RedisCounters::over(cluster, RedisCountersOptions::new());
/// # Ok(())
/// # }
/// ```
pub struct RenewedConnection<C = ConnectionManager>(Arc<Inner<C>>);

struct Inner<C> {
    in_use: Mutex<InUse<C>>,
    open: Box<dyn Fn() -> RedisFuture<'static, C> + Send + Sync>,
}

struct InUse<C> {
    connection: C,
    /// The first instant at which the next attempt may begin.
    next_attempt: Instant,
}

impl<C> RenewedConnection<C> {
    /// Wraps a connection, which connections of `open` replace. `open` should fail within a second
    /// or two if a node does not answer, as `ClusterClient::get_async_connection` does by default.
    #[must_use]
    pub fn new<F>(connection: C, open: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = RedisResult<C>> + Send + 'static,
    {
        let in_use = Mutex::new(InUse {
            connection,
            next_attempt: Instant::now(),
        });
        Self(Arc::new(Inner {
            in_use,
            open: Box::new(move || Box::pin(open())),
        }))
    }
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> ConnectionLike for RenewedConnection<C> {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        let inner = &self.0;
        Box::pin(async move {
            let mut connection = inner.in_use().connection.clone();
            let request = Request {
                inner,
                command: Some(command),
                answered: false,
            };
            request.end(connection.req_packed_command(command).await)
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        let inner = &self.0;
        Box::pin(async move {
            let mut connection = inner.in_use().connection.clone();
            let request = Request {
                inner,
                command: pipeline.cmd_iter().next(),
                answered: false,
            };
            request.end(
                connection
                    .req_packed_commands(pipeline, offset, count)
                    .await,
            )
        })
    }

    fn get_db(&self) -> i64 {
        self.0.in_use().connection.get_db()
    }
}

/// A request under way. A drop without an answer means that its caller no longer waits.
struct Request<'a, C: ConnectionLike + Clone + Send + Sync + 'static> {
    inner: &'a Arc<Inner<C>>,
    command: Option<&'a Cmd>,
    answered: bool,
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> Request<'_, C> {
    fn end<T>(mut self, answer: RedisResult<T>) -> RedisResult<T> {
        self.answered = !answer.as_ref().is_err_and(RedisError::is_timeout);
        answer
    }
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> Drop for Request<'_, C> {
    fn drop(&mut self) {
        if !self.answered {
            self.inner.unanswered(self.command);
        }
    }
}

impl<C> Inner<C> {
    fn in_use(&self) -> MutexGuard<'_, InUse<C>> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> Inner<C> {
    /// Begins an attempt, unless it is too early for one.
    fn unanswered(self: &Arc<Self>, command: Option<&Cmd>) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let began = Instant::now();
        let mut in_use = self.in_use();
        if began < in_use.next_attempt {
            return;
        }
        in_use.next_attempt = began + LONGEST_ATTEMPT;
        let connection = in_use.connection.clone();
        let question = question(command);
        drop(in_use);
        let inner = Arc::clone(self);
        runtime.spawn(async move {
            let other = timeout(LONGEST_ATTEMPT, inner.other_than(connection, &question))
                .await
                .ok()
                .flatten();
            let mut in_use = inner.in_use();
            in_use.next_attempt = began + BETWEEN_ATTEMPTS;
            let replaced = other.map(|other| std::mem::replace(&mut in_use.connection, other));
            drop(in_use);
            drop(replaced);
        });
    }

    /// Returns another connection, if only that one answers.
    async fn other_than(&self, mut connection: C, question: &Cmd) -> Option<C> {
        let other = async {
            sleep(HEAD_START).await;
            let mut other = (self.open)().await.ok()?;
            answers(&mut other, question).await.then_some(other)
        };
        tokio::select! {
            biased;
            true = answers(&mut connection, question) => None,
            other = other => other,
        }
    }
}

/// Returns a call of a script that no server has, with the key of this command: the node of the key
/// answers with an error, and nothing runs.
fn question(command: Option<&Cmd>) -> Cmd {
    let key = command.and_then(|command| {
        let mut words = command.args_iter();
        let name = words.next()?;
        let before = if matches!(name, Arg::Simple(b"EVAL" | b"EVALSHA")) {
            2
        } else {
            0
        };
        match words.nth(before)? {
            Arg::Simple(key) => Some(key),
            _ => None,
        }
    });
    let Some(key) = key else {
        return redis::cmd("PING");
    };
    let mut question = redis::cmd("EVALSHA");
    question
        .arg("0000000000000000000000000000000000000000")
        .arg(1)
        .arg(key);
    question
}

/// Returns true if the server, or the node of a cluster that has the key, answers at all.
async fn answers(connection: &mut impl ConnectionLike, question: &Cmd) -> bool {
    use ServerErrorKind::{ClusterDown, MasterDown, Moved};
    match question
        .query_async::<Value>(connection)
        .await
        .as_ref()
        .map_err(RedisError::kind)
    {
        Ok(_) | Err(ErrorKind::Extension) => true,
        Err(ErrorKind::Server(kind)) => !matches!(kind, Moved | ClusterDown | MasterDown),
        Err(_) => false,
    }
}

impl<C> Clone for RenewedConnection<C> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<C> fmt::Debug for RenewedConnection<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RenewedConnection")
            .finish_non_exhaustive()
    }
}
