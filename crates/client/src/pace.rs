//! Keeps calls within the service's limits.

use crate::transport::Reply;
use bankrail_rate_limit::{PaceError, Pacer};
use bankrail_values::Timestamp;
use std::time::Duration;

/// The longest `Retry-After` that is believed: a slip of the service must not silence a client for years.
const LONGEST_HOLD: Duration = Duration::from_secs(24 * 3600);

/// Returns when the call may be sent. It is counted then, and not before.
pub(crate) async fn admit(pacer: &Pacer) -> Result<(), PaceError> {
    let begun = pacer.clock().now();
    pacer.acquire(1).await?;
    let waited = pacer.clock().now().saturating_since(begun);
    if !waited.is_zero() {
        tracing::debug!(?waited, "held back by the rate limit");
    }
    Ok(())
}

/// Lets no call go before the time that the answer's `Retry-After` asks for; says when that is.
pub(crate) fn hold(pacer: &Pacer, reply: &Reply) -> Option<Timestamp> {
    let now = pacer.clock().now();
    let until = now.saturating_add(reply.retry_after?.wait(now).min(LONGEST_HOLD));
    pacer.hold_until(until);
    Some(until)
}
