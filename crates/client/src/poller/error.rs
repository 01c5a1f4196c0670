//! Why an account is no longer polled.

use crate::StatementError;
use bankrail_statement::WalkError;
use std::error::Error;

/// Why a [`Poller`](super::Poller) has stopped polling an account.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PollError {
    /// No statement, and asking again cannot help.
    #[error("there is no statement of the account")]
    Statement(#[source] StatementError),
    /// The statement cannot be read to its end.
    #[error("the statement cannot be read to its end")]
    Walk(#[source] WalkError),
    /// The handler failed each time that it was given a page.
    #[error("the handler failed {times} times")]
    #[non_exhaustive]
    Handler {
        /// How often it failed.
        times: u32,
        /// Its last error.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl PollError {
    /// The kind of the error, for logs and counters. It holds no text of the service, no account, and nothing of the
    /// handler's error.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Statement(error) => error.kind(),
            Self::Walk(_) => "walk",
            Self::Handler { .. } => "handler",
        }
    }
}
