//! Conversion of messages to entries of an inbox and an outbox.

use crate::acknowledgement::Acknowledgement;
use crate::finding::{MessageFinding, RuleClass};
use crate::headers::{DeliveryHeaderError, DeliveryHeaders};
use crate::json::{LIMITS, MAX_VALUES};
use crate::message::{Message, MessageKind};
use bankrail_mailbox::{EndpointId, Incoming, Kind, OpaqueBytes, Outgoing};
use bankrail_values::json;
use std::borrow::Cow;

/// The maximum size of a message's JSON in [`Message::outgoing`], in bytes. This much fits into an
/// envelope by default.
pub const MAX_OUTGOING_BYTES: usize = bankrail_values::MAX_MESSAGE_BYTES;

/// Converts a kind to its stable name, which [`MessageKind`]'s `FromStr` reads back.
impl From<MessageKind> for Kind {
    fn from(kind: MessageKind) -> Self {
        Self::from_static(kind.as_str())
    }
}

/// The attributes of an entry, as JSON.
#[derive(serde::Serialize, serde::Deserialize)]
struct Attributes<'a> {
    headers: DeliveryHeaders,
    #[serde(default, skip_serializing_if = "is_empty")]
    findings: Cow<'a, [MessageFinding]>,
}

fn is_empty(findings: &[MessageFinding]) -> bool {
    findings.is_empty()
}

impl DeliveryHeaders {
    /// Writes these headers and their findings into the attributes of a mailbox entry.
    #[must_use]
    #[doc(hidden)]
    pub fn to_attributes(&self, findings: &[MessageFinding]) -> OpaqueBytes {
        let attributes = Attributes {
            headers: *self,
            findings: findings.into(),
        };
        serde_json::to_vec(&attributes)
            .expect("headers are JSON")
            .into()
    }

    /// Reads headers and findings from the attributes that [`DeliveryHeaders::to_attributes`]
    /// wrote. Returns `None` for other bytes.
    #[must_use]
    #[doc(hidden)]
    pub fn from_attributes(attributes: &[u8]) -> Option<(Self, Vec<MessageFinding>)> {
        let Attributes { headers, findings } = serde_json::from_slice(attributes).ok()?;
        Some((headers, findings.into_owned()))
    }
}

impl Message {
    /// Returns the inbox entry for a delivery of this message.
    ///
    /// - `scope` distinguishes receivers (customers) that share an inbox.
    /// - `findings` are those of [`DeliveryHeaders::parse`].
    /// - `body` is the JSON that was received.
    #[must_use]
    pub fn incoming(
        &self,
        scope: &str,
        headers: &DeliveryHeaders,
        findings: &[MessageFinding],
        body: Vec<u8>,
        acknowledgement: &Acknowledgement,
    ) -> Incoming {
        Incoming {
            kind: self.kind().into(),
            key: self.duplicate_key(scope, headers.message_id),
            fingerprint: self.fingerprint(),
            other_spellings: self
                .other_spellings()
                .iter()
                .map(Self::fingerprint)
                .collect(),
            interim: self.is_interim(),
            attributes: headers.to_attributes(findings),
            body: body.into(),
            acknowledgement: acknowledgement.to_json().into_bytes().into(),
        }
    }

    /// Checks message and headers, and returns the outbox entry with the message's JSON, with the
    /// default [`OutgoingOptions`].
    ///
    /// # Errors
    /// As [`Message::outgoing_with`].
    pub fn outgoing(
        &self,
        endpoint: EndpointId,
        headers: &DeliveryHeaders,
    ) -> Result<Outgoing, OutgoingError> {
        self.outgoing_with(endpoint, headers, &OutgoingOptions::default())
    }

    /// Checks message and headers, and returns the outbox entry with the message's JSON.
    ///
    /// # Errors
    /// - [`OutgoingError::Findings`] for a message with findings of a class that the options
    ///   refuse.
    /// - [`OutgoingError::Headers`] for headers that break the table of the message's kind.
    /// - [`OutgoingError::TooLarge`] for more than [`MAX_OUTGOING_BYTES`].
    /// - [`OutgoingError::TooManyValues`] for more values than this crate reads.
    /// - [`OutgoingError::Endpoint`] for an endpoint name that not every engine can store.
    pub fn outgoing_with(
        &self,
        endpoint: EndpointId,
        headers: &DeliveryHeaders,
        options: &OutgoingOptions,
    ) -> Result<Outgoing, OutgoingError> {
        headers.check(self.kind()).map_err(OutgoingError::Headers)?;
        let mut findings = self.validate();
        findings.retain(|finding| options.refuses(finding.rule.class()));
        if !findings.is_empty() {
            return Err(OutgoingError::Findings { findings });
        }
        if endpoint.as_str().contains('\0') {
            return Err(OutgoingError::Endpoint);
        }
        let body = self.to_json().into_bytes();
        if body.len() > MAX_OUTGOING_BYTES {
            return Err(OutgoingError::TooLarge {
                found: body.len(),
                allowed: MAX_OUTGOING_BYTES,
            });
        }
        // A value takes at least two bytes, including the comma after it, so a shorter body cannot
        // have too many values. Syntax and depth need no check, because the writer made the JSON.
        if body.len() >= 2 * MAX_VALUES {
            json::check(&body, &LIMITS).map_err(|_| OutgoingError::TooManyValues {
                allowed: MAX_VALUES,
            })?;
        }
        Ok(Outgoing {
            endpoint,
            kind: self.kind().into(),
            message_id: headers.message_id,
            fingerprint: self.fingerprint(),
            attributes: headers.to_attributes(&[]),
            body: body.into(),
        })
    }
}

bankrail_values::options! {
    /// Options for putting a message into an outbox. Findings of the class
    /// [`RuleClass::Specification`] are always refused.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OutgoingOptions {
        /// Permits messages with findings of the class [`RuleClass::Default`]. The specification
        /// allows these messages; only a documented default does not, for example `1500` as an
        /// amount in VND or `Café` as a name. Default: false.
        beyond_defaults: bool = false,
    }
}

impl OutgoingOptions {
    fn refuses(self, class: RuleClass) -> bool {
        match class {
            RuleClass::Specification => true,
            RuleClass::Default => !self.beyond_defaults,
            RuleClass::Consistency => false,
        }
    }
}

/// The reason why a message cannot be put into an outbox.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutgoingError {
    /// The message has findings of a class that the options refuse.
    #[error("expected a message that breaks no rule, found {} findings", findings.len())]
    Findings {
        /// The findings.
        findings: Vec<MessageFinding>,
    },
    /// The headers break the table of the message's kind.
    #[error("headers: expected those of the message's kind")]
    Headers(#[source] DeliveryHeaderError),
    /// The message is too large to be sealed.
    #[error("expected a message of at most {allowed} bytes, found {found}")]
    TooLarge {
        /// The size of the message, in bytes.
        found: usize,
        /// The maximum, in bytes.
        allowed: usize,
    },
    /// The message has more JSON values than a receiver reads, such as texts in a list.
    #[error("expected a message of at most {allowed} JSON values, found more")]
    TooManyValues {
        /// The maximum number of values.
        allowed: usize,
    },
    /// The endpoint name contains U+0000.
    #[error("expected an endpoint name without U+0000")]
    Endpoint,
}
