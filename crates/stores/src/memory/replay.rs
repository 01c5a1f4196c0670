//! Used assertions.

use super::{MemoryStore, expiring::Expiring, lock};
use bankrail_client_assertion::ReplayStore;
use bankrail_values::{EXPIRY_GRACE, StoreError, StoreFuture, Timestamp};

pub(super) type Claims = Expiring<[u8; 32], ()>;

impl ReplayStore for MemoryStore {
    fn claim(&self, key: [u8; 32], now: Timestamp, expires: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(async move { claim(&mut lock(&self.parts.replay), self.parts.capacity, key, now, expires) })
    }
}

fn claim(
    claims: &mut Claims,
    capacity: usize,
    key: [u8; 32],
    now: Timestamp,
    expires: Timestamp,
) -> Result<bool, StoreError> {
    let before = now.saturating_sub(EXPIRY_GRACE);
    claims.sweep(|expires| expires < before);
    if claims.get(&key).is_some_and(|&(until, ())| until >= now) {
        return Ok(false);
    }
    claims.insert(key, expires, (), capacity)?;
    Ok(true)
}
