//! Tokens and counters that outlive a client.

use crate::log::Log;
use crate::provider::{KEY, Provider, Reply, request, start, token_text};
use crate::tokens::until;
use bankrail_client::{CallError, CallErrorKind, Client, Pacing, SealingSecret};
use bankrail_client_assertion::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_rate_limit::MemoryCounters;
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::{ManualClock, StoreError, StoreErrorKind, StoreFuture, Timestamp};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A cache that a test can look into, change and break.
#[derive(Debug, Default)]
struct Cache {
    tokens: Mutex<HashMap<TokenCacheKey, CachedToken>>,
    fails: AtomicBool,
}

impl Cache {
    fn only(&self) -> CachedToken {
        let tokens = self.tokens.lock().unwrap();
        assert_eq!(tokens.len(), 1);
        tokens.values().next().unwrap().clone()
    }

    fn check(&self) -> Result<(), StoreError> {
        match self.fails.load(Ordering::SeqCst) {
            true => Err(StoreError::new(StoreErrorKind::Unavailable, "row MARK4711")),
            false => Ok(()),
        }
    }
}

impl TokenCache for Cache {
    fn get<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<CachedToken>> {
        Box::pin(async move {
            self.check()?;
            Ok(self
                .tokens
                .lock()
                .unwrap()
                .get(key)
                .filter(|token| token.is_valid_at(now))
                .cloned())
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        token: &'a CachedToken,
        _: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.check()?;
            self.tokens.lock().unwrap().insert(*key, token.clone());
            Ok(())
        })
    }

    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.check()?;
            let mut tokens = self.tokens.lock().unwrap();
            if tokens
                .get(key)
                .is_some_and(|own| own.sealed == token.sealed)
            {
                tokens.remove(key);
            }
            Ok(())
        })
    }
}

fn secret(number: u8) -> SealingSecret {
    SealingSecret::from_bytes([number; 32])
}

async fn world(tokens: u32) -> (Provider, Arc<ManualClock>, Arc<Cache>) {
    let (provider, _, clock) = Provider::client().await;
    provider.tokens((1..=tokens).map(|number| Reply::token(number, 3600)));
    (provider, clock, Arc::default())
}

/// Makes a new client over the same cache, as after a restart.
fn restarted(provider: &Provider, clock: &Arc<ManualClock>, cache: &Arc<Cache>) -> Client {
    provider.client_with(
        provider
            .options(clock)
            .token_cache((cache.clone(), secret(1))),
    )
}

async fn text(client: &Client) -> String {
    client
        .tokens()
        .token()
        .await
        .unwrap()
        .access_token
        .expose_secret()
        .to_owned()
}

#[tokio::test]
async fn ten_restarts_cost_one_token() {
    let (provider, clock, cache) = world(2).await;
    for restart in 0..10 {
        let client = restarted(&provider, &clock, &cache);
        let token = client.tokens().token().await.unwrap();
        assert_eq!(
            token.access_token.expose_secret(),
            token_text(1),
            "restart {restart}"
        );
        assert_eq!(token.asked_at, start());
        assert_eq!(token.expires_at, start().saturating_add(seconds(3600)));
        assert_eq!(token.request_key, Some(crate::provider::request_key()));
        assert_eq!(
            token.scopes.to_string(),
            "GBL.INSTO.ACCOUNTS.STATEMENT.READ"
        );
        clock.advance(seconds(300));
    }
    assert_eq!(provider.calls().len(), 1);
    // Expired, and so neither used nor found.
    clock.advance(seconds(600));
    assert_eq!(
        text(&restarted(&provider, &clock, &cache)).await,
        token_text(2)
    );
    assert_eq!(provider.calls().len(), 2);
}

#[tokio::test]
async fn scopes_that_were_not_requested_are_kept_too() {
    let (provider, clock, cache) = world(0).await;
    let body = r#"{"access_token":"00000000-0000-4000-8000-000000000001","token_type":"Bearer","expires_in":60,"scope":"A B"}"#;
    provider.tokens([Reply::new(200, body)]);
    for _ in 0..2 {
        let token = restarted(&provider, &clock, &cache)
            .tokens()
            .token()
            .await
            .unwrap();
        assert_eq!(token.scopes.to_string(), "A B");
    }
    assert_eq!(provider.calls().len(), 1);
}

#[tokio::test]
async fn a_token_is_found_under_the_same_endpoint_customer_scopes_and_secret_only() {
    let (provider, clock, cache) = world(5).await;
    let options = |number| {
        provider
            .options(&clock)
            .token_cache((cache.clone(), secret(number)))
    };
    text(&provider.client_with(options(1))).await;
    let elsewhere = format!("{}/elsewhere/auth", provider.url());
    let other = bankrail_client::Credentials::new("OTHER".parse().unwrap(), KEY.clone(), "k");
    for (name, client) in [
        (
            "endpoint",
            provider.client_with(options(1).auth_url(&elsewhere)),
        ),
        (
            "scopes",
            provider.client_with(options(1).scopes("A".parse().unwrap())),
        ),
        (
            "customer",
            Client::new(other, provider.url(), options(1)).unwrap(),
        ),
        ("secret", provider.client_with(options(2))),
    ] {
        assert_ne!(text(&client).await, token_text(1), "{name}");
    }
    assert_eq!(provider.calls().len(), 5);
}

#[tokio::test]
async fn what_cannot_be_opened_is_told_and_replaced() {
    let log = Log::start();
    let (provider, clock, cache) = world(4).await;
    text(&restarted(&provider, &clock, &cache)).await;
    // Changed, of another version, and what some other program put there.
    let changes: [fn(&mut Vec<u8>); 3] = [
        |sealed| sealed[20] ^= 1,
        |sealed| sealed[0] = 2,
        |sealed| sealed.clear(),
    ];
    for (number, change) in (2..).zip(changes) {
        change(
            &mut cache
                .tokens
                .lock()
                .unwrap()
                .values_mut()
                .next()
                .unwrap()
                .sealed,
        );
        assert_eq!(
            text(&restarted(&provider, &clock, &cache)).await,
            token_text(number)
        );
        assert_eq!(
            text(&restarted(&provider, &clock, &cache)).await,
            token_text(number),
            "the new one is found"
        );
        clock.advance(seconds(2));
    }
    assert_eq!(provider.calls().len(), 4);
    assert_eq!(log.text().matches("could not be opened").count(), 3);
}

#[tokio::test]
async fn a_refused_token_leaves_the_cache_and_its_successor_stays() {
    let (provider, clock, cache) = world(2).await;
    let (one, other) = (
        restarted(&provider, &clock, &cache),
        restarted(&provider, &clock, &cache),
    );
    let first = other.tokens().token().await.unwrap();
    // The first client learns that the token was revoked.
    provider.statements([Reply::new(401, ""), Reply::page(0, None)]);
    one.statements().page(&request()).await.unwrap();
    let bearers: Vec<_> = provider
        .statement_calls()
        .iter()
        .map(|call| call.bearer().to_owned())
        .collect();
    assert_eq!(bearers, [token_text(1), token_text(2)]);
    // The other still has it, learns the same, and removes nothing.
    let kept = cache.only();
    other.tokens().refused(&first).await;
    assert_eq!(cache.only(), kept);
    assert_eq!(text(&other).await, token_text(2));
    assert_eq!(provider.token_calls().len(), 2);
    other
        .tokens()
        .refused(&other.tokens().token().await.unwrap())
        .await;
    assert!(cache.tokens.lock().unwrap().is_empty());
}

/// A refused token is not used again, even if the cache does not remove it.
#[tokio::test]
async fn a_refused_token_is_not_taken_from_the_cache_again() {
    let (provider, clock, cache) = world(2).await;
    let client = restarted(&provider, &clock, &cache);
    let first = client.tokens().token().await.unwrap();
    cache.fails.store(true, Ordering::SeqCst);
    client.tokens().refused(&first).await;
    cache.fails.store(false, Ordering::SeqCst);
    assert_eq!(text(&client).await, token_text(2));
    assert_eq!(
        text(&restarted(&provider, &clock, &cache)).await,
        token_text(2)
    );
}

#[tokio::test]
async fn one_client_renews_the_token_for_all() {
    let (provider, clock, cache) = world(2).await;
    let (one, other) = (
        restarted(&provider, &clock, &cache),
        restarted(&provider, &clock, &cache),
    );
    assert_eq!(
        (text(&one).await, text(&other).await),
        (token_text(1), token_text(1))
    );
    clock.advance(seconds(3540));
    until(|| async { text(&one).await == token_text(2) }).await;
    until(|| async { text(&other).await == token_text(2) }).await;
    assert_eq!(provider.calls().len(), 2);
}

/// A token of a clock that was ahead is neither used nor found, by the same client and after a
/// restart.
#[tokio::test]
async fn a_token_of_a_clock_that_was_ahead_is_replaced() {
    for ahead in [seconds(3600), seconds(86_400), seconds(365 * 86_400)] {
        let (provider, clock, cache) = world(3).await;
        clock.advance(ahead);
        let client = restarted(&provider, &clock, &cache);
        assert_eq!(text(&client).await, token_text(1));
        clock.set(start());
        assert_eq!(text(&client).await, token_text(2));
        clock.advance(ahead);
        assert_eq!(text(&client).await, token_text(3));
        clock.set(start());
        assert_eq!(provider.calls().len(), 3);
    }
    let (provider, clock, cache) = world(2).await;
    clock.advance(seconds(86_400));
    assert_eq!(
        text(&restarted(&provider, &clock, &cache)).await,
        token_text(1)
    );
    clock.set(start());
    for _ in 0..2 {
        assert_eq!(
            text(&restarted(&provider, &clock, &cache)).await,
            token_text(2)
        );
    }
    assert_eq!(provider.calls().len(), 2);
}

#[tokio::test]
async fn a_cache_that_fails_costs_nothing_but_its_use() {
    let log = Log::start();
    let (provider, clock, cache) = world(2).await;
    cache.fails.store(true, Ordering::SeqCst);
    let client = restarted(&provider, &clock, &cache);
    assert_eq!(
        (text(&client).await, text(&client).await),
        (token_text(1), token_text(1))
    );
    client
        .tokens()
        .refused(&client.tokens().token().await.unwrap())
        .await;
    assert_eq!(text(&client).await, token_text(2));
    let logged = log.text();
    assert!(
        logged.contains("WARN") && logged.contains("the token cache failed"),
        "{logged}"
    );
    for hidden in ["MARK4711", &token_text(1), &token_text(2)] {
        assert!(!logged.contains(hidden), "{hidden} in {logged}");
    }
}

#[tokio::test]
async fn no_token_is_seen_in_the_cache_in_the_log_or_in_print() {
    let log = Log::start();
    let (provider, clock, cache) = world(1).await;
    let options = || {
        provider
            .options(&clock)
            .token_cache((cache.clone(), secret(b'S')))
    };
    let clients = [
        provider.client_with(options()),
        provider.client_with(options()),
    ];
    for client in &clients {
        text(client).await;
    }
    let token = clients[1].tokens().token().await.unwrap();
    let sealed = String::from_utf8_lossy(&cache.only().sealed).into_owned();
    let all = format!(
        "{clients:?} {token:?} {:?} {cache:?} {sealed} {}",
        options(),
        log.text()
    );
    assert!(log.text().contains("token found in the cache"), "{all}");
    assert!(
        !all.contains(&token_text(1)) && !all.contains("SSSS") && !all.contains("83, 83"),
        "{all}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_tasks_make_one_token_request() {
    let (provider, clock, cache) = world(2).await;
    let client = restarted(&provider, &clock, &cache);
    provider.hold().await;
    let tasks: Vec<_> = (0..1000)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { text(&client).await })
        })
        .collect();
    provider.until_calls(1).await;
    provider.release();
    for task in tasks {
        assert_eq!(task.await.unwrap(), token_text(1));
    }
    assert_eq!(provider.calls().len(), 1);
}

/// Clients without a lock may make as many calls at once as the limits allow: here two.
#[tokio::test]
async fn clients_that_start_at_once_make_a_call_each_within_the_limits() {
    let (provider, clock, cache) = world(3).await;
    let counters = Arc::new(MemoryCounters::default());
    clock.advance(Duration::from_millis(200)); // not near the boundary of a window
    let options = || {
        let options = provider
            .options(&clock)
            .token_cache((cache.clone(), secret(1)));
        options.counters(counters.clone()).pacing(Pacing::default())
    };
    let clients = [0; 3].map(|_| provider.client_with(options()));
    provider.hold().await;
    let tasks: Vec<_> = (0..1000)
        .map(|number| {
            let client = clients[number % 3].clone();
            tokio::spawn(async move { text(&client).await })
        })
        .collect();
    provider.until_calls(2).await;
    provider.release();
    until(|| async { cache.tokens.lock().unwrap().len() == 1 }).await;
    // The third waits for the next second, and finds a token there.
    let mut left = tasks.into_iter();
    for task in left.by_ref().take(2) {
        task.await.unwrap();
    }
    clock.advance(seconds(3));
    tokio::time::pause();
    tokio::time::advance(seconds(11)).await;
    tokio::time::resume();
    for task in left {
        assert!([token_text(1), token_text(2)].contains(&task.await.unwrap()));
    }
    assert_eq!(provider.calls().len(), 2);
}

/// Opens the store like a new process.
fn opened(folder: &tempfile::TempDir) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(folder.path().join("client.db"), Default::default()).unwrap())
}

#[tokio::test]
async fn a_crash_loop_overruns_no_limit() {
    let (provider, clock, _) = world(40).await;
    let folder = tempfile::tempdir().unwrap();
    let mut until = None;
    for start in 0..30 {
        // Every start forgets its token, opens the file again, and wants a token and a statement.
        let client = provider.client_with(provider.options(&clock).counters(opened(&folder)));
        match client.tokens().token().await {
            Ok(_) => assert!(start < 10, "start {start}"),
            Err(CallError {
                reason: CallErrorKind::HeldBack,
                retry_at: Some(retry_at),
                ..
            }) => {
                assert!(start >= 10, "start {start}");
                assert_eq!(*until.get_or_insert(retry_at), retry_at);
            }
            Err(error) => panic!("{error:?}"),
        }
        clock.advance(seconds(30));
    }
    assert_eq!(provider.calls().len(), 10, "ten an hour");
    let until = until.unwrap();
    clock.set(until.saturating_sub(Duration::from_millis(1)));
    let client = || provider.client_with(provider.options(&clock).counters(opened(&folder)));
    let error = client().tokens().token().await.unwrap_err();
    assert!(matches!(error.reason, CallErrorKind::HeldBack), "{error:?}");
    clock.set(until);
    client().tokens().token().await.unwrap();
}

#[tokio::test]
async fn with_a_cache_in_the_same_file_a_crash_loop_costs_a_token_for_each_lifetime() {
    let (provider, clock, _) = world(10).await;
    let folder = tempfile::tempdir().unwrap();
    provider.statements((0..25).map(|_| Reply::page(0, None)));
    for start in 0..100 {
        let store = opened(&folder);
        let options = provider
            .options(&clock)
            .counters(store.clone())
            .token_cache((store, secret(1)));
        let client = provider.client_with(options);
        assert_eq!(
            client.statements().page(&request()).await.is_ok(),
            start < 25,
            "start {start}"
        );
        clock.advance(seconds(30));
    }
    assert_eq!(
        (
            provider.token_calls().len(),
            provider.statement_calls().len()
        ),
        (1, 25)
    );
}

#[tokio::test]
async fn ten_restarts_over_one_file_cost_one_token() {
    let (provider, clock, _) = world(2).await;
    let folder = tempfile::tempdir().unwrap();
    let restarted = || {
        let store = opened(&folder);
        provider.client_with(
            provider
                .options(&clock)
                .counters(store.clone())
                .token_cache((store, secret(1))),
        )
    };
    for _ in 0..10 {
        assert_eq!(text(&restarted()).await, token_text(1));
        clock.advance(seconds(300));
    }
    // The file has neither the token nor what would open it.
    let file = std::fs::read(folder.path().join("client.db")).unwrap();
    let wal = std::fs::read(folder.path().join("client.db-wal")).unwrap_or_default();
    let hidden = token_text(1);
    assert!(![file, wal].iter().any(|bytes| {
        bytes
            .windows(hidden.len())
            .any(|part| part == hidden.as_bytes())
    }));
    // What the service refuses leaves the file too.
    let client = restarted();
    client
        .tokens()
        .refused(&client.tokens().token().await.unwrap())
        .await;
    assert_eq!(text(&restarted()).await, token_text(2));
    assert_eq!(provider.calls().len(), 2);
}

#[test]
fn a_secret_is_not_printed() {
    assert_eq!(format!("{:?}", secret(1)), "SealingSecret(…)");
}
