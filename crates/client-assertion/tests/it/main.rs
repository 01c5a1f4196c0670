//! Tests of the public API.

mod errors;
mod replay;
mod shared_vectors;
mod support;
mod verifying;
