//! The waits of calls, the reports meanwhile, and the events that end a wait.

use crate::log::Log;
use crate::provider::{ACCOUNT, Provider, Reply, request, start, token_text};
use crate::tokens::until;
use bankrail_client::{Call, CallErrorKind, Pacing};
use bankrail_rate_limit::Policy;
use bankrail_statement::{AccountId, StatementRequest};
use bankrail_values::Timestamp;
use std::time::Duration;

fn after(seconds: u64) -> Timestamp {
    start().saturating_add(Duration::from_secs(seconds))
}

#[tokio::test]
async fn a_retry_after_beyond_a_minute_is_an_error_and_not_an_hour_of_silence() {
    let (provider, _, clock) = Provider::client().await;
    clock.advance(Duration::from_millis(500)); // not near the boundary of a window
    let now = start().saturating_add(Duration::from_millis(500));
    let until = now.saturating_add(Duration::from_secs(3600));
    let client = provider.client_with(provider.options(&clock).pacing(Pacing::default()));
    provider.tokens([
        Reply::new(429, "").header("retry-after", "3600"),
        Reply::token(1, 36_000),
    ]);
    let error = client.tokens().token().await.unwrap_err();
    let text = "the token call failed with status 429: the endpoint answered that there were too many \
                calls; no further call before 2026-11-21T07:00:00.500Z";
    assert_eq!(
        (error.to_string(), error.retry_at),
        (text.to_owned(), Some(until))
    );
    let error = client.tokens().token().await.unwrap_err();
    let text = "the token call failed: held back by the rate limit; no further call before \
                2026-11-21T07:00:00.500Z";
    assert_eq!(
        (error.to_string(), error.retry_at),
        (text.to_owned(), Some(until))
    );
    let error = client.statements().page(&request()).await.unwrap_err();
    assert!(
        matches!(
            (error.call, &error.reason),
            (Call::Token, CallErrorKind::HeldBack)
        ),
        "{error:?}"
    );
    assert_eq!(error.retry_at, Some(until));
    assert_eq!(provider.calls().len(), 1);

    clock.set(until);
    let until = until.saturating_add(Duration::from_secs(61));
    provider.statements([
        Reply::new(429, "").header("retry-after", "61"),
        Reply::page(0, None),
    ]);
    let error = client.statements().page(&request()).await.unwrap_err();
    let text = "the statement call failed with status 429: the endpoint answered that there were too \
                many calls; no further call before 2026-11-21T07:01:01.500Z";
    assert_eq!(
        (error.to_string(), error.retry_at),
        (text.to_owned(), Some(until))
    );
    let error = client.statements().page(&request()).await.unwrap_err();
    let text = "the statement call failed: held back by the rate limit; no further call before \
                2026-11-21T07:01:01.500Z";
    assert_eq!(
        (error.to_string(), error.retry_at),
        (text.to_owned(), Some(until))
    );
    clock.set(until);
    client.statements().page(&request()).await.unwrap();
    assert_eq!(
        (
            provider.token_calls().len(),
            provider.statement_calls().len()
        ),
        (2, 2)
    );
}

/// A 429 without `Retry-After` holds calls back, because a service may count refused calls too, and
/// immediate retries would never succeed.
#[tokio::test]
async fn a_429_that_says_no_time_holds_calls_back_for_as_long_as_the_limit_takes_for_one() {
    for (limited, tokens, statements) in [(true, 360, 144), (false, 60, 60)] {
        let (provider, _, clock) = Provider::client().await;
        let mut options = provider.options(&clock);
        if !limited {
            options = options
                .token_limits(Policy::unlimited())
                .statement_limits(Policy::unlimited());
        }
        let client = provider.client_with(options);
        provider.tokens([Reply::new(429, ""), Reply::token(1, 36_000)]);
        let error = client.tokens().token().await.unwrap_err();
        assert!(
            matches!(error.reason, CallErrorKind::TooManyCalls)
                && error.retry_at == Some(after(tokens)),
            "{error:?}"
        );
        let error = client.tokens().token().await.unwrap_err();
        assert!(
            matches!(error.reason, CallErrorKind::HeldBack)
                && error.retry_at == Some(after(tokens)),
            "{error:?}"
        );
        clock.set(after(tokens));
        provider.statements([
            Reply::new(429, "").header("retry-after", "soon"),
            Reply::page(0, None),
        ]);
        let held = Some(after(tokens + statements));
        let error = client.statements().page(&request()).await.unwrap_err();
        assert!(
            matches!(error.reason, CallErrorKind::TooManyCalls) && error.retry_at == held,
            "{error:?}"
        );
        let error = client.statements().page(&request()).await.unwrap_err();
        assert!(
            matches!(error.reason, CallErrorKind::HeldBack) && error.retry_at == held,
            "{error:?}"
        );
        clock.set(after(tokens + statements));
        client.statements().page(&request()).await.unwrap();
    }
}

#[tokio::test]
async fn closing_ends_a_wait_for_the_rate_limit_and_refuses_what_comes_later() {
    let log = Log::start();
    let (provider, _, clock) = Provider::client().await;
    provider
        .tokens([Reply::token(1, 36_000)])
        .statements((0..30).map(|_| Reply::page(0, None)));
    clock.advance(Duration::from_millis(500));
    let client = provider.client_with(provider.options(&clock).pacing(Pacing::Wait));
    for _ in 0..25 {
        client.statements().page(&request()).await.unwrap();
    }
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.statements().page(&request()).await })
        })
        .collect();
    until(|| async { log.text().matches("held back by the rate limit").count() == 3 }).await;
    let told: Vec<String> = log
        .text()
        .lines()
        .filter(|line| line.contains("held back"))
        .map(str::to_owned)
        .collect();
    for line in &told {
        assert!(
            line.contains("INFO") && line.contains("call_type=statement until=2026-11-21T07:"),
            "{line}"
        );
    }
    let valid = client.tokens().token().await.unwrap();
    client.clone().close();
    for call in waiting {
        let error = call.await.unwrap().unwrap_err();
        assert!(matches!(error.reason, CallErrorKind::Closed), "{error:?}");
    }
    let error = client.statements().page(&request()).await.unwrap_err();
    assert!(
        matches!(error.reason, CallErrorKind::Closed) && !error.is_retryable(),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "the token call failed: the client was closed"
    );
    let error = client.tokens().token().await.unwrap_err();
    assert!(
        matches!(error.reason, CallErrorKind::Closed) && valid.is_valid_at(clock_now(&clock)),
        "{error:?}"
    );
    assert_eq!(provider.statement_calls().len(), 25);
}

fn clock_now(clock: &bankrail_values::ManualClock) -> Timestamp {
    bankrail_values::Clock::now(clock)
}

#[tokio::test]
async fn closing_ends_a_wait_for_a_token_call_and_not_the_call() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    provider.hold().await;
    let [token, statement] = [false, true].map(|statement| {
        let client = client.clone();
        tokio::spawn(async move {
            if statement {
                client
                    .statements()
                    .page(&request())
                    .await
                    .map(|_| ())
                    .unwrap_err()
            } else {
                client.tokens().token().await.map(|_| ()).unwrap_err()
            }
        })
    });
    provider.until_calls(1).await;
    tokio::task::yield_now().await;
    client.close();
    assert!(matches!(token.await.unwrap().reason, CallErrorKind::Closed));
    assert!(matches!(
        statement.await.unwrap().reason,
        CallErrorKind::Closed
    ));
    provider.release();
    // The answer is taken all the same.
    until(|| async { !format!("{:?}", client.tokens()).contains("fetching: true") }).await;
    assert!(
        format!("{:?}", client.tokens()).contains("current: Some"),
        "{:?}",
        client.tokens()
    );
    assert_eq!(provider.calls().len(), 1);
}

#[tokio::test]
async fn a_sent_call_is_answered_after_closing() {
    let (provider, client, _) = Provider::client().await;
    provider
        .tokens([Reply::token(1, 3600)])
        .statements([Reply::page(2, None)]);
    client.tokens().token().await.unwrap();
    provider.hold().await;
    let sent = tokio::spawn({
        let client = client.clone();
        async move { client.statements().page(&request()).await }
    });
    provider.until_calls(2).await;
    client.close();
    provider.release();
    assert_eq!(sent.await.unwrap().unwrap().entries().count(), 2);
    assert_eq!(provider.statement_calls()[0].bearer(), token_text(1));
}

/// A long `Retry-After` for one account does not stop the others, unless the next one gets one too:
/// the answer does not show whether it is meant for one account or for all.
#[tokio::test]
async fn a_long_retry_after_for_one_account_silences_no_other_unless_that_gets_one_too() {
    let of = |account: &str| StatementRequest::new(&AccountId::parse(account).unwrap());
    let (this, other, third) = (of(ACCOUNT), of("012003000000102"), of("012003000000103"));
    for (status, is_for_all) in [(429, false), (503, false), (429, true), (503, true)] {
        let (provider, _, clock) = Provider::client().await;
        let client = provider.client_with(provider.options(&clock).pacing(Pacing::Fail));
        let later = || Reply::new(status, "").header("retry-after", "3000");
        provider
            .tokens([Reply::token(1, 36_000)])
            .statements([later()]);
        let page = async |request: &StatementRequest| client.statements().page(request).await;
        // Of the others' pages the document is that of the first account, and refused as such.
        let is_read = async |request: &StatementRequest| {
            page(request)
                .await
                .err()
                .is_none_or(|error| matches!(error.reason, CallErrorKind::Reply(_)))
        };
        let held = async |request: &StatementRequest, until: u64| {
            let error = page(request).await.unwrap_err();
            assert!(matches!(error.reason, CallErrorKind::HeldBack), "{error:?}");
            assert_eq!(error.retry_at, Some(after(until)), "{status} {is_for_all}");
        };
        assert_eq!(page(&this).await.unwrap_err().retry_at, Some(after(3_000)));
        held(&this, 3_000).await;
        held(&other, 144).await;
        clock.set(after(144));
        if is_for_all {
            provider.statements([later(), Reply::page(0, None), Reply::page(0, None)]);
            assert_eq!(page(&other).await.unwrap_err().retry_at, Some(after(3_144)));
            held(&third, 3_144).await;
            clock.set(after(3_143));
            held(&this, 3_144).await;
            clock.set(after(3_144));
        } else {
            provider.statements((0..3).map(|_| Reply::page(0, None)));
            assert!(is_read(&other).await && is_read(&third).await);
            held(&this, 3_000).await;
            clock.set(after(3_000));
        }
        page(&this).await.unwrap();
        assert!(provider.statement_calls().len() <= 4);
    }
}
