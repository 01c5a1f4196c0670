//! Counters, used assertions, issued and cached access tokens, seen entries and the inbox on Valkey
//! or Redis, for several machines.
//!
//! [`RedisStore`] stores used assertions, tokens and seen entries, and [`RedisInbox`] received
//! messages; their documentation states their guarantees. [`RedisCounters`] is the engine of
//! [`CounterStore`](bankrail_rate_limit::CounterStore), as follows.
//!
//! A script decides and charges in one step on the server, with the same integers and answers as
//! [`decide`](bankrail_rate_limit::decide). Each customer and call type has one key, so a cluster
//! needs no hash tags. The engines work with Redis 5 or later and with any Valkey; they are tested
//! with Redis 7.0 and Valkey 9.1.
//!
//! ```no_run
//! use bankrail_rate_limit::{CallType, Limiter, Limits, OnStoreFailure};
//! use bankrail_stores::redis::{RedisCounters, RedisCountersOptions};
//! use std::sync::Arc;
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let counters = RedisCounters::open("redis://127.0.0.1/", RedisCountersOptions::new())?;
//! let mut limits = Limits::default();
//! limits.set_on_store_failure(CallType::Statement, OnStoreFailure::Allow);
//! let limiter = Limiter::new(limits, Arc::new(counters));
//! # Ok(())
//! # }
//! ```
//!
//! Guarantees and limits:
//! - [`CounterClock`](crate::CounterClock) selects the clock that decides, by default the server's.
//! - This crate never sends a charge twice. A call that gets no answer fails with
//!   [`StoreErrorKind::Timeout`](bankrail_values::StoreErrorKind::Timeout) and may have charged.
//! - A cluster connection itself repeats a request after a lost connection, which may charge
//!   twice. Build it with `ClusterClientBuilder::retries(0)`: this crate then follows keys that
//!   have moved to another node.
//! - A [`RenewedConnection`] switches to another connection within seconds after a server hangs.
//!   `open` makes such a connection; wrap a cluster connection in one.
//! - A call for a key that has already moved while its slot is still moving fails and charges
//!   nothing.
//! - Memory pressure must not evict counters: run the server with `maxmemory-policy noeviction`. A
//!   failover that loses acknowledged writes also loses their charges.

#[cfg(feature = "rate-limit")]
mod counters;
#[cfg(feature = "mailbox")]
mod inbox;
mod renewed;
mod script;
mod store;

/// The client crate of the connections that the engines accept.
pub use ::redis;

#[cfg(feature = "rate-limit")]
pub use counters::{RedisCounters, RedisCountersOptions};
#[cfg(feature = "mailbox")]
pub use inbox::{RedisInbox, RedisInboxOptions};
pub use renewed::RenewedConnection;
pub use script::RedisUrlError;
pub use store::{RedisStore, RedisStoreOptions};
