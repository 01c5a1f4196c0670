//! The error of a failed call, to either endpoint.

mod suspect;

pub(crate) use suspect::about_clock;

use crate::answer_form::AnswerForm;
use crate::exchange_error::ExchangeError;
use crate::statement::StatementPage;
use bankrail_camt052::ReadError;
use bankrail_client_assertion::token::TokenResponseError;
use bankrail_statement::{AccountId, ErrorCode, ReplyError, WalkError};
use bankrail_values::{HyphenatedUuid, Timestamp, ValueError, excerpt};
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use suspect::Suspect;

/// A call of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Call {
    /// A call for an access token.
    Token,
    /// A call for a page of a statement.
    Statement,
}

impl Call {
    /// Returns the name of the endpoint in logs and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Statement => "statement",
        }
    }
}

/// The error of a call that failed, or that was not made.
///
/// A statement call that gets no token fails with the error of its token call, so
/// [`CallError::call`] is then [`Call::Token`]. All callers that waited for one token call get a
/// clone of its error.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallError {
    /// The call that failed.
    pub call: Call,
    /// The reason.
    pub reason: CallErrorKind,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// The error code of the answer's body, if it had one: that of the statement endpoint
    /// ([`ErrorCode`]), of the token endpoint (RFC 6749 section 5.2), or of a gateway.
    pub code: Option<Box<str>>,
    /// The request key of the call, for support staff.
    pub request_key: Option<HyphenatedUuid>,
    /// The earliest time for another call, if that is known: always for [`CallErrorKind::HeldBack`]
    /// and [`CallErrorKind::TooManyCalls`], and for a failure of the service with `Retry-After`,
    /// which is cut to one hour.
    pub retry_at: Option<Timestamp>,
}

/// The reason for which a call failed. Its name as a text is [`CallError::kind`].
#[derive(Clone, Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum CallErrorKind {
    /// The call was not sent, because the account number is reserved for the provider's negative
    /// testing and must not be used (Specification: "Request statement", test data).
    #[error(
        "account number {account} is reserved for the provider's negative testing and must not be used"
    )]
    #[strum(serialize = "reserved account")]
    #[non_exhaustive]
    ReservedAccount {
        /// The account.
        account: AccountId,
    },
    /// The call was not sent, because the account identifier is malformed. The service would answer
    /// that the account does not exist.
    #[error("the account identifier is refused")]
    Account(#[source] ValueError),
    /// The call was not sent, because the client assertion could not be made.
    #[error("the client assertion could not be signed")]
    Assertion(#[source] Arc<dyn Error + Send + Sync>),
    /// The call was not sent, because the key service that holds the assertions' key did not sign.
    #[error("the key of the client assertion could not be used")]
    #[non_exhaustive]
    Signer {
        /// True if another call can succeed.
        retryable: bool,
        /// The error of the key service.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// The call was not sent, because the rate limit of these calls, or an earlier `Retry-After`,
    /// does not allow it yet.
    #[error("held back by the rate limit")]
    #[strum(serialize = "held back")]
    HeldBack,
    /// The call was not sent, because the store of the rate limit's counters failed.
    #[error("the store of the rate limit failed")]
    Counters(#[source] Arc<dyn Error + Send + Sync>),
    /// There was no complete answer.
    #[error("no answer from the endpoint")]
    Transport(#[source] ExchangeError),
    /// The statement endpoint refused the token, and the one that was fetched after it (401).
    #[error("the endpoint refused the token and its successor")]
    Unauthorized,
    /// The token endpoint refused the call: 401 for the assertion, 400 for the request
    /// (Specification: "Obtain access token"). A body with an error code is a refusal under 200
    /// too.
    #[error("the endpoint refused the call")]
    #[non_exhaustive]
    Refused {
        /// The error text of the body, cut and escaped.
        description: Option<String>,
        /// The lead of this side's clock over the answer's `Date` in seconds, if it had one;
        /// negative for a lag.
        clock_ahead: Option<i64>,
    },
    /// The service counted too many calls: 429. Calls are held back until [`CallError::retry_at`],
    /// the time of the service's `Retry-After`: those for a token, and those for the statement of
    /// this account. Calls for other accounts are held back for the time that the slowest limit
    /// takes for one call, and until [`CallError::retry_at`] only if the next of them is answered
    /// with a `Retry-After` too. Default: without a `Retry-After`, all calls are held back for the
    /// time that the slowest limit takes for one call. Under the specification's limits that is 6
    /// minutes for tokens and 144 s for statements.
    #[error("the endpoint answered that there were too many calls")]
    #[strum(serialize = "too many calls")]
    TooManyCalls,
    /// The token endpoint or a gateway in front of it failed: 5xx, or the gateway's own code under
    /// any status.
    #[error("the endpoint failed")]
    Unavailable,
    /// The statement endpoint answered an error, under any HTTP status (Specification: "Statement
    /// error response").
    #[error("the service answered with an error")]
    #[non_exhaustive]
    Service {
        /// The error's title, cut after 200 characters.
        title: Option<String>,
    },
    /// The answer does not come from the endpoint: it is a redirect, an HTML page or a bare status,
    /// for example.
    #[error("expected the endpoint's answer, found {}", found(*form, target.as_deref()))]
    #[non_exhaustive]
    Unexpected {
        /// The form of the answer.
        form: AnswerForm,
        /// The host and the path of a redirect's target, cut and escaped.
        target: Option<Box<str>>,
    },
    /// The answer has status 200, and its body is not a token response.
    #[error("the token response is unusable")]
    Response(#[source] TokenResponseError),
    /// The answer has a 2xx status, and its body is not a statement, or is one of another account.
    #[error("the statement's answer is unusable")]
    Reply(#[source] ReplyError),
    /// The statement's XML document is unreadable. The error has the document.
    #[error("the statement's document is unreadable")]
    Payload(#[source] Arc<UnreadablePayload>),
    /// The statement cannot be read to its end. The pages before are valid.
    #[error("the statement cannot be read to its end")]
    Walk(#[source] WalkError),
    /// A page was fetched several times in a row without a call of
    /// [`FetchedPage::stored`](crate::FetchedPage::stored).
    #[error(
        "expected a call of `stored` for each page, found a page that was fetched {times} times without one"
    )]
    #[strum(serialize = "not stored")]
    #[non_exhaustive]
    NotStored {
        /// The number of times that the page was fetched.
        times: u32,
    },
    /// The client was closed ([`Client::close`](crate::Client::close)). No call was sent.
    #[error("the client was closed")]
    Closed,
    /// The task that fetched the token ended without a result: the runtime is shutting down, or the
    /// task panicked.
    #[error("the call was abandoned")]
    Abandoned,
}

impl CallError {
    /// Makes the error of a call without an answer.
    pub(crate) fn new(call: Call, reason: CallErrorKind) -> Self {
        let status = match &reason {
            CallErrorKind::Transport(ExchangeError::TooLarge { status, .. }) => Some(*status),
            _ => None,
        };
        Self {
            call,
            reason,
            status,
            code: None,
            request_key: None,
            retry_at: None,
        }
    }

    /// Returns the kind of the error, for logs and counters, without any text of the service and
    /// any account.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        (&self.reason).into()
    }

    /// Returns the page without its unreadable entries, if it has no other fault.
    pub(crate) fn readable(self) -> Result<StatementPage, Self> {
        let page = match &self.reason {
            CallErrorKind::Payload(payload) => payload.readable.clone(),
            _ => None,
        };
        page.ok_or(self)
    }

    /// Returns true if the same call can succeed later without a change on this side.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        // A 5xx is usually transient.
        let failed = self.status >= Some(500);
        match &self.reason {
            CallErrorKind::HeldBack
            | CallErrorKind::Counters(_)
            | CallErrorKind::TooManyCalls
            | CallErrorKind::Unavailable
            | CallErrorKind::Abandoned => true,
            CallErrorKind::Signer { retryable, .. } => *retryable,
            CallErrorKind::Transport(error) => error.is_retryable(),
            CallErrorKind::Service { .. } => {
                failed || self.code.as_deref().is_some_and(is_transient)
            }
            CallErrorKind::Unexpected { .. } => failed,
            _ => false,
        }
    }

    /// Returns true if the service does not know the account (`EC20001`).
    #[must_use]
    pub fn is_account_not_found(&self) -> bool {
        matches!(self.reason, CallErrorKind::Service { .. })
            && self.has_code(&ErrorCode::ACCOUNT_NOT_FOUND)
    }

    /// Returns advice on what to check, for the operator of this side, without an account. The
    /// advice is a text of this crate, which the service's error selects.
    #[must_use]
    pub fn advice(&self) -> Cow<'static, str> {
        if let Some(suspect) = self.suspect() {
            return suspect.advice();
        }
        if self.is_account_not_found() {
            return "check the account: it must be registered for this customer".into();
        }
        if let Some(at) = self.retry_at {
            return format!("wait until {at}").into();
        }
        match &self.reason {
            CallErrorKind::ReservedAccount { .. } | CallErrorKind::Account(_) => {
                "name an account that is registered for this customer"
            }
            CallErrorKind::Assertion(_) => "check the signing key",
            CallErrorKind::Signer { .. } => "check the key service that holds the signing key",
            CallErrorKind::Counters(_) => "check the store of the rate limit",
            CallErrorKind::Transport(error) => error.advice(),
            CallErrorKind::Unauthorized => {
                "check that the customer has the scope of statements, and the API key"
            }
            CallErrorKind::Unavailable
            | CallErrorKind::Service { .. }
            | CallErrorKind::Unexpected { .. }
                if self.is_retryable() =>
            {
                "try again later; the fault is the service's"
            }
            CallErrorKind::Service { .. } => match self.status {
                _ if self.has_code(&ErrorCode::VALIDATION) => show_the_service(self.request_key),
                Some(403) => {
                    "ask the service to let the customer ask for statements: its scopes and accounts"
                }
                Some(404 | 405) => "check the address of the service: it has no statements there",
                _ => "ask the service what the code means",
            },
            CallErrorKind::Unexpected {
                target: Some(_), ..
            } => "give the address that it leads to if that is the service's, and try again",
            CallErrorKind::Unexpected {
                form: AnswerForm::Compressed(_),
                ..
            } => {
                "let what stands between here and the service leave answers uncompressed, as Accept-Encoding asks"
            }
            CallErrorKind::Unexpected { .. } => match self.call {
                Call::Token => {
                    "check the address of the token endpoint, and what stands between here and there"
                }
                Call::Statement => {
                    "check the address of the service, and what stands between here and there"
                }
            },
            CallErrorKind::NotStored { .. } => "call `stored` for each page",
            CallErrorKind::Closed => "nothing: this client was closed",
            CallErrorKind::Abandoned => "nothing: this program is ending",
            _ => show_the_service(self.request_key),
        }
        .into()
    }

    /// Returns the cause of a missing or wrong answer, as a text of this crate.
    pub(crate) fn cause(&self) -> Option<Cow<'static, str>> {
        Some(match &self.reason {
            CallErrorKind::Transport(error) => error.cause().into(),
            CallErrorKind::Unexpected { form, target } => found(*form, target.as_deref()).into(),
            CallErrorKind::Response(source) => match source {
                TokenResponseError::Json(_) => "the answer is no acceptable JSON".into(),
                TokenResponseError::TokenType { .. } => "the token type is not Bearer".into(),
                TokenResponseError::Member { .. } => source.to_string().into(),
                _ => "a member of the token response is malformed".into(),
            },
            CallErrorKind::Reply(source) => match source {
                ReplyError::Json(_) => "the answer is no acceptable JSON".into(),
                ReplyError::RequestKey { .. } => "the request key is malformed".into(),
                ReplyError::OtherAccount { .. } => "the statement is of another account".into(),
                ReplyError::Findings { .. } => "the answer has findings, which were denied".into(),
                named => named.to_string().into(),
            },
            CallErrorKind::Payload(_) => "the document is unreadable".into(),
            CallErrorKind::Walk(error) => error.to_string().into(),
            _ => return None,
        })
    }

    /// Returns true if another audience may be accepted.
    pub(crate) fn is_audience_suspect(&self) -> bool {
        matches!(self.suspect(), Some(Suspect::Audience | Suspect::Assertion))
    }

    /// Returns the part of a refused token call that is to be checked.
    fn suspect(&self) -> Option<Suspect> {
        let CallErrorKind::Refused {
            description,
            clock_ahead,
        } = &self.reason
        else {
            return None;
        };
        Some(Suspect::of(
            self.status.unwrap_or_default(),
            self.code.as_deref(),
            description.as_deref().unwrap_or_default(),
            *clock_ahead,
        ))
    }

    fn has_code(&self, code: &ErrorCode) -> bool {
        self.code.as_deref() == Some(code.as_str())
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the {} call failed", self.call.name())?;
        if let Some(status) = self.status {
            write!(out, " with status {status}")?;
        }
        // A code that is in no list is the peer's text.
        if let Some(code) = &self.code {
            write!(out, ", code {}", excerpt(code))?;
        }
        write!(out, ": {}", self.reason)?;
        match self.retry_at {
            Some(at) => write!(out, "; no further call before {at}"),
            None => Ok(()),
        }
    }
}

impl Error for CallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.reason.source()
    }
}

/// Describes an answer that is not the endpoint's.
fn found(form: AnswerForm, target: Option<&str>) -> String {
    target.map_or_else(
        || form.to_string(),
        |target| format!("a redirect to {target}, which is not followed"),
    )
}

/// Returns what to do when the service's answer is not what was arranged.
fn show_the_service(request_key: Option<HyphenatedUuid>) -> &'static str {
    match request_key {
        Some(_) => "show the service this error with its request key",
        None => "show the service this error, and say when the call was",
    }
}

/// Returns true for the code of a transient failure, under any HTTP status (Default: "Statement
/// exchange").
fn is_transient(code: &str) -> bool {
    [ErrorCode::RETRIEVAL_FAILED, ErrorCode::INTERNAL]
        .iter()
        .any(|transient| transient.as_str() == code)
        || ErrorCode::gateway_status_of(code).is_some_and(|status| status >= 500)
}

/// A document that could not be read, for diagnosis. `Debug` does not show it.
pub struct UnreadablePayload {
    pub(crate) xml: String,
    pub(crate) source: ReadError,
    /// The page without its unreadable entries, if it has no other fault.
    pub(crate) readable: Option<StatementPage>,
}

impl UnreadablePayload {
    /// Returns the XML text as received.
    #[must_use]
    pub fn xml(&self) -> &str {
        &self.xml
    }

    /// Returns the error of the reader, with its place.
    #[must_use]
    pub fn read_error(&self) -> &ReadError {
        &self.source
    }
}

impl fmt::Display for UnreadablePayload {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "expected a camt.052 document, found {} unreadable bytes",
            self.xml.len()
        )
    }
}

bankrail_values::impl_debug!(UnreadablePayload, self;
    xml: format_args!("{} bytes", self.xml.len()), source: self.source);

impl Error for UnreadablePayload {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_small_enough_to_be_returned_by_value() {
        assert!(size_of::<CallError>() < 128, "{}", size_of::<CallError>());
    }
}
