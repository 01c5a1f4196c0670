//! Counters, used assertions, access tokens, seen entries and the inbox on Valkey or Redis, for several machines.
//!
//! [`RedisStore`] keeps used assertions, tokens and seen entries, [`RedisInbox`] received messages; their documentation
//! says what they promise. [`RedisCounters`] is the engine of [`CounterStore`](bankrail_rate_limit::CounterStore), as follows.
//!
//! One script decides and charges in one step on the server, and gives the answers that
//! [`decide`](bankrail_rate_limit::decide) gives here, in the same integers. Each customer and call type has one key, so a
//! cluster needs no hash tags. Works from Redis 5 and on every Valkey; tried on Redis 7.0 and Valkey 9.1.
//!
//! ```no_run
//! use bankrail_rate_limit::{CallType, Limiter, Limits, OnStoreError};
//! use bankrail_stores::redis::RedisCounters;
//! use std::sync::Arc;
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let counters = RedisCounters::open("redis://127.0.0.1/")?;
//! let mut limits = Limits::default();
//! limits.set_on_store_error(CallType::Statement, OnStoreError::Allow);
//! let limiter = Limiter::new(limits, Arc::new(counters));
//! # Ok(())
//! # }
//! ```
//!
//! What to know:
//! - The server's clock decides by default, so the callers' clocks do not matter;
//!   [`RedisCounters::with_client_time`] takes the callers' instead, which must then agree.
//! - A charge is never sent twice by this crate. A call that gets no answer fails with
//!   [`StoreErrorKind::Timeout`](bankrail_values::StoreErrorKind::Timeout) and may have charged. A cluster's
//!   connection sends again by itself after a lost connection, which may charge twice, unless it is built with
//!   `ClusterClientBuilder::retries(0)`; keys that have moved to another node are followed here then. A call for a
//!   key that is there while its slot still moves fails, and charges nothing.
//! - Memory pressure must not evict counters: run the server with `maxmemory-policy noeviction`. A failover that loses
//!   acknowledged writes gives back what they charged.

#[cfg(feature = "rate-limit")]
mod counters;
#[cfg(feature = "mailbox")]
mod inbox;
#[cfg_attr(
    not(any(feature = "client-assertion", feature = "mailbox", feature = "rate-limit", feature = "statement")),
    allow(dead_code, reason = "not used without the feature of any trait")
)]
mod script;
#[cfg(any(feature = "client-assertion", feature = "statement"))]
mod store;

#[cfg(feature = "rate-limit")]
pub use counters::RedisCounters;
#[cfg(feature = "mailbox")]
pub use inbox::RedisInbox;
pub use script::RedisUrlError;
#[cfg(any(feature = "client-assertion", feature = "statement"))]
pub use store::RedisStore;
