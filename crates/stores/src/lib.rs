//! Engines for the store traits of the bankrail crates: in memory, SQLite, PostgreSQL, Valkey or Redis.
//!
//! What it is: the durable and the volatile memory behind duplicate checks, tokens, statement polling and webhook
//! delivery. The traits live in the crates whose rules they serve; this crate only keeps what they are told to keep.
//!
//! What it is not: it decides nothing. No rule of the service is written here, and no clock is read: every operation
//! that depends on time takes `now`.

#![forbid(unsafe_code)]

pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "sqlite")]
pub mod sqlite;
