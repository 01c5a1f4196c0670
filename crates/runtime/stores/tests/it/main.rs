//! Public-API tests: one suite for all engines of a trait, then tests of each engine.

#![cfg(all(
    feature = "memory",
    feature = "client-assertion",
    feature = "statement",
    feature = "mailbox",
    feature = "rate-limit"
))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a case says what it expects"
)]

#[cfg(any(feature = "sqlite", feature = "redis"))]
mod alike;
mod cached;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "redis"))]
mod counters;
mod engines;
#[cfg(feature = "webhook")]
mod histories;
mod inbox;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "redis"))]
mod linearizable;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod load;
mod outbox;
#[cfg(feature = "webhook")]
mod past;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
mod replay;
mod seen;
#[cfg(feature = "sqlite")]
mod sqlite;
mod tokens;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "redis"))]
mod unreadable;
