//! The simple values, as users of messages see them.

// Helpers of tests panic on unexpected results like the tests themselves.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod bounds;
mod dates;
#[allow(unreachable_pub)] // as in the crate of a message
mod day_book;
mod engine;
mod findings;
mod identifiers;
mod numbers;
mod sources;
