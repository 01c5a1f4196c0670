use super::*;
use bankrail_values::StoreFuture;
use std::future::ready;

/// A cache without a store, because the tests only seal and open.
#[derive(Debug)]
struct Nothing;

impl TokenCache for Nothing {
    fn get<'a>(
        &'a self,
        _: &'a TokenCacheKey,
        _: Timestamp,
    ) -> StoreFuture<'a, Option<CachedToken>> {
        Box::pin(ready(Ok(None)))
    }

    fn put<'a>(
        &'a self,
        _: &'a TokenCacheKey,
        _: &'a CachedToken,
        _: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(ready(Ok(())))
    }

    fn remove<'a>(&'a self, _: &'a TokenCacheKey, _: &'a CachedToken) -> StoreFuture<'a, ()> {
        Box::pin(ready(Ok(())))
    }
}

fn kept(secret: u8, url: &str) -> SealedTokenCache {
    let secret = SealingSecret::from_bytes([secret; 32]);
    SealedTokenCache::new(
        Arc::new(Nothing),
        secret,
        url,
        &"C".parse().unwrap(),
        &"A B".parse().unwrap(),
    )
}

fn token(scopes: &str) -> Token {
    let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
    Token {
        access_token: AccessToken::parse("00000000-0000-4000-8000-000000000001").unwrap(),
        scopes: scopes.parse().unwrap(),
        asked_at: at(1_000),
        expires_at: at(3_601_000),
        request_key: Some("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003".parse().unwrap()),
        sealed: None,
    }
}

#[test]
fn a_sealed_token_comes_back_whole_and_hides_what_it_holds() {
    for (scopes, request_key) in [("A B", true), ("C", true), ("A B", false)] {
        let mut sent = token(scopes);
        sent.request_key = sent.request_key.filter(|_| request_key);
        let kept = kept(1, "https://a.example.com");
        let sealed = kept.seal(&sent).unwrap();
        assert_ne!(
            sealed,
            kept.seal(&sent).unwrap(),
            "each has a nonce of its own"
        );
        let text = String::from_utf8_lossy(&sealed.sealed);
        assert!(!text.contains("4000-8000"), "{text}");
        let got = kept.open(sealed.clone()).unwrap();
        assert_eq!(
            (&got.access_token, &got.scopes),
            (&sent.access_token, &sent.scopes)
        );
        assert_eq!(
            (got.asked_at, got.expires_at),
            (sent.asked_at, sent.expires_at)
        );
        assert_eq!(
            (got.request_key, got.sealed),
            (sent.request_key, Some(sealed))
        );
    }
}

#[test]
fn what_was_sealed_otherwise_or_changed_is_not_opened() {
    let place = kept;
    let kept = place(1, "https://a.example.com");
    let sealed = kept.seal(&token("A")).unwrap();
    assert!(
        place(2, "https://a.example.com")
            .open(sealed.clone())
            .is_none(),
        "another secret"
    );
    assert!(
        place(1, "https://b.example.com")
            .open(sealed.clone())
            .is_none(),
        "another place"
    );
    let later = CachedToken::new(sealed.sealed.clone(), Timestamp::MAX);
    assert!(kept.open(later).is_none(), "another expiry");
    for at in 0..sealed.sealed.len() {
        let mut changed = sealed.clone();
        changed.sealed[at] ^= 1;
        assert!(kept.open(changed).is_none(), "byte {at} is another");
        let cut = CachedToken::new(sealed.sealed[..at].to_vec(), sealed.expires_at);
        assert!(kept.open(cut).is_none(), "cut after {at} bytes");
    }
    let longer = CachedToken::new([&sealed.sealed[..], &[0]].concat(), sealed.expires_at);
    assert!(kept.open(longer).is_none(), "one byte more");
}

#[test]
fn what_is_too_long_for_a_cache_is_not_sealed() {
    let names: Vec<String> = (10..74)
        .map(|number| format!("{number}{}", "x".repeat(100)))
        .collect();
    assert!(
        kept(1, "https://a.example.com")
            .seal(&token(&names.join(" ")))
            .is_none()
    );
}
