//! Inputs that the benchmarks share.

pub mod rate_limit;
pub mod report;
