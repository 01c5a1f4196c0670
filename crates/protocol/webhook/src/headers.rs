//! The headers that go with a message (Specification: "Webhook receivers").

use crate::finding::{MessageFinding, Rule};
use crate::message::MessageKind;
use crate::sender::OriginalRequest;
use bankrail_values::{HyphenatedUuid, ValueError, excerpt};
use std::str::FromStr;

/// The end-to-end key, echoed from the acknowledgement of the original request. It is required with
/// outcomes and not sent otherwise.
pub const REQUEST_KEY: &str = "X-RequestKey";
/// The message reference for duplicate checks between sender and receiver. It is required, and the
/// same in each delivery of a message.
pub const MESSAGE_ID: &str = "X-Message-Id";
/// The correlation key, echoed from the original request, for logging. It is optional with outcomes
/// and not sent otherwise.
pub const CORRELATION_ID: &str = "X-Correlation-Id";
/// The priority: `ATTENDED` or `UNATTENDED`; queries have only `UNATTENDED`. Default: an optional
/// request header.
pub const PRIORITY: &str = "priority";

/// The priority of a message, which states if a person waits for the outcome. The order of
/// processing does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(
    clippy::exhaustive_enums,
    reason = "a header outside the list is malformed, not unknown"
)]
pub enum Priority {
    /// A person waits: `ATTENDED`.
    Attended,
    /// Nobody waits: `UNATTENDED`.
    Unattended,
}

impl Priority {
    /// Both priorities.
    pub const ALL: [Self; 2] = [Self::Attended, Self::Unattended];

    /// Returns the header's value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attended => "ATTENDED",
            Self::Unattended => "UNATTENDED",
        }
    }

    /// Checks that a kind of message may have a priority with this header value. The error
    /// describes the expected value.
    fn of_kind(kind: MessageKind, name: &str) -> Result<Self, &'static str> {
        let found = name.parse().ok();
        let found = found.filter(|priority| kind.priorities().contains(priority));
        found.ok_or(match kind.priorities() {
            [one] => one.as_str(),
            _ => "ATTENDED or UNATTENDED",
        })
    }
}

impl FromStr for Priority {
    type Err = ValueError;

    /// Reads the header's value.
    fn from_str(name: &str) -> Result<Self, ValueError> {
        let known = Self::ALL
            .into_iter()
            .find(|priority| priority.as_str() == name);
        known.ok_or_else(|| ValueError::new("ATTENDED or UNATTENDED", name))
    }
}

bankrail_values::impl_display!(Priority);

/// The headers of one delivery.
///
/// `request_key` and `correlation_id` are echoed from the original request, which the sender has
/// recorded ([`OriginalRequest`]); this crate does not generate them.
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
    /// Returns the headers of a notification or a query.
    #[must_use]
    pub fn new(message_id: HyphenatedUuid) -> Self {
        Self {
            request_key: None,
            message_id,
            correlation_id: None,
            priority: None,
        }
    }

    /// Returns the headers of an outcome, which echo those of the original request.
    #[must_use]
    pub fn answering(request: &OriginalRequest, message_id: HyphenatedUuid) -> Self {
        let (request_key, correlation_id) = (Some(request.request_key()), request.correlation_id());
        Self {
            request_key,
            correlation_id,
            ..Self::new(message_id)
        }
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
    /// [`DeliveryHeaderError`] if a required header is absent, or a present one is not allowed for
    /// this kind of message.
    pub fn check(&self, kind: MessageKind) -> Result<(), DeliveryHeaderError> {
        let echoed = [
            (REQUEST_KEY, self.request_key),
            (CORRELATION_ID, self.correlation_id),
        ];
        if kind.answers_a_request() && self.request_key.is_none() {
            return Err(DeliveryHeaderError::Missing { name: REQUEST_KEY });
        }
        if let Some((name, _)) = echoed
            .into_iter()
            .find(|(_, id)| id.is_some() && !kind.answers_a_request())
        {
            return Err(DeliveryHeaderError::Unexpected { name });
        }
        if let Some(priority) = self.priority.map(Priority::as_str)
            && let Err(expected) = Priority::of_kind(kind, priority)
        {
            return Err(DeliveryHeaderError::Malformed {
                name: PRIORITY,
                expected,
                found: excerpt(priority),
            });
        }
        Ok(())
    }

    /// Returns the names and values of the headers, in the table's order.
    pub fn pairs(&self) -> impl Iterator<Item = (&'static str, String)> {
        [
            (REQUEST_KEY, self.request_key.map(|id| id.to_string())),
            (MESSAGE_ID, Some(self.message_id.to_string())),
            (CORRELATION_ID, self.correlation_id.map(|id| id.to_string())),
            (
                PRIORITY,
                self.priority.map(|priority| priority.as_str().to_owned()),
            ),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }

    /// Reads received headers, given as names and values in any case and order. Other headers are
    /// ignored.
    ///
    /// - A malformed optional header is a finding, and counts as absent.
    /// - A header that this kind of message does not have is a finding, and is kept.
    ///
    /// # Errors
    /// [`DeliveryHeaderError`] if a required header is absent, malformed, or present twice with
    /// different values.
    pub fn parse<'a>(
        kind: MessageKind,
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<(Self, Vec<MessageFinding>), DeliveryHeaderError> {
        let names = [REQUEST_KEY, MESSAGE_ID, CORRELATION_ID, PRIORITY];
        let mut found = names.map(|name| Found {
            name,
            value: None,
            repeated: false,
        });
        for (name, value) in headers {
            for header in found
                .iter_mut()
                .filter(|header| name.eq_ignore_ascii_case(header.name))
            {
                // The same value twice is unambiguous.
                header.repeated |= header.value.is_some_and(|first| first != value);
                header.value = Some(value);
            }
        }
        let [request_key, message_id, correlation_id, priority] = found;
        let (outcome, mut findings) = (kind.answers_a_request(), Vec::new());
        let message_id = message_id.required()?;
        let request_key = match outcome {
            true => Some(request_key.required()?),
            false => request_key.optional(request_key.uuid(), false, &mut findings),
        };
        let correlation_id = correlation_id.optional(correlation_id.uuid(), outcome, &mut findings);
        let read = priority.read("one priority", |text| Priority::of_kind(kind, text));
        let priority = priority.optional(read, true, &mut findings);
        Ok((
            Self {
                request_key,
                message_id,
                correlation_id,
                priority,
            },
            findings,
        ))
    }
}

/// A header of a delivery.
struct Found<'a> {
    name: &'static str,
    value: Option<&'a [u8]>,
    /// True for a header that occurs twice, with different values.
    repeated: bool,
}

/// The error of a malformed header: the expected form and the value found.
type Wrong = (&'static str, String);

impl Found<'_> {
    /// Reads the value, if there is one. `one` describes the expected form for the error.
    fn read<T>(
        &self,
        one: &'static str,
        read: impl FnOnce(&str) -> Result<T, &'static str>,
    ) -> Result<Option<T>, Wrong> {
        let Some(value) = self.value else {
            return Ok(None);
        };
        if self.repeated {
            return Err((one, "two".to_owned()));
        }
        let text =
            std::str::from_utf8(value).map_err(|_| (one, "bytes that are not text".to_owned()))?;
        // White space around a value is no part of it (RFC 9110 section 5.5).
        let text = text.trim_matches([' ', '\t']);
        read(text)
            .map(Some)
            .map_err(|expected| (expected, excerpt(text)))
    }

    fn uuid(&self) -> Result<Option<HyphenatedUuid>, Wrong> {
        self.read("one UUID with hyphens", |text| {
            HyphenatedUuid::parse(text).map_err(|_| "a UUID with hyphens")
        })
    }

    fn required(&self) -> Result<HyphenatedUuid, DeliveryHeaderError> {
        let name = self.name;
        let read = self
            .uuid()
            .map_err(|(expected, found)| DeliveryHeaderError::Malformed {
                name,
                expected,
                found,
            });
        read?.ok_or(DeliveryHeaderError::Missing { name })
    }

    /// Returns the value that was read. A malformed value is a finding, and so is a header that the
    /// kind of message does not have.
    fn optional<T>(
        &self,
        read: Result<Option<T>, Wrong>,
        belongs: bool,
        findings: &mut Vec<MessageFinding>,
    ) -> Option<T> {
        let (rule, (expected, found), value) = match read {
            Err(wrong) => (Rule::OptionalHeader, wrong, None),
            Ok(Some(value)) if !belongs => (
                Rule::UnexpectedHeader,
                ("no such header", "one".to_owned()),
                Some(value),
            ),
            Ok(value) => return value,
        };
        findings.push(MessageFinding::new(
            rule,
            self.name.to_owned(),
            expected.into(),
            found,
        ));
        value
    }
}

/// The reason why headers break the specification's table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryHeaderError {
    /// A required header is absent.
    #[error("expected a header {name}, found none")]
    Missing {
        /// The header.
        name: &'static str,
    },
    /// A header has a value that the table does not allow.
    #[error("header {name}: expected {expected}, found {found}")]
    Malformed {
        /// The header.
        name: &'static str,
        /// The expected form, in words.
        expected: &'static str,
        /// The value found, cut and escaped.
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
    /// Returns the header. Unlike the error's text, the name contains nothing of the header's
    /// value.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Missing { name } | Self::Malformed { name, .. } | Self::Unexpected { name } => {
                name
            }
        }
    }
}
