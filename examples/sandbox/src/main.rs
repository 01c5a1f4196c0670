//! Runs both sides of the service in one process, over HTTPS on loopback: tokens, statements,
//! webhooks and limits, step by step. Exits 0 only if each step did what the specification demands.
//!
//! A provider that stays up for other programs is `bankrail provider`, a customer
//! `bankrail biller`.

mod bank;
mod delivery;
mod keys;
mod limits_step;
#[path = "../../report.rs"]
mod report;
mod server;
mod statement_step;
mod tls;
mod token_step;
mod tour;
mod webhook_step;

use std::process::ExitCode;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::prelude::*;

const HELP: &str = "\
A guided tour of both sides of the service on this machine

A provider and its customer talk over HTTPS on loopback, step by step: an access token, statements, webhooks and the
rate limit. Each step prints what was asked and answered. The exit status is 0 only if all did what the
specification says. There are no options.

A provider that stays up for other programs:
  cargo run -p bankrail-cli -- provider
`bankrail provider control send` delivers webhooks, and `bankrail biller` receives them.";

#[tokio::main]
async fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        None => {}
        Some("-h" | "--help") => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Some(_) => {
            eprintln!("{HELP}");
            return ExitCode::from(2);
        }
    }
    let wanted = std::env::var("RUST_LOG")
        .ok()
        .and_then(|text| text.parse::<Targets>().ok())
        .unwrap_or_default();
    tracing_subscriber::registry()
        .with(fmt::layer().with_writer(std::io::stderr))
        .with(wanted)
        .init();
    if rustls::crypto::aws_lc_rs::default_provider()
        .install_default()
        .is_err()
    {
        eprintln!("a TLS provider is already installed");
        return ExitCode::FAILURE;
    }
    match tour::run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            let mut cause = error.source();
            while let Some(next) = cause {
                eprintln!("  because: {next}");
                cause = next.source();
            }
            ExitCode::FAILURE
        }
    }
}
