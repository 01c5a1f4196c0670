//! Each fault from the client's point of view.

use bankrail_client::{AnswerForm, CallError, CallErrorKind, Client, ExchangeError};
use bankrail_emulator::{Endpoint, FakeBank, FakeBankOptions, FakeBooking, Fault};
use bankrail_statement::{Cursor, MaxEntries, ReceivedNextPage, StatementRequest, WalkError};
use bankrail_values::ManualClock;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const LINE: &str = "statement 999001400100101";

async fn bank() -> (FakeBank, Client) {
    let bank = FakeBank::start().await;
    bank.book(
        &bank.account(),
        &FakeBooking::new("1.00 AUD").narrative("text"),
    );
    let client = bank.client();
    (bank, client)
}

/// Returns the error of a statement call that meets the fault, and the bank's line about it.
async fn statement_error(fault: Fault) -> (CallError, String) {
    let (bank, client) = bank().await;
    bank.fail(Endpoint::Statement, fault);
    let request = StatementRequest::new(&bank.account());
    let error = client.statements().page(&request).await.unwrap_err();
    assert!(bank.faults_left().is_empty());
    let line = bank.calls().last().unwrap().to_string();
    // The next call is served as usual.
    bank.clock().advance(Duration::from_secs(7200));
    assert_eq!(
        client
            .statements()
            .page(&request)
            .await
            .unwrap()
            .entries()
            .count(),
        1
    );
    (error, line)
}

#[tokio::test]
async fn statuses() {
    let fault = Fault::TooManyCalls {
        retry_after: Some(Duration::from_secs(90)),
    };
    let (error, line) = statement_error(fault).await;
    let (CallErrorKind::TooManyCalls, Some(at)) = (&error.reason, error.retry_at) else {
        panic!("{error:?}")
    };
    assert_eq!(at.to_string(), "2026-03-02T00:01:30.000Z");
    assert_eq!(line, format!("{LINE} 429 (too-many-calls)"));
    let (error, line) = statement_error(Fault::Status(500)).await;
    assert_eq!(
        (error.status, error.code.as_deref().unwrap()),
        (Some(500), "EC20005")
    );
    assert!(error.is_retryable() && error.request_key.is_some());
    assert_eq!(line, format!("{LINE} 500 (status)"));
    let page = Fault::Answer {
        status: 502,
        content_type: "text/html".to_owned(),
        body: b"<h1>Bad gateway".into(),
    };
    let (error, _) = statement_error(page).await;
    assert!(
        matches!(
            error.reason,
            CallErrorKind::Unexpected {
                form: AnswerForm::Html,
                ..
            }
        ) && error.status == Some(502),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_part_of_all_calls_and_an_order_for_the_next_one() {
    let faults = ["statement-500:1", "token-gzip:0"].map(|rate| rate.parse().unwrap());
    let bank = FakeBank::start_with(FakeBankOptions::new().faults(faults.into())).await;
    let request = StatementRequest::new(&bank.account());
    let error = bank.client().statements().page(&request).await.unwrap_err();
    assert_eq!(error.status, Some(500));
    bank.fail(Endpoint::Statement, Fault::Late(Duration::from_millis(1)));
    bank.client().statements().page(&request).await.unwrap();
    assert_eq!(
        bank.calls(),
        [
            "token 200",
            &format!("{LINE} 500 (status)"),
            "token 200",
            &format!("{LINE} 200 (late)")
        ]
    );
    let calls = bank.calls();
    assert_eq!(
        calls[1].reason.as_deref(),
        Some("the fault statement-500 that --fault ordered")
    );
    assert_eq!(
        (calls[3].reason.as_deref(), calls[3].customer.as_deref()),
        (None, Some(FakeBank::CUSTOMER))
    );
    assert_eq!(
        calls.iter().map(|call| call.number).collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
}

#[tokio::test]
async fn connections_that_break() {
    let (error, line) = statement_error(Fault::Reset).await;
    assert!(
        matches!(error.reason, CallErrorKind::Transport(_)) && error.is_retryable(),
        "{error:?}"
    );
    assert_eq!(line, format!("{LINE} no answer (reset)"));
    let (error, line) = statement_error(Fault::HalfBody).await;
    assert!(
        matches!(error.reason, CallErrorKind::Transport(_)) && error.is_retryable(),
        "{error:?}"
    );
    assert_eq!(line, format!("{LINE} 200 (half-body)"));
}

/// The bytes that arrive at a socket: none after a reset, and half of the announced length
/// otherwise.
#[tokio::test]
async fn breaks_as_a_socket_sees_them() {
    let bank = FakeBank::start_with(FakeBankOptions::new().plain_http(true)).await;
    for fault in [Fault::Reset, Fault::HalfBody] {
        bank.fail(Endpoint::Token, fault);
    }
    let exchange = async || {
        let mut socket =
            tokio::net::TcpStream::connect(bank.url().strip_prefix("http://").unwrap())
                .await
                .unwrap();
        socket
            .write_all(b"POST /v1.0/auth HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n")
            .await
            .unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).await.unwrap();
        String::from_utf8(answer).unwrap()
    };
    assert_eq!(exchange().await, "");
    let half = exchange().await;
    let (head, body) = half.split_once("\r\n\r\n").unwrap();
    let whole = r#"{"error":"invalid_client","error_description":"API key required"}"#;
    assert!(
        head.contains(&format!("content-length: {}", whole.len())),
        "{head}"
    );
    assert_eq!(body, &whole[..whole.len() / 2]);
}

#[tokio::test]
async fn a_stale_token_is_replaced_once() {
    let (bank, client) = bank().await;
    bank.fail(Endpoint::Statement, Fault::StaleToken);
    client
        .statements()
        .page(&StatementRequest::new(&bank.account()))
        .await
        .unwrap();
    let stale = format!("{LINE} 401 (stale-token)");
    assert_eq!(
        bank.calls(),
        ["token 200", &stale, "token 200", &format!("{LINE} 200")]
    );
}

#[tokio::test]
async fn a_token_that_is_stale_from_the_start() {
    let (bank, client) = bank().await;
    bank.fail(Endpoint::Token, Fault::StaleToken);
    client
        .statements()
        .page(&StatementRequest::new(&bank.account()))
        .await
        .unwrap();
    let refused = format!("{LINE} 401");
    assert_eq!(
        bank.calls(),
        [
            "token 200 (stale-token)",
            &refused,
            "token 200",
            &format!("{LINE} 200")
        ]
    );
}

#[tokio::test]
async fn a_cursor_that_repeats_ends_the_walk() {
    for at in [1, 2] {
        let (bank, client) = bank().await;
        bank.book(&bank.account(), &FakeBooking::new("2.00 AUD"));
        bank.book(&bank.account(), &FakeBooking::new("3.00 AUD"));
        bank.fail_nth(Endpoint::Statement, at, Fault::RepeatingCursor);
        let mut request = StatementRequest::new(&bank.account());
        request.max_entries = MaxEntries::new(1);
        let error = client
            .statements()
            .pages(request.clone())
            .collect()
            .await
            .unwrap_err();
        assert!(
            matches!(
                error.reason,
                CallErrorKind::Walk(WalkError::RepeatedCursor { .. })
            ),
            "{error:?}"
        );
        assert!(bank.calls().len() <= 4, "{:?}", bank.calls());
        // A cursor that was invented is unknown again once the faults are cleared.
        bank.fail_nth(Endpoint::Statement, 1, Fault::RepeatingCursor);
        client.statements().page(&request).await.unwrap();
        request.cursor = Some(Cursor::from_bytes(b"again and again").unwrap());
        client.statements().page(&request).await.unwrap();
        bank.clear_faults();
        client.statements().page(&request).await.unwrap_err();
        request.cursor = None;
        // A walk from the first page on works as usual.
        assert_eq!(
            client
                .statements()
                .pages(request)
                .collect()
                .await
                .unwrap()
                .entries()
                .count(),
            3
        );
    }
}

#[tokio::test]
async fn narratives_against_the_request() {
    let (bank, client) = bank().await;
    let mut request = StatementRequest::new(&bank.account());
    let mut narrative = async |include| {
        request.include_narrative = include;
        client
            .statements()
            .page(&request)
            .await
            .unwrap()
            .entries()
            .next()
            .unwrap()
            .narrative()
    };
    for (include, right, wrong) in [
        (None, "text", ""),
        (Some(true), "text", ""),
        (Some(false), "", "text"),
    ] {
        assert_eq!(narrative(include).await, right, "{include:?}");
        bank.fail(Endpoint::Statement, Fault::WrongNarrative);
        assert_eq!(narrative(include).await, wrong, "{include:?}");
    }
}

#[tokio::test]
async fn bodies_that_are_not_what_they_should_be() {
    let (error, _) = statement_error(Fault::Gzip).await;
    assert!(
        matches!(
            error.reason,
            CallErrorKind::Unexpected {
                form: AnswerForm::Compressed("gzip"),
                ..
            }
        ) && error.status == Some(200),
        "{error:?}"
    );
    // 2 GiB, of which the client reads as much as it allows.
    let (error, _) = statement_error(Fault::Endless { bytes: 2 << 30 }).await;
    let CallErrorKind::Transport(ExchangeError::TooLarge {
        limit, status: 200, ..
    }) = error.reason
    else {
        panic!("{error:?}")
    };
    assert_eq!(limit, 32 << 20);
    // The content type does not decide: the body is a statement.
    let (bank, client) = bank().await;
    bank.fail(
        Endpoint::Statement,
        Fault::ContentType("text/html".to_owned()),
    );
    client
        .statements()
        .page(&StatementRequest::new(&bank.account()))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_body_that_drips_ends_with_the_clients_patience() {
    let (bank, _) = bank().await;
    let options = bank.client_options().timeout(Duration::from_millis(200));
    let client = Client::new(bank.credentials(), bank.url(), options).unwrap();
    client.tokens().token().await.unwrap();
    bank.fail(
        Endpoint::Statement,
        Fault::SlowDrip {
            bytes: 1,
            pause: Duration::from_secs(3600),
        },
    );
    let error = client
        .statements()
        .page(&StatementRequest::new(&bank.account()))
        .await
        .unwrap_err();
    assert!(
        matches!(
            error.reason,
            CallErrorKind::Transport(ExchangeError::TimedOut { .. })
        ),
        "{error:?}"
    );
    // Without a pause, the answer is only divided in an unusual way.
    bank.fail(
        Endpoint::Statement,
        Fault::SlowDrip {
            bytes: 100,
            pause: Duration::ZERO,
        },
    );
    bank.client()
        .statements()
        .page(&StatementRequest::new(&bank.account()))
        .await
        .unwrap();
}

#[tokio::test]
async fn tokens_fail_too() {
    for (fault, status) in [
        (Fault::TooManyCalls { retry_after: None }, 429),
        (Fault::Status(503), 503),
        (Fault::Status(401), 401),
    ] {
        let (bank, client) = bank().await;
        bank.fail(Endpoint::Token, fault);
        let error = client.tokens().token().await.unwrap_err();
        assert_eq!(error.status, Some(status), "{error:?}");
        assert_eq!(error.is_retryable(), status != 401);
    }
    let (bank, client) = bank().await;
    bank.fail(Endpoint::Token, Fault::Reset);
    let error = client.tokens().token().await.unwrap_err();
    assert!(
        matches!(error.reason, CallErrorKind::Transport(_)),
        "{error:?}"
    );
}

/// The bank's and the customer's clocks differ by 90 seconds: assertions are valid either way,
/// unless they use the whole of the 60 minutes and the customer's clock is ahead.
#[tokio::test]
async fn clocks_that_disagree() {
    let bank = FakeBank::start().await;
    let token = async |now, lifetime| {
        let options = bank
            .client_options()
            .clock(Arc::new(ManualClock::new(now)))
            .assertion_lifetime(lifetime);
        bank.clock().advance(Duration::from_secs(1));
        Client::new(bank.credentials(), bank.url(), options)
            .unwrap()
            .tokens()
            .token()
            .await
    };
    let (five_minutes, hour) = (Duration::from_secs(300), Duration::from_secs(3600));
    let [behind, ahead] = [
        bank.now().saturating_sub(APART),
        bank.now().saturating_add(APART),
    ];
    token(behind, five_minutes).await.unwrap();
    token(behind, hour).await.unwrap();
    token(ahead, five_minutes).await.unwrap();
    let error = token(ahead, hour).await.unwrap_err();
    assert!(!error.is_retryable(), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the token call failed with status 401, code \"invalid_client\": the endpoint refused the \
         call"
    );
    assert_eq!(
        bank.calls(),
        ["token 200", "token 200", "token 200", "token 401"]
    );
}

const APART: Duration = Duration::from_secs(90);

/// Answers with members of the wrong type, of another shape, or of another kind altogether: each is
/// an error that states what was expected, and the client does not retry.
#[tokio::test]
async fn answers_of_the_wrong_types() {
    const KEY: &str = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003";
    let answer = |content_type: &str, body: String| {
        let content_type = content_type.to_owned();
        Fault::Answer {
            status: 200,
            content_type,
            body: body.into_bytes(),
        }
    };
    let statement = |payload: &str| {
        format!(
            r#"{{"accountId":"{}","extract":"intraday","payload":{payload},"requestKey":"{KEY}","moreTransactionsAvailable":false}}"#,
            FakeBank::ACCOUNT
        )
    };
    let json = |body: &str| answer("application/json", body.to_owned());
    for (fault, expected) in [
        (json("[]"), "the statement's answer is unusable"),
        (json("null"), "the statement's answer is unusable"),
        (
            json("{}"),
            "the statement's answer is unusable: expected the member",
        ),
        (
            json(&statement("7")),
            "the statement's answer is unusable: expected a string as \"payload\", found a number",
        ),
        (
            json(&statement("\"<html/>\"")),
            "the statement's document is unreadable: expected a camt.052 document",
        ),
        (
            answer("text/html", "<h1>Welcome".to_owned()),
            "the statement call failed with status 200: expected the endpoint's answer, found an HTML page",
        ),
    ] {
        let (error, _) = statement_error(fault).await;
        assert!(
            chain(&error).contains(expected),
            "expected {expected:?}, found {:?}",
            chain(&error)
        );
        assert!(!error.is_retryable());
    }
    for (fault, expected) in [
        (json("[]"), "the token response is unusable"),
        (
            json(r#"{"access_token":7,"token_type":"Bearer","expires_in":3600}"#),
            "the token response is unusable",
        ),
        (
            answer("text/html", "<h1>Welcome".to_owned()),
            "the token call failed with status 200: expected the endpoint's answer, found an HTML page",
        ),
    ] {
        let (bank, client) = bank().await;
        bank.fail(Endpoint::Token, fault);
        let error = client.tokens().token().await.unwrap_err();
        assert!(
            chain(&error).contains(expected),
            "expected {expected:?}, found {:?}",
            chain(&error)
        );
        assert_eq!(bank.calls().len(), 1);
    }
}

/// Returns the error and its causes.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        text += &format!(": {next}");
        cause = next.source();
    }
    text
}

/// Returns the entries of a page that meets the fault.
async fn page_with(bank: &FakeBank, fault: Fault) -> Vec<String> {
    bank.fail(Endpoint::Statement, fault);
    bank.clock().advance(Duration::from_secs(3600));
    let request = StatementRequest::new(&bank.account());
    let page = bank.client().statements().page(&request).await.unwrap();
    page.entries()
        .map(|entry| format!("{} {}", entry.narrative(), entry.status))
        .collect()
}

#[tokio::test]
async fn pages_that_are_wrong_once() {
    let (bank, _) = bank().await;
    bank.book(
        &bank.account(),
        &FakeBooking::new("2.00 AUD").narrative("two"),
    );
    let right = ["text BOOK", "two BOOK"];
    assert_eq!(page_with(&bank, Fault::MissingEntry).await, right[1..]);
    assert_eq!(
        page_with(&bank, Fault::PendingEntries).await,
        ["text PDNG", "two PDNG"]
    );
    assert_eq!(page_with(&bank, Fault::NextDay).await, [""; 0]);
    assert_eq!(page_with(&bank, Fault::Late(Duration::ZERO)).await, right);
}

#[tokio::test]
async fn answers_that_a_client_refuses() {
    for fault in [Fault::CutAnswer, Fault::WrongType, Fault::AnotherAccount] {
        let (error, line) = statement_error(fault.clone()).await;
        assert!(
            line.ends_with(&format!("200 ({fault})")),
            "{line} {error:?}"
        );
    }
    // The token has expired by the bank's clock, so the client gets another one.
    let (bank, client) = bank().await;
    bank.fail(Endpoint::Statement, Fault::ClockAhead);
    client
        .statements()
        .statement(&bank.account())
        .await
        .unwrap();
    assert_eq!(
        bank.calls()[1],
        format!("{LINE} 401 (clock-ahead)").as_str()
    );
}

#[tokio::test]
async fn a_cursor_that_leads_back_to_the_first_page() {
    let (bank, _) = bank().await;
    bank.book(
        &bank.account(),
        &FakeBooking::new("2.00 AUD").narrative("two"),
    );
    for _ in 0..20 {
        bank.fail(Endpoint::Statement, Fault::CirclingCursor);
    }
    let (client, mut cursor, mut seen) = (bank.client(), None, Vec::new());
    for _ in 0..5 {
        bank.clock().advance(Duration::from_secs(600));
        let mut request = StatementRequest::new(&bank.account());
        (request.max_entries, request.cursor) = (MaxEntries::new(1), cursor);
        let page = client.statements().page(&request).await.unwrap();
        seen.extend(page.entries().map(|entry| entry.narrative()));
        cursor = match page.received.next_page {
            ReceivedNextPage::At { cursor } => Some(cursor),
            _ => None,
        };
    }
    assert_eq!(seen, ["text", "two", "text", "two", "text"]);
}
