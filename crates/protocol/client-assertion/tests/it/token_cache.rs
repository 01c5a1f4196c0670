//! Runs the suite of token caches on a simple cache and on broken ones, and tests what `Debug`
//! shows.

use bankrail_client_assertion::testing::token_cache_suite;
use bankrail_client_assertion::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_values::{EXPIRY_GRACE, StoreErrorKind, StoreFuture, Timestamp};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::future::ready;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A cache that never drops a token, which no rule forbids.
#[derive(Debug, Default)]
struct Simplest(Mutex<HashMap<TokenCacheKey, CachedToken>>);

impl TokenCache for Simplest {
    fn get<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<CachedToken>> {
        Box::pin(ready(Ok(self
            .0
            .lock()
            .unwrap()
            .get(key)
            .filter(|token| token.is_valid_at(now))
            .cloned())))
    }

    fn put<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        token: &'a CachedToken,
        _: Timestamp,
    ) -> StoreFuture<'a, ()> {
        self.0.lock().unwrap().insert(*key, token.clone());
        Box::pin(ready(Ok(())))
    }

    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()> {
        let mut tokens = self.0.lock().unwrap();
        if tokens
            .get(key)
            .is_some_and(|own| own.sealed == token.sealed)
        {
            tokens.remove(key);
        }
        Box::pin(ready(Ok(())))
    }
}

/// A rule that a cache breaks.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// No fault: a token is dropped when it has been expired for longer than the grace period.
    None,
    /// A token is found after it expired.
    Expired,
    /// A token expires a millisecond too early.
    ExpiresEarly,
    /// The first token under a key is never replaced.
    FirstCounts,
    /// Of two tokens under a key, the one with the later expiry stays.
    LaterExpiryCounts,
    /// All keys are treated as one.
    OneKey,
    /// Any token under the key is removed.
    RemovesAny,
    /// A token is removed only with its expiry.
    ComparesExpiry,
    /// Nothing is removed.
    RemovesNothing,
    /// A token that was removed once cannot be put again.
    NeverAgain,
    /// A token that is removed under one key is removed under all.
    RemovesByBytes,
    /// A token is not found at a time before it was put.
    OnlyLater,
    /// A percent sign in the bytes is doubled.
    Escapes,
    /// Bytes that are not UTF-8 are replaced.
    Text,
    /// The last byte of a token of the maximum length is lost.
    Shorter,
    /// An expired token is dropped at once.
    NoGrace,
    /// An expired token is dropped a second before the grace period is over.
    ShortGrace,
    /// Tokens that are put expired are refused.
    RefusesExpired,
    /// A token that expires at the latest timestamp is refused.
    RefusesEndless,
    /// Removing an absent token is an error.
    RefusesRemoval,
}

const FAULTS: [Fault; 19] = [
    Fault::RemovesByBytes,
    Fault::OnlyLater,
    Fault::Escapes,
    Fault::Expired,
    Fault::ExpiresEarly,
    Fault::FirstCounts,
    Fault::LaterExpiryCounts,
    Fault::OneKey,
    Fault::RemovesAny,
    Fault::ComparesExpiry,
    Fault::RemovesNothing,
    Fault::NeverAgain,
    Fault::Text,
    Fault::Shorter,
    Fault::NoGrace,
    Fault::ShortGrace,
    Fault::RefusesExpired,
    Fault::RefusesEndless,
    Fault::RefusesRemoval,
];

#[derive(Debug)]
struct Faulty {
    fault: Fault,
    tokens: Mutex<HashMap<TokenCacheKey, CachedToken>>,
    put_at: Mutex<HashMap<TokenCacheKey, Timestamp>>,
    removed: Mutex<Vec<CachedToken>>,
}

fn refused<T: Send + 'static>() -> StoreFuture<'static, T> {
    Box::pin(ready(Err(StoreErrorKind::Timeout.into())))
}

impl Faulty {
    fn key(&self, key: &TokenCacheKey) -> TokenCacheKey {
        if let Fault::OneKey = self.fault {
            TokenCacheKey::from([0; 32])
        } else {
            *key
        }
    }
}

impl TokenCache for Faulty {
    fn get<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<CachedToken>> {
        let earlier = self
            .put_at
            .lock()
            .unwrap()
            .get(key)
            .is_some_and(|put_at| now < *put_at);
        if matches!(self.fault, Fault::OnlyLater) && earlier {
            return Box::pin(ready(Ok(None)));
        }
        let now = match self.fault {
            Fault::Expired => Timestamp::UNIX_EPOCH,
            Fault::ExpiresEarly => now.saturating_add(Duration::from_millis(1)),
            _ => now,
        };
        let found = self
            .tokens
            .lock()
            .unwrap()
            .get(&self.key(key))
            .filter(|token| token.is_valid_at(now))
            .cloned();
        Box::pin(ready(Ok(found)))
    }

    fn put<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        token: &'a CachedToken,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        let (mut tokens, mut kept) = (self.tokens.lock().unwrap(), token.clone());
        let earlier = tokens.get(&self.key(key));
        match self.fault {
            Fault::FirstCounts if earlier.is_some() => return Box::pin(ready(Ok(()))),
            Fault::NeverAgain if self.removed.lock().unwrap().contains(token) => {
                return Box::pin(ready(Ok(())));
            }
            Fault::LaterExpiryCounts => {
                kept.expires_at = earlier.map_or(kept.expires_at, |token| {
                    token.expires_at.max(kept.expires_at)
                });
            }
            Fault::Escapes => {
                kept.sealed = kept
                    .sealed
                    .split(|byte| *byte == b'%')
                    .collect::<Vec<_>>()
                    .join(&b"%%"[..]);
            }
            Fault::Text => {
                kept.sealed = String::from_utf8_lossy(&kept.sealed)
                    .into_owned()
                    .into_bytes()
            }
            Fault::Shorter => kept.sealed.truncate(CachedToken::MAX_SEALED_BYTES - 1),
            Fault::RefusesExpired if !token.is_valid_at(now) => return refused(),
            Fault::RefusesEndless if token.expires_at == Timestamp::MAX => return refused(),
            _ => {}
        }
        let grace = match self.fault {
            Fault::NoGrace => Duration::ZERO,
            Fault::ShortGrace => EXPIRY_GRACE - Duration::from_secs(1),
            _ => EXPIRY_GRACE,
        };
        tokens.retain(|_, token| now <= token.expires_at.saturating_add(grace));
        tokens.insert(self.key(key), kept);
        self.put_at.lock().unwrap().insert(*key, now);
        Box::pin(ready(Ok(())))
    }

    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()> {
        let (mut tokens, key) = (self.tokens.lock().unwrap(), self.key(key));
        if let Fault::RemovesByBytes = self.fault {
            tokens.retain(|_, own| own.sealed != token.sealed);
            return Box::pin(ready(Ok(())));
        }
        let Some(own) = tokens.get(&key) else {
            return if let Fault::RefusesRemoval = self.fault {
                refused()
            } else {
                Box::pin(ready(Ok(())))
            };
        };
        let same = match self.fault {
            Fault::RemovesAny => true,
            Fault::ComparesExpiry => own == token,
            Fault::RemovesNothing => false,
            _ => own.sealed == token.sealed,
        };
        if same {
            self.removed.lock().unwrap().extend(tokens.remove(&key));
        }
        Box::pin(ready(Ok(())))
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = Box::pin(future);
    let Poll::Ready(value) = future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    else {
        panic!("it never waits")
    };
    value
}

#[test]
fn the_simplest_cache_passes_the_suite() {
    run(token_cache_suite(async || Simplest::default()));
}

#[test]
fn a_cache_that_breaks_a_rule_does_not_pass_the_suite() {
    let passes = |fault| {
        let make = async || Faulty {
            fault,
            tokens: Mutex::default(),
            put_at: Mutex::default(),
            removed: Mutex::default(),
        };
        std::panic::catch_unwind(|| run(token_cache_suite(make))).is_ok()
    };
    assert!(passes(Fault::None));
    for fault in FAULTS {
        assert!(!passes(fault), "{fault:?}");
    }
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
    // Caches keep the keys while this crate is updated, so the keys must not change.
    let text = b"bankrail token cache 1\0https://a.example.com/auth\0C\0A B\0";
    assert_eq!(*one.as_bytes(), <[u8; 32]>::from(Sha256::digest(text)));
}

#[test]
fn a_sealed_token_has_at_most_4_kib() {
    assert_eq!(CachedToken::MAX_SEALED_BYTES, 4096);
}

#[test]
fn printing_shows_no_byte_of_a_sealed_token() {
    let token = CachedToken::new(vec![0x41; 99], Timestamp::UNIX_EPOCH);
    let expected = format!(
        "CachedToken {{ sealed: 99 bytes, expires_at: {:?} }}",
        token.expires_at
    );
    assert_eq!(format!("{token:?}"), expected);
}
