//! The trait of all messages, with which they are read, written and checked.

use super::MessageKind;
use crate::duplicate;
use crate::error::MessageError;
use crate::finding::{MessageFinding, RuleClass};
use crate::json::{self, Context, Output, Wire};
use bankrail_mailbox::{DuplicateKey, Fingerprint};
use bankrail_values::json::JsonValue;
use bankrail_values::{HyphenatedUuid, Timestamp};

bankrail_values::options! {
    /// Options for reading a message.
    #[derive(Clone, Copy, Debug)]
    pub struct MessageReadOptions {
        /// Refuses messages with findings of the classes [`RuleClass::Specification`] and
        /// [`RuleClass::Default`] if true. Findings of consistency are not a reason to refuse.
        /// Default: false.
        deny_findings: bool = false,
        /// Sets the maximum size of the JSON, in bytes. Default: 1 MiB.
        max_message_bytes: usize = 1024 * 1024,
    }
}

impl MessageReadOptions {
    pub(super) fn read<'a>(&self, json: &'a [u8]) -> Result<JsonValue<'a>, MessageError> {
        Ok(bankrail_values::json::read(
            json,
            &json::LIMITS.max_document_bytes(self.max_message_bytes),
        )?)
    }

    /// Returns the value of [`MessageReadOptions::deny_findings`].
    #[must_use]
    #[doc(hidden)]
    pub fn denies_findings(&self) -> bool {
        self.deny_findings
    }
}

/// A message that was read, with its findings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParsedMessage<T> {
    /// The message.
    pub message: T,
    /// The findings of reading, then those of [`WebhookMessage::validate`].
    pub findings: Vec<MessageFinding>,
}

/// The values of a message that must agree.
pub(crate) trait Agreement {
    /// Reports the values that do not agree.
    fn check_agreement(&self, at: &mut Context);
}

/// Returns all refusals of a message, and its findings.
pub(super) fn defects<M: WebhookMessage>(
    value: &JsonValue<'_>,
) -> (Vec<MessageError>, Vec<MessageFinding>) {
    let mut at = Context::default();
    at.refusals = Some(Vec::new());
    let read = M::read(value, &mut at);
    let (mut refusals, mut findings) = (at.refusals.unwrap_or_default(), at.findings);
    match read {
        Ok(message) => findings.extend(message.validate()),
        Err(error) => refusals.push(error),
    }
    (refusals, findings)
}

/// The trait of all webhook messages. The trait is sealed, because the list of messages is closed.
#[allow(private_bounds, reason = "sealed")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no kind of webhook message",
    label = "not a `WebhookMessage`",
    note = "the kinds are `MandateNotification`, `MandateActionOutcome`, `PaymentOutcome` and `QueryNotification`",
    note = "a handler of every kind goes to `Handlers::on_any`, one of conflicts to `Handlers::on_conflict`"
)]
pub trait WebhookMessage:
    Wire + Agreement + Clone + std::fmt::Debug + PartialEq + Send + Sync + 'static
{
    /// The kind of the message.
    const KIND: MessageKind;

    /// Returns the time at which the service processed the event: this is not the time of the event
    /// itself, and it differs each time the message is regenerated.
    fn creation_date_time(&self) -> Timestamp;

    /// Returns the duplicate key (Specification: "Events").
    ///
    /// - `scope` distinguishes receivers (customers) that share a store.
    /// - `message_id` is the `X-Message-Id`, used when the message has none of the key's members.
    fn duplicate_key(&self, scope: &str, message_id: HyphenatedUuid) -> DuplicateKey;

    /// Returns true for a message that only announces a result. The message with the result has the
    /// same duplicate key and other content, but does not conflict with it.
    fn is_interim(&self) -> bool {
        false
    }

    /// Returns the same message in the other spellings that senders use. Each spelling has the same
    /// duplicate key, and a receiver that has one of them has the message.
    fn other_spellings(&self) -> Vec<Self> {
        Vec::new()
    }

    /// Reads a message.
    ///
    /// # Errors
    /// [`MessageError`].
    fn from_json(json: &[u8]) -> Result<ParsedMessage<Self>, MessageError> {
        Self::from_json_with(json, &MessageReadOptions::default())
    }

    /// Reads a message with options.
    ///
    /// # Errors
    /// [`MessageError`].
    fn from_json_with(
        json: &[u8],
        options: &MessageReadOptions,
    ) -> Result<ParsedMessage<Self>, MessageError> {
        Self::from_value(&options.read(json)?, options)
    }

    /// Reads a message from parsed JSON.
    #[doc(hidden)]
    fn from_value(
        value: &JsonValue<'_>,
        options: &MessageReadOptions,
    ) -> Result<ParsedMessage<Self>, MessageError> {
        let mut at = Context::default();
        let message = Self::read(value, &mut at)?;
        let mut findings = at.findings;
        findings.extend(message.validate());
        if options.deny_findings
            && findings
                .iter()
                .any(|finding| finding.rule.class() != RuleClass::Consistency)
        {
            return Err(MessageError::Findings { findings });
        }
        Ok(ParsedMessage { message, findings })
    }

    /// Writes the message: the specification's names in a stable order, no nulls, unknown members
    /// last.
    fn to_json(&self) -> String {
        let mut out = Output::plain();
        self.write(&mut out);
        out.finish()
    }

    /// Returns the findings of the message: default bounds, unknown codes and members, and values
    /// that contradict each other.
    fn validate(&self) -> Vec<MessageFinding> {
        let mut at = Context::default();
        self.check(None, &mut at);
        self.check_agreement(&mut at);
        at.findings
    }

    /// Returns the fingerprint: SHA-256 of the canonical JSON without `creation_date_time`.
    fn fingerprint(&self) -> Fingerprint {
        let mut canonical = Output::canonical();
        self.write(&mut canonical);
        duplicate::fingerprint(Self::KIND, &canonical.finish())
    }
}
