//! Tests of the public API. Those that sign need a back end.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests say what they expect like tests do

mod access_tokens;
mod building;
#[cfg(feature = "serde")]
mod by_serde;
mod error_bodies;
mod names;
mod scopes;
mod token_cache;
mod token_requests;
mod token_responses;

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod errors;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod explaining;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod grants;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod replay;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod shared_vectors;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod support;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod vectors;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod verifying;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod wire_names;
