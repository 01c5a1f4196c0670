//! Public-API tests.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests say what they expect"
)]

mod archives;
mod decision;
mod models;
mod schedules;
mod traits;
mod values;
