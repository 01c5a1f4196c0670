//! Errors of a statement call.

use crate::ExchangeError;
use crate::token::TokenError;
use crate::transport::{
    AnswerForm, CallFacts, SERVICE_FAILED, after_comma, call_error, show_the_service, wait_until,
};
use bankrail_camt052::ReadError;
use bankrail_statement::{AccountId, ErrorCode, ReplyError, WalkError};
use bankrail_values::{HyphenatedUuid, Timestamp};
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// Why there is no statement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StatementError {
    /// Not sent: the account number is reserved for the provider's negative testing and must not be
    /// used (Specification: "Request statement", test data).
    #[error(
        "account number {account} is reserved for the provider's negative testing and must not be used"
    )]
    #[non_exhaustive]
    ReservedAccount {
        /// The account.
        account: AccountId,
    },
    /// Not sent: the account identifier is malformed. The service would answer that the account
    /// does not exist.
    #[error("the account identifier is refused")]
    Account(#[source] bankrail_values::ValueError),
    /// Not sent, or not sent again: there is no access token.
    #[error("there is no access token")]
    Token(#[source] TokenError),
    /// Not sent: the limit of statement calls, or an earlier `Retry-After`, does not allow a call
    /// before this.
    #[error("held back by the rate limit of statement calls until {retry_at}")]
    #[non_exhaustive]
    HeldBack {
        /// When it would be allowed.
        retry_at: Timestamp,
    },
    /// Not sent: the store of the rate limit's counters failed.
    #[error("the store of the rate limit failed")]
    Counters(#[source] Arc<dyn Error + Send + Sync>),
    /// No complete answer.
    #[error("no answer from the statement endpoint")]
    Transport(#[source] ExchangeError),
    /// The service refused the token, and the one that was fetched after it (401).
    #[error(
        "the statement endpoint refused the token and its successor with status 401{}",
        after_comma(code)
    )]
    #[non_exhaustive]
    Unauthorized {
        /// The error code, if there was one.
        code: Option<ErrorCode>,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
    },
    /// The service counted too many calls: 429.
    #[error(
        "the statement endpoint answered that there were too many calls{}; held back until {retry_at}",
        after_comma(code)
    )]
    #[non_exhaustive]
    TooManyCalls {
        /// Until when calls of this client are held back: the time of the service's `Retry-After`,
        /// cut to [`ClientOptions::longest_hold`](crate::ClientOptions::longest_hold). Default:
        /// without one, as long as the slowest limit takes for one call, which is 144 s under the
        /// specification's.
        retry_at: Timestamp,
        /// The error code, if there was one.
        code: Option<ErrorCode>,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
    },
    /// The service's own error, whatever HTTP status it came under (Specification: "Statement error
    /// response").
    #[error(
        "the service answered an error under status {status}{}",
        after_comma(code)
    )]
    #[non_exhaustive]
    Service {
        /// The HTTP status.
        status: u16,
        /// The error code.
        code: Option<ErrorCode>,
        /// The error's title, cut after 200 characters.
        title: Option<String>,
        /// The time of the service's `Retry-After`, cut to
        /// [`ClientOptions::longest_hold`](crate::ClientOptions::longest_hold).
        retry_at: Option<Timestamp>,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
    },
    /// An answer that does not come from the statement endpoint, such as a redirect, an HTML page
    /// or a bare status.
    #[error("expected a statement, found an answer of status {status} ({form})")]
    #[non_exhaustive]
    Unexpected {
        /// The HTTP status.
        status: u16,
        /// What it looks like.
        form: AnswerForm,
        /// The time of the service's `Retry-After`, cut to
        /// [`ClientOptions::longest_hold`](crate::ClientOptions::longest_hold).
        retry_at: Option<Timestamp>,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
    },
    /// An answer with a 2xx status whose body is not a statement, or a statement of another
    /// account.
    #[error("the statement's answer is unusable")]
    #[non_exhaustive]
    Reply {
        /// The HTTP status.
        status: u16,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
        /// What is wrong with it.
        source: ReplyError,
    },
    /// A statement whose XML document is unreadable. The error has the document.
    #[error("the statement's document is unreadable")]
    Payload(#[source] Box<UnreadablePayload>),
    /// The statement cannot be read to its end. The pages before are valid.
    #[error("the statement cannot be read to its end")]
    Walk(#[source] WalkError),
    /// A page was fetched several times in a row without a call of
    /// [`FetchedPage::stored`](super::FetchedPage::stored).
    #[error(
        "expected a call of `stored` for each page, found a page that was fetched {times} times without one"
    )]
    #[non_exhaustive]
    NotStored {
        /// How often it was fetched.
        times: u32,
    },
    /// The client was closed ([`Client::close`](crate::Client::close)). No call was sent.
    #[error("the client was closed")]
    Closed,
}

call_error!(StatementError);

impl StatementError {
    pub(crate) fn facts(&self) -> CallFacts {
        match self {
            Self::ReservedAccount { .. } => CallFacts::of("reserved account"),
            Self::Account(_) => CallFacts::of("account"),
            // The status is that of another endpoint.
            Self::Token(error) => CallFacts {
                kind: "token",
                status: None,
                ..error.facts()
            },
            Self::HeldBack { retry_at } => CallFacts::of("held back")
                .retryable(true)
                .retry_at(*retry_at),
            Self::Counters(_) => CallFacts::of("counters").retryable(true),
            Self::Transport(error) => CallFacts::exchange(error),
            Self::Unauthorized { request_key, .. } => {
                CallFacts::of("unauthorized").answered(401, *request_key)
            }
            Self::TooManyCalls {
                retry_at,
                request_key,
                ..
            } => CallFacts::of("too many calls")
                .answered(429, *request_key)
                .retryable(true)
                .retry_at(*retry_at),
            Self::Service {
                status,
                code,
                retry_at,
                request_key,
                ..
            } => {
                let transient = *status >= 500 || code.as_ref().is_some_and(is_transient);
                CallFacts::of("service")
                    .answered(*status, *request_key)
                    .retryable(transient)
                    .retry_at(*retry_at)
            }
            Self::Unexpected {
                status,
                retry_at,
                request_key,
                ..
            } => {
                let failed = *status >= 500;
                CallFacts::of("unexpected")
                    .answered(*status, *request_key)
                    .retryable(failed)
                    .retry_at(*retry_at)
            }
            Self::Reply {
                status,
                request_key,
                ..
            } => CallFacts::of("reply").answered(*status, *request_key),
            Self::Payload(payload) => {
                CallFacts::of("payload").answered(payload.status, payload.request_key)
            }
            Self::Walk(_) => CallFacts::of("walk"),
            Self::NotStored { .. } => CallFacts::of("not stored"),
            Self::Closed => CallFacts::of("closed"),
        }
    }

    /// What to check, for whoever runs this side: in words of this crate, without an account.
    #[must_use]
    pub fn advice(&self) -> Cow<'static, str> {
        match self {
            Self::ReservedAccount { .. } | Self::Account(_) => {
                "name an account that is registered for this customer"
            }
            Self::Token(error) => return error.advice(),
            Self::HeldBack { retry_at } | Self::TooManyCalls { retry_at, .. } => {
                return wait_until(*retry_at);
            }
            Self::Counters(_) => "check the store of the rate limit",
            Self::Transport(error) => error.advice(),
            Self::Unauthorized { .. } => {
                "check that the customer has the scope of statements, and the API key"
            }
            Self::Service { .. } if self.is_account_not_found() => {
                "check the account: it must be registered for this customer"
            }
            Self::Service {
                retry_at: Some(retry_at),
                ..
            } => return wait_until(*retry_at),
            Self::Service { .. } if self.is_retryable() => SERVICE_FAILED,
            Self::Service {
                code, request_key, ..
            } if code.as_ref() == Some(&ErrorCode::VALIDATION) => show_the_service(*request_key),
            Self::Service { status: 403, .. } => {
                "ask the service to let the customer ask for statements: its scopes and accounts"
            }
            Self::Service {
                status: 404 | 405, ..
            } => "check the address of the service: it has no statements there",
            Self::Service { .. } => "ask the service what the code means",
            Self::Unexpected { status, .. } if *status >= 500 => SERVICE_FAILED,
            Self::Unexpected { .. } => {
                "check the address of the service, and what stands between here and there"
            }
            Self::Reply { request_key, .. } => show_the_service(*request_key),
            Self::Payload(_) | Self::Walk(_) => show_the_service(self.request_key()),
            Self::NotStored { .. } => "call `stored` for each page",
            Self::Closed => "nothing: this client was closed",
        }
        .into()
    }

    /// Why there was no answer, or what is wrong with it, in words of this crate.
    pub(crate) fn cause(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::Token(error) => return error.cause(),
            Self::Transport(error) => error.cause().into(),
            Self::Unexpected { form, .. } => form.cause().into(),
            Self::Reply { source, .. } => match source {
                ReplyError::Json(_) => "the answer is no acceptable JSON".into(),
                ReplyError::RequestKey { .. } => "the request key is malformed".into(),
                ReplyError::OtherAccount { .. } => "the statement is of another account".into(),
                ReplyError::Findings { .. } => "the answer has findings, which were denied".into(),
                named => named.to_string().into(),
            },
            Self::Payload(_) => "the document is unreadable".into(),
            Self::Walk(error) => error.to_string().into(),
            _ => return None,
        })
    }

    /// True if the service does not know the account (`EC20001`).
    #[must_use]
    pub fn is_account_not_found(&self) -> bool {
        matches!(self, Self::Service { code: Some(code), .. } if *code == ErrorCode::ACCOUNT_NOT_FOUND)
    }

    /// The service's error code.
    #[must_use]
    pub fn code(&self) -> Option<&ErrorCode> {
        match self {
            Self::Service { code, .. }
            | Self::Unauthorized { code, .. }
            | Self::TooManyCalls { code, .. } => code.as_ref(),
            _ => None,
        }
    }
}

impl From<TokenError> for StatementError {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Closed => Self::Closed,
            error => Self::Token(error),
        }
    }
}

/// A document that could not be read, for diagnosis. `Debug` does not show it.
pub struct UnreadablePayload {
    pub(super) xml: String,
    pub(super) status: u16,
    pub(super) request_key: HyphenatedUuid,
    pub(super) source: ReadError,
}

impl UnreadablePayload {
    bankrail_values::getters! { self;
        /// The XML text as received.
        xml: &str = &self.xml;
        /// What is wrong with it, and where.
        read_error: &ReadError = &self.source;
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
    xml: format_args!("{} bytes", self.xml.len()), request_key: self.request_key, source: self.source);

impl Error for UnreadablePayload {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

/// Whether the code is of a failure that may pass, whatever HTTP status it came under (Default:
/// "Statement exchange").
fn is_transient(code: &ErrorCode) -> bool {
    [ErrorCode::RETRIEVAL_FAILED, ErrorCode::INTERNAL].contains(code)
        || code.gateway_status().is_some_and(|status| status >= 500)
}

/// A peer's text, bounded.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}
