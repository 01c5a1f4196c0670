//! Both sides of the service in one process, over HTTPS on loopback.
//!
//! - `sandbox` walks through tokens, statements, webhooks and limits, step by step, and exits 0 only if each step did
//!   what the specification says.
//! - `sandbox serve` keeps the provider running until Ctrl-C and prints commands for another terminal.
//! - `sandbox assertion` prints an assertion of its customer, valid for an hour.
//! - `sandbox receive` keeps the customer's webhook receivers running until Ctrl-C.
//! - `sandbox send --to URL` delivers one of each webhook message to a receiver.

mod bank;
mod data;
mod delivery;
mod files;
mod keys;
mod limits_step;
mod receive;
mod send;
mod serve;
mod server;
mod statement_step;
mod tls;
mod token_step;
mod tour;
mod webhook_step;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::prelude::*;

/// Both sides of the service on this machine.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Keeps the provider running until Ctrl-C.
    Serve {
        /// The folder of keys, certificates and the database.
        #[arg(long, default_value = "sandbox-data")]
        data: PathBuf,
        /// The port on 127.0.0.1; 0 lets the system choose one.
        #[arg(long, default_value_t = 8443)]
        port: u16,
        /// Whether calls are limited.
        #[arg(long, value_enum, default_value_t = serve::Limits::On)]
        limits: serve::Limits,
    },
    /// Prints an assertion of the customer, valid for an hour.
    Assertion {
        /// The folder of `serve`.
        #[arg(long, default_value = "sandbox-data")]
        data: PathBuf,
    },
    /// Keeps the customer's webhook receivers running until Ctrl-C.
    Receive {
        /// The folder of `serve`, in which received messages are stored too.
        #[arg(long, default_value = "sandbox-data")]
        data: PathBuf,
        /// The port on 127.0.0.1; 0 lets the system choose one.
        #[arg(long, default_value_t = 9443)]
        port: u16,
        /// The API key that a sender must present.
        #[arg(long, default_value = "receiver-key")]
        api_key: String,
    },
    /// Delivers one of each webhook message.
    Send {
        /// The base address of the receivers, such as https://localhost:9000.
        #[arg(long)]
        to: String,
        /// The folder of `serve`.
        #[arg(long, default_value = "sandbox-data")]
        data: PathBuf,
        /// A PEM file of certificate authorities to trust in addition to the sandbox's own.
        #[arg(long)]
        ca: Option<PathBuf>,
        /// The API key that the receiver expects.
        #[arg(long, default_value = "receiver-key")]
        api_key: String,
        /// Allows http to loopback addresses: the message is sealed, the API key is not.
        #[arg(long)]
        danger_allow_http: bool,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let wanted = std::env::var("RUST_LOG").ok().and_then(|text| text.parse::<Targets>().ok()).unwrap_or_default();
    tracing_subscriber::registry().with(fmt::layer().with_writer(std::io::stderr)).with(wanted).init();
    if rustls::crypto::aws_lc_rs::default_provider().install_default().is_err() {
        eprintln!("a TLS provider is already installed");
        return ExitCode::FAILURE;
    }
    let outcome = match Arguments::parse().command {
        None => tour::run().await,
        Some(Command::Serve { data, port, limits }) => serve::run(&data, port, limits).await,
        Some(Command::Assertion { data }) => serve::print_assertion(&data),
        Some(Command::Receive { data, port, api_key }) => receive::run(&data, port, &api_key).await,
        Some(Command::Send { to, data, ca, api_key, danger_allow_http }) => {
            send::run(&to, &data, ca.as_deref(), &api_key, danger_allow_http).await
        }
    };
    match outcome {
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
