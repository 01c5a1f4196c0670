//! The reasons why an account is no longer polled.

use super::movement::MovementError;
use crate::call_error::CallError;
use bankrail_values::Timestamp;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;

/// The reason why a [`Poller`](super::Poller) has stopped polling an account.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PollError {
    /// No statement, or none that can be read to its end, and asking again cannot help.
    #[error("there is no statement of the account, or none that can be read to its end")]
    Statement(#[source] CallError),
    /// The handler failed each time that it was given a page.
    #[error("the handler failed {times} times")]
    #[non_exhaustive]
    Handler {
        /// The number of failures.
        times: u32,
        /// The last error of the handler.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl PollError {
    /// Returns the kind of the error, for logs and counters, without any text of the service or the
    /// handler's error and without an account.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Statement(error) => error.kind(),
            Self::Handler { .. } => "handler",
        }
    }

    /// Returns advice on what to check, for the operator of this side, without an account. The
    /// advice has the text of a handler's error only if that is a [`MovementError`]; other errors
    /// are in [`Poller::status`](super::Poller::status).
    #[must_use]
    pub fn advice(&self) -> Cow<'static, str> {
        match self {
            Self::Statement(error) => error.advice(),
            Self::Handler { source, .. } => match source.downcast_ref::<MovementError>() {
                Some(error) => format!("see the entry in the statement: {error}").into(),
                None => {
                    "see the handler's error, which the program reads from Poller::status".into()
                }
            },
        }
    }
}

/// The error of [`Poller::check`](super::Poller::check). Accounts have their names in logs
/// ([`PolledAccount::label`]).
///
/// [`PolledAccount::label`]: super::PolledAccount::label
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PollerCheckError {
    /// The accounts that are stopped.
    pub stopped: Vec<String>,
    /// The stopped accounts whose statement the service has refused more than once in a row, each
    /// with the time of the next call. The pauses between these calls grow.
    pub refused: Vec<(String, Timestamp)>,
    /// The accounts without a recorded page for too long ([`Poller::check`](super::Poller::check)).
    pub stale: Vec<String>,
    /// True if this poller has recorded no page of any account yet.
    pub never_polled: bool,
    /// True if the last call for a token was refused, or the statement endpoint has refused the
    /// token and its successor.
    pub token_refused: bool,
}

impl fmt::Display for PollerCheckError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refused = |(label, until): &(String, Timestamp)| format!("{label} until {until}");
        let refused: Vec<String> = self.refused.iter().map(refused).collect();
        let mut faults = Vec::new();
        if self.token_refused {
            faults.push("the service refuses the token, its key or the API key".to_owned());
        }
        if self.never_polled {
            faults.push("no page of any account yet".to_owned());
        }
        for (what, labels) in [
            ("accounts that are stopped", &self.stopped),
            (
                "accounts that keep being refused, asked less and less",
                &refused,
            ),
            ("accounts without a page for too long", &self.stale),
        ] {
            if !labels.is_empty() {
                faults.push(format!("{what}: {}", labels.join(", ")));
            }
        }
        out.write_str(&faults.join("; "))
    }
}

impl Error for PollerCheckError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_has_the_text_of_a_movement_that_cannot_be_booked_and_of_no_other_error() {
        let id = bankrail_statement::SeenEntryId::from_bytes([0; 32]);
        let entry = PollError::Handler {
            times: 3,
            source: Box::new(MovementError::Direction { id }),
        };
        let expected = "expected CRDT or DBIT in CdtDbtInd";
        assert!(
            entry.advice().ends_with(expected) && entry.advice().contains("0000"),
            "{}",
            entry.advice()
        );
        let other = PollError::Handler {
            times: 3,
            source: "a secret".into(),
        };
        assert_eq!(
            other.advice(),
            "see the handler's error, which the program reads from Poller::status"
        );
    }
}
