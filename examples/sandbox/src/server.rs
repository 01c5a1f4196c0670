//! Serving a router over HTTPS on loopback.

use crate::tls::Certificates;
use bankrail::http::serve;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A running HTTPS server.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Server {
    /// Serves `router` on 127.0.0.1, at a port that the system chooses.
    pub(crate) async fn start(
        router: axum::Router,
        certificates: &Certificates,
    ) -> Result<Self, Box<dyn Error>> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let server = serve::Server::new(
            listener,
            certificates.server_config()?,
            router,
            serve::ServerOptions::new(),
        );
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server.run(async {
            // An error means that the handle was dropped, which stops the server too.
            let _ = stopped.await;
        }));
        Ok(Self {
            address,
            stop,
            task,
        })
    }

    /// `https://localhost:PORT`.
    pub(crate) fn base_url(&self) -> String {
        format!("https://localhost:{}", self.address.port())
    }

    /// Lets requests in progress finish.
    pub(crate) async fn stop(self) -> Result<(), Box<dyn Error>> {
        let _ = self.stop.send(());
        Ok(self.task.await?)
    }
}
