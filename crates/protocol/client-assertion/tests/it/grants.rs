//! The issuer's record of a token, and two stores as one.

use crate::support::{NOW, Replays, at, block_on, customer};
use bankrail_client_assertion::ReplayKey;
use bankrail_client_assertion::token::{
    AccessToken, SeparateStores, TokenGrant, TokenHash, TokenStore,
};
use bankrail_values::{StoreFuture, Timestamp};
use std::collections::HashMap;
use std::future::ready;
use std::sync::{Arc, Mutex};

fn grant() -> TokenGrant {
    TokenGrant::new(customer(), "A".parse().unwrap(), at(NOW), at(NOW + 60))
}

#[test]
fn a_token_is_valid_before_it_expires() {
    for (millis, valid) in [(-1, true), (0, false), (1, false)] {
        let now = Timestamp::from_unix_millis((NOW + 60) * 1000 + millis).unwrap();
        assert_eq!(grant().is_valid_at(now), valid, "{millis} ms");
    }
}

/// A store of grants that must not be asked to claim.
#[derive(Debug, Default)]
struct Grants(Mutex<HashMap<TokenHash, TokenGrant>>);

impl TokenStore for Grants {
    fn grant_once(
        &self,
        claim: Option<ReplayKey>,
        hash: TokenHash,
        grant: TokenGrant,
    ) -> StoreFuture<'_, bool> {
        assert_eq!(claim, None);
        self.0.lock().unwrap().insert(hash, grant);
        Box::pin(ready(Ok(true)))
    }

    fn find(&self, hash: TokenHash, now: Timestamp) -> StoreFuture<'_, Option<TokenGrant>> {
        let found = self
            .0
            .lock()
            .unwrap()
            .get(&hash)
            .filter(|grant| grant.is_valid_at(now))
            .cloned();
        Box::pin(ready(Ok(found)))
    }

    fn revoke(&self, hash: TokenHash) -> StoreFuture<'_, bool> {
        Box::pin(ready(Ok(self.0.lock().unwrap().remove(&hash).is_some())))
    }
}

#[test]
fn two_stores_are_one() {
    let replays = Arc::new(Replays::default());
    let both = SeparateStores::new(replays.clone(), Arc::new(Grants::default()));
    let hashes = [(); 3].map(|()| AccessToken::generate().unwrap().hash());
    let claim = ReplayKey::new([7; 32], at(NOW + 30));
    let granted = |claim, hash| block_on(both.grant_once(claim, hash, grant())).unwrap();
    let found = |hash| block_on(both.find(hash, at(NOW))).unwrap();
    assert!(granted(Some(claim), hashes[0]), "the first claim");
    assert_eq!(
        replays.claimed.lock().unwrap().get(&[7; 32]),
        Some(&at(NOW + 30))
    );
    assert!(
        !granted(Some(claim), hashes[1]),
        "the assertion was used before"
    );
    assert_eq!(hashes.map(found), [Some(grant()), None, None]);
    // Without a key there is nothing to claim.
    assert!(granted(None, hashes[1]));
    block_on(both.insert(hashes[2], grant())).unwrap();
    assert_eq!(hashes.map(found), [(); 3].map(|()| Some(grant())));
    assert_eq!(
        [(); 2].map(|()| block_on(both.revoke(hashes[1])).unwrap()),
        [true, false]
    );
    assert_eq!(hashes.map(found), [Some(grant()), None, Some(grant())]);
}
