//! Errors of a token call.

use crate::pace::NotAdmitted;
use crate::transport::{ExchangeError, after_comma};
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

impl TokenError {
    /// The kind of the error, for logs and counters. It holds no text of the service.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Assertion(_) => "assertion",
            Self::Signer { .. } => "signer",
            Self::HeldBack { .. } => "held back",
            Self::Counters(_) => "counters",
            Self::Transport(_) => "transport",
            Self::Refused { .. } => "refused",
            Self::TooManyCalls { .. } => "too many calls",
            Self::Unavailable { .. } => "unavailable",
            Self::Unexpected { .. } => "unexpected",
            Self::Response { .. } => "response",
            Self::Closed => "closed",
            Self::Abandoned => "abandoned",
        }
    }

    /// Whether the same call can succeed later without a change on this side.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::HeldBack { .. }
            | Self::Counters(_)
            | Self::TooManyCalls { .. }
            | Self::Unavailable { .. }
            | Self::Abandoned => true,
            Self::Transport(error) => error.is_retryable(),
            Self::Signer { retryable, .. } => *retryable,
            Self::Assertion(_)
            | Self::Refused { .. }
            | Self::Unexpected { .. }
            | Self::Response { .. }
            | Self::Closed => false,
        }
    }

    /// The key by which support staff find the call.
    #[must_use]
    pub fn request_key(&self) -> Option<HyphenatedUuid> {
        match self {
            Self::Refused { request_key, .. }
            | Self::TooManyCalls { request_key, .. }
            | Self::Unavailable { request_key, .. }
            | Self::Unexpected { request_key, .. }
            | Self::Response { request_key, .. } => *request_key,
            _ => None,
        }
    }

    /// The HTTP status, if there was an answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } | Self::Unavailable { status, .. } | Self::Unexpected { status, .. } => {
                Some(*status)
            }
            Self::TooManyCalls { .. } => Some(429),
            Self::Response { .. } => Some(200),
            Self::Transport(ExchangeError::TooLarge { status, .. }) => Some(*status),
            _ => None,
        }
    }

    /// When to call again, if that is known. It is for every [`TokenError::HeldBack`] and
    /// [`TokenError::TooManyCalls`], and for a [`TokenError::Unavailable`] with `Retry-After`.
    #[must_use]
    pub fn retry_at(&self) -> Option<Timestamp> {
        match self {
            Self::HeldBack { retry_at } | Self::TooManyCalls { retry_at, .. } => Some(*retry_at),
            Self::Unavailable { retry_at, .. } => *retry_at,
            _ => None,
        }
    }
}

impl From<NotAdmitted> for TokenError {
    fn from(reason: NotAdmitted) -> Self {
        match reason {
            NotAdmitted::Closed => Self::Closed,
            NotAdmitted::HeldBack { until } => Self::HeldBack { retry_at: until },
            NotAdmitted::Counters(error) => Self::Counters(error),
        }
    }
}
