//! What only SQLite has: a file.

mod crash;
mod open;
mod restart;
mod transaction;
