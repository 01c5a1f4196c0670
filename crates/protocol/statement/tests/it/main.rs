//! Tests of the public API.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // as in tests; clippy does not know these helpers as tests

mod accounts;
mod cursors;
mod deduplication;
mod documents;
mod entries;
mod error_bodies;
mod identities;
mod poll_positions;
mod polling;
mod positions;
mod relations;
mod replies;
mod requests;
mod responses;
mod shared_samples;
mod suites;
mod support;
mod walking;
mod wire_names;
