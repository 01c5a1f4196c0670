//! Serving a router over HTTPS on loopback.

use crate::tls::Certificates;
use axum_server::Handle;
use axum_server::tls_rustls::RustlsConfig;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;
use tokio::task::JoinHandle;

/// A running HTTPS server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    handle: Handle<SocketAddr>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Server {
    /// Serves `router` on 127.0.0.1; port 0 lets the system choose one.
    pub(crate) fn start(router: axum::Router, certificates: &Certificates, port: u16) -> Result<Self, Box<dyn Error>> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let handle = Handle::new();
        let config = RustlsConfig::from_config(certificates.server_config()?);
        let server = axum_server::from_tcp_rustls(listener, config)?.handle(handle.clone());
        let task = tokio::spawn(server.serve(router.into_make_service()));
        Ok(Self { address, handle, task })
    }

    /// `https://localhost:PORT`.
    pub(crate) fn base_url(&self) -> String {
        format!("https://localhost:{}", self.address.port())
    }

    /// Lets requests in progress finish, for up to five seconds.
    pub(crate) async fn stop(self) -> Result<(), Box<dyn Error>> {
        self.handle.graceful_shutdown(Some(Duration::from_secs(5)));
        Ok(self.task.await??)
    }
}
