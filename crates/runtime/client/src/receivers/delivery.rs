//! Reading a sealed delivery, off the asynchronous threads.

use super::open::Unopened;
use super::refusal::Refusal;
use super::shared::Shared;
use axum::body::Bytes;
use bankrail_mailbox::{Inbox, Incoming, ReceiveOutcome};
use bankrail_secured_payload::{Opened, Opener, SecuredPayload, unverified_kid};
use bankrail_values::Timestamp;
use bankrail_webhook::{Acknowledgement, DeliveryHeaders, Message, MessageFinding, MessageKind};
use std::sync::Arc;

/// A delivery whose headers were read and whose message is sealed. The headers are checked before
/// the RSA operations, which take most of a millisecond.
pub(super) struct Sealed<I: ?Sized> {
    pub(super) kind: MessageKind,
    pub(super) shared: Arc<Shared<I>>,
    pub(super) headers: DeliveryHeaders,
    pub(super) findings: Vec<MessageFinding>,
    pub(super) body: Bytes,
    pub(super) now: Timestamp,
}

/// A message to store, and the number of its findings.
pub(super) type Read = (Incoming, usize);

impl<I: Inbox + ?Sized> Sealed<I> {
    /// Opens the message with keys in memory, and reads it.
    pub(super) fn open(&self, opener: &Opener) -> Result<Read, Refusal> {
        let compact = self.compact()?;
        let opened = opener.open(&compact);
        let not_opened = |error| {
            Refusal::NotOpened(Unopened {
                error,
                kid: unverified_kid(&compact),
            })
        };
        self.read(opened.map_err(not_opened)?)
    }

    /// The compact message in the envelope.
    pub(super) fn compact(&self) -> Result<String, Refusal> {
        SecuredPayload::from_json(&self.body)
            .map(|envelope| envelope.secured_payload)
            .map_err(|_| Refusal::Envelope)
    }

    /// Reads an opened message.
    pub(super) fn read(&self, opened: Opened) -> Result<Read, Refusal> {
        let options = &self.shared.options;
        let parsed = Message::from_json_with(self.kind, opened.json(), &options.read)
            .map_err(Refusal::Message)?;
        let age = self
            .now
            .saturating_since(parsed.message.creation_date_time());
        if self.shared.max_age.is_some_and(|most| age > most) {
            return Err(Refusal::TooOld);
        }
        let acknowledgement = Acknowledgement::received(uuid::Uuid::new_v4().into());
        let (headers, body) = (&self.headers, opened.into_json());
        let incoming = parsed.message.incoming(
            &options.scope,
            headers,
            &self.findings,
            body,
            &acknowledgement,
        );
        Ok((incoming, self.findings.len() + parsed.findings.len()))
    }
}

/// Logs that the inbox has a delivery.
pub(super) fn log(
    kind: MessageKind,
    delivery: &DeliveryHeaders,
    received: &ReceiveOutcome,
    findings: usize,
) {
    let outcome = match received {
        ReceiveOutcome::New { .. } => "new",
        ReceiveOutcome::Duplicate { .. } => "duplicate",
        ReceiveOutcome::InProgress { .. } => "in progress",
        ReceiveOutcome::Conflict { .. } => "conflict",
    };
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
