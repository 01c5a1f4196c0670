//! Tests for SQLite only: its file.

mod crash;
mod open;
mod restart;
mod transaction;
