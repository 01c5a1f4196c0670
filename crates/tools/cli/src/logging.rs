//! The log of the commands that run until they are stopped, on standard error.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Returns the names of levels, as values of an argument.
pub(crate) fn levels() -> impl TypedValueParser<Value = LevelFilter> {
    PossibleValuesParser::new(["off", "error", "warn", "info", "debug"])
        .try_map(|name| name.parse::<LevelFilter>())
}

/// Calls a function that reads files, and prints its warnings even if the command has no log or has
/// not started it.
pub(crate) fn alone<T>(read: impl FnOnce() -> T) -> T {
    let log = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::WARN)
        .with_ansi(false)
        .with_writer(std::io::stderr);
    tracing::subscriber::with_default(log.finish(), read)
}

/// Starts the log with the filter `RUST_LOG`, or at `level` if the variable is not set. Modules in
/// `printed` log only errors below the level `info`, because the command prints their other events
/// itself.
pub(crate) fn start(level: LevelFilter, printed: &[&str], colors: bool) {
    let asked = std::env::var("RUST_LOG")
        .ok()
        .and_then(|text| text.parse::<Targets>().ok());
    let targets = asked.unwrap_or_else(|| {
        let targets = Targets::new().with_default(level);
        let errors = level.min(LevelFilter::ERROR);
        let quiet = printed.iter().filter(|_| level < LevelFilter::INFO);
        targets.with_targets(quiet.map(|target| (*target, errors)))
    });
    let layer = tracing_subscriber::fmt::layer()
        .with_ansi(colors)
        .with_writer(std::io::stderr)
        .with_filter(targets);
    // A second log in one process would be a fault of this program, so the error is ignored and the
    // first log stays.
    let _ = tracing_subscriber::registry().with(layer).try_init();
}
