//! The suite of token caches on the simplest one, and what the parts show.

use bankrail_client_assertion::testing::token_cache_suite;
use bankrail_client_assertion::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_values::{StoreFuture, Timestamp};
use std::collections::HashMap;
use std::future::ready;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

/// It never forgets, which no rule forbids.
#[derive(Debug, Default)]
struct Simplest(Mutex<HashMap<TokenCacheKey, CachedToken>>);

impl TokenCache for Simplest {
    fn get<'a>(&'a self, key: &'a TokenCacheKey, now: Timestamp) -> StoreFuture<'a, Option<CachedToken>> {
        Box::pin(ready(Ok(self.0.lock().unwrap().get(key).filter(|token| token.is_valid_at(now)).cloned())))
    }

    fn put<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken, _: Timestamp) -> StoreFuture<'a, ()> {
        self.0.lock().unwrap().insert(*key, token.clone());
        Box::pin(ready(Ok(())))
    }

    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()> {
        let mut tokens = self.0.lock().unwrap();
        if tokens.get(key).is_some_and(|own| own.sealed == token.sealed) {
            tokens.remove(key);
        }
        Box::pin(ready(Ok(())))
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("it never waits")
    };
    value
}

#[test]
fn the_simplest_cache_passes_the_suite() {
    run(token_cache_suite(async || Simplest::default()));
}

#[test]
fn a_key_tells_endpoint_customer_and_scopes_apart() {
    let key = |url: &str, customer: &str, scopes: &str| {
        TokenCacheKey::of(url, &customer.parse().unwrap(), &scopes.parse().unwrap())
    };
    let one = key("https://a.example.com/auth", "C", "A B");
    assert_eq!(one, key("https://a.example.com/auth", "C", "B A"));
    for other in [
        key("https://b.example.com/auth", "C", "A B"),
        key("https://a.example.com/auth", "D", "A B"),
        key("https://a.example.com/auth", "C", "A"),
        key("https://a.example.com/authC", "C", "A B"),
    ] {
        assert_ne!(one, other);
    }
    assert_eq!(TokenCacheKey::from(*one.as_bytes()), one);
}

#[test]
fn printing_shows_no_byte_of_a_sealed_token() {
    let token = CachedToken::new(vec![0x41; 99], Timestamp::UNIX_EPOCH);
    let text = format!("{token:?}");
    assert!(text.contains("99 bytes") && !text.contains("65") && !text.contains('A'), "{text}");
}
