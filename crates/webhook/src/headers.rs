//! The headers that go with a message (Specification: "Webhook receivers").

use crate::finding::{MessageFinding, Rule};
use crate::message::MessageKind;
use crate::sender::OriginalRequest;
use bankrail_values::{HyphenatedUuid, excerpt};
use std::fmt;

/// End-to-end key echoed from the acknowledgement of the original request. Required with outcomes, not sent otherwise.
pub const REQUEST_KEY: &str = "X-RequestKey";
/// Point-to-point message reference for duplicate checks. Required, the same in each delivery of a message.
pub const MESSAGE_ID: &str = "X-Message-Id";
/// Echoed from the original request, for logging. Optional with outcomes, not sent otherwise.
pub const CORRELATION_ID: &str = "X-Correlation-Id";
/// `ATTENDED` or `UNATTENDED`; only the latter with queries. Default: an optional request header.
pub const PRIORITY: &str = "priority";

/// Whether a person waits for the outcome. Not a processing priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(clippy::exhaustive_enums, reason = "a header outside the list is malformed, not unknown")]
pub enum Priority {
    /// `ATTENDED`
    Attended,
    /// `UNATTENDED`
    Unattended,
}

impl Priority {
    /// The header's value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attended => "ATTENDED",
            Self::Unattended => "UNATTENDED",
        }
    }

    /// The priority with this header value.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Attended, Self::Unattended].into_iter().find(|priority| priority.as_str() == name)
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The headers of one delivery.
///
/// `request_key` and `correlation_id` are echoed from the original request, as the sender recorded it
/// ([`OriginalRequest`]): this crate does not generate them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct DeliveryHeaders {
    /// `X-RequestKey`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_key: Option<HyphenatedUuid>,
    /// `X-Message-Id`.
    pub message_id: HyphenatedUuid,
    /// `X-Correlation-Id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<HyphenatedUuid>,
    /// `priority`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
}

impl DeliveryHeaders {
    /// Headers of a notification or a query.
    #[must_use]
    pub fn new(message_id: HyphenatedUuid) -> Self {
        Self { request_key: None, message_id, correlation_id: None, priority: None }
    }

    /// Headers of an outcome, which echo the request that it answers.
    #[must_use]
    pub fn answering(request: &OriginalRequest, message_id: HyphenatedUuid) -> Self {
        let (request_key, correlation_id) = (Some(request.request_key()), request.correlation_id());
        Self { request_key, correlation_id, ..Self::new(message_id) }
    }

    /// Sets the priority.
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Checks the headers of a delivery against the specification's table.
    ///
    /// # Errors
    /// [`DeliveryHeaderError`]: a required header is absent, or one is present that this kind of message does not have.
    pub fn check(&self, kind: MessageKind) -> Result<(), DeliveryHeaderError> {
        let outcome = kind.answers_a_request();
        if outcome && self.request_key.is_none() {
            return Err(DeliveryHeaderError::Missing { name: REQUEST_KEY });
        }
        if !outcome && self.request_key.is_some() {
            return Err(DeliveryHeaderError::Unexpected { name: REQUEST_KEY });
        }
        if !outcome && self.correlation_id.is_some() {
            return Err(DeliveryHeaderError::Unexpected { name: CORRELATION_ID });
        }
        if kind == MessageKind::Query && self.priority == Some(Priority::Attended) {
            return Err(DeliveryHeaderError::Malformed {
                name: PRIORITY,
                expected: "UNATTENDED",
                found: excerpt("ATTENDED"),
            });
        }
        Ok(())
    }

    /// The names and values of the headers, in the table's order.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, String)> {
        [
            (REQUEST_KEY, self.request_key.map(|id| id.to_string())),
            (MESSAGE_ID, Some(self.message_id.to_string())),
            (CORRELATION_ID, self.correlation_id.map(|id| id.to_string())),
            (PRIORITY, self.priority.map(|priority| priority.as_str().to_owned())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }

    /// Reads received headers, given as names and values in any case and order. Other headers are ignored.
    ///
    /// - A malformed optional header is a finding, and is read as absent.
    /// - A header that this kind of message does not have is a finding, and is kept.
    ///
    /// # Errors
    /// [`DeliveryHeaderError`]: a required header is absent, malformed, or present twice with different values.
    pub fn parse<'a>(
        kind: MessageKind,
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<(Self, Vec<MessageFinding>), DeliveryHeaderError> {
        let mut found: [Option<&'a [u8]>; 4] = [None; 4];
        let mut repeated = [false; 4];
        for (name, value) in headers {
            let names = [REQUEST_KEY, MESSAGE_ID, CORRELATION_ID, PRIORITY].into_iter();
            for ((known, slot), repeated) in names.zip(&mut found).zip(&mut repeated) {
                if name.eq_ignore_ascii_case(known) {
                    *repeated |= slot.is_some_and(|first| first != value);
                    *slot = Some(value);
                }
            }
        }
        let [request_key, message_id, correlation_id, priority] = found;
        let [twice_request_key, twice_message_id, twice_correlation_id, twice_priority] = repeated;
        let mut findings = Vec::new();
        let mut optional = |name: &'static str, error: Option<DeliveryHeaderError>| {
            if let Some(error) = error {
                let (rule, expected, found) = match error {
                    DeliveryHeaderError::Malformed { expected, found, .. } => (Rule::OptionalHeader, expected, found),
                    _ => (Rule::UnexpectedHeader, "no such header", "one".to_owned()),
                };
                findings.push(MessageFinding::new(rule, name.to_owned(), expected.into(), found));
            }
        };

        let message_id = required(MESSAGE_ID, message_id, twice_message_id)?;
        let outcome = kind.answers_a_request();
        let request_key = if outcome {
            Some(required(REQUEST_KEY, request_key, twice_request_key)?)
        } else {
            let (value, error) = split(request_key.map(|value| uuid(REQUEST_KEY, value, twice_request_key)));
            optional(REQUEST_KEY, error);
            optional(REQUEST_KEY, value.map(|_| DeliveryHeaderError::Unexpected { name: REQUEST_KEY }));
            value
        };
        let (correlation_id, error) =
            split(correlation_id.map(|value| uuid(CORRELATION_ID, value, twice_correlation_id)));
        optional(CORRELATION_ID, error);
        if !outcome {
            optional(CORRELATION_ID, correlation_id.map(|_| DeliveryHeaderError::Unexpected { name: CORRELATION_ID }));
        }
        let (priority, error) = split(priority.map(|value| read_priority(kind, value, twice_priority)));
        optional(PRIORITY, error);
        Ok((Self { request_key, message_id, correlation_id, priority }, findings))
    }
}

fn required(name: &'static str, value: Option<&[u8]>, twice: bool) -> Result<HyphenatedUuid, DeliveryHeaderError> {
    uuid(name, value.ok_or(DeliveryHeaderError::Missing { name })?, twice)
}

fn uuid(name: &'static str, value: &[u8], twice: bool) -> Result<HyphenatedUuid, DeliveryHeaderError> {
    let text = single(name, "one UUID with hyphens", value, twice)?;
    HyphenatedUuid::parse(text).map_err(|_| DeliveryHeaderError::Malformed {
        name,
        expected: "a UUID with hyphens",
        found: excerpt(text),
    })
}

fn read_priority(kind: MessageKind, value: &[u8], twice: bool) -> Result<Priority, DeliveryHeaderError> {
    let text = single(PRIORITY, "one priority", value, twice)?;
    let (allowed, expected): (&[Priority], _) = match kind {
        MessageKind::Query => (&[Priority::Unattended], "UNATTENDED"),
        _ => (&[Priority::Attended, Priority::Unattended], "ATTENDED or UNATTENDED"),
    };
    Priority::from_name(text)
        .filter(|priority| allowed.contains(priority))
        .ok_or_else(|| DeliveryHeaderError::Malformed { name: PRIORITY, expected, found: excerpt(text) })
}

fn single<'a>(
    name: &'static str,
    expected: &'static str,
    value: &'a [u8],
    twice: bool,
) -> Result<&'a str, DeliveryHeaderError> {
    if twice {
        return Err(DeliveryHeaderError::Malformed { name, expected, found: "two".to_owned() });
    }
    let text = std::str::from_utf8(value).map_err(|_| DeliveryHeaderError::Malformed {
        name,
        expected,
        found: "bytes that are not text".to_owned(),
    })?;
    Ok(text.trim_matches([' ', '\t']))
}

fn split<T>(read: Option<Result<T, DeliveryHeaderError>>) -> (Option<T>, Option<DeliveryHeaderError>) {
    match read {
        None => (None, None),
        Some(Ok(value)) => (Some(value), None),
        Some(Err(error)) => (None, Some(error)),
    }
}

/// Headers that break the specification's table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryHeaderError {
    /// A required header is absent.
    #[error("expected a header {name}, found none")]
    Missing {
        /// The header.
        name: &'static str,
    },
    /// A header has another value than the table allows.
    #[error("header {name}: expected {expected}, found {found}")]
    Malformed {
        /// The header.
        name: &'static str,
        /// What was expected.
        expected: &'static str,
        /// What was found, cut and escaped.
        found: String,
    },
    /// A header that this kind of message does not have.
    #[error("expected no header {name}, found one")]
    Unexpected {
        /// The header.
        name: &'static str,
    },
}

impl DeliveryHeaderError {
    /// The header. Unlike the error's text, it holds nothing of the header's value.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Missing { name } | Self::Malformed { name, .. } | Self::Unexpected { name } => name,
        }
    }
}
