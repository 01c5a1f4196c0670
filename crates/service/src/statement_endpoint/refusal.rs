//! Refusals of the statement endpoint, and their answers.

use super::report::PageError;
use crate::ProviderOptions;
use crate::answer::{Exchange, allow_post, body_status, json};
use axum::response::Response;
use bankrail_http::BodyError;
use bankrail_rate_limit::layer::LimitRefusal;
use bankrail_statement::{AccountId, ErrorCode, RequestError, StatementErrorBody};
use bankrail_values::StoreError;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, StatusCode};

/// Why a request gets no statement.
#[derive(Debug)]
pub(super) enum Refusal {
    Method,
    ApiKey,
    Bearer(BearerFault),
    Scope,
    Limit(LimitRefusal),
    /// The budget for requests without a valid token is used up.
    BearerLimit(LimitRefusal),
    Body(BodyError),
    MediaType,
    Request(RequestError),
    Cursor,
    /// No such account for this customer, or a malformed identifier. The text is the identifier of the request.
    Account(String),
    Ledger(AccountId, StoreError),
    Page(AccountId, PageError),
    Store(StoreError),
}

/// What is wrong with the bearer token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BearerFault {
    Absent,
    /// Malformed, unknown, expired, revoked or another customer's.
    Invalid,
}

impl Refusal {
    pub(super) fn into_response(self, exchange: &Exchange, options: &ProviderOptions) -> Response {
        match self {
            Self::Method => {
                let mut response = plain(exchange, StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
                allow_post(&mut response);
                response
            }
            Self::ApiKey => challenged(plain(exchange, StatusCode::UNAUTHORIZED, "Invalid API key"), "Bearer"),
            Self::Bearer(BearerFault::Absent) => {
                challenged(plain(exchange, StatusCode::UNAUTHORIZED, "Access token required"), "Bearer")
            }
            Self::Bearer(BearerFault::Invalid) => {
                let response = plain(exchange, StatusCode::UNAUTHORIZED, "Invalid access token");
                challenged(response, "Bearer error=\"invalid_token\"")
            }
            Self::Scope => {
                // A scope's characters need no escape in a quoted string (RFC 6749 section 3.3).
                let scope = options.statement_scope.as_str();
                let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
                challenged(plain(exchange, StatusCode::FORBIDDEN, "Insufficient scope"), &challenge)
            }
            Self::Limit(refusal) => limited(exchange, &refusal, options.rate_limit_headers),
            Self::BearerLimit(refusal) => limited(exchange, &refusal, false),
            Self::Body(error) => match body_status(&error) {
                StatusCode::BAD_REQUEST => invalid(exchange, "Request body incomplete"),
                status @ StatusCode::PAYLOAD_TOO_LARGE => plain(exchange, status, "Request body too large"),
                status => plain(exchange, status, "Request body incomplete after the time allowed"),
            },
            Self::MediaType => plain(exchange, StatusCode::UNSUPPORTED_MEDIA_TYPE, "Expected application/json"),
            Self::Request(error) => invalid(exchange, &with_cause(&error)),
            Self::Cursor => invalid(exchange, "Invalid cursor"),
            Self::Account(asked) => {
                answer(options.account_not_found_status, &StatementErrorBody::account_not_found(exchange.key, &asked))
            }
            Self::Ledger(account, error) => {
                exchange.log_failure("ledger", &error);
                retrieval_failed(exchange, &account)
            }
            Self::Page(account, error) => {
                exchange.log_failure("writing the ledger's page", &error);
                retrieval_failed(exchange, &account)
            }
            Self::Store(error) => {
                exchange.log_failure("store", &error);
                answer(StatusCode::SERVICE_UNAVAILABLE, &StatementErrorBody::internal(exchange.key))
            }
        }
    }
}

/// The answer to an unknown failure.
pub(super) fn internal(exchange: &Exchange) -> Response {
    answer(StatusCode::INTERNAL_SERVER_ERROR, &StatementErrorBody::internal(exchange.key))
}

fn limited(exchange: &Exchange, refusal: &LimitRefusal, with_headers: bool) -> Response {
    let title = match refusal {
        LimitRefusal::Unreachable(error) => {
            exchange.log_failure("counter store", error);
            "Service unavailable"
        }
        _ => "Rate limit exceeded",
    };
    let mut response = plain(exchange, refusal.status(), title);
    refusal.write_headers(with_headers, response.headers_mut());
    response
}

fn retrieval_failed(exchange: &Exchange, account: &AccountId) -> Response {
    let body = StatementErrorBody::retrieval_failed(exchange.key, account.as_str());
    answer(StatusCode::INTERNAL_SERVER_ERROR, &body)
}

/// The error with its cause. Only for errors about the customer's own request.
fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn invalid(exchange: &Exchange, title: &str) -> Response {
    answer(StatusCode::BAD_REQUEST, &StatementErrorBody::new(exchange.key, ErrorCode::VALIDATION, title))
}

/// The answer to a failure for which the specification has no code.
fn plain(exchange: &Exchange, status: StatusCode, title: &str) -> Response {
    answer(status, &StatementErrorBody::new(exchange.key, ErrorCode::for_status(status.as_u16()), title))
}

fn answer(status: StatusCode, body: &StatementErrorBody) -> Response {
    json(status, body.to_json())
}

fn challenged(mut response: Response, challenge: &str) -> Response {
    if let Ok(value) = HeaderValue::try_from(challenge) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
    response
}
