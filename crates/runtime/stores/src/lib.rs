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
#![cfg_attr(
    not(all(
        feature = "memory",
        feature = "sqlite",
        feature = "postgres",
        feature = "redis",
        feature = "client-assertion",
        feature = "statement",
        feature = "rate-limit",
        feature = "webhook"
    )),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        unused_macros,
        reason = "engines share parts that not every trait needs"
    )
)]

/// The error of an entry that the store itself made a dead letter.
const UNREADABLE: &str = "the stored entry is unreadable";

/// The maximum number of entries that one lease makes ready. If more become due at once, later
/// leases make the rest ready.
const MAX_WOKEN_ENTRIES: u32 = 1000;

#[cfg(feature = "client-assertion")]
mod cached;
#[cfg(feature = "rate-limit")]
mod clock;
mod columns;
#[cfg(feature = "rate-limit")]
mod counts;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "sqlite")]
pub mod sqlite;

#[cfg(feature = "rate-limit")]
pub use clock::CounterClock;
pub use columns::{Cells, Columns, corrupt};
