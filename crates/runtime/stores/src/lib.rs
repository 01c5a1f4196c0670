#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

/// The error of an entry that the store itself made a dead letter.
#[cfg(all(
    feature = "mailbox",
    any(feature = "sqlite", feature = "postgres", feature = "redis")
))]
const UNREADABLE: &str = "the stored entry is unreadable";

/// The maximum number of entries that one lease makes ready. If more become due at once, later
/// leases make the rest ready.
#[cfg(all(feature = "mailbox", any(feature = "sqlite", feature = "postgres")))]
const MAX_WOKEN_ENTRIES: u32 = 1000;

#[cfg(all(
    feature = "client-assertion",
    any(
        feature = "memory",
        feature = "sqlite",
        feature = "postgres",
        feature = "redis"
    )
))]
mod cached;
#[cfg(all(feature = "rate-limit", any(feature = "postgres", feature = "redis")))]
mod clock;
#[cfg(any(
    feature = "sqlite",
    feature = "postgres",
    all(feature = "redis", feature = "mailbox")
))]
#[allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "not used with every feature"
)]
mod columns;
#[cfg(all(feature = "rate-limit", any(feature = "sqlite", feature = "postgres")))]
mod counts;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "sqlite")]
pub mod sqlite;

#[cfg(all(feature = "rate-limit", any(feature = "postgres", feature = "redis")))]
pub use clock::CounterClock;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use columns::Cells;
