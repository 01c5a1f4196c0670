use crate::engines::{at, suite};
use bankrail_client_assertion::token::{AccessToken, TokenGrant, TokenHash, TokenStore};
use bankrail_values::EXPIRY_GRACE;

suite!(
    found_until_it_expires,
    a_clock_that_lags_finds_them,
    replaced_by_a_later_grant,
    revoked_at_once,
    expired_ones_go_in_passing,
    one_of_a_clock_that_was_ahead_is_not_found,
);

fn grant(customer: &str, from: i64, until: i64) -> TokenGrant {
    TokenGrant::new(
        customer.parse().unwrap(),
        "WRITE READ".parse().unwrap(),
        at(from),
        at(until),
    )
}

pub(crate) async fn found_until_it_expires<S: TokenStore>(store: S) {
    let hash = AccessToken::generate().unwrap().hash();
    let given = grant("CUSTOMER-7", 0, 3_600_000);
    store.insert(hash, given.clone()).await.unwrap();
    assert_eq!(store.find(hash, at(0)).await.unwrap(), Some(given.clone()));
    assert_eq!(store.find(hash, at(3_599_999)).await.unwrap(), Some(given));
    assert_eq!(store.find(hash, at(3_600_000)).await.unwrap(), None);
    assert_eq!(
        store.find(TokenHash::from([0; 32]), at(0)).await.unwrap(),
        None
    );
}

/// Grants of a caller whose clock is ahead drop expired tokens, but only after the grace period.
pub(crate) async fn a_clock_that_lags_finds_them<S: TokenStore>(store: S) {
    let grace = i64::try_from(EXPIRY_GRACE.as_millis()).unwrap();
    store
        .insert(TokenHash::from([1; 32]), grant("A", 0, 100))
        .await
        .unwrap();
    for (key, now) in [(2, 100), (3, 5000), (4, 100 + grace)] {
        store
            .insert(TokenHash::from([key; 32]), grant("B", now, now + 100))
            .await
            .unwrap();
        assert_eq!(
            store.find(TokenHash::from([1; 32]), at(99)).await.unwrap(),
            Some(grant("A", 0, 100)),
            "at {now}"
        );
        assert_eq!(
            store.find(TokenHash::from([1; 32]), at(100)).await.unwrap(),
            None,
            "at {now}"
        );
    }
}

pub(crate) async fn replaced_by_a_later_grant<S: TokenStore>(store: S) {
    let hash = TokenHash::from([1; 32]);
    store.insert(hash, grant("A", 0, 100)).await.unwrap();
    store.insert(hash, grant("B", 50, 60)).await.unwrap();
    assert_eq!(
        store.find(hash, at(55)).await.unwrap(),
        Some(grant("B", 50, 60))
    );
    assert_eq!(
        store.find(hash, at(60)).await.unwrap(),
        None,
        "the first one's instant is forgotten"
    );
}

pub(crate) async fn revoked_at_once<S: TokenStore>(store: S) {
    let hash = TokenHash::from([2; 32]);
    assert!(!store.revoke(hash).await.unwrap());
    store.insert(hash, grant("A", 0, 100)).await.unwrap();
    assert!(store.revoke(hash).await.unwrap());
    assert_eq!(store.find(hash, at(1)).await.unwrap(), None);
    assert!(!store.revoke(hash).await.unwrap());
}

/// A token from a clock that was more than five minutes ahead is not found, because it would live
/// too long.
pub(crate) async fn one_of_a_clock_that_was_ahead_is_not_found<S: TokenStore>(store: S) {
    let hash = AccessToken::generate().unwrap().hash();
    for ahead in [300_000, 300_001, 3_600_000, 86_400_000, 365 * 86_400_000] {
        let given = grant("A", ahead, ahead + 3_600_000);
        store.insert(hash, given.clone()).await.unwrap();
        let found = store.find(hash, at(0)).await.unwrap();
        assert_eq!(found, (ahead == 300_000).then_some(given), "{ahead}");
    }
    // And one that was granted before the clock was set back.
    store.insert(hash, grant("A", 0, 3_600_000)).await.unwrap();
    for back in [3_600_000, 86_400_000, 365 * 86_400_000] {
        assert_eq!(store.find(hash, at(-back)).await.unwrap(), None, "{back}");
        assert!(store.find(hash, at(1)).await.unwrap().is_some(), "{back}");
    }
}

pub(crate) async fn expired_ones_go_in_passing<S: TokenStore>(store: S) {
    for n in 0..20 {
        store
            .insert(TokenHash::from([n; 32]), grant("A", 0, 100))
            .await
            .unwrap();
    }
    // The interface does not fix the number per write, but all twenty are gone after twenty writes.
    let later = 101 + i64::try_from(EXPIRY_GRACE.as_millis()).unwrap();
    for n in 100..120 {
        store
            .insert(TokenHash::from([n; 32]), grant("A", later, later + 100))
            .await
            .unwrap();
    }
    for n in 0..20 {
        assert!(
            !store.revoke(TokenHash::from([n; 32])).await.unwrap(),
            "{n} is gone"
        );
    }
    for n in 100..120 {
        assert!(
            store.revoke(TokenHash::from([n; 32])).await.unwrap(),
            "{n} is there"
        );
    }
}
