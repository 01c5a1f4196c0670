//! Tests of the public API.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)] // helpers outside of test functions

mod body;
mod content;
mod request_key;
mod retry_after;
#[cfg(feature = "serve")]
mod serve;
