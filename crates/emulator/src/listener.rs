//! Servers on loopback, over TLS with a certificate made at start, or plain.

use axum::Router;
use bankrail_http::serve::{Server, ServerOptions};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A certificate for 127.0.0.1 and `localhost`, signed with its own key.
#[derive(Debug)]
pub(crate) struct Certificate {
    pem: String,
    chain: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
}

impl Certificate {
    pub(crate) fn generate() -> Self {
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).expect("two names make a certificate");
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        Self { pem: made.cert.pem(), chain: made.cert.der().clone(), key }
    }

    /// The certificate as PEM, which those who trust it need.
    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// HTTP/1.1 alone, so that a broken answer breaks its own connection and no other answer.
    fn server_config(&self) -> ServerConfig {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has the default versions")
            .with_no_client_auth()
            .with_single_cert(vec![self.chain.clone()], PrivateKeyDer::Pkcs8(self.key.clone_key()))
            .expect("the key is the certificate's");
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config
    }
}

/// A port on loopback that is not served yet.
pub(crate) struct Bound {
    socket: TcpListener,
    address: SocketAddr,
}

impl Bound {
    pub(crate) async fn any_port() -> Self {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
        let address = socket.local_addr().expect("a bound socket has an address");
        Self { socket, address }
    }

    /// The base address: `https` with a certificate, else `http`.
    pub(crate) fn url(&self, certificate: Option<&Certificate>) -> String {
        let scheme = if certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    pub(crate) fn serve(self, router: Router, certificate: Option<&Certificate>) -> Running {
        let server = match certificate {
            Some(certificate) => Server::new(self.socket, certificate.server_config(), router, ServerOptions::new()),
            None => Server::without_tls(self.socket, router, ServerOptions::new()),
        };
        Running(tokio::spawn(server.run(std::future::pending())))
    }
}

/// A server that ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Running(JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}
