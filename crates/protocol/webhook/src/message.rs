//! The kinds of messages, with their names and paths, and one type for all messages.

pub mod details;
pub mod mandate_notification;
pub mod mandate_outcome;
pub mod parties;
pub mod payment_information;
pub mod payment_outcome;
pub mod query_notification;

mod read;
mod rules;

pub use read::{MessageReadOptions, ParsedMessage, WebhookMessage};

use crate::error::MessageError;
use crate::finding::MessageFinding;
use crate::headers::Priority;
use crate::json::{Schemas, Wire as _};
use bankrail_mailbox::{DuplicateKey, Fingerprint};
use bankrail_values::json::JsonValue;
use bankrail_values::{HyphenatedUuid, Timestamp, ValueError};
use mandate_notification::MandateNotification;
use mandate_outcome::MandateActionOutcome;
use payment_outcome::PaymentOutcome;
use query_notification::QueryNotification;
use std::str::FromStr;

/// Identifier of a user of the service: text of 1 to 10 code points (Specification: "Common formats
/// in webhook messages").
pub type MpsUserId = bankrail_values::BoundedText<1, 10>;
/// Text of 1 to 35 code points.
pub type Text35 = bankrail_values::BoundedText<1, 35>;

/// A kind of message (Specification: "Webhook receivers").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(
    clippy::exhaustive_enums,
    reason = "the specification has four receivers; a fifth is a new version"
)]
pub enum MessageKind {
    /// The outcome of a mandate action that the biller started.
    MandateOutcome,
    /// A payer's action on a mandate.
    MandateNotification,
    /// The outcome of a payment instruction that the biller started.
    PaymentOutcome,
    /// A payer's query.
    Query,
}

impl MessageKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [
        Self::MandateOutcome,
        Self::MandateNotification,
        Self::PaymentOutcome,
        Self::Query,
    ];

    /// Returns the path below the customer's base address. Default: `/payto/mandates/outcomes`,
    /// `/payto/mandates/notifications`, `/payto/mpirs/outcomes`, `/payto/queries`.
    #[must_use]
    pub const fn default_path(self) -> &'static str {
        match self {
            Self::MandateOutcome => "/payto/mandates/outcomes",
            Self::MandateNotification => "/payto/mandates/notifications",
            Self::PaymentOutcome => "/payto/mpirs/outcomes",
            Self::Query => "/payto/queries",
        }
    }

    /// Returns a stable name, for stores and logs, which is also its `Display`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MandateOutcome => "mandate_outcome",
            Self::MandateNotification => "mandate_notification",
            Self::PaymentOutcome => "payment_outcome",
            Self::Query => "query",
        }
    }

    /// Returns the specification's name of the message: `MandateActionOutcome`,
    /// `MandateNotification`, `MPIRActionOutcome`, `QueryNotification`.
    #[must_use]
    #[doc(hidden)]
    pub const fn specification_name(self) -> &'static str {
        match self {
            Self::MandateOutcome => "MandateActionOutcome",
            Self::MandateNotification => "MandateNotification",
            Self::PaymentOutcome => "MPIRActionOutcome",
            Self::Query => "QueryNotification",
        }
    }

    /// Returns true for the outcomes, which answer a request and therefore require `X-RequestKey`
    /// (Specification: "Webhook receivers").
    #[must_use]
    pub const fn answers_a_request(self) -> bool {
        match self {
            Self::MandateOutcome | Self::PaymentOutcome => true,
            Self::MandateNotification | Self::Query => false,
        }
    }

    /// Returns the priorities that a delivery may have (Specification: "Webhook receivers").
    #[must_use]
    pub const fn priorities(self) -> &'static [Priority] {
        match self {
            Self::MandateOutcome | Self::MandateNotification | Self::PaymentOutcome => {
                &[Priority::Attended, Priority::Unattended]
            }
            Self::Query => &[Priority::Unattended],
        }
    }

    /// Returns the file of samples: a JSON array of messages.
    pub(crate) const fn samples(self) -> &'static str {
        match self {
            Self::MandateOutcome => include_str!("samples/mandate_outcomes.json"),
            Self::MandateNotification => include_str!("samples/mandate_notifications.json"),
            Self::PaymentOutcome => include_str!("samples/payment_outcomes.json"),
            Self::Query => include_str!("samples/queries.json"),
        }
    }

    /// Returns the name of the Rust type, which is that of the schema.
    pub(crate) const fn schema_name(self) -> &'static str {
        match self {
            Self::MandateOutcome => "MandateActionOutcome",
            Self::MandateNotification => "MandateNotification",
            Self::PaymentOutcome => "PaymentOutcome",
            Self::Query => "QueryNotification",
        }
    }

    pub(crate) fn add_schema(self, schemas: &mut Schemas) {
        match self {
            Self::MandateOutcome => MandateActionOutcome::schema(None, schemas),
            Self::MandateNotification => MandateNotification::schema(None, schemas),
            Self::PaymentOutcome => PaymentOutcome::schema(None, schemas),
            Self::Query => QueryNotification::schema(None, schemas),
        };
    }
}

impl FromStr for MessageKind {
    type Err = ValueError;

    /// Reads a [stable name](Self::as_str).
    fn from_str(name: &str) -> Result<Self, ValueError> {
        let known = Self::ALL.into_iter().find(|kind| kind.as_str() == name);
        known.ok_or_else(|| ValueError::new("the kind of a message, such as payment_outcome", name))
    }
}

bankrail_values::impl_display!(MessageKind);

/// One value for each kind of message. A literal names every kind, so it does not compile if one is
/// forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "as MessageKind")]
#[doc(hidden)]
pub struct EachKind<T> {
    /// The outcome of a mandate action that the biller started.
    pub mandate_outcome: T,
    /// A payer's action on a mandate.
    pub mandate_notification: T,
    /// The outcome of a payment instruction that the biller started.
    pub payment_outcome: T,
    /// A payer's query.
    pub query: T,
}

impl<T> EachKind<T> {
    /// Calls `value` for each kind and keeps the results.
    pub fn from_fn(mut value: impl FnMut(MessageKind) -> T) -> Self {
        Self {
            mandate_outcome: value(MessageKind::MandateOutcome),
            mandate_notification: value(MessageKind::MandateNotification),
            payment_outcome: value(MessageKind::PaymentOutcome),
            query: value(MessageKind::Query),
        }
    }

    /// Returns the value for a kind.
    pub fn get(&self, kind: MessageKind) -> &T {
        match kind {
            MessageKind::MandateOutcome => &self.mandate_outcome,
            MessageKind::MandateNotification => &self.mandate_notification,
            MessageKind::PaymentOutcome => &self.payment_outcome,
            MessageKind::Query => &self.query,
        }
    }

    /// Returns the value for a kind, to change it.
    pub fn get_mut(&mut self, kind: MessageKind) -> &mut T {
        match kind {
            MessageKind::MandateOutcome => &mut self.mandate_outcome,
            MessageKind::MandateNotification => &mut self.mandate_notification,
            MessageKind::PaymentOutcome => &mut self.payment_outcome,
            MessageKind::Query => &mut self.query,
        }
    }

    /// Iterates over the kinds with their values.
    pub fn iter(&self) -> impl Iterator<Item = (MessageKind, &T)> {
        MessageKind::ALL
            .into_iter()
            .map(|kind| (kind, self.get(kind)))
    }
}

/// Iterates over the kinds with their values.
impl<T> IntoIterator for EachKind<T> {
    type Item = (MessageKind, T);
    type IntoIter = std::array::IntoIter<Self::Item, { MessageKind::ALL.len() }>;

    fn into_iter(self) -> Self::IntoIter {
        [
            (MessageKind::MandateOutcome, self.mandate_outcome),
            (MessageKind::MandateNotification, self.mandate_notification),
            (MessageKind::PaymentOutcome, self.payment_outcome),
            (MessageKind::Query, self.query),
        ]
        .into_iter()
    }
}

/// A message of any kind.
///
/// It is serialized as the wire form of the message itself. The wire form does not name the kind,
/// so there is no `Deserialize`: read with [`Message::from_json`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
#[allow(clippy::exhaustive_enums, reason = "as MessageKind")]
#[allow(
    clippy::large_enum_variant,
    reason = "messages are few and short-lived"
)]
pub enum Message {
    /// The outcome of a mandate action that the biller started.
    MandateOutcome(MandateActionOutcome),
    /// A payer's action on a mandate.
    MandateNotification(MandateNotification),
    /// The outcome of a payment instruction that the biller started.
    PaymentOutcome(PaymentOutcome),
    /// A payer's query.
    Query(QueryNotification),
}

impl From<MandateActionOutcome> for Message {
    fn from(message: MandateActionOutcome) -> Self {
        Self::MandateOutcome(message)
    }
}

impl From<MandateNotification> for Message {
    fn from(message: MandateNotification) -> Self {
        Self::MandateNotification(message)
    }
}

impl From<PaymentOutcome> for Message {
    fn from(message: PaymentOutcome) -> Self {
        Self::PaymentOutcome(message)
    }
}

impl From<QueryNotification> for Message {
    fn from(message: QueryNotification) -> Self {
        Self::Query(message)
    }
}

impl Message {
    /// Reads a message of any kind, as the kind whose reading has the fewest findings. Returns
    /// `None` if the text cannot be read as any kind.
    #[must_use]
    #[doc(hidden)]
    pub fn from_json_of_any_kind(json: &[u8]) -> Option<ParsedMessage<Self>> {
        MessageKind::ALL
            .into_iter()
            .filter_map(|kind| Self::from_json(kind, json).ok())
            // A message that is read as another kind has unknown members, which are findings.
            .min_by_key(|read| read.findings.len())
    }

    /// Reads a message as a receiver of `kind`.
    ///
    /// # Errors
    /// [`MessageError`]; [`MessageError::WrongKind`] if the message can only be read as another
    /// kind.
    pub fn from_json(kind: MessageKind, json: &[u8]) -> Result<ParsedMessage<Self>, MessageError> {
        Self::from_json_with(kind, json, &MessageReadOptions::default())
    }

    /// Reads a message as a receiver of `kind`, with options.
    ///
    /// # Errors
    /// [`MessageError`]; [`MessageError::WrongKind`] if the message can only be read as another
    /// kind.
    pub fn from_json_with(
        kind: MessageKind,
        json: &[u8],
        options: &MessageReadOptions,
    ) -> Result<ParsedMessage<Self>, MessageError> {
        let value = options.read(json)?;
        let read = Self::read_as(kind, &value, options);
        if matches!(read, Err(MessageError::Missing { .. })) {
            // The other kind is named even if its message has findings.
            let tolerant = options.deny_findings(false);
            let other = MessageKind::ALL.into_iter().filter(|other| *other != kind);
            if let Some(found) = other
                .into_iter()
                .find(|other| Self::read_as(*other, &value, &tolerant).is_ok())
            {
                return Err(MessageError::WrongKind {
                    expected: kind,
                    found,
                });
            }
        }
        read
    }

    pub(crate) fn read_as(
        kind: MessageKind,
        value: &JsonValue<'_>,
        options: &MessageReadOptions,
    ) -> Result<ParsedMessage<Self>, MessageError> {
        match kind {
            MessageKind::MandateOutcome => Self::read_one::<MandateActionOutcome>(value, options),
            MessageKind::MandateNotification => {
                Self::read_one::<MandateNotification>(value, options)
            }
            MessageKind::PaymentOutcome => Self::read_one::<PaymentOutcome>(value, options),
            MessageKind::Query => Self::read_one::<QueryNotification>(value, options),
        }
    }

    fn read_one<M: WebhookMessage + Into<Self>>(
        value: &JsonValue<'_>,
        options: &MessageReadOptions,
    ) -> Result<ParsedMessage<Self>, MessageError> {
        let ParsedMessage { message, findings } = M::from_value(value, options)?;
        Ok(ParsedMessage {
            message: message.into(),
            findings,
        })
    }

    /// Reads a message as a receiver of `kind` and continues after a refusal. Returns all refusals
    /// that can be distinguished, and the findings; if there is a refusal, findings about values
    /// that must agree are left out.
    ///
    /// # Errors
    /// [`MessageError::Json`] if nothing of the text can be read.
    #[doc(hidden)]
    pub fn defects(
        kind: MessageKind,
        json: &[u8],
    ) -> Result<(Vec<MessageError>, Vec<MessageFinding>), MessageError> {
        let value = MessageReadOptions::default().read(json)?;
        Ok(match kind {
            MessageKind::MandateOutcome => read::defects::<MandateActionOutcome>(&value),
            MessageKind::MandateNotification => read::defects::<MandateNotification>(&value),
            MessageKind::PaymentOutcome => read::defects::<PaymentOutcome>(&value),
            MessageKind::Query => read::defects::<QueryNotification>(&value),
        })
    }

    /// Returns the kind of the message.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        match self {
            Self::MandateOutcome(_) => MessageKind::MandateOutcome,
            Self::MandateNotification(_) => MessageKind::MandateNotification,
            Self::PaymentOutcome(_) => MessageKind::PaymentOutcome,
            Self::Query(_) => MessageKind::Query,
        }
    }

    /// Returns the same message as other senders spell it: see
    /// [`WebhookMessage::other_spellings`].
    #[must_use]
    pub fn other_spellings(&self) -> Vec<Self> {
        fn of<M: WebhookMessage + Into<Message>>(message: &M) -> Vec<Message> {
            let spellings = message.other_spellings().into_iter();
            spellings.map(Into::into).collect()
        }
        match self {
            Self::MandateOutcome(message) => of(message),
            Self::MandateNotification(message) => of(message),
            Self::PaymentOutcome(message) => of(message),
            Self::Query(message) => of(message),
        }
    }

    /// Writes the message: the specification's names in a stable order, no nulls, unknown members
    /// last.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            Self::MandateOutcome(message) => message.to_json(),
            Self::MandateNotification(message) => message.to_json(),
            Self::PaymentOutcome(message) => message.to_json(),
            Self::Query(message) => message.to_json(),
        }
    }

    /// Returns the findings of the message: see [`WebhookMessage::validate`].
    #[must_use]
    pub fn validate(&self) -> Vec<MessageFinding> {
        match self {
            Self::MandateOutcome(message) => message.validate(),
            Self::MandateNotification(message) => message.validate(),
            Self::PaymentOutcome(message) => message.validate(),
            Self::Query(message) => message.validate(),
        }
    }

    /// Returns the time at which the service processed the event: see
    /// [`WebhookMessage::creation_date_time`].
    #[must_use]
    pub fn creation_date_time(&self) -> Timestamp {
        match self {
            Self::MandateOutcome(message) => message.creation_date_time,
            Self::MandateNotification(message) => message.creation_date_time,
            Self::PaymentOutcome(message) => message.creation_date_time,
            Self::Query(message) => message.creation_date_time,
        }
    }

    /// Returns the duplicate key: see [`WebhookMessage::duplicate_key`].
    #[must_use]
    pub fn duplicate_key(&self, scope: &str, message_id: HyphenatedUuid) -> DuplicateKey {
        match self {
            Self::MandateOutcome(message) => message.duplicate_key(scope, message_id),
            Self::MandateNotification(message) => message.duplicate_key(scope, message_id),
            Self::PaymentOutcome(message) => message.duplicate_key(scope, message_id),
            Self::Query(message) => message.duplicate_key(scope, message_id),
        }
    }

    /// Returns true for a message that only announces a result: see
    /// [`WebhookMessage::is_interim`].
    #[must_use]
    pub fn is_interim(&self) -> bool {
        match self {
            Self::MandateOutcome(message) => message.is_interim(),
            Self::MandateNotification(message) => message.is_interim(),
            Self::PaymentOutcome(message) => message.is_interim(),
            Self::Query(message) => message.is_interim(),
        }
    }

    /// Returns SHA-256 of the canonical JSON without `creation_date_time`.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::MandateOutcome(message) => message.fingerprint(),
            Self::MandateNotification(message) => message.fingerprint(),
            Self::PaymentOutcome(message) => message.fingerprint(),
            Self::Query(message) => message.fingerprint(),
        }
    }
}
