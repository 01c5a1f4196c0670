#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod connection;
mod drive;
mod hold;

use bankrail_http::serve::{CertificateFiles, Server, ServerOptions};
use clap::Parser;
use connection::Target;
use std::future::pending;
use std::path::PathBuf;
use std::time::Duration;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Requests at a steady rate, and connections that idle.
#[derive(Parser)]
enum Command {
    /// Sends requests, and prints a line of JSON for each second.
    Drive {
        #[command(flatten)]
        target: Target,
        /// The file of the whole request as it is sent, which is read again every second.
        request: PathBuf,
        /// The connections.
        #[arg(long, default_value_t = 200)]
        connections: usize,
        /// Requests per second and seconds, such as `800:60`; 0 a second: the next once one is
        /// answered. Once for each phase.
        #[arg(required = true, value_parser = drive::phase)]
        phases: Vec<(u32, u32)>,
    },
    /// Opens connections, each of which makes a request, holds them, and uses each once more at the
    /// end of the input.
    Hold {
        #[command(flatten)]
        target: Target,
        request: PathBuf,
        connections: usize,
    },
    /// Answers every request, on this number of connections at most.
    Serve {
        certificate: PathBuf,
        key: PathBuf,
        connections: usize,
    },
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    match Command::parse() {
        Command::Drive {
            target,
            request,
            connections,
            phases,
        } => drive::drive(target, request, connections, phases).await,
        Command::Hold {
            target,
            request,
            connections,
        } => hold::hold(target, request, connections).await,
        Command::Serve {
            certificate,
            key,
            connections,
        } => {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
            println!("{}", listener.local_addr()?.port());
            let tls = CertificateFiles::open(certificate, key)?.server_config()?;
            let router = axum::Router::new().fallback(async || "answered");
            let options = ServerOptions::new()
                .max_connections(connections)
                .idle_timeout(Duration::from_secs(3600));
            Server::new(listener, tls, router, options)
                .run(pending())
                .await;
            Ok(())
        }
    }
}
