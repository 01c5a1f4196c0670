//! One receiver as a tower service.

use super::build::Shared;
use super::{answer, delivery};
use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use bankrail_webhook::MessageKind;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::Service;

/// One of the four receivers. It looks at no path, always is ready, and never fails: what is wrong is in the answer.
#[derive(Clone, Debug)]
pub struct Receiver {
    kind: MessageKind,
    shared: Arc<Shared>,
}

impl Receiver {
    pub(super) fn new(kind: MessageKind, shared: Arc<Shared>) -> Self {
        Self { kind, shared }
    }

    /// Which messages it takes.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        self.kind
    }
}

impl<B> Service<Request<B>> for Receiver
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Self { kind, shared } = self.clone();
        Box::pin(async move { Ok(receive(kind, &shared, request).await) })
    }
}

/// How much of a refused body is read to be thrown away, if its sender is known and if not.
///
/// A server that drops an unread body ends the stream with it, and some senders then lose the answer: over HTTP/2 the whole
/// answer is sent, then a reset without an error (RFC 9113 section 8.1), and curl 7.88 shows the reset. Beyond the bound
/// that is theirs to bear.
const DRAINED: usize = 4 << 20;
const DRAINED_OF_STRANGERS: usize = 64 << 10;

async fn receive<B>(kind: MessageKind, shared: &Shared, request: Request<B>) -> Response<Body>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (head, body) = request.into_parts();
    let mut body = Box::pin(body);
    match octets(kind, shared, &head, body.as_mut()).await {
        Ok(octets) => delivery::take(kind, shared, &head.headers, &octets).await,
        Err(Refused { answer, drain_up_to }) => {
            // A sender that waits to be told to continue has sent nothing yet (RFC 9110 section 10.1.1), and would be told so.
            if drain_up_to > 0 && !head.headers.contains_key(EXPECT) {
                drain(shared, body, drain_up_to).await;
            }
            answer
        }
    }
}

/// A delivery that is refused without its body.
struct Refused {
    answer: Response<Body>,
    drain_up_to: usize,
}

async fn octets<B>(kind: MessageKind, shared: &Shared, head: &Parts, body: Pin<&mut B>) -> Result<Bytes, Refused>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let refused = |status, drain_up_to| Refused { answer: answer::empty(status), drain_up_to };
    if head.method != Method::POST {
        return Err(refused(StatusCode::METHOD_NOT_ALLOWED, DRAINED_OF_STRANGERS));
    }
    if !is_known_key(shared, &head.headers) {
        tracing::warn!(%kind, "delivery without the API key");
        return Err(refused(StatusCode::UNAUTHORIZED, DRAINED_OF_STRANGERS));
    }
    if !is_json(&head.headers) {
        tracing::warn!(%kind, "delivery of another content type");
        return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, DRAINED));
    }
    read_body(shared, &head.headers, body).await.map_err(|status| {
        tracing::warn!(%kind, status = status.as_u16(), "delivery with a body that was not read");
        match status {
            // It broke, or takes too long: nothing of it is waited for.
            StatusCode::BAD_REQUEST => Refused { answer: answer::refused(), drain_up_to: 0 },
            StatusCode::REQUEST_TIMEOUT => refused(status, 0),
            _ => refused(status, DRAINED),
        }
    })
}

/// Compares with every accepted key, in constant time for keys of one length.
fn is_known_key(shared: &Shared, headers: &HeaderMap) -> bool {
    let mut presented = headers.get_all(&shared.key_header).iter();
    let (Some(key), None) = (presented.next(), presented.next()) else { return false };
    shared.api_keys.iter().fold(false, |known, own| known | own.matches(key.as_bytes()))
}

/// Without a content type there is nothing to contradict that the body is JSON (RFC 9110 section 8.3).
fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE) else { return true };
    let essence = value.to_str().ok().and_then(|text| text.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// Reads what is left of a refused request's body, at most so many octets in the time that a body may take.
async fn drain<B>(shared: &Shared, mut body: Pin<Box<B>>, mut left: usize)
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let read = async {
        while let Some(Ok(frame)) = body.frame().await {
            let Some(after) = left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) else { return };
            left = after;
        }
    };
    // Whether it ended or not: nothing of it is wanted.
    let _ = tokio::time::timeout(shared.body_timeout, read).await;
}

async fn read_body<B>(shared: &Shared, headers: &HeaderMap, body: Pin<&mut B>) -> Result<Bytes, StatusCode>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > shared.max_octets) {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    let collected = Limited::new(body, shared.max_octets).collect();
    match tokio::time::timeout(shared.body_timeout, Box::pin(collected)).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Ok(Err(_)) => Err(StatusCode::BAD_REQUEST),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}
