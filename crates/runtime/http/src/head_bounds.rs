//! Bounds on the head of a request, lower than those of the HTTP stack.

use crate::body::{BodyReader, DRAINING, Peer};
use bytes::Bytes;
use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use http_body::Body;
use pin_project_lite::pin_project;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower_layer::Layer;
use tower_service::Service;

bankrail_values::options! {
    /// Bounds on the head of a request.
    ///
    /// An HTTP stack has its own bounds. It answers requests that exceed them, and requests that it
    /// cannot read, without a body and without `X-RequestKey`. These bounds are lower, so that such
    /// a request gets an answer of the service. The bounds of `serve::ServerOptions` are higher
    /// than the defaults here.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct HeadBounds {
        /// The maximum number of bytes of authority, path and query together. Default: 8 KiB (RFC
        /// 9110 section 4.1 recommends 8000).
        max_uri_bytes: usize = 8 << 10,
        /// The maximum number of bytes of all headers, counted as HTTP/1.1 writes them: name, value
        /// and four more for each. Default: 16 KiB.
        max_header_bytes: usize = 16 << 10,
        /// The maximum number of headers. Default: 64. The HTTP stack cannot read more than 100
        /// over HTTP/1.1.
        max_header_fields: usize = 64,
    }
}

impl HeadBounds {
    /// Returns the bounds with their names.
    #[must_use]
    pub fn bounds(&self) -> [(&'static str, usize); 3] {
        [
            ("max_uri_bytes", self.max_uri_bytes),
            ("max_header_bytes", self.max_header_bytes),
            ("max_header_fields", self.max_header_fields),
        ]
    }

    /// Judges the head of a request: its bounds, and that it has at most one `Host`, which is a
    /// host with or without a port (RFC 9112 section 3.2). A host in the address is judged in the
    /// same way. The server itself refuses a request without `Host`, which is allowed over HTTP/2.
    ///
    /// # Errors
    /// [`HeadError`] if it exceeds a bound, or has several or a malformed `Host`.
    pub fn judge(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), HeadError> {
        let authority = uri
            .authority()
            .map_or(0, |authority| authority.as_str().len());
        let path = uri.path_and_query().map_or(0, |path| path.as_str().len());
        if authority + path > self.max_uri_bytes {
            return Err(HeadError::UriTooLong {
                limit: self.max_uri_bytes,
            });
        }
        // The number of headers is judged first, so that the sum below has few terms.
        if headers.len() > self.max_header_fields {
            return Err(HeadError::TooManyHeaders {
                limit: self.max_header_fields,
            });
        }
        let bytes: usize = headers
            .iter()
            // A header over HTTP/1.1 also has a colon, a space and a line break.
            .map(|(name, value)| name.as_str().len() + value.len() + 4)
            .sum();
        if bytes > self.max_header_bytes {
            return Err(HeadError::HeadersTooLarge {
                limit: self.max_header_bytes,
            });
        }
        let mut hosts = headers.get_all(HOST).iter();
        let first = hosts.next();
        let named = uri.authority().map(Authority::as_str);
        if hosts.next().is_none()
            && first.is_none_or(|host| host.to_str().is_ok_and(is_host))
            && named.is_none_or(is_host)
        {
            Ok(())
        } else {
            Err(HeadError::Host)
        }
    }
}

/// Returns true for a host with or without a port of 16 bits.
fn is_host(text: &str) -> bool {
    let Ok(authority) = text.parse::<Authority>() else {
        return false;
    };
    let host = authority.host();
    let port = text.strip_prefix(host).map(|rest| rest.strip_prefix(':'));
    match port {
        // A text whose start is not its host has a user name.
        None => false,
        Some(None) => host == text,
        Some(Some(port)) => {
            let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
            is_number && !host.is_empty() && (port.is_empty() || port.parse::<u16>().is_ok())
        }
    }
}

/// The reason why the head of a request is refused.
///
/// `serve::Server` puts it into the extensions of an HTTP/1.1 request without `Host`, and of the
/// request that replaces one that the HTTP stack could not read. [`HeadBoundsLayer`] answers both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeadError {
    /// The address is too long: 414 (RFC 9110 section 15.5.15).
    #[error("expected an address of at most {limit} bytes, found more")]
    UriTooLong {
        /// The maximum number of bytes allowed.
        limit: usize,
    },
    /// The headers together are too long: 431 (RFC 6585 section 5).
    #[error("expected headers of at most {limit} bytes, found more")]
    HeadersTooLarge {
        /// The maximum number of bytes allowed.
        limit: usize,
    },
    /// There are too many headers: 431 (RFC 6585 section 5).
    #[error("expected at most {limit} headers, found more")]
    TooManyHeaders {
        /// The maximum number of headers allowed.
        limit: usize,
    },
    /// `Host` is missing over HTTP/1.1, malformed, or there more than once: 400 (RFC 9112 section
    /// 3.2).
    #[error("expected one Host header with a host, found none, several or another value")]
    Host,
    /// The HTTP stack could not read the request line or the headers, or they exceed its own
    /// bounds: 400, 414 or 431.
    #[error(
        "expected a request line and headers that can be read, found others, answered {status}"
    )]
    Unreadable {
        /// The status with which the HTTP stack answers.
        status: StatusCode,
    },
}

impl HeadError {
    /// Returns the status of the answer.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::UriTooLong { .. } => StatusCode::URI_TOO_LONG,
            Self::HeadersTooLarge { .. } | Self::TooManyHeaders { .. } => {
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
            }
            Self::Host => StatusCode::BAD_REQUEST,
            Self::Unreadable { status } => status,
        }
    }
}

/// A layer that answers requests whose head is refused by [`HeadBounds`] or by `serve::Server`
/// ([`HeadError`]), with the answer that a function of the caller makes. The bodies of these
/// requests are drained, up to 64 KiB in 5 s, so that the senders get the answer.
///
/// Put it inside of [`RequestKeyLayer`](crate::RequestKeyLayer), so that its answers have an
/// `X-RequestKey`.
#[derive(Clone, Debug)]
pub struct HeadBoundsLayer<F> {
    bounds: HeadBounds,
    answer: F,
}

impl<F> HeadBoundsLayer<F> {
    /// Makes a layer with these bounds. `answer` makes the answer to a refused request; it should
    /// have [`HeadError::status`].
    #[must_use]
    pub fn new(bounds: HeadBounds, answer: F) -> Self {
        Self { bounds, answer }
    }
}

impl<S, F: Clone> Layer<S> for HeadBoundsLayer<F> {
    type Service = HeadBoundsService<S, F>;

    fn layer(&self, inner: S) -> Self::Service {
        HeadBoundsService {
            inner,
            layer: self.clone(),
        }
    }
}

/// The service that [`HeadBoundsLayer`] makes.
#[derive(Clone, Debug)]
pub struct HeadBoundsService<S, F> {
    inner: S,
    layer: HeadBoundsLayer<F>,
}

impl<S, A, B, F> Service<Request<A>> for HeadBoundsService<S, F>
where
    S: Service<Request<A>, Response = Response<B>>,
    F: Fn(HeadError, &http::request::Parts) -> Response<B>,
    A: Body<Data = Bytes> + Send + 'static,
    A::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = HeadBoundsFuture<S::Future, B>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let found = request.extensions().get().copied().map_or(Ok(()), Err);
        let judged = found.and_then(|()| self.layer.bounds.judge(request.uri(), request.headers()));
        let Err(fault) = judged else {
            return HeadBoundsFuture::Within {
                answer: self.inner.call(request),
            };
        };
        let (head, body) = request.into_parts();
        let answer = Some((self.layer.answer)(fault, &head));
        let body = BodyReader::new(&head.headers, Box::pin(body));
        HeadBoundsFuture::Refused {
            draining: Box::pin(body.drain(Peer::Unknown, DRAINING)),
            answer,
        }
    }
}

pin_project! {
    /// The future of [`HeadBoundsService`].
    #[project = Projected]
    #[allow(missing_docs, clippy::exhaustive_enums, reason = "opaque to callers")]
    #[doc(hidden)]
    pub enum HeadBoundsFuture<F, B> {
        Within {
            #[pin]
            answer: F,
        },
        Refused {
            draining: Pin<Box<dyn Future<Output = ()> + Send>>,
            answer: Option<Response<B>>,
        },
    }
}

impl<F, B> std::fmt::Debug for HeadBoundsFuture<F, B> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("HeadBoundsFuture")
    }
}

impl<F, B, E> Future for HeadBoundsFuture<F, B>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        match self.project() {
            Projected::Within { answer } => answer.poll(context),
            Projected::Refused { draining, answer } => {
                ready!(draining.as_mut().poll(context));
                Poll::Ready(Ok(answer
                    .take()
                    .expect("a future is not polled after its end")))
            }
        }
    }
}
