//! A customer's sealed tokens: one command or script call for each operation. Repeating an
//! operation has no further effect.

use super::RedisStore;
use super::expiring::kept_for;
use crate::cached::check_sealed;
use bankrail_client_assertion::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_values::{StoreErrorKind, StoreFuture, Timestamp};
use redis::Cmd;
use redis::aio::ConnectionLike;

/// The script that removes a token.
pub(super) const SCRIPT: &str = include_str!("cached.lua");

const KIND: &str = "cached-token";

impl<C: ConnectionLike + Clone + Send + Sync> TokenCache for RedisStore<C> {
    fn get<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<CachedToken>> {
        Box::pin(async move {
            let get = Cmd::get(self.key(KIND, key.as_bytes()));
            let found: Option<Vec<u8>> = self.server.ask(&get).await?;
            let Some(stored) = found else { return Ok(None) };
            let token = read(&stored).ok_or(StoreErrorKind::Corrupt)?;
            Ok(Some(token).filter(|token| token.is_valid_at(now)))
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        token: &'a CachedToken,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            check_sealed(token)?;
            let key = self.key(KIND, key.as_bytes());
            let put = Cmd::pset_ex(key, write(token), kept_for(now, token.expires_at));
            self.server.ask(&put).await
        })
    }

    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let key = self.key(KIND, key.as_bytes());
            let sealed = |command: &mut Cmd| {
                command.arg(&token.sealed);
            };
            let _removed: bool = self
                .server
                .run(&self.scripts.remove, &[&key], sealed)
                .await?;
            Ok(())
        })
    }
}

fn write(token: &CachedToken) -> Vec<u8> {
    let mut stored = format!("{} ", token.expires_at.unix_millis()).into_bytes();
    stored.extend_from_slice(&token.sealed);
    stored
}

/// Reads a stored token. Returns `None` if this store did not write the text.
fn read(stored: &[u8]) -> Option<CachedToken> {
    let space = stored.iter().position(|byte| *byte == b' ')?;
    let (expires, rest) = stored.split_at_checked(space)?;
    let expires = Timestamp::from_unix_millis(str::from_utf8(expires).ok()?.parse().ok()?)?;
    Some(CachedToken::new(rest.get(1..)?.to_vec(), expires))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_written_and_nothing_else_is_believed() {
        let token = CachedToken::new(
            b" \xff\0 ".to_vec(),
            Timestamp::from_unix_millis(-5).unwrap(),
        );
        assert_eq!(read(&write(&token)), Some(token));
        for bad in [
            &b""[..],
            b"5",
            b" x",
            b"x y",
            b"5x y",
            b"9223372036854775807 y",
        ] {
            assert!(read(bad).is_none(), "{bad:?}");
        }
    }
}
