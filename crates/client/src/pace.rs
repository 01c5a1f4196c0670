//! Calls kept within the service's limits before they are sent.

use crate::transport::Reply;
use bankrail_rate_limit::{PaceError, Pacer};
use bankrail_values::Timestamp;

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
    let until = reply.retry_after?.instant(pacer.clock().now());
    pacer.hold_until(until);
    Some(until)
}
