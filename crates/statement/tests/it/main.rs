//! Tests of the public API.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // as in tests; clippy does not know these helpers as tests

mod deduplication;
mod documents;
mod entries;
mod shared_samples;
mod support;
