//! Tests of the public API.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests say what they expect like tests do

#[cfg(feature = "coarse-clock")]
mod coarse_clock;
mod currencies;
mod dates;
mod decimals;
mod errors;
mod generated;
mod hashes;
#[cfg(feature = "json")]
mod json;
mod money;
mod secrets;
mod texts;
mod time_uuids;
mod timestamps;
mod uuids;
