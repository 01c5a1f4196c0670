//! Engines for the store traits of the bankrail crates: in memory, SQLite, PostgreSQL, Valkey or Redis.
//!
//! What it is: the memory behind used assertions, access tokens, imported statement entries, and the inbox and outbox of
//! the webhooks. The traits live in the crates whose rules they serve; this crate keeps what they are told to keep, and
//! says it only once it is kept.
//!
//! What it is not: it decides nothing. No rule of the service is written here, and no clock is read: every operation
//! that depends on time takes `now`.
//!
//! ```
//! use bankrail_client_assertion::ReplayStore;
//! use bankrail_stores::memory::MemoryStore;
//! use bankrail_values::Timestamp;
//! # #[cfg(feature = "sqlite")]
//! use bankrail_stores::sqlite::SqliteStore;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (now, expires) = ("2024-01-02T03:04:05.000Z".parse()?, "2024-01-02T04:04:05.000Z".parse()?);
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("bankrail.db");
//! # #[cfg(feature = "sqlite")]
//! let store = SqliteStore::open(path)?;
//! # #[cfg(not(feature = "sqlite"))]
//! # let store = MemoryStore::new();
//! assert!(store.claim([7; 32], now, expires).await?); // the first time
//! assert!(!store.claim([7; 32], now, expires).await?); // a replay, also after a restart
//! # let _: (MemoryStore, Timestamp) = (MemoryStore::new(), now);
//! # Ok(())
//! # }
//! ```
//!
//! # Engines
//!
//! | trait | memory | SQLite | PostgreSQL | Valkey, Redis |
//! |---|---|---|---|---|
//! | `ReplayStore` | yes | yes | | yes |
//! | `TokenStore` | yes | yes | | yes |
//! | `SeenEntries` | yes | yes | | yes |
//! | `Inbox` | yes | yes, also in `SqliteStore::transaction` | yes, also in `InTransaction` | yes |
//! | `TransactionalInbox` | | yes | yes | |
//! | `Outbox` | yes | yes, also in `SqliteStore::transaction` | yes, also in `InTransaction` | |
//!
//! One suite runs over all engines of a trait and compares them with a plain model on random operations, so they answer
//! alike. Counters in memory are `bankrail-rate-limit`'s own `Limiter`, on Valkey or Redis those of the feature `redis`, which
//! go by the server's clock unless told otherwise.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `sqlite` (default) | `sqlite::SqliteStore`, with SQLite built in: needs a C compiler |
//! | `postgres` | `postgres::PostgresStore` |
//! | `redis` | `redis`: what several machines share on Valkey or Redis, rate-limit counters among it |
//!
//! # Retention
//!
//! Used assertions and tokens go when they have expired, by the way. The rest stays until somebody has it forgotten, because
//! only the caller knows how long it is needed:
//!
//! | what | forgotten by | needed for |
//! |---|---|---|
//! | completed messages of an inbox | the worker's `retention`, `Inbox::forget`; on Valkey and Redis after 30 days at first | recognising duplicates: longer than the sender tries again, dead letters included |
//! | delivered messages of an outbox, with their attempts | the dispatcher's `retention`, `Outbox::forget` | support; not enqueueing a message twice |
//! | imported entries | `SeenEntries::forget_before` | statements that overlap |
//! | what was set aside, dead letters | nobody; they become pending again by `Inbox::retry` and `Outbox::resend` | somebody must look at them |
//!
//! Memory stores hold what was not forgotten up to their capacity, and are full then.
//!
//! # Security
//!
//! - Access tokens and assertions are stored as SHA-256 only; they are random or signed, so a stolen file gives none back.
//! - Message bodies are stored in clear, with names and accounts: restrict and encrypt file and database as you do the
//!   ledger's. Nothing of them is logged or shown by `Debug`.
//! - When a store fails, callers must refuse (no token without a claim, no acknowledgement without a stored message). A
//!   [`StoreErrorKind::Timeout`](bankrail_values::StoreErrorKind::Timeout) may have taken effect.
//! - A used assertion is remembered until it expires by the caller's clock. Should that clock jump ahead and be set back,
//!   what expired in between may have been dropped, and could be used again until it expires once more.
//! - Valkey and Redis must run with `maxmemory-policy noeviction`: an assertion that was evicted can be used again. What a
//!   failover may lose stands at `redis::RedisStore`.

#![forbid(unsafe_code)]

/// Why the store itself made an entry a dead letter.
#[cfg(all(feature = "mailbox", any(feature = "sqlite", feature = "postgres", feature = "redis")))]
const UNREADABLE: &str = "the stored entry is unreadable";

/// How many entries one look at an inbox makes ready at most: of many that come due at once, later looks see to the rest.
#[cfg(all(feature = "mailbox", any(feature = "sqlite", feature = "postgres")))]
const MOST_WOKEN: u32 = 1000;

#[cfg(feature = "memory")]
pub mod memory;
#[cfg(all(feature = "postgres", feature = "mailbox"))]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "sqlite")]
pub mod sqlite;
