//! What only SQLite has: a file.

mod open;
