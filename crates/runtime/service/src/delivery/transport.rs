//! The transport of deliveries: a trait, so that tests and unusual networks can implement their
//! own.

use super::Endpoint;
use bankrail_http::tls::ClientCertificate;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use url::Url;

/// The return type of [`Transport::post`].
pub type TransportFuture<'a> =
    Pin<Box<dyn Future<Output = Result<TransportResponse, TransportError>> + Send + 'a>>;

/// The return type of [`Transport::is_up`].
pub type UpFuture<'a> = Pin<Box<dyn Future<Output = bool> + Send + 'a>>;

/// Sends one POST and reads its answer.
///
/// An implementation must:
///
/// - follow no redirect and ignore the environment's proxies;
/// - add no header that reveals more than the request does;
/// - end within the request's time-out, which includes connecting. The
///   [`Dispatcher`](crate::delivery::Dispatcher) enforces it too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not send deliveries",
    label = "not a `Transport`",
    note = "pass `Arc::new(HttpsTransport::new(HttpsTransportOptions::new())?)` of `bankrail_service::delivery`"
)]
pub trait Transport: fmt::Debug + Send + Sync {
    /// Sends `request`.
    ///
    /// # Errors
    /// [`TransportError`] if there is no answer with a status.
    fn post(&self, request: TransportRequest) -> TransportFuture<'_>;

    /// Returns true if a receiver that failed before is up, as far as the transport can detect
    /// without a message.
    ///
    /// The [`Dispatcher`](crate::delivery::Dispatcher) calls this after a delivery without an
    /// answer, then about twice a second until it returns true. A call that takes longer than a
    /// second is dropped. Default: true, so that a receiver that is up again waits for its circuit
    /// and the schedule.
    fn is_up<'a>(&'a self, endpoint: &'a Endpoint) -> UpFuture<'a> {
        let _ = endpoint;
        Box::pin(std::future::ready(true))
    }
}

/// Returns true for a status that a gateway answers while its receiver is down.
pub(super) fn is_of_gateway(status: u16) -> bool {
    matches!(status, 502..=504)
}

/// One POST request of a delivery.
#[derive(Clone)]
#[non_exhaustive]
pub struct TransportRequest {
    /// The address, which [`EndpointUrl`](crate::delivery::EndpointUrl) allows.
    pub url: Url,
    /// All headers. Those with secrets are marked sensitive.
    pub headers: HeaderMap,
    /// The JSON of the secured payload.
    pub body: Bytes,
    /// The certificate to show in place of the transport's own.
    pub client_certificate: Option<ClientCertificate>,
    /// The time-out, from now to the last byte of the answer.
    pub timeout: Duration,
    /// The maximum number of bytes of the answer that are read. The rest is not read.
    pub max_response_bytes: usize,
}

// Neither the body nor the headers' values.
bankrail_values::impl_debug!(TransportRequest, self;
    url: self.url.as_str(), headers: self.headers.keys().collect::<Vec<_>>(),
    body: format_args!("{} bytes", self.body.len()));

/// An answer with a status.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TransportResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, cut at the request's `max_response_bytes`.
    pub body: Bytes,
}

impl TransportResponse {
    /// Creates an answer with a status, headers and a body.
    #[must_use]
    pub fn new(status: StatusCode, headers: HeaderMap, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            headers,
            body: body.into(),
        }
    }
}

/// The error of a delivery without a complete answer. Unless there was no connection, the receiver
/// may have got the request.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
pub struct TransportError {
    kind: TransportErrorKind,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl TransportError {
    /// Creates an error of this kind with a cause.
    pub fn new(
        kind: TransportErrorKind,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self {
            kind,
            source: Some(source.into()),
        }
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> TransportErrorKind {
        self.kind
    }
}

impl From<TransportErrorKind> for TransportError {
    fn from(kind: TransportErrorKind) -> Self {
        Self { kind, source: None }
    }
}

/// Kinds of [`TransportError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// There was no connection, because name resolution or the network failed.
    Connect,
    /// There was no secure connection, because the certificate or the handshake failed.
    Tls,
    /// There was no complete answer in time.
    Timeout,
    /// The connection broke, or the answer was not HTTP.
    Broken,
}

impl fmt::Display for TransportErrorKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Tls => "no secure connection to the receiver",
            Self::Connect => "no connection to the receiver",
            Self::Timeout => "no answer in time",
            Self::Broken => "the connection to the receiver broke",
        })
    }
}
