//! The leases of one worker: who owns the next one, where it begins, and how one is ended.

use bankrail_mailbox::{EndpointId, EntryId, LeaseOwners};
use bankrail_values::{StoreError, StoreFuture};
use futures_util::FutureExt as _;
use std::time::Duration;
use tokio::time::Instant;

/// The first and the longest pause before a lease is ended again after a failure of the outbox.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The owners of the leases, and where the next one begins.
#[derive(Debug)]
pub(super) struct Leases {
    pub(super) owners: LeaseOwners,
    /// The endpoint whose entry was leased last.
    pub(super) last_quick: Option<EndpointId>,
    pub(super) last_slow: Option<EndpointId>,
}

impl Leases {
    pub(super) const fn new(random: [u8; 16]) -> Self {
        Self {
            owners: LeaseOwners::from_random_bytes(random),
            last_quick: None,
            last_slow: None,
        }
    }
}

/// Ends a lease: tries until the outbox answers, as long as the lease lasts. `waits` is called if
/// it does not at once.
///
/// The next lease follows an answer at once, so that a store can make both durable together.
pub(super) async fn end_lease<'a>(
    entry: EntryId,
    lease_ends: Instant,
    waits: impl FnOnce(),
    mut attempt: impl FnMut() -> StoreFuture<'a, bool>,
) -> Result<bool, StoreError> {
    let mut first = attempt();
    let mut answer = match first.as_mut().now_or_never() {
        Some(answer) => answer,
        None => {
            waits();
            first.await
        }
    };
    let mut pause = FIRST_PAUSE;
    while let Err(error) = &answer
        && Instant::now() + pause < lease_ends
    {
        tracing::warn!(%entry, %error, "the outbox failed, and is tried again");
        tokio::time::sleep(pause).await;
        answer = attempt().await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    answer
}
