//! Used assertions, issued and cached access tokens and seen entries, for several machines.

#[cfg(feature = "client-assertion")]
mod cached;
#[cfg(feature = "client-assertion")]
mod expiring;
#[cfg(feature = "statement")]
mod seen;
#[cfg(feature = "client-assertion")]
mod tokens;

use super::RenewedConnection;
use super::script::{RedisUrlError, Script, Server, manager};
use bankrail_values::StoreError;
use redis::Cmd;
use redis::aio::ConnectionLike;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

bankrail_values::options! {
    /// Options of a [`RedisStore`].
    #[derive(Clone, Debug)]
    pub struct RedisStoreOptions {
        /// The prefix of the keys, before `replay:`, `token:` or `cached-token:` and a hash, or by
        /// `seen:{ACCOUNT}`. Default: `bankrail:`.
        prefix(&str => |prefix| prefix.into()): Box<str> = "bankrail:".into(),
        /// The maximum duration of a call, connecting included. Default: 1 s.
        timeout: Duration = Duration::from_secs(1),
        /// The maximum number of keys of an account. A page that does not fit is refused as a whole
        /// with [`StoreErrorKind::Full`](bankrail_values::StoreErrorKind::Full), because forgotten
        /// entries would be imported again. Default: 1,000,000.
        #[cfg(feature = "statement")]
        seen_capacity: u32 = 1_000_000,
        /// The time without a record after which the server drops an account, with its position and
        /// its entries without a day, by the server's clock. The time must be longer than any
        /// statement reaches back. Default: unused accounts stay.
        #[cfg(feature = "statement")]
        idle_retention(Duration => Some): Option<Duration> = None,
    }
}

/// Used assertions ([`ReplayStore`](bankrail_client_assertion::ReplayStore)), access tokens
/// ([`TokenStore`](bankrail_client_assertion::token::TokenStore)), a customer's own tokens
/// ([`TokenCache`](bankrail_client_assertion::token::TokenCache)) and imported entries
/// ([`SeenEntries`](bankrail_statement::SeenEntries)) on a Valkey or Redis server or cluster. A
/// cheap handle: clones share the connection.
///
/// - A used assertion is one key, claimed by one script: of two machines that claim it at the same
///   time, only one is the first.
/// - A token is one key under its SHA-256. A customer's own token is one key under a hash of its
///   purpose. One script removes a token only if it has not been replaced.
/// - The entries of an account and its position are one hash, with an index of the entries' days
///   in the same slot of a cluster, and one script changes both.
/// - The callers' `now` decides on expiry, as with each engine. The server itself drops a used
///   assertion or a token [`EXPIRY_GRACE`](bankrail_values::EXPIRY_GRACE) after its lifetime,
///   counted from the write, so the callers' clocks need not agree with the server's.
/// - Entries stay until [`forget_before`](bankrail_statement::SeenEntries::forget_before), up to
///   [`RedisStoreOptions::seen_capacity`] for each account, and a position stays until the next
///   one. The server drops them only under [`RedisStoreOptions::idle_retention`].
///
/// # Failures
///
/// - This crate sends no request twice. A call without an answer fails with
///   [`StoreErrorKind::Timeout`](bankrail_values::StoreErrorKind::Timeout) and may have taken
///   effect: the assertion may be used up (its sender signs another one), the token stored (no
///   client has received it), the entries recorded (recording them again has no effect).
/// - A cluster connection itself may repeat a request. A claim has its owner, so that its
///   repetition is recognised.
/// - A server that is absent, read-only, loading or out of memory is an error within
///   [`RedisStoreOptions::timeout`]; the service then refuses.
/// - While a cluster moves a slot from node to node key by key, calls for keys that have already
///   moved, and for the entries of an account in that slot, fail with
///   [`StoreErrorKind::Unavailable`](bankrail_values::StoreErrorKind::Unavailable) and have done
///   nothing.
/// - Memory pressure must not evict records: `maxmemory-policy noeviction` is required.
/// - Records that the server loses, by eviction, by a crash without `appendfsync always`, or in a
///   failover to a replica that lags behind, are forgotten: a used assertion can be used again
///   until it expires, a token is refused, a revoked token is valid again, entries are imported
///   again. If that must not happen, use an engine with transactions on disk.
/// - A connection that reads from replicas may still find a revoked token: read from the
///   primaries, the default of the `redis` crate.
///
/// ```no_run
/// use bankrail_client_assertion::{ReplayStore, token::TokenStore};
/// use bankrail_stores::redis::{RedisStore, RedisStoreOptions};
/// use std::sync::Arc;
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let store = RedisStore::open("redis://127.0.0.1/", RedisStoreOptions::new())?;
/// let replay: Arc<dyn ReplayStore> = Arc::new(store.clone());
/// let tokens: Arc<dyn TokenStore> = Arc::new(store);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisStore<C = RenewedConnection> {
    server: Server<C>,
    scripts: Arc<Scripts>,
    options: RedisStoreOptions,
}

struct Scripts {
    #[cfg(feature = "client-assertion")]
    claim: Script,
    #[cfg(feature = "client-assertion")]
    remove: Script,
    #[cfg(feature = "statement")]
    seen: Script,
}

impl RedisStore {
    /// Creates the store on the server at `url`, such as `redis://127.0.0.1/`. The first request
    /// connects, and later ones reconnect after the connection was lost or gave no answer
    /// ([`RenewedConnection`]). Call this within a tokio runtime.
    ///
    /// # Errors
    /// [`RedisUrlError`] if `url` is not a URL of a server, or needs a feature that this build does
    /// not have.
    pub fn open(url: &str, options: RedisStoreOptions) -> Result<Self, RedisUrlError> {
        Ok(Self::over(manager(url)?, options))
    }
}

impl<C: ConnectionLike + Clone + Send + Sync> RedisStore<C> {
    /// Creates the store over this connection: a multiplexed connection, a connection manager or a
    /// cluster connection.
    #[must_use]
    pub fn over(connection: C, options: RedisStoreOptions) -> Self {
        let scripts = Scripts {
            #[cfg(feature = "client-assertion")]
            claim: Script::new(tokens::SCRIPT),
            #[cfg(feature = "client-assertion")]
            remove: Script::new(cached::SCRIPT),
            #[cfg(feature = "statement")]
            seen: Script::new(seen::SCRIPT),
        };
        Self {
            server: Server {
                connection,
                timeout: options.timeout,
            },
            scripts: Arc::new(scripts),
            options,
        }
    }

    /// Checks that the server can be written, for a check of readiness. The check sets a key that
    /// expires after a minute, so that full memory or a replica is noticed. On a cluster the check
    /// queries one node.
    ///
    /// # Errors
    /// [`StoreError`] if there is no connection, nothing can be written, or no answer comes within
    /// [`RedisStoreOptions::timeout`].
    pub async fn check(&self) -> Result<(), StoreError> {
        let key = format!("{}check", self.options.prefix);
        self.server.ask(&Cmd::set_ex(key, 1, 60)).await
    }
}

impl<C> fmt::Debug for RedisStore<C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RedisStore")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
