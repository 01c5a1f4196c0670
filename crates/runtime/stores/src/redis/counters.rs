//! Rate-limit counters, with one script call for each decision.

use super::RenewedConnection;
use super::script::{RedisUrlError, Script, Server, manager};
use crate::CounterClock;
use bankrail_rate_limit::{
    Algorithm, Charge, CounterStore, Counting, Counts, Decision, MAX_WINDOWS, State,
};
use bankrail_values::{EXPIRY_GRACE, StoreError, StoreErrorKind, StoreFuture, Timestamp};
use redis::Cmd;
use redis::aio::ConnectionLike;
use std::fmt;
use std::time::Duration;

const SCRIPT: &str = include_str!("charge.lua");

bankrail_values::options! {
    /// Options of [`RedisCounters`].
    #[derive(Clone, Debug)]
    pub struct RedisCountersOptions {
        /// The prefix of the keys, before the call type's name, `:` and the customer. Default:
        /// `bankrail:limit:`.
        prefix(&str => |prefix| prefix.into()): Box<str> = "bankrail:limit:".into(),
        /// The maximum duration of a call, connecting included. Default: 100 ms.
        timeout: Duration = Duration::from_millis(100),
        /// The clock that decides. Default: the server's.
        clock: CounterClock = CounterClock::Server,
    }
}

/// Counters on a Valkey or Redis server or cluster, over any connection of the `redis` crate that
/// can be cloned.
pub struct RedisCounters<C = RenewedConnection> {
    server: Server<C>,
    script: Script,
    options: RedisCountersOptions,
}

impl RedisCounters {
    /// Creates counters on the server at `url`, such as `redis://127.0.0.1/`. The first request
    /// connects, and later ones reconnect after the connection was lost or gave no answer
    /// ([`RenewedConnection`]). Call this within a tokio runtime.
    ///
    /// # Errors
    /// [`RedisUrlError`] if `url` is not a URL of a server, or needs a feature that this build does
    /// not have.
    pub fn open(url: &str, options: RedisCountersOptions) -> Result<Self, RedisUrlError> {
        Ok(Self::over(manager(url)?, options))
    }
}

impl<C: ConnectionLike + Clone> RedisCounters<C> {
    /// Creates counters over this connection: a multiplexed connection, a connection manager or a
    /// cluster connection.
    #[must_use]
    pub fn over(connection: C, options: RedisCountersOptions) -> Self {
        Self {
            server: Server {
                connection,
                timeout: options.timeout,
            },
            script: Script::new(SCRIPT),
            options,
        }
    }

    /// Decides on the server.
    async fn decide(&self, charge: Charge<'_>) -> Result<Decision, StoreError> {
        if charge.policy().windows().is_empty() {
            return Ok(Decision::from_engine(
                State::new(),
                &charge,
                charge.now(),
                [false; MAX_WINDOWS],
                false,
            ));
        }
        let prefix = &self.options.prefix;
        let key = format!("{prefix}{}:{}", charge.call_type(), charge.customer());
        let arguments = |command: &mut Cmd| self.arguments(command, &charge);
        let answer: Vec<i64> = self.server.run(&self.script, &[&key], arguments).await?;
        read(&answer, &charge).ok_or_else(|| StoreErrorKind::Corrupt.into())
    }

    fn arguments(&self, command: &mut Cmd, charge: &Charge<'_>) {
        match self.options.clock {
            CounterClock::Server => command.arg(""),
            CounterClock::Callers => command.arg(charge.now().unix_millis()),
        };
        command.arg(charge.cost());
        command.arg(if charge.policy().algorithm() == Algorithm::Fixed {
            "fixed"
        } else {
            "sliding"
        });
        command.arg(if charge.policy().counting() == Counting::Attempts {
            "attempts"
        } else {
            "admitted"
        });
        command.arg(i64::try_from(EXPIRY_GRACE.as_millis()).unwrap_or(i64::MAX));
        for window in charge.policy().windows() {
            command.arg(window.millis()).arg(window.limit());
        }
    }
}

impl<C: ConnectionLike + Clone + Send + Sync> CounterStore for RedisCounters<C> {
    fn charge<'a>(&'a self, charge: Charge<'a>) -> StoreFuture<'a, Decision> {
        Box::pin(self.decide(charge))
    }
}

/// Reads the script's answer. Returns `None` if the answer is malformed.
fn read(answer: &[i64], charge: &Charge<'_>) -> Option<Decision> {
    let &[
        asked,
        refused,
        high_water,
        ahead @ (0 | 1),
        ref counters @ ..,
    ] = answer
    else {
        return None;
    };
    let windows = charge.policy().windows();
    if counters.len() != 2 * windows.len()
        || high_water < asked
        || refused < 0
        || refused >> windows.len() != 0
    {
        return None;
    }
    let mut counts = Vec::with_capacity(MAX_WINDOWS);
    for (window, pair) in windows.iter().zip(counters.chunks_exact(2)) {
        let &[current, previous] = pair else {
            return None;
        };
        let current = u32::try_from(current).ok()?;
        let previous = u32::try_from(previous).ok()?;
        counts.push(Counts {
            length: window.millis(),
            current,
            previous,
        });
    }
    let state = State::from_counts(Some(Timestamp::from_unix_millis(high_water)?), &counts)?;
    let refused = [0, 1, 2].map(|at| refused >> at & 1 == 1);
    Some(Decision::from_engine(
        state,
        charge,
        Timestamp::from_unix_millis(asked)?,
        refused,
        ahead == 1,
    ))
}

impl<C> fmt::Debug for RedisCounters<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RedisCounters")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_rate_limit::{CallType, default_limits};

    #[test]
    fn an_answer_that_is_none_is_not_believed() {
        let policy = default_limits(CallType::Token);
        let charge = Charge::new("A", CallType::Token, &policy, Timestamp::UNIX_EPOCH, 1).unwrap();
        let decision = read(&[5, 0, 5, 0, 1, 0, 1, 0], &charge).unwrap();
        assert!(decision.is_allowed());
        assert_eq!(decision.remaining(), Some(1));
        for bad in [
            &[][..],
            &[5, 0, 5, 0],
            &[5, 0, 5, 0, 1, 0, 1],
            &[5, 0, 5, 0, 1, 0, 1, 0, 0],
            &[5, 4, 5, 0, 1, 0, 1, 0],
            &[5, -1, 5, 0, 1, 0, 1, 0],
            &[5, 0, 4, 0, 1, 0, 1, 0],
            &[5, 0, 5, 2, 1, 0, 1, 0],
            &[5, 0, 5, 0, -1, 0, 1, 0],
            &[5, 0, 5, 0, 1 << 31, 0, 1, 0],
            &[5, 0, i64::MAX, 0, 1, 0, 1, 0],
        ] {
            assert!(read(bad, &charge).is_none(), "{bad:?}");
        }
    }
}
