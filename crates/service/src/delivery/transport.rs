//! How a delivery travels: a seam, so that tests and unusual networks can bring their own.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use url::Url;

/// What [`Transport::post`] returns.
pub type TransportFuture<'a> = Pin<Box<dyn Future<Output = Result<TransportResponse, TransportError>> + Send + 'a>>;

/// Sends one POST and reads its answer.
///
/// An implementation follows no redirect, uses no proxy of the environment, adds no header that tells more than the
/// request does, and ends within the request's time-out, connection included. The
/// [`Dispatcher`](crate::delivery::Dispatcher) guards the time-out too.
pub trait Transport: fmt::Debug + Send + Sync {
    /// Sends `request`.
    ///
    /// # Errors
    /// [`TransportError`] when there is no answer with a status.
    fn post(&self, request: TransportRequest) -> TransportFuture<'_>;
}

/// One POST.
#[derive(Clone)]
#[non_exhaustive]
pub struct TransportRequest {
    /// Where to: an address that [`EndpointUrl`](crate::delivery::EndpointUrl) allowed.
    pub url: Url,
    /// Every header, secrets marked sensitive.
    pub headers: HeaderMap,
    /// The secured payload's JSON.
    pub body: Bytes,
    /// From now to the last byte of the answer.
    pub timeout: Duration,
    /// The most bytes of the answer that are read; the rest is left.
    pub max_response: usize,
}

impl fmt::Debug for TransportRequest {
    /// Without the body and the headers' values.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("TransportRequest")
            .field("url", &self.url.as_str())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish_non_exhaustive()
    }
}

/// An answer with a status.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TransportResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, cut at the request's `max_response`.
    pub body: Bytes,
}

impl TransportResponse {
    /// An answer with a status, headers and a body.
    #[must_use]
    pub fn new(status: StatusCode, headers: HeaderMap, body: impl Into<Bytes>) -> Self {
        Self { status, headers, body: body.into() }
    }
}

/// No answer with a status. Unless there was no connection, whether the receiver saw the request is unknown.
#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
pub struct TransportError {
    kind: TransportErrorKind,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl TransportError {
    /// An error of this kind with its cause.
    pub fn new(kind: TransportErrorKind, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind, source: Some(source.into()) }
    }

    /// What went wrong.
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
    /// No connection: name or network.
    Connect,
    /// No connection that is secure: certificate or handshake.
    Tls,
    /// No complete answer in time.
    Timeout,
    /// The connection broke, or what came back was not HTTP.
    Broken,
}

impl fmt::Display for TransportErrorKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Tls => "no secure connection to the receiver",
            Self::Connect => "no connection to the receiver",
            Self::Timeout => "no answer in time",
            Self::Broken => "the exchange broke off",
        })
    }
}
