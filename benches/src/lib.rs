//! Inputs that the benchmarks share.
