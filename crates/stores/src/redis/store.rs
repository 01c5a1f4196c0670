//! Used assertions, access tokens and seen entries, for several machines.

#[cfg(feature = "client-assertion")]
mod expiring;
#[cfg(feature = "client-assertion")]
mod replay;
#[cfg(feature = "statement")]
mod seen;
#[cfg(feature = "client-assertion")]
mod tokens;

use super::script::{RedisUrlError, Script, kind_of, manager};
use bankrail_values::{StoreError, StoreErrorKind};
use redis::RedisError;
use redis::aio::{ConnectionLike, ConnectionManager};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Used assertions ([`ReplayStore`](bankrail_client_assertion::ReplayStore)), access tokens
/// ([`TokenStore`](bankrail_client_assertion::token::TokenStore)) and imported entries
/// ([`SeenEntries`](bankrail_statement::SeenEntries)) on a Valkey or Redis server or cluster. A cheap handle: clones
/// share the connection.
///
/// - A used assertion is one key, taken by one script: of two machines that present it at once, one is told that it was
///   the first. A token is one key under its SHA-256. The entries of an account are one hash and an index of their
///   days, in one slot of a cluster, changed by one script.
/// - The callers' `now` decides what has expired, as with every engine. The server drops a used assertion or a token an
///   hour after that by itself, counted from when it was written, so the callers' clocks need not agree with the
///   server's.
/// - Entries stay until [`forget_before`](bankrail_statement::SeenEntries::forget_before), up to
///   [`RedisStore::with_seen_capacity`] for each account; only [`RedisStore::with_idle_retention`] lets the server drop them.
///
/// # What a failure means
///
/// - Nothing is sent twice by this crate. A call without an answer fails with [`StoreErrorKind::Timeout`] and may have
///   been done: the assertion may be used up (its sender signs another one), the token kept (nobody was told it), the
///   entries recorded (record them again: that changes nothing). A cluster's connection may send again by itself; a
///   claim carries its owner, so that the second one is recognised as the first.
/// - A server that is away, read-only, loading or out of memory is an error within [`RedisStore::with_timeout`]; the
///   service then refuses.
/// - While a cluster moves a slot from node to node key by key, calls for what has gone already, and for the entries of
///   an account there, fail with [`StoreErrorKind::Unavailable`] and have done nothing.
/// - Memory pressure must evict nothing: `maxmemory-policy noeviction` is required. What the server loses, by eviction,
///   by a crash without `appendfsync always`, or in a failover to a replica that lags behind, is forgotten: a used
///   assertion can be used once more until it expires, a token is refused, a revoked token holds again, entries are
///   imported again. Where that must not be, use an engine with transactions on disk.
/// - A connection that reads from replicas may find a revoked token still there: let it read from the primaries, which
///   is what the `redis` crate does unless told otherwise.
///
/// ```no_run
/// use bankrail_client_assertion::{ReplayStore, token::TokenStore};
/// use bankrail_stores::redis::RedisStore;
/// use std::sync::Arc;
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = RedisStore::open("redis://127.0.0.1/")?;
/// let replay: Arc<dyn ReplayStore> = Arc::new(store.clone());
/// let tokens: Arc<dyn TokenStore> = Arc::new(store);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisStore<C = ConnectionManager> {
    connection: C,
    scripts: Arc<Scripts>,
    prefix: Box<str>,
    timeout: Duration,
    #[cfg(feature = "statement")]
    seen_capacity: u32,
    #[cfg(feature = "statement")]
    idle_retention: Option<Duration>,
}

struct Scripts {
    #[cfg(feature = "client-assertion")]
    claim: Script,
    #[cfg(feature = "statement")]
    seen: Script,
}

impl RedisStore {
    /// The store on the server at `url`, such as `redis://127.0.0.1/`. Connects with the first request, and again
    /// whenever the connection was lost; must be called within a tokio runtime.
    ///
    /// # Errors
    /// [`RedisUrlError`] when `url` is not one, or asks for what this build does not have.
    pub fn open(url: &str) -> Result<Self, RedisUrlError> {
        Ok(Self::over(manager(url)?))
    }
}

impl<C: ConnectionLike + Clone + Send + Sync> RedisStore<C> {
    /// The store over this connection: a multiplexed one, a manager, a cluster's.
    #[must_use]
    pub fn over(connection: C) -> Self {
        let scripts = Scripts {
            #[cfg(feature = "client-assertion")]
            claim: Script::new(replay::SCRIPT),
            #[cfg(feature = "statement")]
            seen: Script::new(seen::SCRIPT),
        };
        Self {
            connection,
            scripts: Arc::new(scripts),
            prefix: "bankrail:".into(),
            timeout: Duration::from_secs(1),
            #[cfg(feature = "statement")]
            seen_capacity: 1_000_000,
            #[cfg(feature = "statement")]
            idle_retention: None,
        }
    }

    /// What the keys start with instead of `bankrail:`. They go on with `replay:` and a hash, `token:` and a hash, or
    /// `seen:{ACCOUNT}`.
    #[must_use]
    pub fn with_prefix(mut self, prefix: &str) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// How long a call may take, connecting included, instead of 1 s.
    #[must_use]
    pub const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many keys an account may have, instead of 1,000,000. A page that does not fit is refused as a whole with
    /// [`StoreErrorKind::Full`]: to forget entries would be to import them again.
    #[cfg(feature = "statement")]
    #[must_use]
    pub const fn with_seen_capacity(mut self, keys: u32) -> Self {
        self.seen_capacity = keys;
        self
    }

    /// Lets the server forget an account, its entries without a day included, once nothing was recorded for it for so
    /// long by the server's clock. Without this, accounts that are no longer asked for stay. Must be longer than any
    /// statement reaches back.
    #[cfg(feature = "statement")]
    #[must_use]
    pub const fn with_idle_retention(mut self, retention: Duration) -> Self {
        self.idle_retention = Some(retention);
        self
    }

    /// One question, within the time allowed.
    async fn within<T>(&self, asked: impl Future<Output = Result<T, RedisError>>) -> Result<T, StoreError> {
        match tokio::time::timeout(self.timeout, asked).await {
            Ok(answer) => answer.map_err(|error| StoreError::new(kind_of(&error), error)),
            Err(elapsed) => Err(StoreError::new(StoreErrorKind::Timeout, elapsed)),
        }
    }
}

impl<C> fmt::Debug for RedisStore<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RedisStore")
            .field("prefix", &self.prefix)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
