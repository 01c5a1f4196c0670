//! Tests of the public API: requests in, answers out, with engines in memory and a manual clock.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "helpers of tests say what they expect as tests do"
)]

mod audit;
#[path = "../../../client/tests/it/authority.rs"]
mod authority;
mod capture;
mod delivery;
mod discovery;
mod heads;
mod leaks;
mod limits;
mod logging;
#[cfg(feature = "metrics")]
mod metrics;
mod numbers;
mod openapi;
mod outcomes;
mod paging;
#[path = "../../../client/tests/it/proxy.rs"]
mod proxy;
mod shape;
mod statement;
mod suites;
mod token;
mod validator;
mod world;
