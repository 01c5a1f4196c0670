//! Refusals of the statement endpoint, and their answers.

use super::failure::StatementFailure as Failure;
use super::report::PageError;
use crate::ProviderOptions;
use crate::answer::{Exchange, allow, body_answer, json};
use crate::api_key::ApiKeyFault;
use crate::shared::limit_detail;
use axum::response::Response;
use bankrail_http::BodyError;
use bankrail_rate_limit::layer::LimitRefusal;
use bankrail_statement::{AccountId, RequestError, StatementErrorBody};
use bankrail_values::StoreError;
use http::HeaderValue;
use http::header::{ACCEPT_ENCODING, WWW_AUTHENTICATE};

/// Why a request gets no statement.
#[derive(Debug)]
pub(super) enum Refusal {
    Method,
    ApiKey(ApiKeyFault),
    Bearer(BearerFault),
    Scope,
    Limit(LimitRefusal),
    /// The budget for requests without a valid token is used up.
    BearerLimit(LimitRefusal),
    Body(BodyError),
    MediaType,
    /// The body is compressed.
    Encoding,
    Request(RequestError),
    Cursor,
    /// No such account for this customer, or a malformed identifier. The text is the identifier of the request.
    Account(String),
    Ledger(AccountId, StoreError),
    Page(AccountId, PageError),
    Store(StoreError),
    /// The statement could not be recorded. The failure of the audit log was logged.
    Audit,
}

/// What is wrong with the bearer token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BearerFault {
    Absent,
    /// Malformed, unknown, expired, revoked or another customer's.
    Invalid,
}

impl Refusal {
    /// The reason for metrics.
    fn reason(&self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::ApiKey(_) => "api_key",
            Self::Bearer(_) => "access_token",
            Self::Scope => "scope",
            Self::Limit(LimitRefusal::Unreachable(_)) | Self::BearerLimit(LimitRefusal::Unreachable(_)) => "store",
            Self::Limit(_) | Self::BearerLimit(_) => "limit",
            Self::Body(_) => "body",
            Self::MediaType | Self::Encoding => "media_type",
            Self::Request(_) => "request",
            Self::Cursor => "cursor",
            Self::Account(_) => "account",
            Self::Ledger(..) | Self::Page(..) => "ledger",
            Self::Store(_) => "store",
            Self::Audit => "audit",
        }
    }

    /// What was expected and found, for the provider's own people: never the account.
    fn detail(&self, options: &ProviderOptions) -> Option<String> {
        Some(match self {
            Self::ApiKey(fault) => fault.title().to_owned(),
            Self::Bearer(BearerFault::Absent) => "access token required".to_owned(),
            Self::Bearer(BearerFault::Invalid) => {
                "expected a valid access token of the customer, found an unknown, expired or foreign one".to_owned()
            }
            Self::Scope => format!("expected a token with the scope {}, found none", options.statement_scope.as_str()),
            Self::Limit(refusal) | Self::BearerLimit(refusal) => return limit_detail(refusal),
            Self::Body(error) => body_answer(error).1.to_owned(),
            Self::MediaType => "expected application/json".to_owned(),
            Self::Encoding => "expected a body without content encoding".to_owned(),
            Self::Cursor => "expected a cursor of this customer, account and day, found another".to_owned(),
            Self::Account(_) => "not found, or not registered for the customer".to_owned(),
            Self::Ledger(_, error) => error.kind().to_string(),
            Self::Page(_, error) => error.place(),
            Self::Store(error) => error.kind().to_string(),
            Self::Request(error) => with_cause(error),
            Self::Method | Self::Audit => return None,
        })
    }

    pub(super) fn into_response(self, exchange: &Exchange, options: &ProviderOptions) -> Response {
        exchange.refused_for(self.reason(), self.detail(options));
        let plain = |failure: Failure, title: &str| answer(exchange, options, failure, title);
        match self {
            Self::Method => {
                let mut response = plain(Failure::Method, "Method not allowed");
                allow(&mut response, "POST");
                response
            }
            Self::ApiKey(fault) => challenged(plain(Failure::ApiKey, fault.title()), "Bearer"),
            Self::Bearer(BearerFault::Absent) => {
                challenged(plain(Failure::AccessToken, "Access token required"), "Bearer")
            }
            Self::Bearer(BearerFault::Invalid) => {
                challenged(plain(Failure::AccessToken, "Invalid access token"), "Bearer error=\"invalid_token\"")
            }
            Self::Scope => {
                // A scope's characters need no escape in a quoted string (RFC 6749 section 3.3).
                let scope = options.statement_scope.as_str();
                let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
                challenged(plain(Failure::Scope, "Insufficient scope"), &challenge)
            }
            Self::Limit(refusal) => limited(exchange, options, &refusal, options.rate_limit_headers),
            Self::BearerLimit(refusal) => limited(exchange, options, &refusal, false),
            Self::Body(error) => {
                let failure = match error {
                    BodyError::TooLarge { .. } => Failure::BodyTooLarge,
                    BodyError::TimedOut { .. } => Failure::BodyTimeout,
                    _ => Failure::Validation,
                };
                plain(failure, body_answer(&error).1)
            }
            Self::MediaType => plain(Failure::MediaType, "Expected application/json"),
            Self::Encoding => {
                let mut response = plain(Failure::MediaType, "Expected a body without content encoding");
                // RFC 9110 section 12.5.3.
                response.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
                response
            }
            Self::Request(error) => plain(Failure::Validation, &with_cause(&error)),
            Self::Cursor => plain(Failure::Validation, "Invalid cursor"),
            Self::Account(asked) => {
                let body = StatementErrorBody::account_not_found(exchange.key, &asked);
                plain(Failure::AccountNotFound, &body.title)
            }
            Self::Ledger(account, error) => {
                exchange.log_failure("ledger", error.kind());
                retrieval_failed(exchange, options, &account)
            }
            Self::Page(account, error) => {
                exchange.log_failure("writing the ledger's page", error.place());
                retrieval_failed(exchange, options, &account)
            }
            Self::Store(error) => {
                exchange.log_failure("store", error.kind());
                unavailable(exchange, options)
            }
            Self::Audit => unavailable(exchange, options),
        }
    }
}

/// The answer to an unknown failure.
pub(super) fn internal(exchange: &Exchange, options: &ProviderOptions) -> Response {
    answer(exchange, options, Failure::Internal, &StatementErrorBody::internal(exchange.key).title)
}

fn unavailable(exchange: &Exchange, options: &ProviderOptions) -> Response {
    answer(exchange, options, Failure::Unavailable, &StatementErrorBody::internal(exchange.key).title)
}

fn limited(exchange: &Exchange, options: &ProviderOptions, refusal: &LimitRefusal, with_headers: bool) -> Response {
    if let LimitRefusal::Unreachable(error) = refusal {
        exchange.log_failure("counter store", error.kind());
        return unavailable(exchange, options);
    }
    let mut response = answer(exchange, options, Failure::RateLimit, "Rate limit exceeded");
    refusal.write_headers(with_headers, response.headers_mut());
    response
}

fn retrieval_failed(exchange: &Exchange, options: &ProviderOptions, account: &AccountId) -> Response {
    let body = StatementErrorBody::retrieval_failed(exchange.key, account.as_str());
    answer(exchange, options, Failure::RetrievalFailed, &body.title)
}

/// The error with its cause. Only for errors about the customer's own request.
fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn answer(exchange: &Exchange, options: &ProviderOptions, failure: Failure, title: &str) -> Response {
    let (code, status) = failure.answer(options);
    json(status, StatementErrorBody::new(exchange.key, code, title).to_json())
}

fn challenged(mut response: Response, challenge: &str) -> Response {
    if let Ok(value) = HeaderValue::try_from(challenge) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
    response
}
