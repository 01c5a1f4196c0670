//! The public API: keys in and out, tokens, published vectors, remote keys; on every back end that
//! is compiled in.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod base64url;
mod headers;
mod key_sets;

#[cfg(all(feature = "x509", any(feature = "aws-lc", feature = "josekit")))]
mod certificates;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod keys;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod material;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod remote;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod shared;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod tokens;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod vectors;
