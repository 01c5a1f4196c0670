//! The end of a lease while the outbox may fail.

use bankrail_mailbox::EntryId;
use bankrail_values::{StoreError, StoreFuture};
use futures_util::FutureExt as _;
use std::time::Duration;
use tokio::time::Instant;

/// The first and the longest pause before a lease is ended again after a failure of the outbox.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

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
        // After the end of the lease another worker may have the entry, and this record would be
        // refused.
        && Instant::now() + pause < lease_ends
    {
        tracing::warn!(%entry, %error, "the outbox failed, and is tried again");
        tokio::time::sleep(pause).await;
        answer = attempt().await;
        // Doubled, so that an outbox that comes back is not met by all deliveries at once; bounded,
        // so that a record is not late by more than a second.
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    answer
}
