//! Tests of the public API. They sign, so they need a back end.
#![cfg(any(feature = "aws-lc", feature = "josekit"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers fail like tests do

mod errors;
mod replay;
mod shared_vectors;
mod support;
mod verifying;
