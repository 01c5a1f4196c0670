//! The statement endpoint: the access to statements, their content, and the errors.

use crate::world::{
    API_KEY, Answer, Fault, NARRATIVE, OTHER_KEY, World, body_with_pause, statement_request,
};
use axum::body::Body;
use bankrail_camt052::{
    AccountIdentification, BalanceCode, BalanceSubType, BalanceTypeCode, Direction, ReportingSource,
};
use bankrail_client_assertion::token::{AccessToken, TokenStore as _, names};
use bankrail_service::{ProviderOptions, StatementFailure};
use bankrail_statement::ErrorCode;
use futures_util::stream;
use http::{Request, StatusCode};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[tokio::test]
async fn times_are_in_utc_unless_another_time_zone_is_set() {
    for (zone, text) in [
        (None, "2021-07-29T01:00:00.000+00:00"),
        (Some("America/St_Johns"), "2021-07-28T22:30:00.000-02:30"),
        (Some("asia/kolkata"), "2021-07-29T06:30:00.000+05:30"),
    ] {
        let world = World::with(|options| {
            zone.map_or(options.clone(), |zone| options.report_time_zone(zone))
        });
        let document = world.statement(r#"{"accountId":"1"}"#).await.document();
        let times = [
            &document.group_header.as_ref().unwrap().created_at,
            &document.reports[0].created_at,
        ];
        assert_eq!(
            times.map(|time| time.as_ref().unwrap().to_string()),
            [text, text]
        );
    }
}

#[tokio::test]
async fn the_payload_is_what_the_specification_says() {
    let world = World::with(|options| options.report_time_zone("Australia/Brisbane"));
    let answer = world.statement(r#"{"accountId":"1"}"#).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(answer.header("content-type"), "application/json");
    let members: Vec<_> = answer.json.as_object().unwrap().keys().cloned().collect();
    assert_eq!(members.len(), 5, "{members:?}");
    assert_eq!(
        (&answer.json["accountId"], &answer.json["extract"]),
        (&"1".into(), &"intraday".into())
    );
    assert_eq!(answer.json["moreTransactionsAvailable"], false);
    let key = answer.json["requestKey"].as_str().unwrap();
    assert_eq!(key, answer.header("x-requestkey"));

    let document = answer.document();
    let header = document.group_header.as_ref().unwrap();
    assert_eq!(header.message_id.as_str(), key.replace('-', ""));
    let created = header.created_at.as_ref().unwrap().to_string();
    assert_eq!(created, "2021-07-29T11:00:00.000+10:00");
    let [report] = document.reports.as_slice() else {
        panic!("one report")
    };
    let id = report.id.as_ref().unwrap().as_str();
    assert!(id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()));
    assert_ne!(id, header.message_id.as_str());
    assert_eq!(report.created_at.as_ref().unwrap().to_string(), created);
    assert_eq!(
        report.source,
        Some(ReportingSource::Proprietary("CMM".into()))
    );
    let AccountIdentification::Other(id) = &report.account.id else {
        panic!("not an IBAN")
    };
    assert_eq!(id.id.as_str(), "1");
    assert_eq!(report.account.currency.as_ref().unwrap().to_string(), "AUD");
    assert_eq!(report.account.name.as_ref().unwrap().as_str(), "Operating");
    let [balance] = report.balances.as_slice() else {
        panic!("one balance")
    };
    assert_eq!(
        balance.kind.code,
        BalanceTypeCode::Code(BalanceCode::InterimAvailable)
    );
    assert_eq!(
        balance.kind.sub_kind,
        Some(BalanceSubType::Proprietary("Current".into()))
    );
    assert_eq!(balance.amount.to_string(), "124531337.50 AUD");
    assert_eq!(balance.direction, Direction::Credit);

    let summary = report.summary.as_ref().unwrap();
    let all = summary.all.as_ref().unwrap();
    assert_eq!(all.entries.as_ref().unwrap().as_str(), "5");
    assert_eq!(all.sum.as_ref().unwrap().to_string(), "20.55");
    let net = all.net.as_ref().unwrap();
    assert_eq!(
        (net.amount.to_string().as_str(), &net.direction),
        ("1.55", &Direction::Credit)
    );
    let (credits, debits) = (
        summary.credits.as_ref().unwrap(),
        summary.debits.as_ref().unwrap(),
    );
    assert_eq!(
        (
            credits.entries.as_ref().unwrap().as_str(),
            debits.entries.as_ref().unwrap().as_str()
        ),
        ("3", "2")
    );
    assert_eq!(credits.sum.as_ref().unwrap().to_string(), "11.05");
    assert_eq!(debits.sum.as_ref().unwrap().to_string(), "9.50");
    assert_eq!(report.entries.len(), 5);
}

#[tokio::test]
async fn an_account_without_entries_and_one_without_decimals() {
    let world = World::new();
    let document = world.statement(r#"{"accountId":"2"}"#).await.document();
    let report = &document.reports[0];
    assert_eq!(report.balances[0].amount.to_string(), "3.00 AUD");
    assert_eq!(report.balances[0].direction, Direction::Debit);
    let all = report.summary.as_ref().unwrap().all.as_ref().unwrap();
    assert_eq!(
        (
            all.entries.as_ref().unwrap().as_str(),
            all.sum.as_ref().unwrap().to_string().as_str()
        ),
        ("0", "0")
    );
    let document = world.statement(r#"{"accountId":"4"}"#).await.document();
    assert_eq!(document.reports[0].balances[0].amount.to_string(), "7 VND");
    assert_eq!(
        document.reports[0].entries[0].amount.to_string(),
        "1500 VND"
    );
}

#[tokio::test]
async fn the_narrative_is_hidden_from_fast_payments_only() {
    let (all, hidden) = ([true; 5], [false, true, true, false, false]);
    let (world, silent) = (
        World::new(),
        World::with(|options| options.narrative_by_default(false)),
    );
    for (world, body, shown) in [
        (&world, r#"{"accountId":"1"}"#, all),
        (&world, r#"{"accountId":"1","includeNarrative":true}"#, all),
        (
            &world,
            r#"{"accountId":"1","includeNarrative":"true"}"#,
            all,
        ),
        (
            &world,
            r#"{"accountId":"1","includeNarrative":false}"#,
            hidden,
        ),
        (
            &world,
            r#"{"accountId":"1","includeNarrative":"false"}"#,
            hidden,
        ),
        (&silent, r#"{"accountId":"1"}"#, hidden),
        (&silent, r#"{"accountId":"1","includeNarrative":true}"#, all),
    ] {
        let document = world.statement(body).await.document();
        let found: Vec<_> = document.reports[0]
            .entries
            .iter()
            .map(|entry| {
                let transaction = &entry.details[0].transactions[0];
                let text = transaction
                    .remittance
                    .as_ref()
                    .map(|remittance| remittance.unstructured[0].as_str());
                assert_eq!(transaction.parties.is_some(), text.is_some());
                assert!(text.is_none_or(|text| text == NARRATIVE));
                text.is_some()
            })
            .collect();
        assert_eq!(found, shown, "{body}");
    }
}

#[tokio::test]
async fn statements_with_virtual_accounts_have_the_sort_order() {
    let world = World::new();
    let answer = world.statement(r#"{"accountId":"3"}"#).await;
    assert_eq!(answer.json["sortOrder"], "forward");
    let document = answer.document();
    let parties = document.reports[0].entries[0].details[0].transactions[0]
        .parties
        .as_ref()
        .unwrap();
    let AccountIdentification::Other(id) = &parties.creditor_account.as_ref().unwrap().id else {
        panic!("not an IBAN")
    };
    assert_eq!(
        (id.id.as_str(), id.issuer.as_ref().unwrap().as_str()),
        ("901234567", "012003")
    );
    let answer = world
        .statement(r#"{"accountId":"3","includeNarrative":false}"#)
        .await;
    assert!(
        answer.document().reports[0].entries[0].details[0].transactions[0]
            .parties
            .is_none()
    );
    // Other statements have it only if it is requested.
    assert!(
        world
            .statement(r#"{"accountId":"2"}"#)
            .await
            .json
            .get("sortOrder")
            .is_none()
    );
    assert_eq!(
        world
            .statement(r#"{"accountId":"2","sortOrder":"backward"}"#)
            .await
            .json["sortOrder"],
        "backward"
    );
}

#[tokio::test]
async fn unknown_unregistered_and_malformed_accounts_are_answered_alike() {
    let world = World::new();
    for account in [
        "000000000000000",
        "9",
        "no account!",
        "",
        "Ω\"\\",
        &"7".repeat(35),
    ] {
        let body = serde_json::json!({ "accountId": account }).to_string();
        let answer = world.statement(&body).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{account}");
        assert_eq!(answer.error_code(), "EC20001");
        assert_eq!(
            answer.json["error"]["title"],
            format!("Account Id: '{account}' not found")
        );
    }
    let long = world
        .statement(&serde_json::json!({ "accountId": "7".repeat(5000) }).to_string())
        .await;
    assert_eq!(
        long.json["error"]["title"],
        format!("Account Id: '{}' not found", "7".repeat(5000))
    );
}

#[tokio::test]
async fn the_longest_identifier_that_the_message_holds_gets_its_statement() {
    let account = "9".repeat(34);
    let world = World::new();
    let answer = world
        .statement(&serde_json::json!({ "accountId": account }).to_string())
        .await;
    let AccountIdentification::Other(id) = &answer.document().reports[0].account.id else {
        panic!("not an IBAN")
    };
    assert_eq!(id.id.as_str(), account);
}

#[tokio::test]
async fn each_failure_has_the_code_and_the_status_that_were_set() {
    let set = |options: ProviderOptions| {
        StatementFailure::ALL
            .iter()
            .zip(1..)
            .fold(options, |options, (failure, number)| {
                let options = match failure {
                    StatementFailure::AccountNotFound => options,
                    _ => options.error_code(
                        *failure,
                        ErrorCode::new(&format!("EC9{number:02}")).unwrap(),
                    ),
                };
                match failure {
                    StatementFailure::RateLimit => options,
                    _ => {
                        options.error_status(*failure, StatusCode::from_u16(430 + number).unwrap())
                    }
                }
            })
    };
    let found = |answer: &Answer| (answer.status.as_u16(), answer.error_code().to_owned());
    let body = r#"{"accountId":"1"}"#;
    let mut all = Vec::new();
    let world = World::with(set);
    all.push(found(
        &world.statement(r#"{"accountId":"000000000000000"}"#).await,
    ));
    world.ledger.fault.set(Fault::Fails);
    all.push(found(&world.statement(body).await));
    world.ledger.fault.set(Fault::Panics);
    all.push(found(&world.statement(body).await));
    let token = world.token("ACME", names::STATEMENT_READ).await;
    world.stores.tokens.set(Fault::Fails);
    all.push(found(
        &world.send(statement_request(API_KEY, &token, body)).await,
    ));
    let world = World::with(set);
    all.push(found(&world.statement("{}").await));
    let two_hosts = Request::post("/")
        .header("host", "a")
        .header("host", "b")
        .body(Body::empty())
        .unwrap();
    all.push(found(&world.send(two_hosts).await));
    all.push(found(
        &world.send(statement_request("nobody", &token, body)).await,
    ));
    all.push(found(
        &world.send(statement_request(API_KEY, &token, body)).await,
    ));
    let weak = world.token("ACME", names::MANDATE_READ).await;
    all.push(found(
        &world.send(statement_request(API_KEY, &weak, body)).await,
    ));
    all.push(found(
        &world
            .send(Request::post("/elsewhere").body(Body::empty()).unwrap())
            .await,
    ));
    all.push(found(
        &world
            .send(
                Request::get("/accounts/v2.0/statement")
                    .body(Body::empty())
                    .unwrap(),
            )
            .await,
    ));
    let hanging = World::with(|options| set(options).body_timeout(Duration::ZERO));
    let token = hanging.token("ACME", names::STATEMENT_READ).await;
    let never = Body::from_stream(stream::pending::<Result<String, std::io::Error>>());
    all.push(found(
        &hanging
            .send(statement_request(API_KEY, &token, never))
            .await,
    ));
    all.push(found(&world.statement(&" ".repeat(17_000)).await));
    let long = Request::post(format!("/{}", "x".repeat(10_000)))
        .body(Body::empty())
        .unwrap();
    all.push(found(&world.send(long).await));
    let token = world.token("ACME", names::STATEMENT_READ).await;
    let mut text = statement_request(API_KEY, &token, body);
    text.headers_mut()
        .insert("content-type", "text/plain".parse().unwrap());
    all.push(found(&world.send(text).await));
    for _ in 0..25 {
        world.statement(body).await;
    }
    all.push(found(&world.statement(body).await));
    let long = Request::post("/")
        .header("x", "x".repeat(20_000))
        .body(Body::empty())
        .unwrap();
    all.push(found(&world.send(long).await));
    let expected: Vec<_> = StatementFailure::ALL
        .iter()
        .zip(1..)
        .map(|(failure, number)| match failure {
            StatementFailure::AccountNotFound => (430 + number, "EC20001".to_owned()),
            StatementFailure::RateLimit => (429, format!("EC9{number:02}")),
            _ => (430 + number, format!("EC9{number:02}")),
        })
        .collect();
    assert_eq!(all, expected);
}

#[tokio::test]
async fn the_code_of_an_unknown_account_may_come_under_200() {
    let world = World::with(|options| {
        options.error_status(StatementFailure::AccountNotFound, StatusCode::OK)
    });
    let answer = world.statement(r#"{"accountId":"000000000000000"}"#).await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::OK, "EC20001")
    );
}

#[tokio::test]
async fn one_account_number_two_customers() {
    let world = World::new();
    let token = world.token("BETA", names::STATEMENT_READ).await;
    let answer = world
        .send(statement_request(OTHER_KEY, &token, r#"{"accountId":"1"}"#))
        .await;
    assert_eq!(
        answer.document().reports[0].balances[0].amount.to_string(),
        "99.00 AUD"
    );
}

#[tokio::test]
async fn requests_without_valid_credentials_are_refused() {
    let world = World::new();
    let body = r#"{"accountId":"1"}"#;
    let (good, others) = (
        world.token("ACME", names::STATEMENT_READ).await,
        world.token("BETA", names::STATEMENT_READ).await,
    );
    let build =
        || Request::post("/accounts/v2.0/statement").header("content-type", "application/json");
    let bearer = format!("Bearer {good}");
    for (name, request, challenge) in [
        ("no key", build().header("authorization", &bearer), "Bearer"),
        (
            "a stranger's key",
            build()
                .header("apikey", "nobody")
                .header("authorization", &bearer),
            "Bearer",
        ),
        ("no token", build().header("apikey", API_KEY), "Bearer"),
        (
            "another's token",
            build()
                .header("apikey", API_KEY)
                .header("authorization", format!("Bearer {others}")),
            "Bearer error=\"invalid_token\"",
        ),
        (
            "another scheme",
            build()
                .header("apikey", API_KEY)
                .header("authorization", format!("Basic {good}")),
            "Bearer error=\"invalid_token\"",
        ),
        (
            "an unknown token",
            build().header("apikey", API_KEY).header(
                "authorization",
                "Bearer 0b7c2f6e-8a1d-41eb-8dcd-0242ac130003",
            ),
            "Bearer error=\"invalid_token\"",
        ),
        (
            "two tokens",
            build()
                .header("apikey", API_KEY)
                .header("authorization", &bearer)
                .header("authorization", &bearer),
            "Bearer error=\"invalid_token\"",
        ),
        (
            "bytes that are not text",
            build()
                .header("apikey", API_KEY)
                .header("authorization", &b"Bearer \xff\xfe"[..]),
            "Bearer error=\"invalid_token\"",
        ),
        (
            "a huge token",
            build()
                .header("apikey", API_KEY)
                .header("authorization", format!("Bearer {}", "a".repeat(15_000))),
            "Bearer error=\"invalid_token\"",
        ),
    ] {
        // Within the budget for failures.
        world.clock.advance(Duration::from_secs(1));
        let answer = world.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(
            (answer.status, answer.error_code()),
            (StatusCode::UNAUTHORIZED, "EC401"),
            "{name}"
        );
        assert_eq!(answer.header("www-authenticate"), challenge, "{name}");
    }
    world.clock.advance(Duration::from_secs(1));
    let answer = world
        .send(statement_request(API_KEY, &good.to_uppercase(), body))
        .await;
    assert_eq!(
        answer.status,
        StatusCode::UNAUTHORIZED,
        "tokens are compared as spelled"
    );
    assert_eq!(world.ledger.asked.load(Ordering::SeqCst), 0);
}

/// The headers arrive while the token is valid, and the end of the body when the token is not valid
/// any more.
#[tokio::test]
async fn a_token_that_expires_or_is_revoked_while_the_body_arrives_gets_no_page() {
    let body = r#"{"accountId":"1"}"#;
    let world = World::new();
    let token = world.token("ACME", names::STATEMENT_READ).await;
    for (advance, status) in [(3_599_999, StatusCode::OK), (1, StatusCode::UNAUTHORIZED)] {
        let clock = Arc::clone(&world.clock);
        let pause = async move { clock.advance(Duration::from_millis(advance)) };
        let answer = world
            .send(statement_request(
                API_KEY,
                &token,
                body_with_pause(body, pause),
            ))
            .await;
        assert_eq!(answer.status, status, "{advance}");
    }
    let token = world.token("ACME", names::STATEMENT_READ).await;
    let (stores, hash) = (
        Arc::clone(&world.stores),
        AccessToken::parse(&token).unwrap().hash(),
    );
    let pause = async move {
        assert!(stores.memory.revoke(hash).await.unwrap());
    };
    let answer = world
        .send(statement_request(
            API_KEY,
            &token,
            body_with_pause(body, pause),
        ))
        .await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert_eq!(world.ledger.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_scope_is_checked_before_the_limit_is_charged() {
    let world = World::new();
    let token = world.token("ACME", names::MANDATE_READ).await;
    for _ in 0..30 {
        let answer = world
            .send(statement_request(API_KEY, &token, r#"{"accountId":"2"}"#))
            .await;
        assert_eq!(
            (answer.status, answer.error_code()),
            (StatusCode::FORBIDDEN, "EC403")
        );
        let expected = format!(
            "Bearer error=\"insufficient_scope\", scope=\"{}\"",
            names::STATEMENT_READ
        );
        assert_eq!(answer.header("www-authenticate"), expected);
    }
    assert_eq!(
        world.statement(r#"{"accountId":"2"}"#).await.status,
        StatusCode::OK
    );
    let world =
        World::with(|options| options.statement_scope(names::MANDATE_READ.parse().unwrap()));
    let token = world.token("ACME", names::MANDATE_READ).await;
    let answer = world
        .send(statement_request(API_KEY, &token, r#"{"accountId":"2"}"#))
        .await;
    assert_eq!(answer.status, StatusCode::OK);
}

/// Specification: "Authentication", rule 4: a scope defines what may be accessed and whether read
/// or write.
#[tokio::test]
async fn writing_a_statement_is_not_reading_it() {
    let world = World::new();
    for scope in [
        "GBL.INSTO.ACCOUNTS.STATEMENT.WRITE",
        "GBL.INSTO.ACCOUNTS.STATEMENT",
        "GBL.INSTO.ACCOUNTS.READ",
    ] {
        let token = world.token("ACME", scope).await;
        let answer = world
            .send(statement_request(API_KEY, &token, r#"{"accountId":"2"}"#))
            .await;
        assert_eq!(
            (answer.status, answer.error_code()),
            (StatusCode::FORBIDDEN, "EC403"),
            "{scope}"
        );
    }
}

#[tokio::test]
async fn a_scope_taken_from_the_customer_is_taken_from_its_tokens() {
    let world = World::with(|options| options.statement_scope("NEW.SCOPE".parse().unwrap()));
    let token = world.token("ACME", "NEW.SCOPE").await;
    let answer = world
        .send(statement_request(API_KEY, &token, r#"{"accountId":"2"}"#))
        .await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::FORBIDDEN, "EC403")
    );
}

#[tokio::test]
async fn bodies_that_are_not_requests() {
    let world = World::new();
    for body in [
        "",
        "{}",
        "[]",
        "null",
        r#"{"accountId":1}"#,
        r#"{"accountId":"1","accountId":"2"}"#,
        r#"{"accountId":"1","includeNarrative":1}"#,
        r#"{"accountId":"1","maxEntries":0}"#,
        r#"{"accountId":"1","maxEntries":1001}"#,
        r#"{"accountId":"1","sortOrder":"sideways"}"#,
        r#"{"accountId":"1","extract":"priorday"}"#,
        r#"{"accountId":"1"} x"#,
        "{\"accountId\":\"\u{0}\"}",
        r#"{"accountId":"\ud800"}"#,
    ] {
        let answer = world.statement(body).await;
        assert_eq!(
            (answer.status, answer.error_code()),
            (StatusCode::BAD_REQUEST, "EC42001"),
            "{body}"
        );
    }
    let doubled = world
        .statement(r#"{"accountId":"1","accountId":"2"}"#)
        .await;
    let title = doubled.json["error"]["title"].as_str().unwrap().to_owned();
    assert!(
        title.contains("accountId") && title.contains("once"),
        "{title}"
    );
    let token = world.token("ACME", names::STATEMENT_READ).await;
    for body in [&b"{\"accountId\":\"\xff\"}"[..], &[b'['; 16_000]] {
        let answer = world
            .send(statement_request(API_KEY, &token, body.to_vec()))
            .await;
        assert_eq!(
            (answer.status, answer.error_code()),
            (StatusCode::BAD_REQUEST, "EC42001")
        );
    }
}

#[tokio::test]
async fn media_types_and_sizes() {
    let world = World::new();
    let token = world.token("ACME", names::STATEMENT_READ).await;
    let body = r#"{"accountId":"2"}"#;
    for (content_type, status) in [
        (Some("application/json"), StatusCode::OK),
        (Some("Application/JSON; charset=utf-8"), StatusCode::OK),
        (Some("text/plain"), StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (
            Some("application/jsonp"),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ),
        (None, StatusCode::UNSUPPORTED_MEDIA_TYPE),
    ] {
        let mut request = statement_request(API_KEY, &token, body);
        request.headers_mut().remove("content-type");
        if let Some(content_type) = content_type {
            request
                .headers_mut()
                .insert("content-type", content_type.parse().unwrap());
        }
        let answer = world.send(request).await;
        assert_eq!(answer.status, status, "{content_type:?}");
        assert!(answer.status == StatusCode::OK || answer.error_code() == "EC415");
    }
    let mut packed = statement_request(API_KEY, &token, body);
    packed
        .headers_mut()
        .insert("content-encoding", "gzip".parse().unwrap());
    let answer = world.send(packed).await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::UNSUPPORTED_MEDIA_TYPE, "EC415")
    );
    assert_eq!(
        answer.json["error"]["title"],
        "Expected a body without content encoding"
    );
    let mut without_key = statement_request(API_KEY, &token, body);
    without_key.headers_mut().remove("apikey");
    assert_eq!(
        world.send(without_key).await.json["error"]["title"],
        "API key required"
    );
    let large = format!("{{\"accountId\":\"{}\"}}", "1".repeat(17_000));
    let answer = world.send(statement_request(API_KEY, &token, large)).await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::PAYLOAD_TOO_LARGE, "EC413")
    );
}

#[tokio::test]
async fn failures_of_directory_ledger_and_stores() {
    let body = r#"{"accountId":"1"}"#;
    let world = World::new();
    world.ledger.fault.set(Fault::Fails);
    let answer = world.statement(body).await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::INTERNAL_SERVER_ERROR, "EC20003")
    );
    assert_eq!(
        answer.json["error"]["title"],
        "Error retrieving account statement for account id: '1'"
    );

    world.ledger.fault.set(Fault::Panics);
    let answer = world.statement(body).await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::INTERNAL_SERVER_ERROR, "EC20005")
    );
    assert!(
        answer.json["error"]["title"]
            .as_str()
            .unwrap()
            .contains(answer.header("x-requestkey"))
    );

    let world = World::new();
    let token = world.token("ACME", names::STATEMENT_READ).await;
    world.stores.tokens.set(Fault::Fails);
    let answer = world.send(statement_request(API_KEY, &token, body)).await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::SERVICE_UNAVAILABLE, "EC20005")
    );

    // A wrong answer of the ledger is an error.
    let world = World::new();
    let answer = world.statement(r#"{"accountId":"5"}"#).await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::INTERNAL_SERVER_ERROR, "EC20003"),
        "a foreign currency"
    );
    world.ledger.surplus.store(1, Ordering::SeqCst);
    let answer = world.statement(r#"{"accountId":"1","maxEntries":2}"#).await;
    assert_eq!(answer.error_code(), "EC20003", "too many entries");
}

#[tokio::test]
async fn guessed_tokens_are_charged_and_never_refuse_a_right_one() {
    let world = World::with(|options| options.rate_limit_headers(true));
    let body = r#"{"accountId":"2"}"#;
    let guess = || statement_request(API_KEY, "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003", body);
    let mut statuses = Vec::new();
    for _ in 0..62 {
        world.clock.advance(Duration::from_secs(1));
        let answer = world.send(guess()).await;
        statuses.push(answer.status.as_u16());
        assert!(
            answer.headers.get("ratelimit").is_none(),
            "the budget is not the customer's limit"
        );
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            assert_eq!(answer.error_code(), "EC429");
            assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0);
        }
    }
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 60);
    assert_eq!(statuses[60..], [429, 429]);
    let right = world.statement(body).await;
    assert_eq!(
        (right.status, right.header("ratelimit")),
        (StatusCode::OK, "\"hour\";r=24;t=3538")
    );
    let token = world.token("BETA", names::STATEMENT_READ).await;
    let other = world
        .send(statement_request(OTHER_KEY, &token, r#"{"accountId":"1"}"#))
        .await;
    assert_eq!(other.status, StatusCode::OK);
}
