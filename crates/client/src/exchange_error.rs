//! Errors of an HTTP exchange.

use bankrail_http::BodyError;
use http::StatusCode;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// A shared cause, because several callers get the same failure.
pub(crate) type Cause = Arc<dyn Error + Send + Sync>;

pub(crate) fn cause(error: impl Into<Box<dyn Error + Send + Sync>>) -> Cause {
    Arc::from(error.into())
}

/// No complete answer came. No variant and no cause shows an address, a header or a body.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The service was not reached, and nothing was sent.
    #[error("the service was not reached")]
    Connect(#[source] Arc<dyn Error + Send + Sync>),
    /// No complete answer within the time allowed. The service may have counted and answered the call.
    #[error("no complete answer within {after:?}")]
    TimedOut {
        /// The time allowed.
        after: Duration,
    },
    /// The connection broke after sending had started. The service may have counted the call.
    #[error("the connection broke before the answer was complete")]
    Interrupted(#[source] Arc<dyn Error + Send + Sync>),
    /// The answer is larger than allowed. What was read of it is dropped.
    #[error("expected at most {limit} bytes, found more in an answer with status {status}")]
    #[non_exhaustive]
    TooLarge {
        /// The most bytes allowed.
        limit: usize,
        /// The HTTP status of the answer.
        status: u16,
    },
}

impl ExchangeError {
    pub(crate) fn from_send(error: reqwest::Error) -> Self {
        let connect = error.is_connect();
        let error = cause(error.without_url());
        if connect { Self::Connect(error) } else { Self::Interrupted(error) }
    }

    pub(crate) fn from_body(error: BodyError, status: StatusCode) -> Self {
        match error {
            BodyError::TooLarge { limit } => Self::TooLarge { limit, status: status.as_u16() },
            BodyError::TimedOut { after } => Self::TimedOut { after },
            BodyError::Broken(source) => Self::Interrupted(match source.downcast::<reqwest::Error>() {
                Ok(error) => cause(error.without_url()),
                Err(other) => cause(other),
            }),
            other => Self::Interrupted(cause(other)),
        }
    }

    /// Whether the same call can succeed later without a change on this side.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        !matches!(self, Self::TooLarge { .. })
    }
}
