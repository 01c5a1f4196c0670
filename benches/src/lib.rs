//! The inputs that the benchmarks share, and whether to measure.

pub mod rate_limit;
pub mod report;

/// Whether to measure (`cargo bench`) or only to test (`cargo test --benches`, `cargo bench -- --test`).
#[must_use]
pub fn measuring() -> bool {
    let asked = |name| std::env::args().any(|argument| argument == name);
    asked("--bench") && !asked("--test")
}
