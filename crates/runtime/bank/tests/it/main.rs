//! Tests of the public API: directories and a ledger in files and in memory, with a manual clock.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "helpers of tests say what they expect as tests do"
)]

mod bookings;
mod capture;
mod customers;
mod engines;
mod ledger;
mod past;
mod world;
