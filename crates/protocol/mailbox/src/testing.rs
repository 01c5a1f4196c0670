//! Suites for every engine of [`Inbox`](crate::Inbox), [`Outbox`](crate::Outbox) and
//! [`ArchiveStore`](crate::ArchiveStore), with a naive model of each to compare an engine with
//! (feature `testing`).
//!
//! A suite panics with the rule that an engine breaks. Await it in a test, under any runtime.

#[allow(
    clippy::indexing_slicing,
    reason = "a suite says what it expects by panicking"
)]
mod archive_suite;
#[allow(
    clippy::indexing_slicing,
    reason = "a suite says what it expects by panicking"
)]
mod inbox_suite;
mod model_archive;
mod model_inbox;
mod model_outbox;
mod oldest_suite;
#[allow(
    clippy::indexing_slicing,
    reason = "a suite says what it expects by panicking"
)]
mod outbox_suite;
mod random;

pub use archive_suite::archive_suite;
pub use inbox_suite::{inbox_against_model, inbox_suite};
pub use model_archive::ModelArchive;
pub use model_inbox::ModelInbox;
pub use model_outbox::ModelOutbox;
pub use outbox_suite::{outbox_against_model, outbox_suite};

use crate::lease::{Lease, LeaseOwner};
use bankrail_values::{StoreFuture, Timestamp};
use std::future::Future;
use std::task::{Context, Poll, Waker};

/// Runs a future that never waits for another task, such as one of the models.
pub fn run_ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

fn at(millis: u64) -> Timestamp {
    Timestamp::saturating_from_unix_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

fn owner(number: u8) -> LeaseOwner {
    LeaseOwner::from_random_bytes([number; 16])
}

fn lease(number: u8, until: u64) -> Lease {
    Lease {
        owner: owner(number),
        until: at(until),
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> StoreFuture<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}
