use crate::provider::{
    ACCOUNT, API_KEY, Provider, Reply, document, request, request_key, start, token_text,
};
use crate::tokens::chain;
use bankrail_client::{
    AnswerForm, Call, CallError, CallErrorKind, ExchangeError, Pacing, PageSource,
};
use bankrail_rate_limit::{Algorithm, Counting, MemoryCounters, Policy, Window};
use bankrail_statement::{
    AccountId, ErrorCode, NextPage, ReplyError, ReplyFinding, StatementRequest, StatementResponse,
};
use bankrail_values::{Clock, ManualClock};
use std::sync::Arc;
use std::time::Duration;

const NOT_FOUND: &str = r#"{"requestKey":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003",
    "error":{"statusCode":"EC20001","title":"Account Id: '1' not found"}}"#;

#[tokio::test]
async fn the_request_is_what_the_specification_says() {
    let (provider, client, _) = Provider::client().await;
    provider
        .tokens([Reply::token(1, 3600)])
        .statements([Reply::page(2, None)]);
    let mut request = request();
    request.include_narrative = Some(false);
    let page = client.statements().page(&request).await.unwrap();
    assert_eq!(page.request_key(), request_key());
    assert_eq!(page.entries().count(), 2);
    assert_eq!(page.xml(), document(2));
    let call = &provider.statement_calls()[0];
    assert_eq!(call.path, "/base/accounts/v2.0/statement");
    assert_eq!(call.header("content-type"), "application/json");
    assert_eq!(call.header("apikey"), API_KEY);
    assert_eq!(
        call.header("authorization"),
        format!("Bearer {}", token_text(1))
    );
    assert_eq!(
        call.body,
        format!(r#"{{"accountId":"{ACCOUNT}","includeNarrative":false}}"#)
    );
}

#[tokio::test]
async fn reserved_numbers_are_refused_before_anything_is_sent() {
    let (provider, client, _) = Provider::client().await;
    for digit in 1..=9 {
        let account = AccountId::parse(&format!("012003{}", digit.to_string().repeat(9))).unwrap();
        let error = client.statements().statement(&account).await.unwrap_err();
        assert!(
            matches!(&error.reason, CallErrorKind::ReservedAccount { account: found, .. } if *found == account)
        );
        assert!(!error.is_retryable());
        assert_eq!(
            error.to_string(),
            format!(
                "the statement call failed: account number {account} is reserved for the provider's negative testing and must not be used"
            )
        );
    }
    let odd = StatementRequest::from_json(br#"{"accountId":"012-003 111111111"}"#).unwrap();
    let error = client.statements().page(&odd).await.unwrap_err();
    assert!(
        matches!(error.reason, CallErrorKind::Account(_)),
        "{error:?}"
    );
    assert!(provider.calls().is_empty());
}

#[tokio::test]
async fn fifteen_zeros_are_sent_and_the_error_is_recognised_with_any_status() {
    for status in [200, 404, 400, 500] {
        let (provider, client, _) = Provider::client().await;
        provider
            .tokens([Reply::token(1, 3600)])
            .statements([Reply::new(status, NOT_FOUND)]);
        let zeros = AccountId::parse("000000000000000").unwrap();
        let error = client.statements().statement(&zeros).await.unwrap_err();
        assert!(error.is_account_not_found(), "{error:?}");
        assert_eq!(
            (error.status, error.request_key),
            (Some(status), Some(request_key()))
        );
        assert_eq!(
            error.code.as_deref(),
            Some(ErrorCode::ACCOUNT_NOT_FOUND.as_str())
        );
        let CallErrorKind::Service {
            title: Some(title), ..
        } = error.reason
        else {
            panic!("{error:?}")
        };
        assert_eq!(title, "Account Id: '1' not found");
    }
}

#[tokio::test]
async fn a_refused_token_is_replaced_once() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600), Reply::token(2, 3600)]);
    provider.statements([
        Reply::new(401, ""),
        Reply::page(0, None),
        Reply::page(0, None),
    ]);
    client.statements().page(&request()).await.unwrap();
    client.statements().page(&request()).await.unwrap();
    let bearers: Vec<String> = provider
        .statement_calls()
        .iter()
        .map(|call| call.bearer().to_owned())
        .collect();
    assert_eq!(bearers, [token_text(1), token_text(2), token_text(2)]);
    assert_eq!(provider.token_calls().len(), 2);
}

#[tokio::test]
async fn a_second_refusal_is_the_answer() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600), Reply::token(2, 3600)]);
    let gateway = r#"{"requestKey":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003","error":{"statusCode":"EC000_002","title":"x"}}"#;
    provider.statements([Reply::new(200, gateway), Reply::new(401, "")]);
    let error = client.statements().page(&request()).await.unwrap_err();
    assert!(
        matches!(error.reason, CallErrorKind::Unauthorized),
        "{error:?}"
    );
    assert_eq!(error.request_key, Some(request_key()));
    assert!(!error.is_retryable());
    assert_eq!(provider.statement_calls().len(), 2);
}

/// A failure of a gateway is transient under any status, so that one with status 200 does not stop
/// polling.
#[tokio::test]
async fn a_failure_of_the_gateway_may_pass_under_any_status() {
    let codes = [
        ("EC000_001", true),
        ("EC20003", true),
        ("EC20005", true),
        ("EC000_003", false),
        ("EC000_007", false),
    ];
    for (code, may_pass) in codes {
        let (provider, client, _) = Provider::client().await;
        let body = format!(r#"{{"requestKey":"x","error":{{"statusCode":"{code}","title":"x"}}}}"#);
        provider
            .tokens([Reply::token(1, 3600)])
            .statements([Reply::new(200, &*body)]);
        let error = client.statements().page(&request()).await.unwrap_err();
        assert!(
            matches!(error.reason, CallErrorKind::Service { .. }) && error.status == Some(200),
            "{error:?}"
        );
        assert_eq!(error.is_retryable(), may_pass, "{code}");
    }
}

#[tokio::test]
async fn no_token_no_call() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::new(400, r#"{"error":"invalid_scope"}"#)]);
    let error = client.statements().page(&request()).await.unwrap_err();
    assert!(
        matches!(error.reason, CallErrorKind::Refused { .. }),
        "{error:?}"
    );
    assert_eq!(
        (error.call, error.status),
        (Call::Token, Some(400)),
        "the status is that of the token endpoint"
    );
    assert_eq!(provider.statement_calls().len(), 0);
}

/// A call that waited for the limit uses a token that is still valid after the wait.
#[tokio::test]
async fn a_call_that_waited_goes_out_with_a_token_that_still_lasts() {
    let provider = Provider::start().await;
    let clock = Arc::new(ManualClock::new(start()));
    let client = provider.client_with(provider.options(&clock).pacing(Pacing::Wait));
    provider
        .tokens([Reply::token(1, 3600), Reply::token(2, 3600)])
        .statements((0..26).map(|_| Reply::page(0, None)));
    for _ in 0..25 {
        client.statements().page(&request()).await.unwrap();
    }
    let waiting = tokio::spawn(async move { client.statements().page(&request()).await });
    tokio::task::yield_now().await;
    clock.set(start().saturating_add(Duration::from_secs(2 * 3600)));
    // The pacer reads its clock again within ten seconds.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(11)).await;
    tokio::time::resume();
    waiting.await.unwrap().unwrap();
    let calls = provider.statement_calls();
    assert_eq!(
        (calls.len(), calls[24].bearer(), calls[25].bearer()),
        (26, &*token_text(1), &*token_text(2))
    );
}

#[tokio::test]
async fn the_twenty_sixth_call_of_an_hour_is_not_sent() {
    let (provider, client, clock) = Provider::client().await;
    provider
        .tokens([Reply::token(1, 36_000)])
        .statements((0..30).map(|_| Reply::page(0, None)));
    for _ in 0..25 {
        client.statements().page(&request()).await.unwrap();
    }
    let error = client.statements().page(&request()).await.unwrap_err();
    let (CallErrorKind::HeldBack, Some(retry_at)) = (&error.reason, error.retry_at) else {
        panic!("{error:?}")
    };
    assert_eq!(provider.statement_calls().len(), 25);
    clock.set(retry_at);
    client.statements().page(&request()).await.unwrap();
}

#[tokio::test]
async fn limits_can_be_others_and_counters_can_be_shared() {
    let (provider, _, clock) = Provider::client().await;
    provider
        .tokens([Reply::token(1, 3600), Reply::token(2, 3600)])
        .statements((0..60).map(|_| Reply::page(0, None)));
    let counters = Arc::new(MemoryCounters::default());
    let shared = || provider.client_with(provider.options(&clock).counters(counters.clone()));
    let (one, other) = (shared(), shared());
    for _ in 0..12 {
        one.statements().page(&request()).await.unwrap();
        other.statements().page(&request()).await.unwrap();
    }
    one.statements().page(&request()).await.unwrap();
    let error = other.statements().page(&request()).await.unwrap_err();
    assert!(matches!(error.reason, CallErrorKind::HeldBack), "{error:?}");

    let (provider, _, clock) = Provider::client().await;
    provider
        .tokens([Reply::token(1, 3600)])
        .statements((0..30).map(|_| Reply::page(0, None)));
    let free = provider.client_with(
        provider
            .options(&clock)
            .token_limits(Policy::unlimited())
            .statement_limits(Policy::unlimited()),
    );
    for _ in 0..30 {
        free.statements().page(&request()).await.unwrap();
    }
}

#[tokio::test]
async fn a_poller_is_told_the_calls_of_an_hour() {
    let (provider, client, clock) = Provider::client().await;
    assert_eq!(client.statements().calls_an_hour(), Some(25));
    let windows = |windows: &[(u64, u32)]| {
        let window = |(minutes, limit): &(u64, u32)| {
            Window::new(Duration::from_secs(60 * minutes), *limit).unwrap()
        };
        let windows: Vec<_> = windows.iter().map(window).collect();
        let policy = Policy::new(Algorithm::Sliding, Counting::Admitted, &windows).unwrap();
        provider
            .client_with(provider.options(&clock).statement_limits(policy))
            .statements()
            .calls_an_hour()
    };
    assert_eq!(windows(&[(1, 2), (120, 100)]), Some(50));
    assert_eq!(windows(&[(1, 2)]), Some(120));
    let free = provider.client_with(
        provider
            .options(&clock)
            .statement_limits(Policy::unlimited()),
    );
    assert_eq!(free.statements().calls_an_hour(), None);
}

#[tokio::test]
async fn each_account_has_the_limit_for_itself_where_the_service_counts_so() {
    let (provider, _, clock) = Provider::client().await;
    provider
        .tokens([Reply::token(1, 36_000), Reply::token(2, 36_000)])
        .statements((0..50).map(|_| Reply::page(0, None)));
    let counters = Arc::new(MemoryCounters::default());
    let client = provider.client_with(
        provider
            .options(&clock)
            .limit_per_account(true)
            .counters(counters.clone()),
    );
    let of = |account: &str| StatementRequest::new(&AccountId::parse(account).unwrap());
    // The provider answers with one account's report, which is refused for the other.
    for account in [ACCOUNT, "012003000000102"].map(of) {
        for _ in 0..25 {
            let page = client.statements().page(&account).await;
            assert!(
                page.as_ref()
                    .err()
                    .is_none_or(|error| matches!(error.reason, CallErrorKind::Reply(_))),
                "{page:?}"
            );
        }
        let again = client.statements().page(&account).await;
        assert!(
            again
                .as_ref()
                .is_err_and(|error| matches!(error.reason, CallErrorKind::HeldBack)),
            "{again:?}"
        );
    }
    // Another process counts on.
    let client = provider.client_with(
        provider
            .options(&clock)
            .limit_per_account(true)
            .counters(counters),
    );
    let again = client.statements().page(&of("012003000000102")).await;
    assert!(
        again
            .as_ref()
            .is_err_and(|error| matches!(error.reason, CallErrorKind::HeldBack)),
        "{again:?}"
    );
    assert_eq!(provider.statement_calls().len(), 50);
}

#[tokio::test]
async fn a_429_is_told_and_holds_the_next_call_back_by_the_answers_clock() {
    let (provider, client, clock) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    let body = r#"{"requestKey":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003","error":{"statusCode":"EC429","title":"x"}}"#;
    // This side's clock is ten minutes behind.
    let refused = Reply::new(429, body)
        .header("date", "Sat, 21 Nov 2026 06:10:00 GMT")
        .header("retry-after", "Sat, 21 Nov 2026 06:12:00 GMT");
    provider.statements([refused]);
    provider.statements([Reply::page(0, None)]);
    let error = client.statements().page(&request()).await.unwrap_err();
    let retry_at = start().saturating_add(Duration::from_secs(120));
    assert_eq!((error.status, error.retry_at), (Some(429), Some(retry_at)));
    assert_eq!(error.code.as_deref(), Some("EC429"));
    let error = client.statements().page(&request()).await.unwrap_err();
    assert!(matches!(error.reason, CallErrorKind::HeldBack) && error.retry_at == Some(retry_at));
    clock.set(retry_at);
    client.statements().page(&request()).await.unwrap();
    assert_eq!(provider.statement_calls().len(), 2);
}

/// A case: its name, the answer, and a check of the error.
type Case = (&'static str, Reply, fn(&CallError) -> bool);

#[tokio::test]
async fn odd_answers() {
    let other_account = r#"{"accountId":"7","extract":"intraday","payload":"<x/>",
        "requestKey":"0b7c2f6e-8a1d-41eb-8dcd-0242ac130003","moreTransactionsAvailable":false}"#;
    let broken = other_account
        .replace(r#""7""#, &format!("{ACCOUNT:?}"))
        .replace("<x/>", "<Document>hunter2");
    let other_document = StatementResponse::new(
        &AccountId::parse(ACCOUNT).unwrap(),
        request_key(),
        NextPage::None,
    )
    .to_json(&document(1).replace(ACCOUNT, "7"));
    let cases: Vec<Case> = vec![
        (
            "HTML with 200",
            Reply::new(200, "<html>").header("content-type", "text/html"),
            |error| {
                matches!(
                    error.reason,
                    CallErrorKind::Unexpected {
                        form: AnswerForm::Html,
                        ..
                    }
                ) && error.status == Some(200)
                    && !error.is_retryable()
            },
        ),
        (
            "HTML with 503",
            Reply::new(503, "<html>").header("content-type", "text/html"),
            |error| {
                matches!(error.reason, CallErrorKind::Unexpected { .. })
                    && error.status == Some(503)
                    && error.is_retryable()
                    && error.advice() == "try again later; the fault is the service's"
            },
        ),
        (
            "a redirect",
            Reply::new(307, "").header("location", "https://u:p@example.com:8/a?q=hunter2"),
            |error| {
                error
                    .to_string()
                    .ends_with("a redirect to \"example.com:8/a\", which is not followed")
                    && error.status == Some(307)
                    && error.advice()
                        == "give the address that it leads to if that is the service's, and try again"
            },
        ),
        ("JSON that is none", Reply::new(200, "{"), |error| {
            matches!(error.reason, CallErrorKind::Reply(ReplyError::Json(_)))
        }),
        ("another account", Reply::new(200, other_account), |error| {
            matches!(
                error.reason,
                CallErrorKind::Reply(ReplyError::OtherAccount { .. })
            )
        }),
        (
            "a document of another account",
            Reply::new(200, other_document),
            |error| {
                matches!(
                    error.reason,
                    CallErrorKind::Reply(ReplyError::OtherAccount { .. })
                )
            },
        ),
        (
            "a broken document",
            Reply::new(200, broken),
            |error| matches!(&error.reason, CallErrorKind::Payload(payload) if payload.xml() == "<Document>hunter2"),
        ),
        (
            "more than allowed",
            Reply::new(200, vec![b' '; 100_001]),
            |error| {
                matches!(
                    error.reason,
                    CallErrorKind::Transport(ExchangeError::TooLarge { limit: 100_000, .. })
                ) && error.status == Some(200)
                    && !error.is_retryable()
            },
        ),
        (
            "a refused request",
            Reply::new(400, NOT_FOUND.replace("EC20001", "EC42001")),
            |error| {
                error.code.as_deref() == Some(ErrorCode::VALIDATION.as_str())
                    && error.advice() == "show the service this error with its request key"
            },
        ),
        (
            "an internal error",
            Reply::new(200, NOT_FOUND.replace("EC20001", "EC20005")),
            |error| {
                matches!(error.reason, CallErrorKind::Service { .. })
                    && error.status == Some(200)
                    && error.is_retryable()
                    && error.advice() == "try again later; the fault is the service's"
            },
        ),
        (
            "a gateway's error",
            Reply::new(400, r#"{"error":{"statusCode":"EC000_003","title":"bad"}}"#),
            |error| {
                // Without a request key in the body, that of the header is used.
                error.request_key == Some(request_key()) && !error.is_retryable()
            },
        ),
    ];
    for (name, reply, expected) in cases {
        let (provider, _, clock) = Provider::client().await;
        let client = provider.client_with(provider.options(&clock).max_statement_bytes(100_000));
        provider.tokens([Reply::token(1, 3600)]).statements([reply]);
        let error = client.statements().page(&request()).await.unwrap_err();
        assert!(expected(&error), "{name}: {error:?}");
        let text = chain(&error);
        assert!(
            !text.contains("hunter2") && !text.contains(API_KEY) && !text.contains(&token_text(1)),
            "{text}"
        );
        assert_eq!(provider.statement_calls().len(), 1, "{name}");
    }
}

#[tokio::test]
async fn findings_are_kept_and_can_be_denied() {
    let (provider, client, clock) = Provider::client().await;
    let odd = || Reply::page(0, Some("eA=="));
    provider
        .tokens([Reply::token(1, 3600), Reply::token(2, 3600)])
        .statements([odd(), odd()]);
    let page = client.statements().page(&request()).await.unwrap();
    assert_eq!(page.received.findings, [ReplyFinding::MoreWithoutEntries]);
    let strict = bankrail_camt052::ReadOptions::default().deny_findings(true);
    let client = provider.client_with(provider.options(&clock).read_options(strict));
    let error = client.statements().page(&request()).await.unwrap_err();
    let denied = matches!(
        error.reason,
        CallErrorKind::Reply(ReplyError::Findings { .. }) | CallErrorKind::Payload(_)
    );
    assert!(denied, "{error:?}");
}

#[tokio::test]
async fn a_dropped_call_leaves_the_client_usable() {
    let (provider, client, _) = Provider::client().await;
    provider
        .tokens([Reply::token(1, 3600)])
        .statements([Reply::page(0, None), Reply::page(1, None)]);
    client.tokens().token().await.unwrap();
    provider.hold().await;
    let dropped = tokio::spawn({
        let client = client.clone();
        async move { client.statements().page(&request()).await }
    });
    provider.until_calls(2).await;
    dropped.abort();
    let _ = dropped.await;
    provider.release();
    assert_eq!(
        client
            .statements()
            .page(&request())
            .await
            .unwrap()
            .entries()
            .count(),
        1
    );
}

#[tokio::test]
async fn waiting_has_a_bound_if_wanted() {
    let (provider, _, clock) = Provider::client().await;
    provider
        .tokens([Reply::token(1, 3600)])
        .statements((0..30).map(|_| Reply::page(0, None)));
    clock.advance(Duration::from_millis(500)); // not near the boundary of a window
    let client = provider.client_with(
        provider
            .options(&clock)
            .pacing(Pacing::WaitUpTo(Duration::from_secs(60))),
    );
    for _ in 0..25 {
        client.statements().page(&request()).await.unwrap();
    }
    let error = client.statements().page(&request()).await.unwrap_err();
    assert!(matches!(error.reason, CallErrorKind::HeldBack) && error.retry_at > Some(clock.now()));
}

#[tokio::test]
async fn an_answer_beyond_the_default_bound_is_refused() {
    let (provider, client, _) = Provider::client().await;
    assert_eq!(
        bankrail_client::ClientOptions::DEFAULT_MAX_STATEMENT_BYTES,
        32 * 1024 * 1024
    );
    provider
        .tokens([Reply::token(1, 3600)])
        .statements([Reply::new(200, vec![b' '; 33_554_433])]);
    let error = client.statements().page(&request()).await.unwrap_err();
    let CallErrorKind::Transport(ExchangeError::TooLarge { limit, .. }) = error.reason else {
        panic!("{error:?}")
    };
    assert_eq!(limit, 33_554_432);
}
