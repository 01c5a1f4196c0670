//! Tests for SQLite only: its file.

mod archive;
mod crash;
mod damaged;
mod log;
mod once;
mod open;
mod restart;
mod transaction;
