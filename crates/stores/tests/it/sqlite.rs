//! What only SQLite has: a file.

mod alike;
mod crash;
mod open;
mod restart;
mod transaction;
