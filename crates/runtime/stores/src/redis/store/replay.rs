//! Used assertions: one script call for each claim.

use super::RedisStore;
use super::expiring::{Hex, kept_for};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp, random_bytes};
use redis::aio::ConnectionLike;

pub(super) const SCRIPT: &str = include_str!("claim.lua");

impl<C: ConnectionLike + Clone + Send + Sync> ReplayStore for RedisStore<C> {
    fn claim(&self, key: ReplayKey, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            let owner: [u8; 16] = random_bytes()
                .map_err(|error| StoreError::new(StoreErrorKind::Unavailable, error))?;
            let expires_at = key.expires_at;
            let (key, owner) = (self.key("replay", &key.key), Hex(&owner).to_string());
            let (mut connection, keys) = (self.connection.clone(), [key.as_str()]);
            let asked = self.scripts.claim.run(&mut connection, &keys, |command| {
                command
                    .arg(now.unix_millis())
                    .arg(expires_at.unix_millis())
                    .arg(&owner)
                    .arg(kept_for(now, expires_at));
            });
            self.within(asked).await
        })
    }
}
