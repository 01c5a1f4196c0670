//! Public-API tests.
#![allow(clippy::unwrap_used, reason = "tests say what they expect")]

mod decision;
mod models;
mod traits;
