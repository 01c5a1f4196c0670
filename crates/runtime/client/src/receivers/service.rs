//! One receiver as a tower service.

use super::ReceiverState;
use super::delivery::{OpenedMessage, Sealed};
use super::observe::ObservedOutcome;
use super::refusal::{Refusal, json};
use crate::{Archive, measure};
use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use bankrail_http::{
    __private::{BodyError, Endpoint},
    HeadError, content,
};
use bankrail_mailbox::{ArchiveLabel, Inbox, ReceiveOutcome};
use bankrail_secured_payload::OpenErrorKind;
use bankrail_values::Timestamp;
use bankrail_webhook::{DeliveryHeaders, MessageKind};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// A receiver of one kind of messages. As a service it accepts any path, is always ready, and never
/// fails, because it answers every fault.
#[derive(Debug)]
pub struct Receiver<I: ?Sized = dyn Inbox> {
    kind: MessageKind,
    shared: Arc<ReceiverState<I>>,
}

impl<I: ?Sized> Clone for Receiver<I> {
    fn clone(&self) -> Self {
        Self {
            kind: self.kind,
            shared: self.shared.clone(),
        }
    }
}

impl<I: Inbox + ?Sized> Receiver<I> {
    pub(super) fn new(kind: MessageKind, shared: Arc<ReceiverState<I>>) -> Self {
        Self { kind, shared }
    }

    /// Returns the kind of messages that the receiver accepts.
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

/// A delivery that is being received.
struct Receiving<'a, I: ?Sized> {
    kind: MessageKind,
    shared: &'a Arc<ReceiverState<I>>,
    /// The headers of the delivery, as soon as they are known.
    headers: OnceLock<DeliveryHeaders>,
    /// The body of the delivery, for the archive.
    body: OnceLock<Bytes>,
}

async fn receive<B, I>(
    kind: MessageKind,
    shared: &Arc<ReceiverState<I>>,
    request: Request<B>,
) -> Response<Body>
where
    I: Inbox + ?Sized + 'static,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (head, body) = request.into_parts();
    let receiving = Receiving {
        kind,
        shared,
        headers: OnceLock::new(),
        body: OnceLock::new(),
    };
    let (caller, outcome) =
        bankrail_http::__private::serve(&receiving, &head, Box::pin(body)).await;
    match outcome {
        Ok(received) => {
            let headers = receiving.headers.into_inner();
            count(kind, name_of(&received));
            shared.observed(
                kind,
                headers,
                ObservedOutcome::of(&received),
                StatusCode::OK,
            );
            json(StatusCode::OK, received.into_acknowledgement().into_vec())
        }
        Err(refusal) => {
            // Before the answer, because a refused delivery may never come again.
            receiving.archive(&refusal).await;
            let headers = receiving.headers.into_inner();
            refuse(kind, shared, headers, &refusal, caller.is_some())
        }
    }
}

/// Counts a delivery that was answered.
fn count(kind: MessageKind, outcome: &str) {
    let labels = [("kind", kind.as_str()), ("outcome", outcome)];
    measure::count("bankrail_received_total", &labels, 1);
}

fn refuse<I: ?Sized>(
    kind: MessageKind,
    shared: &ReceiverState<I>,
    headers: Option<DeliveryHeaders>,
    refusal: &Refusal,
    has_api_key: bool,
) -> Response<Body> {
    let row = refusal.row();
    let left_out = shared.strangers.admit(has_api_key);
    if let Some(calls @ 1..) = left_out {
        tracing::warn!(calls, "further calls without the API key were refused");
    }
    if left_out.is_some() {
        row.log(kind, headers.map(|headers| headers.message_id));
    }
    count(kind, row.status.as_str());
    let answer = row.answer();
    shared.observed(
        kind,
        headers,
        ObservedOutcome::Refused {
            stage: row.stage,
            reason: row.reason,
        },
        row.status,
    );
    answer
}

/// Answers a delivery whose head is refused.
pub(super) fn head_refused<I: ?Sized>(
    shared: &ReceiverState<I>,
    fault: HeadError,
    head: &Parts,
) -> Response<Body> {
    let refusal = Refusal::Head(fault);
    match shared
        .options
        .paths
        .iter()
        .find(|(_, path)| *path == head.uri.path())
    {
        Some((kind, _)) => refuse(kind, shared, None, &refusal, false),
        None => refusal.row().answer(),
    }
}

impl<I: Inbox + ?Sized> Receiving<'_, I> {
    /// Archives the body of a refused delivery. A message that fails on this side is not archived,
    /// because it is delivered again.
    async fn archive(&self, refusal: &Refusal) {
        let row = refusal.row();
        let (Some(archive), Some(body)) = (&self.shared.options.archive, self.body.get()) else {
            return;
        };
        if row.status.is_client_error() {
            let (call, at) = (
                self.headers.get().map(|headers| headers.message_id),
                self.shared.options.clock.now(),
            );
            let label = ArchiveLabel::new(Archive::REFUSED_DELIVERY, self.kind.as_str(), call, at);
            archive
                .keep(label, &format!("{}: {}", row.stage, row.reason), body)
                .await;
        }
    }
}

impl<I: Inbox + ?Sized + 'static> Endpoint for Receiving<'_, I> {
    type Caller = ();
    type Proof = OpenedMessage;
    type Answer = ReceiveOutcome;
    type Refusal = Refusal;

    /// Compares the presented key with every accepted key, in constant time if the lengths are
    /// equal.
    async fn identify(&self, head: &Parts) -> Result<(), Refusal> {
        let key = content::only(&head.headers, &self.shared.key_header).ok_or(Refusal::ApiKey)?;
        let own = self
            .shared
            .options
            .other_api_keys
            .iter()
            .chain([&self.shared.api_key]);
        // All keys are compared, so that the time does not depend on the one that matched.
        let known = own.fold(false, |known, own| known | own.matches(key.as_bytes()));
        if known { Ok(()) } else { Err(Refusal::ApiKey) }
    }

    /// Checks the content type. Without one, the body may still be JSON (RFC 9110 section 8.3), so
    /// an absent header is accepted.
    fn check_head(&self, head: &Parts) -> Result<(), Refusal> {
        if head.headers.contains_key(CONTENT_TYPE) && !content::is_json(&head.headers) {
            return Err(Refusal::ContentType);
        }
        content::coding(&head.headers).map_or(Ok(()), |found| Err(Refusal::Coding(found)))
    }

    fn body_bounds(&self) -> (usize, Duration) {
        (
            self.shared.options.max_body_bytes,
            self.shared.options.body_timeout,
        )
    }

    fn now(&self) -> Timestamp {
        self.shared.options.clock.now()
    }

    /// Opens and reads the message, a second time if it was rejected and new keys were read.
    async fn prove(
        &self,
        (): &(),
        head: &Parts,
        body: Result<Bytes, BodyError>,
        now: Timestamp,
    ) -> Result<OpenedMessage, Refusal> {
        let (body, Self { kind, shared, .. }) = (body.map_err(Refusal::Body)?, self);
        if shared.options.archive.is_some() {
            let _ = self.body.set(body.clone());
        }
        let pairs = head
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()));
        let (headers, findings) = DeliveryHeaders::parse(*kind, pairs).map_err(Refusal::Headers)?;
        let _ = self.headers.set(headers);
        if shared.options.read_options.denies_findings() && !findings.is_empty() {
            return Err(Refusal::HeaderFindings(findings.len()));
        }
        let sealed = Arc::new(Sealed {
            kind: *kind,
            shared: Arc::clone(shared),
            headers,
            findings,
            body,
            now,
        });
        // Keys that were read after this moment can verify the message.
        let since = tokio::time::Instant::now().into_std();
        let opened = sealed.open().await;
        // A wrong tag and an invalid signature are one kind, so that both take the same path and
        // time.
        let rejected = match &opened {
            Err(Refusal::NotOpened(one)) => matches!(
                one.error.kind(),
                OpenErrorKind::NoSigningKey | OpenErrorKind::Rejected
            ),
            _ => false,
        };
        let Some(keys) = shared.options.sender_keys.clone().filter(|_| rejected) else {
            return opened;
        };
        // The keys are read in another task: if the sender of this delivery hangs up, the
        // deliveries that wait for the keys still get them.
        let renewing = tokio::spawn(async move { keys.renew(since).await });
        match renewing.await {
            Ok(true) => sealed.open().await,
            _ => opened,
        }
    }

    /// Stores the message, and wakes the workers.
    async fn work(
        &self,
        (): &(),
        _: &Parts,
        (incoming, findings): OpenedMessage,
        now: Timestamp,
    ) -> Result<ReceiveOutcome, Refusal> {
        let received = self
            .shared
            .inbox
            .receive(&incoming, now)
            .await
            .map_err(Refusal::Inbox)?;
        if let Some(headers) = self.headers.get() {
            log_stored(self.kind, headers, &received, findings);
        }
        if received.is_stored() {
            // After the message is stored, so that a woken worker finds it.
            self.shared.arrived.notify_waiters();
        }
        Ok(received)
    }
}

/// Returns the name of an outcome in logs and metrics.
fn name_of(received: &ReceiveOutcome) -> &'static str {
    match received {
        ReceiveOutcome::New { .. } => "new",
        ReceiveOutcome::Duplicate { .. } => "duplicate",
        ReceiveOutcome::InProgress { .. } => "in_progress",
        ReceiveOutcome::Conflict { .. } => "conflict",
    }
}

/// Logs that the inbox has stored a delivery.
fn log_stored(
    kind: MessageKind,
    delivery: &DeliveryHeaders,
    received: &ReceiveOutcome,
    findings: usize,
) {
    let outcome = name_of(received);
    let message_id = delivery.message_id;
    let [request_key, correlation_id] =
        [delivery.request_key, delivery.correlation_id].map(|id| id.map(tracing::field::display));
    let entry = received.id();
    if let ReceiveOutcome::Conflict { with, .. } = received {
        tracing::warn!(
            %kind, %message_id, request_key, correlation_id, %entry, %with, findings,
            "delivery in conflict with another"
        );
    } else {
        tracing::info!(
            %kind, %message_id, request_key, correlation_id, %entry, %outcome, findings,
            "delivery stored"
        );
    }
}
