//! Tests of the public API: sealing, opening and attacks, on each back end that is compiled in.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod envelopes;

#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod hostile;
#[cfg(feature = "josekit")]
mod josekit_partner;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod messages;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod remote;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod shared;
#[cfg(any(feature = "aws-lc", feature = "josekit"))]
mod vectors;
