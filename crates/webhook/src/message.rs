//! The four messages, and what they have in common.

pub mod details;
pub mod mandate_notification;
pub mod mandate_outcome;
pub mod parties;
pub mod payment_information;
pub mod payment_outcome;
pub mod query_notification;

mod rules;

use crate::duplicate::{DuplicateKey, Fingerprint};
use crate::error::MessageError;
use crate::finding::{Finding, RuleClass};
use crate::json::{self, Context, Output, Wire};
use crate::kind::MessageKind;
use bankrail_values::json::JsonValue;
use bankrail_values::{HyphenatedUuid, Timestamp};
use mandate_notification::MandateNotification;
use mandate_outcome::MandateActionOutcome;
use payment_outcome::PaymentOutcome;
use query_notification::QueryNotification;

/// Text of 1 to 10 code points: a user of the service (Specification: "Common formats in webhook messages").
pub type MpsUserId = bankrail_values::BoundedText<1, 10>;
/// Text of 1 to 35 code points.
pub type Text35 = bankrail_values::BoundedText<1, 35>;

/// How to read a message.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Refuse messages with findings of form, unknown codes or unknown members. Findings of consistency never refuse.
    pub deny_findings: bool,
    /// The most octets of JSON. 1 MiB at first.
    pub max_octets: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { deny_findings: false, max_octets: 1024 * 1024 }
    }
}

impl ReadOptions {
    /// The defaults: tolerant, at most 1 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`ReadOptions::deny_findings`].
    #[must_use]
    pub fn deny_findings(mut self, deny: bool) -> Self {
        self.deny_findings = deny;
        self
    }

    /// Sets [`ReadOptions::max_octets`].
    #[must_use]
    pub fn max_octets(mut self, octets: usize) -> Self {
        self.max_octets = octets;
        self
    }

    fn read<'a>(&self, json: &'a [u8]) -> Result<JsonValue<'a>, MessageError> {
        Ok(bankrail_values::json::read(json, &json::LIMITS.max_bytes(self.max_octets))?)
    }
}

/// A message that was read, and what is odd about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parsed<T> {
    /// The message.
    pub message: T,
    /// What was noticed while reading, then what [`WebhookMessage::validate`] says.
    pub findings: Vec<Finding>,
}

/// What the four messages have in common. Sealed: there are four.
#[allow(private_bounds, reason = "sealed")]
pub trait WebhookMessage: Wire + Clone + std::fmt::Debug + PartialEq + Send + Sync + 'static {
    /// Which of the four.
    const KIND: MessageKind;

    /// When the service processed the message's matter: not when it happened, and different in each regeneration.
    fn creation_date_time(&self) -> Timestamp;

    /// What a receiver de-duplicates by (Specification: "Events"). `scope` tells receivers (customers) that share
    /// a store apart. `message_id` is the `X-Message-Id`, used when the message has none of the key's members.
    fn duplicate_key(&self, scope: &str, message_id: HyphenatedUuid) -> DuplicateKey;

    /// The findings of consistency.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "sealed")]
    fn check_consistency(&self, at: &mut Context);

    /// Reads a message.
    ///
    /// # Errors
    /// [`MessageError`].
    fn from_json(json: &[u8]) -> Result<Parsed<Self>, MessageError> {
        Self::from_json_with(json, &ReadOptions::default())
    }

    /// Reads a message with options.
    ///
    /// # Errors
    /// [`MessageError`].
    fn from_json_with(json: &[u8], options: &ReadOptions) -> Result<Parsed<Self>, MessageError> {
        Self::from_value(&options.read(json)?, options)
    }

    /// Reads a message out of JSON that was parsed.
    #[doc(hidden)]
    fn from_value(value: &JsonValue<'_>, options: &ReadOptions) -> Result<Parsed<Self>, MessageError> {
        let mut at = Context::default();
        let message = Self::read(value, &mut at)?;
        let mut findings = at.findings;
        findings.extend(message.validate());
        if options.deny_findings && findings.iter().any(|finding| finding.rule.class() != RuleClass::Consistency) {
            return Err(MessageError::Findings { findings });
        }
        Ok(Parsed { message, findings })
    }

    /// Writes the message: the specification's names in a stable order, no nulls, unknown members last.
    fn to_json(&self) -> Vec<u8> {
        let mut out = Output::plain();
        self.write(&mut out);
        out.finish().into_bytes()
    }

    /// What is odd about the message: default bounds, unknown codes and members, and values that do not agree.
    fn validate(&self) -> Vec<Finding> {
        let mut at = Context::default();
        self.check(None, &mut at);
        self.check_consistency(&mut at);
        at.findings
    }

    /// The fingerprint: SHA-256 of the canonical JSON without `creation_date_time`.
    fn fingerprint(&self) -> Fingerprint {
        let mut canonical = Output::canonical();
        self.write(&mut canonical);
        Fingerprint::of(Self::KIND, &canonical.finish())
    }
}

/// Any of the four messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "as MessageKind")]
#[allow(clippy::large_enum_variant, reason = "messages are few and short-lived")]
pub enum Message {
    /// The outcome of a mandate action.
    MandateOutcome(MandateActionOutcome),
    /// A payer's action on a mandate.
    MandateNotification(MandateNotification),
    /// The outcome of a payment instruction.
    PaymentOutcome(PaymentOutcome),
    /// A payer's query.
    Query(QueryNotification),
}

macro_rules! each {
    ($self:expr, $message:ident => $work:expr) => {
        match $self {
            Message::MandateOutcome($message) => $work,
            Message::MandateNotification($message) => $work,
            Message::PaymentOutcome($message) => $work,
            Message::Query($message) => $work,
        }
    };
}

impl Message {
    /// Which of the four.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        match self {
            Self::MandateOutcome(_) => MessageKind::MandateOutcome,
            Self::MandateNotification(_) => MessageKind::MandateNotification,
            Self::PaymentOutcome(_) => MessageKind::PaymentOutcome,
            Self::Query(_) => MessageKind::Query,
        }
    }

    /// Reads the message that a receiver of `kind` takes.
    ///
    /// # Errors
    /// [`MessageError`]; [`MessageError::WrongKind`] for a message that reads as another kind only.
    pub fn from_json(kind: MessageKind, json: &[u8]) -> Result<Parsed<Self>, MessageError> {
        Self::from_json_with(kind, json, &ReadOptions::default())
    }

    /// Reads the message that a receiver of `kind` takes, with options.
    ///
    /// # Errors
    /// [`MessageError`]; [`MessageError::WrongKind`] for a message that reads as another kind only.
    pub fn from_json_with(kind: MessageKind, json: &[u8], options: &ReadOptions) -> Result<Parsed<Self>, MessageError> {
        let value = options.read(json)?;
        let read = Self::read_as(kind, &value, options);
        if matches!(read, Err(MessageError::Missing { .. })) {
            let tolerant = ReadOptions { deny_findings: false, ..*options };
            let other = MessageKind::ALL.into_iter().filter(|other| *other != kind);
            if let Some(found) = other.into_iter().find(|other| Self::read_as(*other, &value, &tolerant).is_ok()) {
                return Err(MessageError::WrongKind { expected: kind, found });
            }
        }
        read
    }

    fn read_as(kind: MessageKind, value: &JsonValue<'_>, options: &ReadOptions) -> Result<Parsed<Self>, MessageError> {
        fn typed<T: WebhookMessage + Into<Message>>(
            value: &JsonValue<'_>,
            options: &ReadOptions,
        ) -> Result<Parsed<Message>, MessageError> {
            let Parsed { message, findings } = T::from_value(value, options)?;
            Ok(Parsed { message: message.into(), findings })
        }
        match kind {
            MessageKind::MandateOutcome => typed::<MandateActionOutcome>(value, options),
            MessageKind::MandateNotification => typed::<MandateNotification>(value, options),
            MessageKind::PaymentOutcome => typed::<PaymentOutcome>(value, options),
            MessageKind::Query => typed::<QueryNotification>(value, options),
        }
    }

    /// Writes the message: the specification's names in a stable order, no nulls, unknown members last.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        each!(self, message => WebhookMessage::to_json(message))
    }

    /// What is odd about the message.
    #[must_use]
    pub fn validate(&self) -> Vec<Finding> {
        each!(self, message => WebhookMessage::validate(message))
    }

    /// When the service processed the message's matter.
    #[must_use]
    pub fn creation_date_time(&self) -> Timestamp {
        each!(self, message => message.creation_date_time)
    }

    /// What a receiver de-duplicates by: see [`WebhookMessage::duplicate_key`].
    #[must_use]
    pub fn duplicate_key(&self, scope: &str, message_id: HyphenatedUuid) -> DuplicateKey {
        each!(self, message => WebhookMessage::duplicate_key(message, scope, message_id))
    }

    /// SHA-256 of the canonical JSON without `creation_date_time`.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        each!(self, message => WebhookMessage::fingerprint(message))
    }
}

/// `From` for [`Message`] and the trait's methods as inherent ones.
macro_rules! message_type {
    ($name:ident, $variant:ident) => {
        impl From<$name> for $crate::Message {
            fn from(message: $name) -> Self {
                Self::$variant(message)
            }
        }

        impl $name {
            /// Reads a message.
            ///
            /// # Errors
            /// [`MessageError`](crate::MessageError).
            pub fn from_json(json: &[u8]) -> Result<$crate::Parsed<Self>, $crate::MessageError> {
                <Self as $crate::WebhookMessage>::from_json(json)
            }

            /// Writes the message: the specification's names in a stable order, no nulls, unknown members last.
            #[must_use]
            pub fn to_json(&self) -> Vec<u8> {
                <Self as $crate::WebhookMessage>::to_json(self)
            }

            /// The message itself if nothing is odd about it: the end of a builder's chain.
            ///
            /// # Errors
            /// [`BuildError`](crate::BuildError) with the findings of `validate`, whatever their class.
            pub fn checked(self) -> Result<Self, $crate::BuildError> {
                match self.validate() {
                    findings if findings.is_empty() => Ok(self),
                    findings => Err($crate::BuildError { findings }),
                }
            }

            /// What is odd about the message: default bounds, unknown codes and members, and values that do not
            /// agree with each other.
            #[must_use]
            pub fn validate(&self) -> Vec<$crate::Finding> {
                <Self as $crate::WebhookMessage>::validate(self)
            }
        }
    };
}
pub(crate) use message_type;
