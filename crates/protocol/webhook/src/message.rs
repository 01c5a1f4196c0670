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
use crate::json::Context;
use crate::samples;
use bankrail_mailbox::{DuplicateKey, Fingerprint};
use bankrail_values::json::JsonValue;
use bankrail_values::{HyphenatedUuid, Timestamp};
use mandate_notification::MandateNotification;
use mandate_outcome::MandateActionOutcome;
use payment_outcome::PaymentOutcome;
use query_notification::QueryNotification;
use read::message_type;

/// Identifier of a user of the service: text of 1 to 10 code points (Specification: "Common formats
/// in webhook messages").
pub type MpsUserId = bankrail_values::BoundedText<1, 10>;
/// Text of 1 to 35 code points.
pub type Text35 = bankrail_values::BoundedText<1, 35>;

macro_rules! messages {
    ($(
        $(#[$doc:meta])*
        $variant:ident($message:ident) as $name:ident {
            specification_name: $specification:literal,
            default_path: $path:literal,
            answers_a_request: $answers:literal,
            priorities: [$($priority:ident),*],
            agreement: $agreement:path,
            samples: $samples:path,
        }
    )*) => {
        /// A kind of message (Specification: "Webhook receivers").
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(clippy::exhaustive_enums, reason = "the specification has four receivers; a fifth is a new version")]
        pub enum MessageKind { $( $(#[$doc])* $variant, )* }

        impl MessageKind {
            /// Every kind.
            pub const ALL: [Self; [$($path),*].len()] = [$(Self::$variant),*];

            /// The path below the customer's base address. Default: `/payto/mandates/outcomes`,
            /// `/payto/mandates/notifications`, `/payto/mpirs/outcomes`, `/payto/queries`.
            #[must_use]
            pub const fn default_path(self) -> &'static str {
                match self { $( Self::$variant => $path, )* }
            }

            /// A stable name, for stores and logs, which is also its `Display`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => stringify!($name), )* }
            }

            /// The kind with this stable name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|kind| kind.as_str() == name)
            }

            /// The specification's name of the message: `MandateActionOutcome`,
            /// `MandateNotification`, `MPIRActionOutcome`, `QueryNotification`.
            #[must_use]
            pub const fn specification_name(self) -> &'static str {
                match self { $( Self::$variant => $specification, )* }
            }

            /// True for the outcomes, which answer a request and so require `X-RequestKey`
            /// (Specification: "Webhook receivers").
            #[must_use]
            pub const fn answers_a_request(self) -> bool {
                match self { $( Self::$variant => $answers, )* }
            }

            /// The priorities that a delivery may have (Specification: "Webhook receivers").
            #[must_use]
            pub const fn priorities(self) -> &'static [Priority] {
                match self { $( Self::$variant => &[$(Priority::$priority),*], )* }
            }

            pub(crate) fn samples(self) -> Vec<Message> {
                match self { $( Self::$variant => $samples().into_iter().map(Message::from).collect(), )* }
            }

            pub(crate) const fn schema_name(self) -> &'static str {
                match self { $( Self::$variant => stringify!($message), )* }
            }

            pub(crate) fn add_schema(self, schemas: &mut crate::json::Schemas) {
                match self { $( Self::$variant => <$message as crate::json::Wire>::schema(None, schemas), )* };
            }
        }

        bankrail_values::impl_display!(MessageKind);

        /// One value for each kind of message. A literal names every kind, so it does not compile
        /// if one is forgotten.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[allow(clippy::exhaustive_structs, reason = "as MessageKind")]
        pub struct EachKind<T> { $( $(#[$doc])* pub $name: T, )* }

        impl<T> EachKind<T> {
            /// The value that `value` returns for each kind.
            pub fn from_fn(mut value: impl FnMut(MessageKind) -> T) -> Self {
                Self { $( $name: value(MessageKind::$variant), )* }
            }

            /// The value for a kind.
            pub fn get(&self, kind: MessageKind) -> &T {
                match kind { $( MessageKind::$variant => &self.$name, )* }
            }

            /// The value for a kind, to change it.
            pub fn get_mut(&mut self, kind: MessageKind) -> &mut T {
                match kind { $( MessageKind::$variant => &mut self.$name, )* }
            }

            /// Each kind with its value.
            pub fn iter(&self) -> impl Iterator<Item = (MessageKind, &T)> {
                [$( (MessageKind::$variant, &self.$name) ),*].into_iter()
            }
        }

        /// Each kind with its value.
        impl<T> IntoIterator for EachKind<T> {
            type Item = (MessageKind, T);
            type IntoIter = std::array::IntoIter<Self::Item, { MessageKind::ALL.len() }>;

            fn into_iter(self) -> Self::IntoIter {
                [$( (MessageKind::$variant, self.$name) ),*].into_iter()
            }
        }

        /// A message of any kind.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(clippy::exhaustive_enums, reason = "as MessageKind")]
        #[allow(clippy::large_enum_variant, reason = "messages are few and short-lived")]
        pub enum Message { $( $(#[$doc])* $variant($message), )* }

        $(
            impl From<$message> for Message {
                fn from(message: $message) -> Self {
                    Self::$variant(message)
                }
            }

            impl read::Agreement for $message {
                fn check_agreement(&self, at: &mut Context) {
                    $agreement(self, at);
                }
            }

            message_type!($message);
        )*

        impl Message {
            /// The kind of the message.
            #[must_use]
            pub fn kind(&self) -> MessageKind {
                match self { $( Self::$variant(_) => MessageKind::$variant, )* }
            }

            /// The same message as other senders spell it: see [`WebhookMessage::other_spellings`].
            #[must_use]
            pub fn other_spellings(&self) -> Vec<Self> {
                match self { $(
                    Self::$variant(message) => message.other_spellings().into_iter().map(Self::from).collect(),
                )* }
            }

            fn read_as(
                kind: MessageKind,
                value: &JsonValue<'_>,
                options: &MessageReadOptions,
            ) -> Result<ParsedMessage<Self>, MessageError> {
                match kind { $(
                    MessageKind::$variant => {
                        let ParsedMessage { message, findings } = $message::from_value(value, options)?;
                        Ok(ParsedMessage { message: message.into(), findings })
                    }
                )* }
            }

            /// Reads a message as a receiver of `kind` and goes on after what it is refused for:
            /// returns all refusals that can be told apart, and then the findings, without those of
            /// agreement if there is a refusal.
            ///
            /// # Errors
            /// [`MessageError::Json`] for a text of which nothing can be read.
            pub fn defects(
                kind: MessageKind,
                json: &[u8],
            ) -> Result<(Vec<MessageError>, Vec<MessageFinding>), MessageError> {
                let value = MessageReadOptions::default().read(json)?;
                Ok(match kind { $( MessageKind::$variant => read::defects::<$message>(&value), )* })
            }
        }

        macro_rules! each {
            ($self_:expr, $any:ident => $work:expr) => {
                match $self_ { $( Message::$variant($any) => $work, )* }
            };
        }
    };
}

messages! {
    /// The outcome of a mandate action that the biller started.
    MandateOutcome(MandateActionOutcome) as mandate_outcome {
        specification_name: "MandateActionOutcome",
        default_path: "/payto/mandates/outcomes",
        answers_a_request: true,
        priorities: [Attended, Unattended],
        agreement: rules::mandate_outcome,
        samples: samples::mandate_outcomes,
    }
    /// A payer's action on a mandate.
    MandateNotification(MandateNotification) as mandate_notification {
        specification_name: "MandateNotification",
        default_path: "/payto/mandates/notifications",
        answers_a_request: false,
        priorities: [Attended, Unattended],
        agreement: rules::mandate_notification,
        samples: samples::mandate_notifications,
    }
    /// The outcome of a payment instruction that the biller started.
    PaymentOutcome(PaymentOutcome) as payment_outcome {
        specification_name: "MPIRActionOutcome",
        default_path: "/payto/mpirs/outcomes",
        answers_a_request: true,
        priorities: [Attended, Unattended],
        agreement: rules::payment_outcome,
        samples: samples::payment_outcomes,
    }
    /// A payer's query.
    Query(QueryNotification) as query {
        specification_name: "QueryNotification",
        default_path: "/payto/queries",
        answers_a_request: false,
        priorities: [Unattended],
        agreement: rules::query,
        samples: samples::queries,
    }
}

impl Message {
    /// Reads a message of any kind, as the kind whose reading has the fewest findings. `None` for
    /// what cannot be read as any.
    #[must_use]
    pub fn from_json_of_any_kind(json: &[u8]) -> Option<ParsedMessage<Self>> {
        MessageKind::ALL
            .into_iter()
            .filter_map(|kind| Self::from_json(kind, json).ok())
            .min_by_key(|read| read.findings.len())
    }

    /// Reads a message as a receiver of `kind`.
    ///
    /// # Errors
    /// [`MessageError`]; [`MessageError::WrongKind`] for a message that can only be read as another
    /// kind.
    pub fn from_json(kind: MessageKind, json: &[u8]) -> Result<ParsedMessage<Self>, MessageError> {
        Self::from_json_with(kind, json, &MessageReadOptions::default())
    }

    /// Reads a message as a receiver of `kind`, with options.
    ///
    /// # Errors
    /// [`MessageError`]; [`MessageError::WrongKind`] for a message that can only be read as another
    /// kind.
    pub fn from_json_with(
        kind: MessageKind,
        json: &[u8],
        options: &MessageReadOptions,
    ) -> Result<ParsedMessage<Self>, MessageError> {
        let value = options.read(json)?;
        let read = Self::read_as(kind, &value, options);
        if matches!(read, Err(MessageError::Missing { .. })) {
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
}

/// Methods that every kind of message has.
macro_rules! methods {
    ($( $(#[$doc:meta])* $name:ident($($argument:ident: $of:ty),*) -> $returns:ty; )*) => {
        impl Message {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(&self, $($argument: $of),*) -> $returns {
                each!(self, message => WebhookMessage::$name(message, $($argument),*))
            }
        )*}
    };
}

methods! {
    /// Writes the message: the specification's names in a stable order, no nulls, unknown members
    /// last.
    to_json() -> Vec<u8>;
    /// The findings of the message: see [`WebhookMessage::validate`].
    validate() -> Vec<MessageFinding>;
    /// When the service processed the event: see [`WebhookMessage::creation_date_time`].
    creation_date_time() -> Timestamp;
    /// The duplicate key: see [`WebhookMessage::duplicate_key`].
    duplicate_key(scope: &str, message_id: HyphenatedUuid) -> DuplicateKey;
    /// True for a message that only says that a result is still to come: see
    /// [`WebhookMessage::is_interim`].
    is_interim() -> bool;
    /// SHA-256 of the canonical JSON without `creation_date_time`.
    fingerprint() -> Fingerprint;
}
