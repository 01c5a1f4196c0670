//! The suite that every engine of [`TokenCache`] runs (feature `testing`).
//!
//! The suite panics with the rule that an engine breaks. Await it in a test, on any runtime.

use crate::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_values::{EXPIRY_GRACE, Timestamp};

/// Runs every case on a fresh, empty cache made by `make`.
///
/// # Panics
/// If the engine breaks a rule; the panic's text states the rule.
pub async fn token_cache_suite<C: TokenCache>(mut make: impl AsyncFnMut() -> C) {
    found_until_it_expires(&make().await).await;
    a_later_one_replaces_it(&make().await).await;
    keys_are_apart(&make().await).await;
    removed_only_if_it_is_still_there(&make().await).await;
    bytes_come_back_unchanged(&make().await).await;
    a_clock_that_lags_finds_it(&make().await).await;
}

fn at(millis: i64) -> Timestamp {
    Timestamp::saturating_from_unix_millis(1_800_000_000_000 + millis)
}

fn key(number: u8) -> TokenCacheKey {
    TokenCacheKey::from([number; 32])
}

fn token(text: &str, until: i64) -> CachedToken {
    CachedToken::new(text.as_bytes().to_vec(), at(until))
}

async fn get(cache: &impl TokenCache, number: u8, now: i64) -> Option<CachedToken> {
    cache.get(&key(number), at(now)).await.expect("get")
}

async fn put(cache: &impl TokenCache, number: u8, token: &CachedToken, now: i64) {
    cache.put(&key(number), token, at(now)).await.expect("put");
}

async fn found_until_it_expires(cache: &impl TokenCache) {
    assert_eq!(get(cache, 1, 0).await, None, "an empty cache has no token");
    put(cache, 1, &token("a", 3_600_000), 0).await;
    for now in [-1, 0, 3_599_999] {
        assert_eq!(
            get(cache, 1, now).await,
            Some(token("a", 3_600_000)),
            "a token is there until it expires"
        );
    }
    assert_eq!(
        get(cache, 1, 3_600_000).await,
        None,
        "a token is not valid at the instant at which it expires"
    );
    put(cache, 2, &token("b", 5), 5).await;
    assert_eq!(
        get(cache, 2, 5).await,
        None,
        "a token that has expired may be put, and is not found"
    );
    let endless = CachedToken::new(vec![1], Timestamp::MAX);
    put(cache, 3, &endless, 0).await;
    assert_eq!(
        get(cache, 3, 0).await,
        Some(endless),
        "an expiry may be as late as a timestamp can be"
    );
}

async fn a_later_one_replaces_it(cache: &impl TokenCache) {
    put(cache, 1, &token("a", 100), 0).await;
    put(cache, 1, &token("b", 50), 10).await;
    assert_eq!(
        get(cache, 1, 20).await,
        Some(token("b", 50)),
        "the token that was put last counts"
    );
    assert_eq!(
        get(cache, 1, 50).await,
        None,
        "the expiry of a replaced token does not count"
    );
}

async fn keys_are_apart(cache: &impl TokenCache) {
    put(cache, 1, &token("a", 100), 0).await;
    put(cache, 2, &token("b", 100), 0).await;
    assert_eq!(
        get(cache, 1, 0).await,
        Some(token("a", 100)),
        "each key has its own token"
    );
    assert_eq!(
        get(cache, 2, 0).await,
        Some(token("b", 100)),
        "each key has its own token"
    );
    cache
        .remove(&key(2), &token("a", 100))
        .await
        .expect("remove");
    assert_eq!(
        get(cache, 2, 0).await,
        Some(token("b", 100)),
        "another key's token removes nothing"
    );
    assert_eq!(
        get(cache, 1, 0).await,
        Some(token("a", 100)),
        "a token is removed under its key only"
    );
}

async fn removed_only_if_it_is_still_there(cache: &impl TokenCache) {
    cache
        .remove(&key(1), &token("a", 100))
        .await
        .expect("removing what is not there is no error");
    put(cache, 1, &token("a", 100), 0).await;
    put(cache, 1, &token("b", 100), 0).await;
    for other in ["a", "", "b\0", "B"] {
        cache
            .remove(&key(1), &token(other, 100))
            .await
            .expect("remove");
        assert_eq!(
            get(cache, 1, 0).await,
            Some(token("b", 100)),
            "{other:?} does not remove its successor"
        );
    }
    cache
        .remove(&key(1), &token("b", 99))
        .await
        .expect("remove");
    assert_eq!(
        get(cache, 1, 0).await,
        None,
        "the sealed bytes are compared, and nothing else"
    );
    put(cache, 1, &token("b", 100), 0).await;
    assert_eq!(
        get(cache, 1, 0).await,
        Some(token("b", 100)),
        "what was removed may be put again"
    );
}

async fn bytes_come_back_unchanged(cache: &impl TokenCache) {
    let longest = (0..CachedToken::MAX_SEALED_BYTES)
        .map(|at| u8::try_from(at % 256).unwrap_or(0))
        .collect();
    for sealed in [
        longest,
        vec![0],
        vec![0xff, 0, b'\n', 0xc3, 0x28],
        b"'; --".to_vec(),
    ] {
        let token = CachedToken::new(sealed, at(100));
        put(cache, 1, &token, 0).await;
        assert_eq!(
            get(cache, 1, 0).await,
            Some(token.clone()),
            "every byte is kept"
        );
        cache.remove(&key(1), &token).await.expect("remove");
        assert_eq!(get(cache, 1, 0).await, None, "every byte is compared");
    }
}

/// Storing a token for a caller whose clock is ahead drops expired tokens, but only after the grace
/// period.
async fn a_clock_that_lags_finds_it(cache: &impl TokenCache) {
    let grace = i64::try_from(EXPIRY_GRACE.as_millis()).unwrap_or(i64::MAX);
    put(cache, 1, &token("a", 100), 0).await;
    for (other, now) in [(2, 100), (3, 5000), (4, 100 + grace)] {
        put(
            cache,
            other,
            &CachedToken::new(vec![1], Timestamp::MAX),
            now,
        )
        .await;
        assert_eq!(
            get(cache, 1, 99).await,
            Some(token("a", 100)),
            "kept during the grace period, at {now}"
        );
        assert_eq!(
            get(cache, 1, 100).await,
            None,
            "and not found by a clock that is right, at {now}"
        );
    }
}
