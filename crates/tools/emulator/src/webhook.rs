//! Messages to deliver, and the results of their deliveries.

use crate::call::{Call, Endpoint};
use crate::fault::Fault;
use bankrail_values::{BoundedText, HyphenatedUuid};
use bankrail_webhook::headers::MESSAGE_ID;
use bankrail_webhook::{Acknowledgement, DeliveryHeaders, Message, MessageKind};
use std::fmt;

/// A message of the bank, with the headers of its delivery if they are known already.
///
/// Each of the four messages converts into a webhook, whose headers the bank makes when it delivers
/// the message. Messages of a story have their headers from the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Webhook {
    /// The message.
    pub message: Message,
    /// The headers; `None` until the bank makes them.
    pub headers: Option<DeliveryHeaders>,
}

impl Webhook {
    /// Returns a message with these headers.
    #[must_use]
    pub fn new(message: impl Into<Message>, headers: DeliveryHeaders) -> Self {
        Self {
            message: message.into(),
            headers: Some(headers),
        }
    }

    /// Changes the message into one with the same duplicate key and other content, and the same
    /// headers except the message id.
    pub(crate) fn contradicted(mut self, message_id: HyphenatedUuid) -> Self {
        match &mut self.message {
            Message::MandateOutcome(outcome) => outcome.mps_user_id = Some(another()),
            Message::MandateNotification(notification) => notification.mps_user_id = another(),
            Message::PaymentOutcome(outcome) => outcome.clearing_system_reference = Some(another()),
            Message::Query(query) => {
                query.narrative = "Another text under the same case."
                    .parse()
                    .expect("it fits a narrative");
            }
        }
        if let Some(headers) = &mut self.headers {
            headers.message_id = message_id;
        }
        self
    }
}

fn another<const MAX: usize>() -> BoundedText<1, MAX> {
    "ANOTHER".parse().expect("a text of seven characters")
}

impl<M: Into<Message>> From<M> for Webhook {
    fn from(message: M) -> Self {
        Self {
            message: message.into(),
            headers: None,
        }
    }
}

/// One delivery from the bank's point of view.
///
/// `Display`, `Debug` and comparison with a text are one line: the kind, the status or `no answer`,
/// and the acknowledgement's status.
///
/// ```no_run
/// # async fn example(bank: bankrail_emulator::FakeBank) {
/// assert_eq!(bank.deliveries(), ["payment_outcome 200 RCVD"]);
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivered {
    /// The kind of the message.
    pub kind: MessageKind,
    /// The `X-Message-Id`.
    pub message_id: HyphenatedUuid,
    /// The status; `None` if there was no answer, or if nothing was sent because the receiver has
    /// asked for a pause (`Retry-After`) or has answered 410.
    pub status: Option<u16>,
    /// The acknowledgement, if the receiver answered with one.
    pub acknowledgement: Option<Acknowledgement>,
}

impl Delivered {
    /// The delivery that a call was; `None` for a call of the bank's own endpoints.
    pub(crate) fn of(call: &Call) -> Option<Self> {
        if call.endpoint != Endpoint::Webhook {
            return None;
        }
        let mut kinds = MessageKind::ALL.into_iter();
        let kind = kinds.find(|kind| call.path.ends_with(kind.default_path()))?;
        let message_id = call.headers.get(MESSAGE_ID)?.to_str().ok()?;
        let is_lost = call.fault == Some(Fault::LostAcknowledgement);
        let acknowledgement = Acknowledgement::from_json(&call.answer).ok();
        Some(Self {
            kind,
            message_id: HyphenatedUuid::parse(message_id).ok()?,
            status: call.status.filter(|_| !is_lost),
            acknowledgement: acknowledgement.filter(|_| !is_lost),
        })
    }

    /// True if the delivery is complete: a 2xx answer with the acknowledgement `RCVD`.
    #[must_use]
    pub fn is_received(&self) -> bool {
        let acknowledged = self
            .acknowledgement
            .as_ref()
            .is_some_and(Acknowledgement::is_received);
        acknowledged
            && self
                .status
                .is_some_and(|status| (200..300).contains(&status))
    }
}

impl fmt::Display for Delivered {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.kind.as_str())?;
        match self.status {
            Some(status) => write!(out, " {status}")?,
            None => out.write_str(" no answer")?,
        }
        self.acknowledgement
            .as_ref()
            .map_or(Ok(()), |acknowledgement| {
                write!(out, " {}", acknowledgement.status)
            })
    }
}

impl fmt::Debug for Delivered {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), out)
    }
}

impl PartialEq<&str> for Delivered {
    fn eq(&self, line: &&str) -> bool {
        self.to_string() == **line
    }
}
