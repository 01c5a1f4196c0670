//! Why messages are not handled as they should be.

use bankrail_values::StoreError;
use std::time::Duration;

/// Why a [`Worker`](super::Worker) is not well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerFault {
    /// The inbox does not answer.
    #[error("the inbox failed")]
    Inbox(#[from] StoreError),
    /// A message is not handled for too long.
    #[error("a message waits to be handled for {} s", waits.as_secs())]
    #[non_exhaustive]
    Behind {
        /// How long ago the oldest message that is not handled was received.
        waits: Duration,
    },
}
