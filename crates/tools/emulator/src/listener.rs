//! Servers on loopback, over TLS with a certificate made at start, or plain.

use crate::certificate::{Certificate, CertificateAuthority};
use axum::Router;
use bankrail_http::serve::{Server, ServerOptions, server_config};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The certificate of a bank, and the authority that its clients trust.
#[derive(Debug)]
pub(crate) struct OwnCertificate {
    pub(crate) authority_pem: String,
    certificate: Certificate,
}

impl OwnCertificate {
    pub(crate) fn generate() -> Self {
        let authority = CertificateAuthority::new().expect("the crypto provider makes keys");
        let certificate = authority
            .certificate(None)
            .expect("the crypto provider makes keys");
        Self {
            authority_pem: authority.pem(),
            certificate,
        }
    }
}

/// A port on loopback that is bound and not served yet.
pub(crate) struct Bound {
    socket: TcpListener,
    address: SocketAddr,
}

impl Bound {
    pub(crate) async fn any_port() -> Self {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("loopback has a free port");
        let address = socket.local_addr().expect("a bound socket has an address");
        Self { socket, address }
    }

    /// Returns the base address: `https` with a certificate, else `http`.
    pub(crate) fn url(&self, certificate: Option<&OwnCertificate>) -> String {
        let scheme = if certificate.is_some() {
            "https"
        } else {
            "http"
        };
        format!("{scheme}://{}", self.address)
    }

    pub(crate) fn serve(self, router: Router, certificate: Option<&OwnCertificate>) -> Running {
        let server = match certificate {
            Some(OwnCertificate { certificate, .. }) => {
                let config = server_config(
                    certificate.chain_pem.as_bytes(),
                    certificate.key_pem.as_bytes(),
                );
                let mut config = config.expect("the key is the certificate's");
                // Allows only HTTP/1.1, so that a broken answer breaks its own connection and no
                // other answer.
                config.alpn_protocols = vec![b"http/1.1".to_vec()];
                Server::new(self.socket, config, router, ServerOptions::new())
            }
            None => Server::without_tls(self.socket, router, ServerOptions::new()),
        };
        Running(tokio::spawn(server.run(std::future::pending())))
    }
}

/// A server that ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Running(JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}
