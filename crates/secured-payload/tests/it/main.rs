//! The public API: messages sealed, opened, attacked; on every back end that is compiled in.
#![cfg(any(feature = "aws-lc", feature = "josekit"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod hostile;
#[cfg(feature = "josekit")]
mod josekit_partner;
mod messages;
mod remote;
mod shared;
mod vectors;
