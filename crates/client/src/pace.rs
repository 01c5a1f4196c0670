//! Keeps calls within the service's limits.

use crate::transport::Reply;
use bankrail_rate_limit::{PaceError, Pacer};
use bankrail_values::Timestamp;
use std::time::Duration;

/// The longest wait for a `Retry-After`, so that a wrong value does not stop a client for years.
const LONGEST_HOLD: Duration = Duration::from_secs(24 * 3600);

/// Waits until the call may be sent, and counts it then.
pub(crate) async fn admit(pacer: &Pacer) -> Result<(), PaceError> {
    let begun = pacer.clock().now();
    pacer.acquire(1).await?;
    let waited = pacer.clock().now().saturating_since(begun);
    if !waited.is_zero() {
        tracing::debug!(?waited, "held back by the rate limit");
    }
    Ok(())
}

/// Holds back all calls until the time of the answer's `Retry-After`, and returns that time.
pub(crate) fn hold(pacer: &Pacer, reply: &Reply) -> Option<Timestamp> {
    let now = pacer.clock().now();
    let until = now.saturating_add(reply.retry_after?.wait(now).min(LONGEST_HOLD));
    pacer.hold_until(until);
    Some(until)
}
