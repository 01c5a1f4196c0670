//! Tests for SQLite only: its file.

mod crash;
mod log;
mod open;
mod restart;
mod transaction;
