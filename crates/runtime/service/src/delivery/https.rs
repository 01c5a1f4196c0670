//! The transport over HTTPS, by reqwest and rustls.

use super::transport::{
    Transport, TransportError, TransportErrorKind, TransportFuture, TransportRequest,
    TransportResponse,
};
use bankrail_http::tls::{TlsRoots, client_config};
use bankrail_http::{BodyError, BodyReader};
use std::error::Error;
use std::time::Duration;

/// Deliveries over HTTPS: HTTP/2 or HTTP/1.1 over TLS 1.2 or 1.3.
///
/// It follows no redirection, ignores the environment's proxies, sends no `Referer`, and sends each
/// request once.
#[derive(Clone, Debug)]
pub struct HttpsTransport {
    client: reqwest::Client,
}

bankrail_values::options! {
    /// Options of an [`HttpsTransport`].
    #[derive(Clone, Debug)]
    pub struct HttpsTransportOptions {
        /// The certificate authorities that are trusted. Default: those of the operating system.
        tls_roots: TlsRoots = TlsRoots::Platform,
        /// The time-out of connecting. Default: 10 s.
        connect_timeout: Duration = Duration::from_secs(10),
    }
}

impl HttpsTransport {
    /// Creates a transport with these options.
    ///
    /// # Errors
    /// [`HttpsTransportError`] if the trusted certificates cannot be read.
    pub fn new(options: HttpsTransportOptions) -> Result<Self, HttpsTransportError> {
        let tls = client_config(Some(&options.tls_roots)).map_err(HttpsTransportError::new)?;
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            // A redirection could lead the secured payload and the API key to another host.
            .redirect(reqwest::redirect::Policy::none())
            // A proxy of the environment would see the receiver's address.
            .no_proxy()
            .referer(false)
            // One delivery is one request; the outbox schedules the next one.
            .retry(reqwest::retry::never())
            .connect_timeout(options.connect_timeout)
            .build()
            .map_err(HttpsTransportError::new)?;
        Ok(Self { client })
    }
}

/// The HTTPS client could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("the HTTPS client could not be set up")]
#[non_exhaustive]
pub struct HttpsTransportError {
    source: Box<dyn Error + Send + Sync>,
}

impl HttpsTransportError {
    fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            source: source.into(),
        }
    }
}

impl Transport for HttpsTransport {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let sent = self
                .client
                .post(request.url)
                .headers(request.headers)
                .timeout(request.timeout)
                .body(request.body)
                .send()
                .await;
            let (head, body) =
                http::Response::<reqwest::Body>::from(sent.map_err(transport_error)?).into_parts();
            // The client's time-out covers the body too.
            let body = BodyReader::new(&head.headers, body)
                .read_prefix(request.max_response, request.timeout)
                .await;
            Ok(TransportResponse {
                status: head.status,
                headers: head.headers,
                body: body.map_err(body_error)?,
            })
        })
    }
}

fn body_error(error: BodyError) -> TransportError {
    match error {
        BodyError::Broken(source) => match source.downcast::<reqwest::Error>() {
            Ok(error) => transport_error(*error),
            Err(other) => TransportError::new(TransportErrorKind::Broken, other),
        },
        other => TransportError::new(TransportErrorKind::Timeout, other),
    }
}

fn transport_error(error: reqwest::Error) -> TransportError {
    let kind = if error.is_timeout() {
        TransportErrorKind::Timeout
    } else if error.is_connect() {
        if is_tls(&error) {
            TransportErrorKind::Tls
        } else {
            TransportErrorKind::Connect
        }
    } else {
        TransportErrorKind::Broken
    };
    // Without the address, which may have a customer's path. Records have the endpoint's id
    // instead.
    TransportError::new(kind, error.without_url())
}

/// Returns true if rustls reported the error, as an `io::Error` of kind `InvalidData`. Such errors
/// are nested, and `source` skips the inner one.
fn is_tls(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    if io.is_some_and(|io| io.kind() == std::io::ErrorKind::InvalidData) {
        return true;
    }
    let inner = io
        .and_then(std::io::Error::get_ref)
        .map(|inner| inner as &(dyn Error + 'static));
    inner.or_else(|| error.source()).is_some_and(is_tls)
}
