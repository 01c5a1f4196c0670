//! Inputs that the benchmarks share.

pub mod report;
pub mod rate_limit;
