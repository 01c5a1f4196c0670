//! The public API: keys in and out, tokens, published vectors, remote keys; on every back end that is compiled in.
#![cfg(any(feature = "aws-lc", feature = "josekit"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

#[cfg(feature = "x509")]
mod certificates;
mod keys;
mod remote;
mod shared;
mod tokens;
mod vectors;
