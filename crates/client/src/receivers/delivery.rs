//! Opening, reading and storing a delivery.

use super::answer;
use super::observe::{DeliveryStage, ObservedOutcome};
use super::open::Unopened;
use super::shared::Shared;
use crate::measure;
use axum::body::Body;
use bankrail_mailbox::{Inbox, ReceiveOutcome};
use bankrail_secured_payload::{OpenErrorKind, Opened, SecuredPayload};
use bankrail_values::HyphenatedUuid;
use bankrail_webhook::{Acknowledgement, DeliveryHeaderError, DeliveryHeaders, Message, MessageError, MessageKind};
use http::{HeaderMap, Response, StatusCode};

/// A delivery that is not stored.
struct Refusal {
    stage: DeliveryStage,
    /// For the operator.
    reason: String,
    answer: fn() -> Response<Body>,
}

impl Refusal {
    /// The sender's fault.
    fn refused(stage: DeliveryStage, reason: impl Into<String>) -> Self {
        Self { stage, reason: reason.into(), answer: answer::refused }
    }

    /// A fault of this side: the sender is asked to deliver again.
    fn failed(stage: DeliveryStage, reason: impl Into<String>) -> Self {
        Self { stage, reason: reason.into(), answer: answer::failed }
    }
}

/// Takes a delivery whose body was read. The headers are checked before the RSA operations, which take most of a
/// millisecond.
pub(super) async fn take<I: Inbox + ?Sized>(
    kind: MessageKind,
    shared: &Shared<I>,
    headers: &HeaderMap,
    body: &[u8],
) -> Response<Body> {
    let mut delivery = None;
    match read_and_store(kind, shared, headers, body, &mut delivery).await {
        Ok(received) => {
            measure::received(kind, Some(&received), StatusCode::OK);
            shared.observed(kind, delivery, ObservedOutcome::of(&received), StatusCode::OK);
            answer::acknowledged(received.into_acknowledgement())
        }
        Err(Refusal { stage, reason, answer }) => {
            let answer = answer();
            measure::received(kind, None, answer.status());
            shared.observed(kind, delivery, ObservedOutcome::Refused { stage, reason }, answer.status());
            answer
        }
    }
}

/// Reads, opens and stores a delivery. Its headers are put into `read` as soon as they are known.
async fn read_and_store<I: Inbox + ?Sized>(
    kind: MessageKind,
    shared: &Shared<I>,
    headers: &HeaderMap,
    body: &[u8],
    read: &mut Option<DeliveryHeaders>,
) -> Result<ReceiveOutcome, Refusal> {
    let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let (delivery, header_findings) = match DeliveryHeaders::parse(kind, pairs) {
        Ok(read) => read,
        Err(error) => {
            // The error's text quotes the header's value.
            tracing::warn!(%kind, header = error.name(), "delivery with wrong headers");
            let reason = match &error {
                DeliveryHeaderError::Malformed { name, expected, .. } => format!("header {name}: expected {expected}"),
                other => other.to_string(),
            };
            return Err(Refusal::refused(DeliveryStage::Headers, reason));
        }
    };
    *read = Some(delivery);
    let message_id = delivery.message_id;
    if shared.options.read.denies_findings() && !header_findings.is_empty() {
        tracing::warn!(%kind, %message_id, findings = header_findings.len(), "delivery with findings in its headers");
        let reason = format!("expected headers without findings, found {}", header_findings.len());
        return Err(Refusal::refused(DeliveryStage::Headers, reason));
    }
    let Ok(SecuredPayload { secured_payload, .. }) = SecuredPayload::from_json(body) else {
        tracing::warn!(%kind, %message_id, "delivery without an envelope");
        let reason = "expected a JSON object with the text secured_payload, found another body";
        return Err(Refusal::refused(DeliveryStage::Envelope, reason));
    };
    let opened = match open(shared, secured_payload).await {
        Some(Ok(opened)) => opened,
        Some(Err(unopened)) => return Err(not_opened(kind, message_id, &unopened)),
        None => return Err(Refusal::failed(DeliveryStage::DecryptionKey, "the decryption key did not answer")),
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
            return Err(Refusal::refused(DeliveryStage::Message, why(&error, pointer)));
        }
    };
    let now = shared.options.clock.now();
    if shared.max_age.is_some_and(|most| now.saturating_since(parsed.message.creation_date_time()) > most) {
        tracing::warn!(%kind, %message_id, "delivery of a message that is too old");
        return Err(Refusal::refused(DeliveryStage::Age, "the message is older than the inbox remembers"));
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
            Err(Refusal::failed(DeliveryStage::Inbox, error.to_string()))
        }
    }
}

fn not_opened(kind: MessageKind, message_id: HyphenatedUuid, unopened: &Unopened) -> Refusal {
    let (stage, reason, encryption_kid) =
        (DeliveryStage::of(unopened.error.kind()), unopened.reason(), unopened.kid.as_deref());
    let name = stage.as_str();
    if unopened.error.kind() == OpenErrorKind::Unavailable {
        tracing::error!(
            %kind, %message_id, encryption_kid, stage = name, reason,
            "the decryption key is not available"
        );
        return Refusal::failed(stage, reason);
    }
    tracing::warn!(%kind, %message_id, encryption_kid, stage = name, reason, "delivery that was not opened");
    Refusal::refused(stage, reason)
}

/// Why a message is refused, without what was found in it.
fn why(error: &MessageError, pointer: &str) -> String {
    let text = match error {
        MessageError::Json(_) => "expected the JSON of a message, found other bytes".to_owned(),
        MessageError::BadValue { expected, .. } => format!("{pointer}: expected {expected}"),
        other => other.to_string(),
    };
    // The pointer to the whole message is empty.
    text.trim_start_matches(": ").to_owned()
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
