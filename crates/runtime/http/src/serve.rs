//! A server for the routers of both sides: HTTPS with a bound on everything that a peer can hold
//! open.
//!
//! - [`CertificateFiles`] replaces the certificate while the server runs.
//! - [`Shutdown`] is the signal to stop. A [`Server`] that stops accepts no more connections,
//!   takes no more requests (over HTTP/2 after a GOAWAY), and answers those that it has taken.
//! - An endpoint answers before the time of a request is over, with its own body
//!   ([`AnswerBy`](crate::AnswerBy)). If another service does not answer in time, the server
//!   answers 503, with `X-RequestKey` and without a body.
//! - [`HeadBoundsLayer`](crate::HeadBoundsLayer) answers a request over HTTP/1.1 without `Host`,
//!   and requests that the HTTP stack itself refuses over HTTP/1.1. Reasons are a request line or a
//!   header that cannot be parsed (400), more than 100 headers, or more bytes than
//!   [`ServerOptions::max_header_bytes`] (431 or 414). In place of a request that could not be
//!   read, the service gets `OPTIONS *` with a [`HeadError`](crate::HeadError) as an extension. If
//!   the service's answer does not have the fault's status, as without that layer, the server's own
//!   answer has `X-RequestKey` and no body.
//! - The HTTP stack's own answers stay where no other is possible. Over HTTP/2, the stack resets
//!   a stream or answers its headers 431; over HTTP/1.1, the stack's answer stays if it follows one
//!   that is still being sent.
//!
//! ```no_run
//! use bankrail_http::serve::{Server, ServerOptions};
//! # async fn example<S, B>(router: S, tls: rustls::ServerConfig) -> Result<(), Box<dyn std::error::Error>>
//! # where
//! #     S: bankrail_http::serve::HttpService<B>,
//! #     B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
//! #     B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
//! # {
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8443").await?;
//! // `router` is an axum router, or any other tower service.
//! let server = Server::new(listener, tls, router, ServerOptions::new().max_connections(200));
//! server.run(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```

mod activity;
mod body;
mod certificate_files;
mod connection;
mod options;
mod places;
mod shutdown;
#[cfg(test)]
mod tests;
mod tls;
mod transport;

pub use self::body::{RequestBody, RequestBodyError};
pub use self::certificate_files::CertificateFiles;
pub use self::connection::HttpService;
pub use self::options::ServerOptions;
pub use self::shutdown::Shutdown;
pub use self::tls::{CertificateError, ClientAuthorities, server_config};
#[doc(no_inline)]
pub use ipnet::IpNet;

use self::connection::serve_connection;
use self::places::{NoPlace, Place, Places};
use rustls::ServerConfig;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// `ENFILE` and `EMFILE`, which are alike on every Unix, and `WSAEMFILE`.
const NO_DESCRIPTORS: [i32; 3] = [23, 24, 10024];

/// The maximum number of connections that wait in the operating system's queue. A crowd of new
/// connections fills the usual 128 places, and other clients' operating systems then try again only
/// after a second or more.
const QUEUE: i32 = 4096;

/// The time between two log lines about connections that cannot be accepted.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// The pause after a failed accept for which no connection was evicted. It ends early when a
/// connection ends.
const AFTER_FAILED_ACCEPT: Duration = Duration::from_millis(100);

/// The time between two searches for a place or a descriptor for a waiting connection.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Serves a tower service, such as an axum router, over HTTP/1.1 and HTTP/2.
///
/// [`ServerOptions`] bounds everything that a peer can hold open. A connection that exceeds a time
/// is closed.
#[derive(Debug)]
#[must_use = "a server serves while its `run` is awaited"]
pub struct Server<S> {
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    service: S,
    options: ServerOptions,
}

impl<S> Server<S> {
    /// Makes a server over TLS (Specification: "Authentication", rule 5). If the configuration
    /// names no protocols, it offers HTTP/2 and HTTP/1.1.
    pub fn new(
        listener: TcpListener,
        mut tls: ServerConfig,
        service: S,
        options: ServerOptions,
    ) -> Self {
        if tls.alpn_protocols.is_empty() {
            tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        }
        Self {
            listener,
            tls: Some(Arc::new(tls)),
            service,
            options,
        }
    }

    /// Makes a server without TLS and over HTTP/1.1 alone, for a host behind a proxy that ends TLS.
    /// API keys, assertions and tokens are readable on the way from the proxy.
    pub fn without_tls(listener: TcpListener, service: S, options: ServerOptions) -> Self {
        Self {
            listener,
            tls: None,
            service,
            options,
        }
    }

    /// Returns the address that the server listens on.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `shutdown` completes. The server then accepts no more connections and requests,
    /// and waits for requests in progress, at most [`ServerOptions::shutdown_timeout`].
    pub async fn run<B>(self, shutdown: impl Future<Output = ()>)
    where
        S: HttpService<B>,
        B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let Self {
            listener,
            tls,
            service,
            options,
        } = self;
        let tls = tls.map(TlsAcceptor::from);
        let options = options.within_descriptors();
        // If the operating system refuses, the queue keeps its length.
        let _ = socket2::SockRef::from(&listener).listen(QUEUE);
        let places = Places::new(options.clone());
        let (stop, stopped) = watch::channel(false);
        let mut connections = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        let mut logged = None;
        'accept: loop {
            let accepted = tokio::select! {
                // The shutdown is polled first, so that no connection is accepted after it.
                biased;
                () = &mut shutdown => break,
                Some(_) = connections.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                // The peer has gone away.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
                    ) =>
                {
                    continue;
                }
                Err(error) => {
                    if logged.is_none_or(|logged: Instant| logged.elapsed() >= LOG_INTERVAL) {
                        tracing::warn!(%error, "a connection was not accepted");
                        logged = Some(Instant::now());
                    }
                    let lacks = error
                        .raw_os_error()
                        .is_some_and(|code| NO_DESCRIPTORS.contains(&code));
                    let wait = if lacks && places.give_up_one() {
                        LOOK_AGAIN
                    } else {
                        AFTER_FAILED_ACCEPT
                    };
                    tokio::select! {
                        biased;
                        () = &mut shutdown => break,
                        Some(_) = connections.join_next() => {}
                        () = sleep(wait) => {}
                    }
                    continue;
                }
            };
            let mut place = places.admit(peer.ip());
            // This connection and those in the operating system's queue wait until one ends or is
            // idle.
            while let Err(NoPlace::Wait) = place {
                tokio::select! {
                    biased;
                    () = &mut shutdown => break 'accept,
                    _ = timeout(LOOK_AGAIN, connections.join_next()) => place = places.admit(peer.ip()),
                }
            }
            if let Ok(place) = place {
                connections.spawn(accept(
                    stream,
                    tls.clone(),
                    service.clone(),
                    options.clone(),
                    place,
                    stopped.clone(),
                ));
            }
        }
        // The listener is closed before the last requests are awaited, so that new clients go
        // elsewhere at once.
        drop(listener);
        stop.send_replace(true);
        // Requests that take longer are cut off, so that a supervisor need not kill the program.
        let ended = timeout(options.shutdown_timeout, async {
            while connections.join_next().await.is_some() {}
        })
        .await;
        if ended.is_err() {
            tracing::warn!(
                connections = connections.len(),
                "connections were cut off at shutdown"
            );
        }
    }
}

async fn accept<S, B>(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    service: S,
    options: ServerOptions,
    place: Place,
    mut stopped: watch::Receiver<bool>,
) where
    S: HttpService<B>,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    // Answers are small, and each is written in one piece.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else {
        return serve_connection(stream, false, service, options, place, stopped).await;
    };
    // Without a time-out, a peer that never finishes its handshake would keep its place.
    let handshake = tokio::select! {
        handshake = timeout(options.header_timeout, tls.accept(stream)) => handshake,
        () = place.activity().evicted() => return,
        // Before the end of the handshake no request is in progress.
        _ = stopped.wait_for(|stopped| *stopped) => return,
    };
    match handshake {
        Ok(Ok(stream)) => {
            // Without ALPN a client expects HTTP/1.1 (RFC 9113 section 3.2).
            let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            serve_connection(stream, http2, service, options, place, stopped).await;
        }
        Ok(Err(_)) => tracing::debug!("a TLS handshake failed"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
}
