//! Tests of the public API.

mod deduplication;
mod documents;
mod entries;
mod shared_samples;
mod support;
