//! One receiver as a tower service.

use super::observe::{DeliveryStage, ObservedOutcome};
use super::shared::Shared;
use super::{answer, delivery};
use crate::measure;
use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use bankrail_http::{BodyError, BodyReader, HeadFault, Sender, content};
use bankrail_mailbox::Inbox;
use bankrail_webhook::MessageKind;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_service::Service;

/// One of the four receivers. It accepts any path, is always ready, and never fails: every fault is answered.
#[derive(Debug)]
pub struct Receiver<I: ?Sized = dyn Inbox> {
    kind: MessageKind,
    shared: Arc<Shared<I>>,
}

impl<I: ?Sized> Clone for Receiver<I> {
    fn clone(&self) -> Self {
        Self { kind: self.kind, shared: self.shared.clone() }
    }
}

impl<I: Inbox + ?Sized> Receiver<I> {
    pub(super) fn new(kind: MessageKind, shared: Arc<Shared<I>>) -> Self {
        Self { kind, shared }
    }

    /// The kind of messages that it receives.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        self.kind
    }
}

impl<B, I> Service<Request<B>> for Receiver<I>
where
    I: Inbox + ?Sized + 'static,
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

async fn receive<B, I>(kind: MessageKind, shared: &Shared<I>, request: Request<B>) -> Response<Body>
where
    I: Inbox + ?Sized,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (head, body) = request.into_parts();
    let mut body = BodyReader::new(&head.headers, Box::pin(body));
    let bytes = match check(kind, shared, &head) {
        Ok(()) => body.read(shared.options.max_bytes, shared.options.body_timeout).await.map_err(|error| {
            tracing::warn!(%kind, %error, "delivery with an unread body");
            let answer = match error {
                BodyError::TooLarge { .. } => answer::empty(StatusCode::PAYLOAD_TOO_LARGE),
                BodyError::TimedOut { .. } => answer::empty(StatusCode::REQUEST_TIMEOUT),
                _ => answer::refused(),
            };
            (answer, Sender::Known, DeliveryStage::Body, error.to_string())
        }),
        Err(Unread { status, sender, stage, reason }) => Err((answer::empty(status), sender, stage, reason.to_owned())),
    };
    match bytes {
        Ok(bytes) => delivery::take(kind, shared, &head.headers, &bytes).await,
        Err((answer, sender, stage, reason)) => {
            measure::received(kind, None, answer.status());
            shared.observed(kind, None, ObservedOutcome::Refused { stage, reason }, answer.status());
            body.drain(sender, shared.options.body_timeout).await;
            answer
        }
    }
}

/// Answers a delivery whose address or headers are too long.
pub(super) fn head_refused<I: ?Sized>(shared: &Shared<I>, fault: &HeadFault, head: &Parts) -> Response<Body> {
    let answer = answer::empty(fault.status());
    let mut kinds = MessageKind::ALL.into_iter().zip(&shared.options.paths);
    if let Some((kind, _)) = kinds.find(|(_, path)| *path == head.uri.path()) {
        tracing::warn!(%kind, error = %fault, "delivery with too long a head");
        measure::received(kind, None, answer.status());
        let outcome = ObservedOutcome::Refused { stage: DeliveryStage::Headers, reason: fault.to_string() };
        shared.observed(kind, None, outcome, answer.status());
    }
    answer
}

/// A delivery whose body is not read.
struct Unread {
    status: StatusCode,
    sender: Sender,
    stage: DeliveryStage,
    reason: &'static str,
}

/// Checks a delivery before its body is read.
fn check<I: ?Sized>(kind: MessageKind, shared: &Shared<I>, head: &Parts) -> Result<(), Unread> {
    let unread = |status, sender, stage, reason| Err(Unread { status, sender, stage, reason });
    if head.method != Method::POST {
        tracing::warn!(%kind, "delivery with another method");
        let reason = "expected the method POST, found another";
        return unread(StatusCode::METHOD_NOT_ALLOWED, Sender::Unknown, DeliveryStage::Method, reason);
    }
    if !is_known_key(shared, &head.headers) {
        tracing::warn!(%kind, "delivery without the API key");
        let reason = "expected the receiver's API key, found another or none";
        return unread(StatusCode::UNAUTHORIZED, Sender::Unknown, DeliveryStage::ApiKey, reason);
    }
    // Without a content type there is nothing to contradict that the body is JSON (RFC 9110 section 8.3).
    if head.headers.contains_key(CONTENT_TYPE) && !content::is_json(&head.headers) {
        tracing::warn!(%kind, "delivery with another content type");
        let reason = "expected the content type application/json, found another";
        return unread(StatusCode::UNSUPPORTED_MEDIA_TYPE, Sender::Known, DeliveryStage::ContentType, reason);
    }
    Ok(())
}

/// Compares the presented key with every accepted key, in constant time if the lengths are equal.
fn is_known_key<I: ?Sized>(shared: &Shared<I>, headers: &HeaderMap) -> bool {
    let mut presented = headers.get_all(&shared.key_header).iter();
    let (Some(key), None) = (presented.next(), presented.next()) else { return false };
    shared
        .options
        .other_api_keys
        .iter()
        .chain([&shared.api_key])
        .fold(false, |known, own| known | own.matches(key.as_bytes()))
}
