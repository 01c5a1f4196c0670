//! Errors of an HTTP exchange.

mod diagnosis;
mod name;

pub use diagnosis::CallPhase;
pub(crate) use name::Names;

use bankrail_http::BodyError;
use diagnosis::Diagnosis;
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
    /// No complete answer within the time allowed. The service may have counted and answered the
    /// call.
    #[error("no complete answer within {after:?}")]
    #[non_exhaustive]
    TimedOut {
        /// The time allowed.
        after: Duration,
        /// What it was waiting for: the answer, or the rest of it.
        phase: CallPhase,
    },
    /// The connection broke after sending had started. The service may have counted the call.
    #[error("the connection broke before the answer was complete")]
    #[non_exhaustive]
    Interrupted {
        /// What it was waiting for: the answer, or the rest of it.
        phase: CallPhase,
        /// What happened.
        source: Arc<dyn Error + Send + Sync>,
    },
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
        let source = cause(error.without_url());
        if connect {
            Self::Connect(source)
        } else {
            Self::Interrupted {
                phase: CallPhase::Answer,
                source,
            }
        }
    }

    pub(crate) fn from_body(error: BodyError, status: StatusCode) -> Self {
        match error {
            BodyError::TooLarge { limit } => Self::TooLarge {
                limit,
                status: status.as_u16(),
            },
            BodyError::TimedOut { after } => Self::TimedOut {
                after,
                phase: CallPhase::Read,
            },
            BodyError::Broken(source) => Self::unread(match source.downcast::<reqwest::Error>() {
                Ok(error) => cause(error.without_url()),
                Err(other) => cause(other),
            }),
            other => Self::unread(cause(other)),
        }
    }

    fn unread(source: Cause) -> Self {
        Self::Interrupted {
            phase: CallPhase::Read,
            source,
        }
    }

    /// Whether the same call can succeed later without a change on this side.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        !matches!(self, Self::TooLarge { .. })
    }

    /// What the call was doing when it failed.
    #[must_use]
    pub fn phase(&self) -> CallPhase {
        Diagnosis::of(self).phase
    }

    /// Why it failed, in words of this crate: no text of the peer, no address.
    #[must_use]
    pub fn cause(&self) -> &'static str {
        Diagnosis::of(self).cause
    }

    /// What to check, for whoever runs this side.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        Diagnosis::of(self).advice
    }
}
