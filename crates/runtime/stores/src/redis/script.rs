//! Scripts and commands on a server, and the classes of their errors.

use super::RenewedConnection;
use bankrail_values::{StoreError, StoreErrorKind};
use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::{Client, Cmd, ErrorKind, FromRedisValue, RedisError, ServerErrorKind};
use std::time::Duration;

/// A script, which the server knows by its digest.
pub(super) struct Script {
    text: &'static str,
    hash: String,
}

impl Script {
    pub(super) fn new(text: &'static str) -> Self {
        Self {
            text,
            hash: redis::Script::new(text).get_hash().to_owned(),
        }
    }
}

/// A server or cluster, and the maximum duration of a call to it.
#[derive(Clone)]
pub(super) struct Server<C> {
    pub(super) connection: C,
    pub(super) timeout: Duration,
}

impl<C: ConnectionLike + Clone> Server<C> {
    /// Runs a script with these keys: by its digest, or with its text if the server does not have
    /// it. A server that does not have it has done nothing, so the script runs once.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        script: &Script,
        keys: &[&str],
        arguments: impl Fn(&mut Cmd),
    ) -> Result<T, StoreError> {
        let command = |name: &str, script: &str| {
            let mut command = redis::cmd(name);
            command.arg(script).arg(keys.len()).arg(keys);
            arguments(&mut command);
            command
        };
        let mut connection = self.connection.clone();
        let answer = async {
            let answer = ask(&mut connection, &command("EVALSHA", &script.hash)).await;
            match answer.as_ref().map_err(RedisError::kind) {
                Err(ErrorKind::Server(ServerErrorKind::NoScript)) => {
                    ask(&mut connection, &command("EVAL", script.text)).await
                }
                _ => answer,
            }
        };
        self.within(answer).await
    }

    pub(super) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        self.within(ask(&mut self.connection.clone(), command))
            .await
    }

    async fn within<T>(
        &self,
        answer: impl Future<Output = Result<T, RedisError>>,
    ) -> Result<T, StoreError> {
        // The whole call is bounded, connecting included, because a server that hangs answers
        // nothing.
        match tokio::time::timeout(self.timeout, answer).await {
            Ok(answer) => answer.map_err(|error| StoreError::new(kind_of(&error), error)),
            Err(elapsed) => Err(StoreError::new(StoreErrorKind::Timeout, elapsed)),
        }
    }
}

/// Sends a command, and again if its keys have moved to another node of a cluster: a node that
/// reports the move has done nothing.
async fn ask<T: FromRedisValue>(
    connection: &mut impl ConnectionLike,
    command: &Cmd,
) -> Result<T, RedisError> {
    const MAX_MOVES: usize = 3;
    let mut moves = 0;
    loop {
        let answer = command.query_async(connection).await;
        match answer.as_ref().map_err(RedisError::kind) {
            Err(ErrorKind::Server(ServerErrorKind::Moved)) if moves < MAX_MOVES => moves += 1,
            _ => return answer,
        }
    }
}

/// Makes a connection that the first request opens, and that later ones reopen after it was lost or
/// gave no answer.
pub(super) fn manager(url: &str) -> Result<RenewedConnection, RedisUrlError> {
    let config = ConnectionManagerConfig::new()
        .set_number_of_retries(0) // the next request tries again
        .set_connection_timeout(Some(Duration::from_secs(1)))
        .set_response_timeout(None); // the engine's `timeout` bounds the whole call
    let client = Client::open(url).map_err(|error| RedisUrlError(Box::new(error)))?;
    let first = ConnectionManager::new_lazy_with_config(client.clone(), config.clone());
    let first = first.map_err(|error| RedisUrlError(Box::new(error)))?;
    Ok(RenewedConnection::new(first, move || {
        ConnectionManager::new_with_config(client.clone(), config.clone())
    }))
}

/// Returns the kind of an error: [`StoreErrorKind::Timeout`] if the operation may have taken
/// effect. If the server answered an error, the script has written nothing, because it has one
/// write only or had not reached its first.
fn kind_of(error: &RedisError) -> StoreErrorKind {
    match error.kind() {
        ErrorKind::Extension if matches!(error.code(), Some("UNREADABLE" | "WRONGTYPE")) => {
            StoreErrorKind::Corrupt
        }
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => StoreErrorKind::Corrupt,
        ErrorKind::Io if !error.is_connection_refusal() => StoreErrorKind::Timeout,
        _ => StoreErrorKind::Unavailable,
    }
}

/// The error of a server address that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the server's address cannot be used")]
pub struct RedisUrlError(#[source] Box<dyn std::error::Error + Send + Sync>);
