//! The public interface of the engines: one suite for all engines of a trait, then what each has for itself.

mod engines;
mod replay;
#[cfg(feature = "sqlite")]
mod sqlite;
mod tokens;
