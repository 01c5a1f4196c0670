//! Tests of the public API.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests say what they expect like tests do

#[cfg(feature = "json")]
mod json;
