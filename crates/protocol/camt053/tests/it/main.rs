//! The public interface, as a user of the crate sees it.

// The helpers of tests say what they expect as the tests do.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod documents;
mod reading;
mod samples;
