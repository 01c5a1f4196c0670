//! The outcomes of deliveries, for the operator of the receivers.

use bankrail_mailbox::{EntryId, ReceiveOutcome};
use bankrail_secured_payload::OpenErrorKind;
use bankrail_webhook::{DeliveryHeaders, MessageKind};
use std::fmt;
use std::sync::Arc;

/// The outcome of one delivery, for
/// [`ReceiversOptions::observe`](super::ReceiversOptions::observe). It has nothing of the message
/// but the names of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObservedDelivery {
    /// The kind of messages that the delivery's receiver accepts.
    pub kind: MessageKind,
    /// The headers of the delivery; `None` if they were not read.
    pub headers: Option<DeliveryHeaders>,
    /// The outcome.
    pub outcome: ObservedOutcome,
    /// The HTTP status of the answer.
    pub status: u16,
}

/// The outcome of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObservedOutcome {
    /// The message is new and was stored.
    #[non_exhaustive]
    New {
        /// The inbox's number of the message.
        id: EntryId,
    },
    /// The message was stored by an earlier delivery.
    #[non_exhaustive]
    Duplicate {
        /// The inbox's number of the message.
        id: EntryId,
        /// True if the message was handled or is a dead letter.
        handled: bool,
    },
    /// The message contradicts an earlier one and was stored in addition to it.
    #[non_exhaustive]
    Conflict {
        /// The inbox's number of the message.
        id: EntryId,
        /// The number of the earlier message.
        with: EntryId,
    },
    /// The delivery was refused and nothing was stored. The answer shows the sender neither stage
    /// nor reason.
    #[non_exhaustive]
    Refused {
        /// The first stage that the delivery did not pass.
        stage: DeliveryStage,
        /// The reason, in one line.
        reason: String,
    },
}

impl ObservedOutcome {
    pub(super) fn of(received: &ReceiveOutcome) -> Self {
        match received {
            ReceiveOutcome::New { id, .. } => Self::New { id: *id },
            ReceiveOutcome::Duplicate { id, .. } => Self::Duplicate {
                id: *id,
                handled: true,
            },
            ReceiveOutcome::InProgress { id, .. } => Self::Duplicate {
                id: *id,
                handled: false,
            },
            ReceiveOutcome::Conflict { id, with, .. } => Self::Conflict {
                id: *id,
                with: *with,
            },
        }
    }
}

/// A stage that a delivery passes, in this order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display, strum::IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum DeliveryStage {
    /// The method, which must be `POST`.
    Method,
    /// The API key.
    ApiKey,
    /// The content type, which must be `application/json`.
    ContentType,
    /// The body: within its bounds and its time.
    Body,
    /// The headers of the specification. Too long addresses and headers count as this stage too,
    /// and are judged first.
    Headers,
    /// The member `secured_payload`.
    Envelope,
    /// The form of the sealed message and its header, judged before any key is used.
    Format,
    /// The choice of the decryption key, and its use where it is remote.
    DecryptionKey,
    /// Decryption and signature. They are one stage, because an attacker who learns which of the
    /// two failed can decrypt messages of others (RFC 7516 section 11.5).
    DecryptOrVerify,
    /// The choice of the verifying key.
    VerifyingKey,
    /// The signed header: type and recipient.
    SignedHeader,
    /// The reading of the signed text as JSON.
    Parse,
    /// The reading of the JSON as a message of the receiver's kind.
    Message,
    /// The age of the message.
    Age,
    /// The inbox.
    Inbox,
}

impl DeliveryStage {
    /// Returns the stage's stable name, such as `decrypt_or_verify`, which is also its `Display`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    pub(super) fn of(kind: OpenErrorKind) -> Self {
        match kind {
            OpenErrorKind::NoKey | OpenErrorKind::Unavailable => Self::DecryptionKey,
            OpenErrorKind::Rejected => Self::DecryptOrVerify,
            OpenErrorKind::NoSigningKey => Self::VerifyingKey,
            OpenErrorKind::OtherRecipient | OpenErrorKind::OtherType => Self::SignedHeader,
            OpenErrorKind::PayloadInvalid => Self::Parse,
            // `Malformed` and `UnsupportedHeader`, for which no key is used.
            _ => Self::Format,
        }
    }
}

/// The function that is notified of deliveries.
#[derive(Clone)]
pub(super) struct Observer(Arc<dyn Fn(&ObservedDelivery) + Send + Sync>);

impl Observer {
    pub(super) fn new(notify: impl Fn(&ObservedDelivery) + Send + Sync + 'static) -> Self {
        Self(Arc::new(notify))
    }

    pub(super) fn notify(&self, delivery: &ObservedDelivery) {
        (self.0)(delivery);
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Observer")
    }
}
