//! What callers ask about every failed call, whichever endpoint it was made to.

use crate::ExchangeError;
use bankrail_values::{HyphenatedUuid, Timestamp, excerpt};
use std::borrow::Cow;

/// The end of an error's text: the code, if there is one. A code that is in no list is the peer's
/// text.
pub(crate) fn after_comma(code: &Option<impl ToString>) -> String {
    code.as_ref()
        .map(|code| format!(", {}", excerpt(&code.to_string())))
        .unwrap_or_default()
}

/// What to check when the fault is the service's.
pub(crate) const SERVICE_FAILED: &str = "try again later; the fault is the service's";
/// What to do when the service's answer is not what was arranged.
pub(crate) fn show_the_service(request_key: Option<HyphenatedUuid>) -> &'static str {
    match request_key {
        Some(_) => "show the service this error with its request key",
        None => "show the service this error, and say when the call was",
    }
}

/// What to do about a call that comes too early.
pub(crate) fn wait_until(at: Timestamp) -> Cow<'static, str> {
    format!("wait until {at}").into()
}

/// The facts about a failed call.
#[derive(Default)]
pub(crate) struct CallFacts {
    pub(crate) kind: &'static str,
    pub(crate) retryable: bool,
    pub(crate) status: Option<u16>,
    pub(crate) request_key: Option<HyphenatedUuid>,
    pub(crate) retry_at: Option<Timestamp>,
}

impl CallFacts {
    /// A failure of this kind, which another call does not change, without an answer.
    pub(crate) fn of(kind: &'static str) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }

    /// A failure without a complete answer.
    pub(crate) fn exchange(error: &ExchangeError) -> Self {
        let status = if let ExchangeError::TooLarge { status, .. } = error {
            Some(*status)
        } else {
            None
        };
        Self {
            status,
            ..Self::of("transport").retryable(error.is_retryable())
        }
    }

    pub(crate) fn retryable(self, retryable: bool) -> Self {
        Self { retryable, ..self }
    }

    pub(crate) fn retry_at(self, retry_at: impl Into<Option<Timestamp>>) -> Self {
        Self {
            retry_at: retry_at.into(),
            ..self
        }
    }

    /// There was an answer of this status, under this key.
    pub(crate) fn answered(
        self,
        status: u16,
        request_key: impl Into<Option<HyphenatedUuid>>,
    ) -> Self {
        Self {
            status: Some(status),
            request_key: request_key.into(),
            ..self
        }
    }
}

/// The accessors of an error that has `facts`, and the reasons for which a call was not sent.
macro_rules! call_error {
    ($error:ident) => {
        impl $error {
            /// The kind of the error, for logs and counters. It holds no text of the service and no
            /// account.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                self.facts().kind
            }

            /// Whether the same call can succeed later without a change on this side.
            #[must_use]
            pub fn is_retryable(&self) -> bool {
                self.facts().retryable
            }

            /// The key by which support staff find the call.
            #[must_use]
            pub fn request_key(&self) -> Option<bankrail_values::HyphenatedUuid> {
                self.facts().request_key
            }

            /// The HTTP status, if there was an answer of this endpoint.
            #[must_use]
            pub fn status(&self) -> Option<u16> {
                self.facts().status
            }

            /// When to call again, if that is known: for a call that was held back or counted as
            /// one too many, and for a failure of the service with `Retry-After`.
            #[must_use]
            pub fn retry_at(&self) -> Option<bankrail_values::Timestamp> {
                self.facts().retry_at
            }
        }

        impl From<crate::pace::NotAdmitted> for $error {
            fn from(reason: crate::pace::NotAdmitted) -> Self {
                match reason {
                    crate::pace::NotAdmitted::Closed => Self::Closed,
                    crate::pace::NotAdmitted::HeldBack { until } => {
                        Self::HeldBack { retry_at: until }
                    }
                    crate::pace::NotAdmitted::Counters(error) => Self::Counters(error),
                }
            }
        }
    };
}

pub(crate) use call_error;
