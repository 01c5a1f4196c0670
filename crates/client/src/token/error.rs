//! Errors of a token call.

use crate::ExchangeError;
use crate::transport::{CallFacts, after_comma, call_error};
use bankrail_client_assertion::token::{TokenErrorCode, TokenResponseError};
use bankrail_values::{HyphenatedUuid, Timestamp};
use std::error::Error;
use std::sync::Arc;

/// Why there is no token. All callers that waited for the same call get a clone.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The assertion could not be made.
    #[error("the client assertion could not be signed")]
    Assertion(#[source] Arc<dyn Error + Send + Sync>),
    /// The key service that holds the assertions' key did not sign.
    #[error("the key of the client assertion could not be used")]
    #[non_exhaustive]
    Signer {
        /// Whether another call can succeed.
        retryable: bool,
        /// What went wrong.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// Not sent: the limit of token calls, or an earlier `Retry-After`, does not allow a call before this.
    #[error("held back by the rate limit of token calls until {retry_at}")]
    #[non_exhaustive]
    HeldBack {
        /// When it would be allowed.
        retry_at: Timestamp,
    },
    /// Not sent: the store of the rate limit's counters failed.
    #[error("the store of the rate limit failed")]
    Counters(#[source] Arc<dyn Error + Send + Sync>),
    /// No complete answer.
    #[error("no answer from the token endpoint")]
    Transport(#[source] ExchangeError),
    /// The service refused: 401 for the assertion, 400 for the request (Specification: "Obtain access token"). A body
    /// with an error code is a refusal under 200 too.
    #[error("the token endpoint refused with status {status}{}", after_comma(code))]
    #[non_exhaustive]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The error code of the body, if it had one.
        code: Option<TokenErrorCode>,
        /// The error text of the body, cut and escaped.
        description: Option<String>,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
    },
    /// The service counted too many calls: 429.
    #[error(
        "the token endpoint answered that there were too many calls{}; held back until {retry_at}",
        after_comma(code)
    )]
    #[non_exhaustive]
    TooManyCalls {
        /// Until when calls of this client are held back: the time of the service's `Retry-After`. Default: without
        /// one, as long as the slowest limit takes for one call, which is 6 minutes under the specification's.
        retry_at: Timestamp,
        /// The error code of the body, if it had one.
        code: Option<TokenErrorCode>,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
    },
    /// The service or a gateway in front of it failed: 5xx, or the gateway's own code under any status.
    #[error("the token endpoint failed with status {status}{}", after_comma(code))]
    #[non_exhaustive]
    Unavailable {
        /// The HTTP status.
        status: u16,
        /// The error code of the body, if it had one.
        code: Option<TokenErrorCode>,
        /// The time of the service's `Retry-After`.
        retry_at: Option<Timestamp>,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
    },
    /// An answer that does not come from the token endpoint, such as a redirect or an HTML page.
    #[error("expected a token, found an answer of status {status}{}", if *json { "" } else { " that is not JSON" })]
    #[non_exhaustive]
    Unexpected {
        /// The HTTP status.
        status: u16,
        /// Whether its content type is JSON.
        json: bool,
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
    },
    /// An answer with status 200 whose body is not a token response.
    #[error("the token response is unusable")]
    #[non_exhaustive]
    Response {
        /// The key of the call.
        request_key: Option<HyphenatedUuid>,
        /// What is wrong with it.
        source: TokenResponseError,
    },
    /// The client was closed ([`Client::close`](crate::Client::close)). No call was sent.
    #[error("the client was closed")]
    Closed,
    /// The task that fetched the token ended without a result: the runtime is shutting down, or it panicked.
    #[error("the token call was abandoned")]
    Abandoned,
}

call_error!(TokenError);

impl TokenError {
    pub(crate) fn facts(&self) -> CallFacts {
        match self {
            Self::Assertion(_) => CallFacts::of("assertion"),
            Self::Signer { retryable, .. } => CallFacts::of("signer").retryable(*retryable),
            Self::HeldBack { retry_at } => CallFacts::of("held back").retryable(true).retry_at(*retry_at),
            Self::Counters(_) => CallFacts::of("counters").retryable(true),
            Self::Transport(error) => CallFacts::exchange(error),
            Self::Refused { status, request_key, .. } => CallFacts::of("refused").answered(*status, *request_key),
            Self::TooManyCalls { retry_at, request_key, .. } => {
                CallFacts::of("too many calls").answered(429, *request_key).retryable(true).retry_at(*retry_at)
            }
            Self::Unavailable { status, retry_at, request_key, .. } => {
                CallFacts::of("unavailable").answered(*status, *request_key).retryable(true).retry_at(*retry_at)
            }
            Self::Unexpected { status, request_key, .. } => CallFacts::of("unexpected").answered(*status, *request_key),
            Self::Response { request_key, .. } => CallFacts::of("response").answered(200, *request_key),
            Self::Closed => CallFacts::of("closed"),
            Self::Abandoned => CallFacts::of("abandoned").retryable(true),
        }
    }
}
