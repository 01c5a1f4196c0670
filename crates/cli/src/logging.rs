//! The log of the commands that keep running, on standard error.

use std::io::IsTerminal as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::prelude::*;

/// Writes warnings and errors to standard error, or what `RUST_LOG` says. Colours are for terminals without NO_COLOR.
pub(crate) fn start() {
    let asked = std::env::var("RUST_LOG").ok().and_then(|text| text.parse::<Targets>().ok());
    let wanted = asked.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colors = std::io::stderr().is_terminal() && !plain;
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(colors);
    // An error says that somebody else has started a log.
    let _ = tracing_subscriber::registry().with(lines).with(wanted).try_init();
}
