//! The token endpoint: which requests get a token, and the order of its checks.

use crate::world::{
    API_KEY, AUDIENCE, FORM, Fault, LIMITED, OTHER_KEY, SCOPES, World, body_with_pause, keys,
    provider, send, statement_request, token_request,
};
use axum::body::Body;
use bankrail_client_assertion::token::{
    AccessToken, TokenErrorBody, TokenErrorCode, TokenRequest, TokenStore, names,
};
use bankrail_client_assertion::{
    AssertionBuilder, AssertionOptions, Audience, CustomerCode, ReplayPolicy,
};
use bankrail_service::{ProviderOptions, TokenErrorStyle};
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::{Clock, ManualClock};
use futures_util::stream;
use http::{Request, StatusCode};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn asking(assertion: &str, scope: &str) -> String {
    TokenRequest::new(assertion, scope.parse().unwrap()).to_form()
}

#[tokio::test]
async fn a_good_request_gets_a_token_that_opens_a_statement() {
    let world = World::new();
    let answer = world
        .send(token_request(API_KEY, world.form(names::STATEMENT_READ)))
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(answer.json["token_type"], "Bearer");
    assert_eq!(answer.json["expires_in"], 3600);
    assert!(answer.json.get("scope").is_none(), "granted as asked");
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(
        (answer.header("cache-control"), answer.header("pragma")),
        ("no-store", "no-cache")
    );
    let token = answer.json["access_token"].as_str().unwrap();
    assert!(token.parse::<bankrail_values::HyphenatedUuid>().is_ok());
    let statement = || statement_request(API_KEY, token, r#"{"accountId":"2"}"#);
    assert_eq!(world.send(statement()).await.status, StatusCode::OK);
    // The last second of its lifetime, and the first after it.
    world.clock.advance(Duration::from_millis(3_599_999));
    assert_eq!(world.send(statement()).await.status, StatusCode::OK);
    world.clock.advance(Duration::from_millis(1));
    assert_eq!(
        world.send(statement()).await.status,
        StatusCode::UNAUTHORIZED
    );
}

/// The headers come before `exp`, the end of the body at `exp`.
#[tokio::test]
async fn an_assertion_that_expires_while_its_body_arrives_gets_no_token() {
    for (advance, status) in [
        (299_999, StatusCode::OK),
        (300_000, StatusCode::UNAUTHORIZED),
    ] {
        let world = World::with(|options| options.replay_policy(ReplayPolicy::WholeAssertion));
        let clock = Arc::clone(&world.clock);
        let pause = async move { clock.advance(Duration::from_millis(advance)) };
        let body = body_with_pause(&world.form(SCOPES), pause);
        assert_eq!(
            world.send(token_request(API_KEY, body)).await.status,
            status,
            "{advance}"
        );
    }
}

#[tokio::test]
async fn the_life_of_a_token_begins_when_its_request_was_read() {
    let world = World::new();
    let clock = Arc::clone(&world.clock);
    let body = body_with_pause(&world.form(SCOPES), async move {
        clock.advance(Duration::from_secs(100))
    });
    let answer = world.send(token_request(API_KEY, body)).await;
    let token = answer.json["access_token"].as_str().unwrap();
    world.clock.advance(Duration::from_secs(3599));
    let statement = || statement_request(API_KEY, token, r#"{"accountId":"2"}"#);
    assert_eq!(world.send(statement()).await.status, StatusCode::OK);
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(
        world.send(statement()).await.status,
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test]
async fn every_answer_has_a_request_key_of_its_own() {
    let world = World::new();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..3 {
        let answer = world.send(token_request("nobody", "")).await;
        let key: bankrail_values::HyphenatedUuid = answer.header("x-requestkey").parse().unwrap();
        assert!(key.version() == 4 && key.is_rfc_variant() && seen.insert(key));
    }
}

#[tokio::test]
async fn scopes_are_cut_to_what_is_permitted() {
    let world = World::new();
    let asked = format!("{} {}", names::STATEMENT_READ, names::MANDATE_WRITE);
    let answer = world.send(token_request(API_KEY, world.form(&asked))).await;
    assert_eq!(answer.json["scope"], names::STATEMENT_READ);
    let answer = world
        .send(token_request(API_KEY, world.form(names::MANDATE_WRITE)))
        .await;
    assert_eq!(
        (answer.status, &answer.json["error"]),
        (StatusCode::BAD_REQUEST, &"invalid_scope".into())
    );
    assert_eq!(answer.header("cache-control"), "no-store");
}

#[tokio::test]
async fn nothing_is_checked_before_the_api_key() {
    let world = World::new();
    let form = world.form(SCOPES);
    let build = || Request::post("/v1.0/auth").header("content-type", FORM);
    for request in [
        build().body(Body::from(form.clone())),
        build()
            .header("apikey", "nobody")
            .body(Body::from(form.clone())),
        build().header("apikey", "").body(Body::from(form.clone())),
        build()
            .header("apikey", API_KEY)
            .header("apikey", API_KEY)
            .body(Body::from(form.clone())),
        build()
            .header("apikey", "k".repeat(4096))
            .body(Body::from(form.clone())),
        // A stranger does not learn that a body is too large.
        build()
            .header("apikey", "nobody")
            .body(Body::from(vec![b'x'; 1 << 20])),
    ] {
        let answer = world.send(request.unwrap()).await;
        assert_eq!(
            (answer.status, &answer.json["error"]),
            (StatusCode::UNAUTHORIZED, &"invalid_client".into())
        );
    }
    assert_eq!(
        world.send(token_request(API_KEY, form)).await.status,
        StatusCode::OK,
        "nobody was charged"
    );
}

#[tokio::test]
async fn a_missing_or_wrong_field_is_400_and_a_bad_assertion_401() {
    for field in [
        "grant_type",
        "client_assertion_type",
        "scope",
        "client_assertion",
    ] {
        let world = World::new();
        let good = world.form(SCOPES);
        let pairs: Vec<_> = good
            .split('&')
            .filter(|pair| !pair.starts_with(&format!("{field}=")))
            .collect();
        let answer = world.send(token_request(API_KEY, pairs.join("&"))).await;
        assert_eq!(
            (answer.status, &answer.json["error"]),
            (StatusCode::BAD_REQUEST, &"invalid_request".into()),
            "{field}"
        );
    }
    let world = World::new();
    let good = world.form(SCOPES);
    let answer = world
        .send(token_request(
            API_KEY,
            good.replace("client_credentials", "password"),
        ))
        .await;
    assert_eq!(answer.json["error"], "unsupported_grant_type");
    let answer = world
        .send(token_request(API_KEY, format!("{good}&scope=X")))
        .await;
    assert_eq!(
        (answer.status, &answer.json["error"]),
        (StatusCode::BAD_REQUEST, &"invalid_request".into())
    );
}

#[tokio::test]
async fn content_types() {
    for (content_type, status) in [
        (
            Some("application/x-www-form-urlencoded;charset=UTF-8"),
            StatusCode::OK,
        ),
        (Some("application/json"), StatusCode::BAD_REQUEST),
        (None, StatusCode::BAD_REQUEST),
    ] {
        let world = World::new();
        let mut request = Request::post("/v1.0/auth").header("apikey", API_KEY);
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        let answer = world
            .send(request.body(world.form(SCOPES).into()).unwrap())
            .await;
        assert_eq!(answer.status, status, "{content_type:?}");
    }
    let world = World::new();
    let mut twice = token_request(API_KEY, world.form(SCOPES));
    twice
        .headers_mut()
        .append("content-type", FORM.parse().unwrap());
    assert_eq!(world.send(twice).await.status, StatusCode::BAD_REQUEST);
    let mut packed = token_request(API_KEY, world.form(SCOPES));
    packed
        .headers_mut()
        .insert("content-encoding", "gzip".parse().unwrap());
    assert_eq!(world.send(packed).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn bad_assertions_are_answered_alike() {
    let world = World::new();
    let [acme, beta] = keys();
    let now = world.clock.now();
    let of = |customer: &str, audience: &str| {
        AssertionBuilder::new(
            CustomerCode::parse(customer).unwrap(),
            Audience::parse(audience).unwrap(),
            AssertionOptions::new(),
        )
    };
    let good = of("ACME", AUDIENCE).sign(acme, now).unwrap();
    let mut tampered = good.clone().into_bytes();
    let at = good.find('.').unwrap() + 9;
    tampered[at] = if tampered[at] == b'A' { b'B' } else { b'A' };
    let assertions = [
        ("tampered", String::from_utf8(tampered).unwrap()),
        (
            "another's key",
            of("ACME", AUDIENCE).sign(beta, now).unwrap(),
        ),
        (
            "another's assertion",
            of("BETA", AUDIENCE).sign(beta, now).unwrap(),
        ),
        (
            "another audience",
            of("ACME", "https://elsewhere.example/")
                .sign(acme, now)
                .unwrap(),
        ),
        (
            "expired",
            of("ACME", AUDIENCE)
                .sign(acme, now.saturating_sub(Duration::from_secs(7200)))
                .unwrap(),
        ),
        (
            "too far ahead",
            of("ACME", AUDIENCE)
                .sign(acme, now.saturating_add(Duration::from_secs(7200)))
                .unwrap(),
        ),
        ("no token", "rubbish".to_owned()),
    ];
    let mut bodies = std::collections::HashSet::new();
    for (name, assertion) in assertions {
        let world = World::new();
        let answer = world
            .send(token_request(API_KEY, asking(&assertion, SCOPES)))
            .await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{name}");
        bodies.insert(answer.text);
    }
    assert_eq!(
        bodies.into_iter().collect::<Vec<_>>(),
        [r#"{"error":"invalid_client"}"#]
    );
    let answer = world
        .send(token_request(
            API_KEY,
            format!("{}&client_id=BETA", asking(&good, SCOPES)),
        ))
        .await;
    assert_eq!(
        answer.status,
        StatusCode::UNAUTHORIZED,
        "client_id is another's"
    );
    let answer = world
        .send(token_request(OTHER_KEY, asking(&good, SCOPES)))
        .await;
    assert_eq!(
        answer.status,
        StatusCode::UNAUTHORIZED,
        "the key is another's"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_assertion_presented_many_times_at_once_gets_one_token() {
    let unlimited = bankrail_rate_limit::Policy::unlimited();
    let mut limits = bankrail_rate_limit::Limits::default();
    limits.set_default(bankrail_rate_limit::CallType::Token, unlimited);
    let limiter = bankrail_rate_limit::Limiter::new(
        limits,
        Arc::new(bankrail_rate_limit::MemoryCounters::default()),
    );
    let world = Arc::new(World::with(|options| options.limiter(Arc::new(limiter))));
    let form = world.form(SCOPES);
    let all: Vec<_> = (0..32)
        .map(|_| {
            let (world, form) = (Arc::clone(&world), form.clone());
            tokio::spawn(async move { world.send(token_request(API_KEY, form)).await.status })
        })
        .collect();
    let mut granted = 0;
    for one in all {
        match one.await.unwrap() {
            StatusCode::OK => granted += 1,
            other => assert_eq!(other, StatusCode::UNAUTHORIZED),
        }
    }
    assert_eq!(
        (granted, world.stores.issued.load(Ordering::SeqCst)),
        (1, 1)
    );
}

#[tokio::test]
async fn replay_policies() {
    let plain = |world: &World| {
        let audience = Audience::parse(AUDIENCE).unwrap();
        let made = AssertionBuilder::new(
            CustomerCode::parse("ACME").unwrap(),
            audience,
            AssertionOptions::new(),
        )
        .sign(&keys()[0], world.clock.now());
        asking(&made.unwrap(), SCOPES)
    };
    for (policy, first, second) in [
        (ReplayPolicy::JtiIfPresent, 200, 200),
        (ReplayPolicy::WholeAssertion, 200, 401),
        (ReplayPolicy::RequireJti, 401, 401),
        (ReplayPolicy::Off, 200, 200),
    ] {
        let world = World::with(|options| options.replay_policy(policy));
        let form = plain(&world);
        for expected in [first, second] {
            let answer = world.send(token_request(API_KEY, form.clone())).await;
            assert_eq!(answer.status.as_u16(), expected, "{policy:?}");
        }
    }
}

/// The store uses the provider's clock, which may be ahead of the one that judges assertions.
#[tokio::test]
async fn an_assertion_is_used_up_for_as_long_as_its_own_clock_takes_it_as_valid() {
    let behind = Arc::new(ManualClock::new(
        "2021-07-28T01:00:00.000Z".parse().unwrap(),
    ));
    let judge = Arc::clone(&behind) as Arc<dyn Clock>;
    let world = World::with(|options| {
        options
            .replay_policy(ReplayPolicy::WholeAssertion)
            .assertion_clock(judge)
    });
    let (code, audience) = (
        CustomerCode::parse("ACME").unwrap(),
        Audience::parse(AUDIENCE).unwrap(),
    );
    let assertion = AssertionBuilder::new(code, audience, AssertionOptions::new())
        .sign(&keys()[0], behind.now())
        .unwrap();
    for expected in [200, 401, 401] {
        let answer = world
            .send(token_request(API_KEY, asking(&assertion, SCOPES)))
            .await;
        assert_eq!(answer.status.as_u16(), expected);
        for clock in [&world.clock, &behind] {
            clock.advance(Duration::from_secs(60));
        }
    }
}

#[tokio::test]
async fn a_scope_that_is_refused_uses_up_no_assertion() {
    let world = World::with(|options| options.replay_policy(ReplayPolicy::WholeAssertion));
    let (code, audience) = (
        CustomerCode::parse("ACME").unwrap(),
        Audience::parse(AUDIENCE).unwrap(),
    );
    let assertion = AssertionBuilder::new(code, audience, AssertionOptions::new())
        .sign(&keys()[0], world.clock.now())
        .unwrap();
    for (scope, status) in [
        (names::MANDATE_WRITE, 400),
        (names::STATEMENT_READ, 200),
        (names::STATEMENT_READ, 401),
    ] {
        let answer = world
            .send(token_request(API_KEY, asking(&assertion, scope)))
            .await;
        assert_eq!(answer.status.as_u16(), status, "{scope}");
        // Two calls a second are allowed.
        world.clock.advance(Duration::from_secs(1));
    }
}

#[tokio::test]
async fn nothing_is_issued_while_a_store_fails() {
    let world = World::new();
    world.stores.replay.set(Fault::Fails);
    let answer = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.json["error"], "temporarily_unavailable");
    assert_eq!(world.stores.issued.load(Ordering::SeqCst), 0);

    let world = World::new();
    world.stores.tokens.set(Fault::Fails);
    let answer = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.json.get("access_token").is_none());

    let world = World::new();
    world.book.fault.set(Fault::Fails);
    let answer = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn the_third_token_in_a_second_waits() {
    let world = World::new();
    for _ in 0..2 {
        assert_eq!(
            world
                .send(token_request(API_KEY, world.form(SCOPES)))
                .await
                .status,
            StatusCode::OK
        );
    }
    let answer = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
    let wait: u64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=2).contains(&wait), "{wait}");
    world.clock.advance(Duration::from_secs(wait));
    assert_eq!(
        world
            .send(token_request(API_KEY, world.form(SCOPES)))
            .await
            .status,
        StatusCode::OK
    );
    // The other customer has limits of its own.
    let beta = asking(&world.assertion("BETA", &keys()[1]), names::STATEMENT_READ);
    assert_eq!(
        world.send(token_request(OTHER_KEY, beta)).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_body_that_takes_too_long_or_is_too_large() {
    let world = World::with(|options| {
        options
            .max_token_body_bytes(2000)
            .body_timeout(Duration::ZERO)
    });
    let never = Body::from_stream(stream::pending::<Result<String, std::io::Error>>());
    for (body, status) in [(never, 408), (Body::from(vec![b'x'; 2001]), 413)] {
        let answer = world.send(token_request(API_KEY, body)).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json["error"]),
            (status, &"invalid_request".into())
        );
        assert_eq!(answer.header("x-requestkey").len(), 36);
    }
}

#[tokio::test]
async fn too_large_comes_before_malformed() {
    let world = World::with(|options| options.max_token_body_bytes(2000));
    let mut request = token_request(API_KEY, vec![b'x'; 2001]);
    request
        .headers_mut()
        .insert("content-type", "text/plain".parse().unwrap());
    assert_eq!(
        world.send(request).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    let mut request = token_request(API_KEY, "");
    request
        .headers_mut()
        .insert("content-length", "2001".parse().unwrap());
    assert_eq!(
        world.send(request).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    assert_eq!(
        world
            .send(token_request(API_KEY, world.form(names::STATEMENT_READ)))
            .await
            .status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn bytes_that_are_not_a_form() {
    for form in [
        &b"\xff\xfe"[..],
        b"%",
        b"&&&===",
        b"scope=%ff&client_assertion=%00",
        &[0; 30_000],
    ] {
        let world = World::new();
        let answer = world.send(token_request(API_KEY, form.to_vec())).await;
        assert_eq!(
            (answer.status, &answer.json["error"]),
            (StatusCode::BAD_REQUEST, &"invalid_request".into())
        );
        assert!(answer.text.is_ascii());
    }
}

/// An attacker with an API key alone cannot lock the customer out: unproved requests have a
/// separate budget.
#[tokio::test]
async fn failures_before_a_valid_signature_never_refuse_a_right_request() {
    let world = World::new();
    let [acme, beta] = keys();
    let signed = |key| {
        let (code, audience) = (
            CustomerCode::parse("ACME").unwrap(),
            Audience::parse(AUDIENCE).unwrap(),
        );
        asking(
            &AssertionBuilder::new(code, audience, AssertionOptions::new())
                .sign(key, world.clock.now())
                .unwrap(),
            SCOPES,
        )
    };
    let old = signed(acme);
    let mut refused = std::collections::BTreeSet::new();
    for round in 0..20 {
        world.clock.advance(Duration::from_secs(500));
        let failing = [
            "rubbish".to_owned(),
            signed(beta),
            old.clone(),
            "x".repeat(40_000),
        ];
        for form in failing.iter().cycle().take(40) {
            refused.insert(
                world
                    .send(token_request(API_KEY, form.clone()))
                    .await
                    .status
                    .as_u16(),
            );
        }
        let answer = world.send(token_request(API_KEY, world.form(SCOPES))).await;
        assert_eq!(answer.status, StatusCode::OK, "{round}: {}", answer.text);
    }
    assert_eq!(
        refused.into_iter().collect::<Vec<_>>(),
        [400, 401, 413, 429]
    );
}

#[tokio::test]
async fn beyond_their_budget_failing_token_requests_get_429() {
    let world = World::with(|options| options.rate_limit_headers(true));
    let mut statuses = Vec::new();
    for _ in 0..62 {
        world.clock.advance(Duration::from_secs(1));
        let answer = world.send(token_request(API_KEY, "rubbish")).await;
        statuses.push(answer.status.as_u16());
        assert!(
            answer.headers.get("ratelimit").is_none(),
            "the budget is not the customer's limit"
        );
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            assert_eq!(answer.text, LIMITED);
            assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0);
        }
    }
    assert_eq!(statuses.iter().filter(|status| **status == 400).count(), 60);
    assert_eq!(statuses[60..], [429, 429]);
    // The request that proves right is served, and the other customer has a budget of its own.
    assert_eq!(
        world
            .send(token_request(API_KEY, world.form(SCOPES)))
            .await
            .status,
        StatusCode::OK
    );
    assert_eq!(
        world.send(token_request(OTHER_KEY, "rubbish")).await.status,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn a_proved_request_that_is_refused_counts_as_the_customers_own() {
    // An assertion that was used and a scope that is not permitted: ten in an hour.
    let world = World::with(|options| options.replay_policy(ReplayPolicy::WholeAssertion));
    let mut statuses = Vec::new();
    let used = world.form(SCOPES);
    for round in 0..11 {
        world.clock.advance(Duration::from_secs(1));
        let form = if round % 2 == 0 {
            used.clone()
        } else {
            world.form(names::MANDATE_WRITE)
        };
        statuses.push(
            world
                .send(token_request(API_KEY, form))
                .await
                .status
                .as_u16(),
        );
    }
    assert_eq!(
        statuses,
        [200, 400, 401, 400, 401, 400, 401, 400, 401, 400, 429]
    );
}

/// Default: "Token endpoint". The option's error body; the other tests of this file use that of RFC
/// 6749.
#[tokio::test]
async fn error_bodies_of_the_statement_exchange_by_option() {
    let world = World::with(|options| options.token_error_body(TokenErrorStyle::Statement));
    let good = world.form(SCOPES);
    let get = Request::get("/v1.0/auth")
        .header("apikey", API_KEY)
        .body(Body::empty())
        .unwrap();
    let mut without_key = token_request(API_KEY, good.clone());
    without_key.headers_mut().remove("apikey");
    let mut packed = token_request(API_KEY, good.clone());
    packed
        .headers_mut()
        .insert("content-encoding", "gzip".parse().unwrap());
    for (request, status, code, title) in [
        (
            token_request(API_KEY, "scope=A"),
            400,
            "EC42001",
            "expected",
        ),
        (
            token_request(API_KEY, world.form(names::MANDATE_WRITE)),
            400,
            "EC42001",
            "Invalid scope",
        ),
        (
            token_request(API_KEY, asking("rubbish", SCOPES)),
            401,
            "EC401",
            "Invalid client",
        ),
        (
            token_request("wrong", good.clone()),
            401,
            "EC401",
            "Invalid API key",
        ),
        (without_key, 401, "EC401", "API key required"),
        (get, 405, "EC405", "Method not allowed"),
        (
            packed,
            400,
            "EC42001",
            "Expected a body without content encoding",
        ),
        (
            token_request(API_KEY, "x".repeat(40_000)),
            413,
            "EC413",
            "Request body too large",
        ),
    ] {
        let answer = world.send(request).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json["error"]["statusCode"]),
            (status, &code.into())
        );
        let found = answer.json["error"]["title"].as_str().unwrap();
        assert!(found.starts_with(title), "{found}");
        assert_eq!(answer.json["requestKey"], answer.header("x-requestkey"));
        assert_eq!(
            (
                answer.header("content-type"),
                answer.header("cache-control")
            ),
            ("application/json", "no-store")
        );
        world.clock.advance(Duration::from_secs(1));
    }
    // What a client reads from it.
    let refused = world.send(token_request(API_KEY, "")).await;
    let read = TokenErrorBody::from_json(refused.text.as_bytes()).unwrap();
    assert_eq!(read.error, TokenErrorCode::Other("EC42001".into()));
    for _ in 0..2 {
        assert_eq!(
            world
                .send(token_request(API_KEY, world.form(SCOPES)))
                .await
                .status,
            StatusCode::OK
        );
    }
    let limited = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    assert_eq!(
        (
            limited.status.as_u16(),
            &limited.json["error"]["statusCode"]
        ),
        (429, &"EC429".into())
    );
    assert!(!limited.header("retry-after").is_empty());
    world.stores.tokens.set(Fault::Fails);
    world.clock.advance(Duration::from_secs(2));
    let failed = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    assert_eq!(
        (failed.status.as_u16(), &failed.json["error"]["statusCode"]),
        (503, &"EC20005".into())
    );
}

/// If one store has both, an assertion is used up together with its grant or not at all.
#[tokio::test]
async fn an_assertion_is_used_up_only_with_its_grant() {
    let world = World::new();
    let store = Arc::new(SqliteStore::open_in_memory(Default::default()).unwrap());
    let options = ProviderOptions::new().clock(Arc::clone(&world.clock) as Arc<dyn Clock>);
    let router = provider(&world.book, &world.ledger, &store, options)
        .unwrap()
        .router();
    let form = world.form(SCOPES);
    let ask = || send(router.clone(), token_request(API_KEY, form.clone()));
    let rename = |from: &str, to: &str| {
        let sql = format!("ALTER TABLE {from} RENAME TO {to}");
        store.transaction(move |transaction| transaction.connection().execute_batch(&sql))
    };
    rename("bankrail_token", "away").await.unwrap();
    assert_eq!(ask().await.status, StatusCode::SERVICE_UNAVAILABLE);
    rename("away", "bankrail_token").await.unwrap();
    let granted = ask().await;
    assert_eq!(granted.status, StatusCode::OK, "{}", granted.text);
    let token = AccessToken::parse(granted.json["access_token"].as_str().unwrap()).unwrap();
    assert!(
        store
            .find(token.hash(), world.clock.now())
            .await
            .unwrap()
            .is_some()
    );
    world.clock.advance(Duration::from_secs(2));
    let again = ask().await;
    assert_eq!(
        (again.status, &again.json["error"]),
        (StatusCode::UNAUTHORIZED, &"invalid_client".into())
    );
}
