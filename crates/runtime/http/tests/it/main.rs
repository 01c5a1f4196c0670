//! Tests of the public API.
#![allow(missing_docs, clippy::unwrap_used, clippy::indexing_slicing)] // helpers outside of test functions

mod body;
#[cfg(all(feature = "serve", feature = "tls"))]
mod certificate_files;
mod content;
mod head_bounds;
#[cfg(feature = "serve")]
mod heads;
#[cfg(feature = "operations")]
mod operations;
mod request_key;
mod retry_after;
#[cfg(feature = "serve")]
mod serve;
