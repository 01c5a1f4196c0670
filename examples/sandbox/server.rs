//! Serving a router over HTTPS on loopback.

use crate::tls::Certificates;
use bankrail::http::serve;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A listener on 127.0.0.1; port 0 lets the system choose one.
pub(crate) fn listen(port: u16) -> Result<TcpListener, Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// `https://localhost:PORT`.
pub(crate) fn base_url(address: SocketAddr) -> String {
    format!("https://localhost:{}", address.port())
}

/// A running HTTPS server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Server {
    /// Serves `router` on 127.0.0.1; port 0 lets the system choose one.
    pub(crate) fn start(router: axum::Router, certificates: &Certificates, port: u16) -> Result<Self, Box<dyn Error>> {
        Self::start_on(listen(port)?, router, certificates)
    }

    /// Serves `router` on a listener.
    pub(crate) fn start_on(
        listener: TcpListener,
        router: axum::Router,
        certificates: &Certificates,
    ) -> Result<Self, Box<dyn Error>> {
        let address = listener.local_addr()?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let server = serve::Server::new(listener, certificates.server_config()?, router);
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(server.run(async {
            // An error says that nobody is left to stop it, which is a stop too.
            let _ = stopped.await;
        }));
        Ok(Self { address, stop, task })
    }

    /// `https://localhost:PORT`.
    pub(crate) fn base_url(&self) -> String {
        base_url(self.address)
    }

    /// Lets requests in progress finish.
    pub(crate) async fn stop(self) -> Result<(), Box<dyn Error>> {
        let _ = self.stop.send(());
        Ok(self.task.await?)
    }
}
