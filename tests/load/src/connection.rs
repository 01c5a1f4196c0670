//! HTTP/1.1 over TLS by hand, so that the load costs less than its answers.

use crate::Failure;
use clap::Args;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The maximum number of connections from one address, of the server's 256.
const PER_ADDRESS: usize = 200;

#[derive(Args, Clone)]
pub(crate) struct Target {
    /// The port of the service on this machine.
    port: u16,
    /// The authority of its certificate.
    roots: PathBuf,
}

/// Opens connections to a target.
#[derive(Clone)]
pub(crate) struct Dialer {
    port: u16,
    tls: TlsConnector,
}

impl Dialer {
    pub(crate) fn new(target: &Target) -> Result<Self, Failure> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(&target.roots)? {
            roots.add(certificate?)?;
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            port: target.port,
            tls: TlsConnector::from(Arc::new(config)),
        })
    }

    /// Opens a connection, the one with this number: each address has some of them.
    pub(crate) async fn open(&self, number: usize) -> Result<Connection, Failure> {
        let address = u8::try_from(number / PER_ADDRESS % 250)?;
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((Ipv4Addr::new(127, 7, address, 1), 0)))?;
        let stream = socket
            .connect(SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)))
            .await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("localhost")?;
        Ok(Connection {
            stream: self.tls.connect(name, stream).await?,
            buffer: Vec::new(),
            used: false,
        })
    }
}

pub(crate) struct Connection {
    stream: TlsStream<TcpStream>,
    buffer: Vec<u8>,
    /// True after the first answer: from then on the server may close the connection at any time.
    pub(crate) used: bool,
}

impl Connection {
    /// Sends a request and reads the answer. Returns its status, and whether the connection stays.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<(u16, bool), Failure> {
        self.stream.write_all(request).await?;
        self.stream.flush().await?;
        self.buffer.clear();
        let head_end = loop {
            if let Some(at) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            self.read_more().await?;
        };
        let head = String::from_utf8_lossy(self.buffer.get(..head_end).unwrap_or_default())
            .to_ascii_lowercase();
        let member = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value)
        };
        let status = head.split(' ').nth(1).ok_or("expected a status")?.parse()?;
        let length: usize = member("content-length")
            .ok_or("expected content-length")?
            .parse()?;
        let stays = member("connection") != Some("close");
        while self.buffer.len() < head_end + length {
            self.read_more().await?;
        }
        self.used = true;
        Ok((status, stays))
    }

    async fn read_more(&mut self) -> Result<(), Failure> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            return Err("the connection was closed".into());
        }
        Ok(())
    }
}
