//! Opening, reading and storing a delivery.

use super::answer;
use super::open::Unopened;
use super::shared::Shared;
use crate::measure;
use axum::body::Body;
use bankrail_mailbox::{Inbox, ReceiveOutcome};
use bankrail_secured_payload::{OpenErrorKind, Opened, SecuredPayload};
use bankrail_webhook::{Acknowledgement, DeliveryHeaders, Message, MessageError, MessageKind};
use http::{HeaderMap, Response, StatusCode};

/// Takes a delivery whose body was read. The headers are checked before the RSA operations, which take most of a
/// millisecond.
pub(super) async fn take<I: Inbox + ?Sized>(
    kind: MessageKind,
    shared: &Shared<I>,
    headers: &HeaderMap,
    body: &[u8],
) -> Response<Body> {
    match read_and_store(kind, shared, headers, body).await {
        Ok(received) => {
            measure::received(kind, Some(&received), StatusCode::OK);
            answer::acknowledged(received.into_acknowledgement())
        }
        Err(answer) => {
            measure::received(kind, None, answer.status());
            answer
        }
    }
}

async fn read_and_store<I: Inbox + ?Sized>(
    kind: MessageKind,
    shared: &Shared<I>,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<ReceiveOutcome, Response<Body>> {
    let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let (delivery, header_findings) = match DeliveryHeaders::parse(kind, pairs) {
        Ok(read) => read,
        Err(error) => {
            // The error's text quotes the header's value.
            tracing::warn!(%kind, header = error.name(), "delivery with wrong headers");
            return Err(answer::refused());
        }
    };
    let message_id = delivery.message_id;
    if shared.options.read.denies_findings() && !header_findings.is_empty() {
        tracing::warn!(%kind, %message_id, findings = header_findings.len(), "delivery with findings in its headers");
        return Err(answer::refused());
    }
    let Ok(SecuredPayload { secured_payload, .. }) = SecuredPayload::from_json(body) else {
        tracing::warn!(%kind, %message_id, "delivery without an envelope");
        return Err(answer::refused());
    };
    let opened = match open(shared, secured_payload).await {
        Some(Ok(opened)) => opened,
        Some(Err(unopened)) => {
            let (stage, reason, encryption_kid) = (unopened.stage(), unopened.reason(), unopened.kid.as_deref());
            if unopened.error.kind() == OpenErrorKind::Unavailable {
                tracing::error!(
                    %kind, %message_id, encryption_kid, stage, reason,
                    "the decryption key is not available"
                );
                return Err(answer::failed());
            }
            tracing::warn!(%kind, %message_id, encryption_kid, stage, reason, "delivery that was not opened");
            return Err(answer::refused());
        }
        None => return Err(answer::failed()),
    };
    let parsed = match Message::from_json_with(kind, opened.json(), &shared.options.read) {
        Ok(parsed) => parsed,
        Err(error) => {
            // The error's text quotes the message. Its place does so only where the message was not read, and consists
            // of the message's own names.
            let pointer = match &error {
                MessageError::Json(_) => "",
                other => other.pointer().unwrap_or_default(),
            };
            tracing::warn!(%kind, %message_id, pointer, "delivery of a refused message");
            return Err(answer::refused());
        }
    };
    let now = shared.options.clock.now();
    if shared.max_age.is_some_and(|most| now.saturating_since(parsed.message.creation_date_time()) > most) {
        tracing::warn!(%kind, %message_id, "delivery of a message that is too old");
        return Err(answer::refused());
    }
    let findings = header_findings.len() + parsed.findings.len();
    let acknowledgement = Acknowledgement::received(uuid::Uuid::new_v4().into());
    let body = opened.json().to_vec();
    let incoming = parsed.message.incoming(&shared.options.scope, &delivery, &header_findings, body, &acknowledgement);
    match shared.inbox.receive(&incoming, now).await {
        Ok(received) => {
            log(kind, &delivery, &received, findings);
            if received.is_work() {
                shared.arrived.notify_waiters();
            }
            Ok(received)
        }
        Err(error) => {
            tracing::error!(%kind, %message_id, %error, "the inbox failed");
            Err(answer::failed())
        }
    }
}

/// Opens a payload; once more if it is signed under an unknown `kid` and new keys were read.
async fn open<I: ?Sized>(shared: &Shared<I>, compact: String) -> Option<Result<Opened, Unopened>> {
    let Some(keys) = &shared.options.sender_keys else { return shared.opening.open(compact).await };
    let since = tokio::time::Instant::now().into_std();
    let opened = shared.opening.open(compact.clone()).await;
    match &opened {
        Some(Err(unopened)) if unopened.error.kind() == OpenErrorKind::NoSigningKey && keys.renew(since).await => {
            shared.opening.open(compact).await
        }
        _ => opened,
    }
}

fn log(kind: MessageKind, delivery: &DeliveryHeaders, received: &ReceiveOutcome, findings: usize) {
    let outcome = match received {
        ReceiveOutcome::New { .. } => "new",
        ReceiveOutcome::Duplicate { .. } => "duplicate",
        ReceiveOutcome::InProgress { .. } => "in progress",
        ReceiveOutcome::Conflict { .. } => "conflict",
    };
    let message_id = delivery.message_id;
    let request_key = delivery.request_key.map(tracing::field::display);
    let entry = received.id();
    if let ReceiveOutcome::Conflict { with, .. } = received {
        tracing::warn!(%kind, %message_id, request_key, %entry, %with, findings, "delivery in conflict with another");
    } else {
        tracing::info!(%kind, %message_id, request_key, %entry, %outcome, findings, "delivery stored");
    }
}
