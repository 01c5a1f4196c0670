//! The public interface, as a user of the crate sees it.

mod findings;
mod payload_table;
mod reading;
mod samples;
mod shared;
mod statements;
mod streaming;
mod tree;
mod writing;
