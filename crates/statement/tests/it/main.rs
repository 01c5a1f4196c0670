//! Tests of the public API.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests say what they expect like tests do

mod deduplication;
mod documents;
mod entries;
mod shared_samples;
mod support;
