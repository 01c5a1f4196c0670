//! The reasons why the provider refuses a request. The row of a reason decides on the answer and
//! the log: status, code, title, log line, metric label, detail, and the budget that the request is
//! charged to.

use super::answer::Exchange;
use super::statement_endpoint::report::PageError;
use crate::{ProviderOptions, StatementFailure as Failure};
use bankrail_client_assertion::token::{NoScopeGrantedError, TokenErrorCode, TokenRequestError};
use bankrail_client_assertion::{AssertionError, CustomerCode};
use bankrail_http::{
    __private::{BodyError, EndpointFault},
    HeadError,
};
use bankrail_rate_limit::CallType;
use bankrail_rate_limit::layer::LimitRefusal;
use bankrail_statement::{AccountId, RequestError, StatementErrorBody};
use bankrail_values::{HyphenatedUuid, RandomnessError, StoreError};
use http::header::{ACCEPT_ENCODING, ALLOW, WWW_AUTHENTICATE};
use http::{HeaderName, StatusCode};
use std::fmt::Display;

/// The reason why a request is refused, at either endpoint.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The path has these methods only.
    Method(&'static str),
    Panicked,
    /// The server's time for a request is over.
    TimedOut,
    UnknownPath,
    Head(HeadError),
    /// The API key is absent or not a customer's; the text is the answer's.
    ApiKey(&'static str),
    Body(BodyError),
    /// The body is compressed.
    Encoding(Failure),
    /// A limit is used up, or its counters could not be reached. The flag is true if the answer has
    /// the headers of the limit.
    Limit(LimitRefusal, bool),
    Store(StoreError),
    /// The request could not be recorded. The failure of the audit log was logged.
    Audit,
    Randomness(RandomnessError),
    /// The authorization endpoint refuses everybody.
    ResponseType,
    Form(TokenRequestError),
    OtherCustomer,
    Assertion(AssertionError),
    NoScope(NoScopeGrantedError),
    NoToken,
    /// The token is malformed, unknown, expired, revoked or another customer's.
    BadToken,
    Scope,
    MediaType,
    Request(RequestError),
    Cursor,
    /// The customer has no such account, or the identifier is malformed. The text is the identifier
    /// of the request.
    Account(String),
    Ledger(AccountId, StoreError),
    Page(AccountId, PageError),
}

impl From<EndpointFault> for Refusal {
    fn from(fault: EndpointFault) -> Self {
        match fault {
            EndpointFault::Method => Self::Method("POST"),
            EndpointFault::TimedOut => Self::TimedOut,
            _ => Self::Panicked,
        }
    }
}

impl From<AssertionError> for Refusal {
    fn from(error: AssertionError) -> Self {
        Self::Assertion(error)
    }
}

/// The row of a refusal.
pub(crate) struct Row {
    /// The status and code at the statement endpoint, and at the token endpoint unless `code`
    /// differs.
    pub(crate) failure: Failure,
    pub(crate) code: Option<TokenErrorCode>,
    /// The label of the metric.
    pub(crate) reason: &'static str,
    /// The text of the answer. With `None` the statement endpoint reports an internal error, and
    /// the token endpoint gives no text, because it must not reveal why an assertion was refused.
    pub(crate) title: Option<String>,
    /// The expectation and the value found, for the provider's own staff; never the account.
    pub(crate) detail: Option<String>,
    pub(crate) header: Option<(HeaderName, String)>,
    /// The budget that the refusal is charged to if the request has not proved to be the
    /// customer's.
    pub(crate) budget: Option<CallType>,
    log: Option<Line>,
}

/// A line of the log, with the kind of an error. Its text and its causes are not logged: the error
/// of a ledger or a store can quote names, accounts and amounts, and that of an assertion quotes
/// it.
enum Line {
    /// Something of the provider's failed.
    Failed(&'static str, String),
    /// An assertion was refused: the kind of the error, and advice on what to check, without any
    /// text of the customer.
    AssertionRefused(&'static str, Option<String>),
}

fn row(failure: Failure, reason: &'static str) -> Row {
    Row {
        failure,
        code: None,
        reason,
        title: None,
        detail: None,
        header: None,
        budget: None,
        log: None,
    }
}

impl Row {
    fn title(self, title: impl Into<String>) -> Self {
        Self {
            title: Some(title.into()),
            ..self
        }
    }

    fn detail(self, detail: impl ToString) -> Self {
        Self {
            detail: Some(detail.to_string()),
            ..self
        }
    }

    fn code(self, code: TokenErrorCode) -> Self {
        Self {
            code: Some(code),
            ..self
        }
    }

    fn header(self, name: HeaderName, value: impl Into<String>) -> Self {
        Self {
            header: Some((name, value.into())),
            ..self
        }
    }

    fn budget(self, budget: CallType) -> Self {
        Self {
            budget: Some(budget),
            ..self
        }
    }

    fn failed(self, what: &'static str, kind: impl Display) -> Self {
        Self {
            log: Some(Line::Failed(what, kind.to_string())),
            ..self
        }
    }

    fn assertion(self, kind: &'static str, advice: Option<String>) -> Self {
        Self {
            log: Some(Line::AssertionRefused(kind, advice)),
            ..self
        }
    }

    /// Logs what support staff need to know of the refusal.
    pub(super) fn log(&self, exchange: &Exchange<'_>, customer: Option<&CustomerCode>) {
        match &self.log {
            Some(Line::Failed(what, kind)) => exchange.log_failure(what, kind),
            Some(Line::AssertionRefused(kind, advice)) => tracing::info!(
                request_key = %exchange.key,
                endpoint = %exchange.endpoint,
                customer = customer.map(tracing::field::display),
                error = %kind,
                advice,
                "assertion refused"
            ),
            None => {}
        }
    }
}

impl Refusal {
    /// Returns the row of the table.
    pub(crate) fn row(&self, key: HyphenatedUuid, options: &ProviderOptions) -> Row {
        match self {
            Self::Method(allowed) => row(Failure::Method, "method")
                .title("Method not allowed")
                .header(ALLOW, *allowed),
            Self::Panicked => row(Failure::Internal, "internal").failed("serving", "panic"),
            Self::TimedOut => {
                row(Failure::Unavailable, "time").failed("answering in time", "timeout")
            }
            Self::UnknownPath => row(Failure::UnknownPath, "path").title("Not found"),
            Self::Head(fault) => match fault.status() {
                StatusCode::URI_TOO_LONG => {
                    row(Failure::UriTooLong, "head").title("Address too long")
                }
                StatusCode::BAD_REQUEST => {
                    row(Failure::MalformedHead, "head").title(fault.to_string())
                }
                _ => row(Failure::HeadersTooLarge, "head").title("Headers too large"),
            },
            Self::ApiKey(title) => {
                let row = row(Failure::ApiKey, "api_key").title(*title).detail(title);
                row.header(WWW_AUTHENTICATE, "Bearer")
            }
            Self::Body(error) => {
                let (failure, title) = match error {
                    BodyError::TooLarge { .. } => (Failure::BodyTooLarge, "Request body too large"),
                    BodyError::TimedOut { .. } => (
                        Failure::BodyTimeout,
                        "Request body incomplete after the time allowed",
                    ),
                    _ => (Failure::Validation, "Request body incomplete"),
                };
                row(failure, "body")
                    .title(title)
                    .detail(title)
                    .budget(CallType::TokenFailure)
            }
            Self::Encoding(failure) => {
                let row =
                    row(*failure, "media_type").title("Expected a body without content encoding");
                let row = row
                    .detail("expected a body without content encoding")
                    .budget(CallType::TokenFailure);
                // RFC 9110 section 12.5.3.
                row.header(ACCEPT_ENCODING, "identity")
            }
            Self::Limit(LimitRefusal::Unreachable(error), _) => row(Failure::Unavailable, "store")
                .detail(error.kind())
                .failed("counter store", error.kind()),
            Self::Limit(refusal, _) => {
                let row = row(Failure::RateLimit, "limit").title("Rate limit exceeded");
                let LimitRefusal::Exceeded(decision) = refusal else {
                    return row;
                };
                let again = |seconds| format!("rate limit exceeded, allowed again in {seconds} s");
                Row {
                    detail: decision.retry_after_seconds().map(again),
                    ..row
                }
            }
            Self::Store(error) => row(Failure::Unavailable, "store")
                .detail(error.kind())
                .failed("store", error.kind()),
            Self::Audit => row(Failure::Unavailable, "audit"),
            Self::Randomness(error) => {
                row(Failure::Internal, "internal").failed("randomness", error)
            }
            Self::ResponseType => {
                let row = row(Failure::Validation, "request")
                    .code(TokenErrorCode::Other(UNSUPPORTED.into()));
                row.title("expected a token request with the grant type client_credentials")
            }
            // The answer names the field: the client's developer needs it, and an attacker learns
            // nothing from it.
            Self::Form(error) => {
                let row = row(Failure::Validation, "request")
                    .title(error.to_string())
                    .detail(error);
                row.code(error.code()).budget(CallType::TokenFailure)
            }
            Self::OtherCustomer => {
                let row = row(Failure::ApiKey, "assertion").budget(CallType::TokenFailure);
                let row = row
                    .detail("expected the customer of the API key as the claim sub, found another");
                row.assertion("another customer", None)
            }
            Self::Assertion(error @ AssertionError::ReplayStore(store)) => {
                row(Failure::Unavailable, "store")
                    .detail(error)
                    .failed("replay store", store.kind())
            }
            Self::Assertion(error) => {
                let row = row(Failure::ApiKey, "assertion")
                    .detail(error)
                    .budget(CallType::TokenFailure);
                let advice = match error {
                    AssertionError::Audience {
                        expected, option, ..
                    } => Some(format!(
                        "expected {expected} as the claim aud; VerifierOptions::{option} accepts others"
                    )),
                    _ => None,
                };
                row.assertion(error.kind(), advice)
            }
            Self::NoScope(error) => row(Failure::Validation, "scope")
                .detail(error)
                .code(error.code()),
            Self::NoToken => {
                let row = row(Failure::AccessToken, "access_token").title("Access token required");
                let row = row
                    .detail("access token required")
                    .budget(CallType::BearerFailure);
                row.header(WWW_AUTHENTICATE, "Bearer")
            }
            Self::BadToken => {
                let row = row(Failure::AccessToken, "access_token").title("Invalid access token");
                let expected = "expected a valid access token of the customer, found an unknown, expired or foreign one";
                let row = row.detail(expected).budget(CallType::BearerFailure);
                row.header(WWW_AUTHENTICATE, "Bearer error=\"invalid_token\"")
            }
            Self::Scope => {
                // A scope's characters need no escape in a quoted string (RFC 6749 section 3.3).
                let scope = options.statement_scope.as_str();
                let row = row(Failure::Scope, "scope").title("Insufficient scope");
                let row = row.detail(format_args!(
                    "expected a token with the scope {scope}, found none"
                ));
                row.header(
                    WWW_AUTHENTICATE,
                    format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\""),
                )
            }
            Self::MediaType => {
                let row = row(Failure::MediaType, "media_type").title("Expected application/json");
                row.detail("expected application/json")
            }
            Self::Request(error) => {
                let text = with_cause(error);
                row(Failure::Validation, "request")
                    .title(text.clone())
                    .detail(text)
            }
            Self::Cursor => {
                let row = row(Failure::Validation, "cursor").title("Invalid cursor");
                row.detail("expected a cursor of this customer, account and day, found another")
            }
            Self::Account(asked) => {
                let title = StatementErrorBody::account_not_found(key, asked).title;
                let row = row(Failure::AccountNotFound, "account").title(title);
                row.detail("not found, or not registered for the customer")
            }
            Self::Ledger(account, error) => {
                let row = retrieval_failed(key, account).detail(error.kind());
                row.failed("ledger", error.kind())
            }
            Self::Page(account, error) => {
                let row = retrieval_failed(key, account).detail(error.place());
                row.failed("writing the ledger's page", error.place())
            }
        }
    }
}

fn retrieval_failed(key: HyphenatedUuid, account: &AccountId) -> Row {
    row(Failure::RetrievalFailed, "ledger")
        .title(StatementErrorBody::retrieval_failed(key, account.as_str()).title)
}

/// The error code of the authorization endpoint.
const UNSUPPORTED: &str = "unsupported_response_type";

/// Returns the error with its cause. Use this only for errors about the customer's own request.
fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
