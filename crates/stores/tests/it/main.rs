//! The public interface of the engines, the same tests for every engine of a trait.

#[cfg(feature = "sqlite")]
mod sqlite;
