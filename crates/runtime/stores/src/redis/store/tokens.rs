//! Used assertions and access tokens, both hashed.
//!
//! A claim is one script call, and each operation on tokens one command. Repeating a command has no
//! further effect.

use super::RedisStore;
use super::expiring::{Hex, kept_for};
use bankrail_client_assertion::token::{ScopeSet, TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{CustomerCode, ReplayKey, ReplayStore};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp, random_bytes};
use redis::Cmd;
use redis::aio::ConnectionLike;

/// The script that claims an assertion.
pub(super) const SCRIPT: &str = include_str!("claim.lua");

/// The version of a grant's layout, its first word. Issue time, expiry, customer and scopes follow.
const LAYOUT: &str = "1";

impl<C: ConnectionLike + Clone + Send + Sync> ReplayStore for RedisStore<C> {
    fn claim(&self, key: ReplayKey, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            let owner: [u8; 16] = random_bytes()
                .map_err(|error| StoreError::new(StoreErrorKind::Unavailable, error))?;
            let expires_at = key.expires_at;
            let key = self.key("replay", &key.key);
            let owner = Hex(&owner).to_string();
            let arguments = |command: &mut Cmd| {
                command
                    .arg(now.unix_millis())
                    .arg(expires_at.unix_millis())
                    .arg(&owner)
                    .arg(kept_for(now, expires_at));
            };
            self.server
                .run(&self.scripts.claim, &[&key], arguments)
                .await
        })
    }
}

impl<C: ConnectionLike + Clone + Send + Sync> TokenStore for RedisStore<C> {
    /// Claims the assertion and stores the grant, in two steps, because their keys are in two slots
    /// of a cluster.
    fn grant_once(
        &self,
        claim: Option<ReplayKey>,
        hash: TokenHash,
        grant: TokenGrant,
    ) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            if let Some(key) = claim
                && !self.claim(key, grant.issued_at).await?
            {
                return Ok(false);
            }
            let key = self.key("token", hash.as_bytes());
            let kept_for = kept_for(grant.issued_at, grant.expires_at);
            let put = Cmd::pset_ex(key, write(&grant), kept_for);
            self.server.ask(&put).await.map(|()| true)
        })
    }

    fn find(&self, hash: TokenHash, now: Timestamp) -> StoreFuture<'_, Option<TokenGrant>> {
        Box::pin(async move {
            let get = Cmd::get(self.key("token", hash.as_bytes()));
            let found: Option<String> = self.server.ask(&get).await?;
            let Some(stored) = found else { return Ok(None) };
            let grant = read(&stored).ok_or(StoreErrorKind::Corrupt)?;
            Ok(Some(grant).filter(|grant| grant.is_valid_at(now)))
        })
    }

    fn revoke(&self, hash: TokenHash) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            let revoke = Cmd::del(self.key("token", hash.as_bytes()));
            self.server.ask(&revoke).await
        })
    }
}

fn write(grant: &TokenGrant) -> String {
    let issued = grant.issued_at.unix_millis();
    let expires = grant.expires_at.unix_millis();
    // Neither a customer code nor a scope contains a space.
    format!(
        "{LAYOUT} {issued} {expires} {} {}",
        grant.customer, grant.scopes
    )
}

/// Reads a grant. Returns `None` if the text is not in this layout.
fn read(stored: &str) -> Option<TokenGrant> {
    let mut words = stored.splitn(5, ' ');
    let mut word = || words.next();
    (word()? == LAYOUT).then_some(())?;
    let issued = instant(word()?)?;
    let expires = instant(word()?)?;
    let customer = CustomerCode::parse(word()?).ok()?;
    Some(TokenGrant::new(
        customer,
        ScopeSet::parse(word()?).ok()?,
        issued,
        expires,
    ))
}

fn instant(text: &str) -> Option<Timestamp> {
    Timestamp::from_unix_millis(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_read_as_it_was_written_and_nothing_else_is_believed() {
        let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
        for scopes in ["READ", "WRITE READ"] {
            let grant = TokenGrant::new(
                "A/7".parse().unwrap(),
                scopes.parse().unwrap(),
                at(-1),
                at(3_600_000),
            );
            assert_eq!(read(&write(&grant)), Some(grant));
        }
        for bad in [
            "",
            "1",
            "1 0 5 A",
            "2 0 5 A READ",
            "1 0 x A READ",
            "1 0 5 a READ",
            "1 0 5 A  READ",
            "1  0 5 A READ",
        ] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
    }
}
