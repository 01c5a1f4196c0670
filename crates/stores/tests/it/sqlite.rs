//! What only SQLite has: a file.

mod crash;
mod open;
mod transaction;
