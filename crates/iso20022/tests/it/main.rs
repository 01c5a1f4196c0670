//! The simple values, as users of messages see them.

// The helpers of tests say what they expect as the tests do.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod dates;
mod identifiers;
mod numbers;
