//! The treatment of calls that are not allowed yet.

use bankrail_rate_limit::CostError;
use bankrail_values::{StoreError, Timestamp};
use std::time::Duration;

/// The treatment of a call that the provider's limits do not allow yet.
///
/// Calls that were answered with `Retry-After` are held back by it in the same way.
/// Default: [`Pacing::WaitUpTo`] [`Pacing::DEFAULT_LONGEST_WAIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pacing {
    /// The call waits as long as necessary. It keeps the guard away from the boundaries of the
    /// limits' windows, so that a service whose clock is that much off does not count it in another
    /// window. Statements allow 25 calls an hour, so the wait can be most of an hour, and a
    /// `Retry-After` may ask for a day. A call that is dropped while it waits has not been charged.
    Wait,
    /// The call waits in the same way for at most this long. Once a longer wait is certain, it
    /// fails with the time from which it would be allowed.
    WaitUpTo(Duration),
    /// The call fails at once, with the time from which it would be allowed.
    Fail,
}

impl Default for Pacing {
    fn default() -> Self {
        Self::WaitUpTo(Self::DEFAULT_LONGEST_WAIT)
    }
}

impl Pacing {
    /// The longest wait of a call by default: one minute. It covers every limit of a second or a
    /// minute, and is short beside the hour of tokens and statements, whose callers learn when to
    /// come back.
    pub const DEFAULT_LONGEST_WAIT: Duration = Duration::from_secs(60);

    /// The latest time at which a call may be let go that began to wait at `begun`.
    pub(super) fn deadline(self, begun: Timestamp) -> Timestamp {
        match self {
            Self::Wait => Timestamp::MAX,
            Self::WaitUpTo(longest) => begun.saturating_add(longest),
            Self::Fail => begun,
        }
    }
}

/// A call was not let go.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaceError {
    /// The cost never fits.
    #[error("the call can never be allowed")]
    Cost(#[from] CostError),
    /// The wait would be longer than the pacing allows. Nothing was charged.
    #[error("held back by the rate limit until {until}")]
    #[non_exhaustive]
    Held {
        /// The time at which the call would be allowed if no other call took its place.
        until: Timestamp,
    },
    /// The counters failed.
    #[error("the counters could not be reached")]
    Store(#[from] StoreError),
}
