//! The inputs that the benchmarks share, and whether to measure.

pub mod rate_limit;
pub mod report;

/// The processor and the number of its cores, because a ratio to RSA depends on them.
#[must_use]
pub fn processor() -> String {
    let described = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = described
        .lines()
        .find(|line| line.starts_with("model name"));
    let name = name
        .and_then(|line| line.split_once(": "))
        .map_or(std::env::consts::ARCH, |(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {cores} cores")
}

/// Returns true if the benchmarks are to be measured (`cargo bench`), and false if they are only
/// tested (`cargo test --benches`, `cargo bench -- --test`).
#[must_use]
pub fn measuring() -> bool {
    let asked = |name| std::env::args().any(|argument| argument == name);
    asked("--bench") && !asked("--test")
}
