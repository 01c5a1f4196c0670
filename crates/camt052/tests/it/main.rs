//! The public interface, as a user of the crate sees it.

// The helpers of tests say what they expect as the tests do.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod findings;
mod payload_table;
mod pyiso20022;
mod reading;
mod samples;
mod shared;
mod statements;
mod streaming;
mod tree;
mod writing;
