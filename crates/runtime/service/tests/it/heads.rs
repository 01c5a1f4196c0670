//! Requests with too long addresses and headers, and the bodies of refusals before an endpoint's
//! own checks.

use crate::world::{API_KEY, SCOPES, World, statement_request, token_request};
use axum::body::Body;
use bankrail_http::{AnswerBy, HeadBounds, HeadError, KnownCaller};
use http::{Request, StatusCode};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test(flavor = "current_thread")]
async fn heads_are_refused_with_body_and_request_key() {
    let world = World::with(|options| {
        options.head_bounds(HeadBounds::new().max_uri_bytes(100).max_header_bytes(300))
    });
    let long = "x".repeat(400);
    for path in ["/accounts/v2.0/statement", "/elsewhere"] {
        let uri = Request::post(format!("{path}?{long}"))
            .body(Body::from("unread"))
            .unwrap();
        let answer = world.send(uri).await;
        assert_eq!(
            (answer.status.as_u16(), answer.error_code()),
            (414, "EC414")
        );
        let headers = Request::post(path)
            .header("x-long", &long)
            .body(Body::empty())
            .unwrap();
        let answer = world.send(headers).await;
        assert_eq!(
            (answer.status.as_u16(), answer.error_code()),
            (431, "EC431")
        );
        let hosts = Request::post(path)
            .header("host", "a")
            .header("host", "a")
            .body(Body::empty())
            .unwrap();
        let answer = world.send(hosts).await;
        assert_eq!(
            (answer.status.as_u16(), answer.error_code()),
            (400, "EC400")
        );
        let expected = "expected one Host header with a host, found none, several or another value";
        assert_eq!(answer.json["error"]["title"], expected);
    }
    for (request, status) in [
        (Request::post(format!("/v1.0/auth?{long}")), 414),
        (Request::post("/v1.0/auth").header("x-long", &long), 431),
        (
            Request::post("/v1.0/auth")
                .header("host", "a")
                .header("host", "a"),
            400,
        ),
    ] {
        let answer = world.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json["error"]),
            (status, &"invalid_request".into())
        );
        assert!(!answer.header("x-requestkey").is_empty());
        assert_eq!(answer.header("cache-control"), "no-store");
    }
}

/// The faults that `serve::Server` finds in a head, such as one without `Host`, are answered with
/// body and request key.
#[tokio::test(flavor = "current_thread")]
async fn what_the_server_finds_in_a_head_is_refused_with_body_and_request_key() {
    let world = World::new();
    let found = |method: &str, uri: &str, fault: HeadError| {
        let mut request = Request::builder()
            .method(method)
            .uri(uri)
            .body(Body::empty())
            .unwrap();
        request.extensions_mut().insert(fault);
        request
    };
    for (status, code) in [(400, "EC400"), (414, "EC414"), (431, "EC431")] {
        let status = StatusCode::from_u16(status).unwrap();
        let answer = world
            .send(found("OPTIONS", "*", HeadError::Unreadable { status }))
            .await;
        assert_eq!((answer.status, answer.error_code()), (status, code));
    }
    let answer = world
        .send(found("POST", "/accounts/v2.0/statement", HeadError::Host))
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.error_code()),
        (400, "EC400")
    );
    let answer = world
        .send(found("POST", "/v1.0/auth", HeadError::Host))
        .await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json["error"]),
        (400, &"invalid_request".into())
    );
    assert!(!answer.header("x-requestkey").is_empty());
}

/// A token request may have 32 KiB and a statement request 16 KiB, and not a byte more.
#[tokio::test(flavor = "current_thread")]
async fn bodies_have_the_bounds_of_the_defaults() {
    let world = World::new();
    let form = world.form(SCOPES);
    let padded =
        |bytes: usize| format!("{form}&x={}", "y".repeat(bytes - form.len() - "&x=".len()));
    let answer = world.send(token_request(API_KEY, padded(32 << 10))).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let token = answer.json["access_token"].as_str().unwrap();
    let answer = world
        .send(token_request(API_KEY, padded((32 << 10) + 1)))
        .await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json["error"]),
        (413, &"invalid_request".into())
    );
    let padded = |bytes: usize| format!("{:bytes$}", r#"{"accountId":"1"}"#);
    let answer = world
        .send(statement_request(API_KEY, token, padded(16 << 10)))
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let answer = world
        .send(statement_request(API_KEY, token, padded((16 << 10) + 1)))
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.error_code()),
        (413, "EC413")
    );
}

#[tokio::test(flavor = "current_thread")]
async fn texts_say_what_is_missing_or_too_much() {
    let world = World::new();
    let no_key = Request::post("/accounts/v2.0/statement")
        .body(Body::empty())
        .unwrap();
    assert_eq!(
        world.send(no_key).await.json["error"]["title"],
        "API key required"
    );
    let wrong = world.send(statement_request("nobody", "x", "{}")).await;
    assert_eq!(wrong.json["error"]["title"], "Invalid API key");
    let no_key = Request::post("/v1.0/auth").body(Body::empty()).unwrap();
    assert_eq!(
        world.send(no_key).await.json["error_description"],
        "API key required"
    );

    let token = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    let token = token.json["access_token"].as_str().unwrap();
    let mut packed = statement_request(API_KEY, token, r#"{"accountId":"1"}"#);
    packed
        .headers_mut()
        .insert("content-encoding", "gzip".parse().unwrap());
    let answer = world.send(packed).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("accept-encoding")),
        (415, "identity")
    );
    assert_eq!(
        answer.json["error"]["title"],
        "Expected a body without content encoding"
    );
    let mut packed = token_request(API_KEY, world.form(SCOPES));
    packed
        .headers_mut()
        .insert("content-encoding", "gzip".parse().unwrap());
    let answer = world.send(packed).await;
    assert_eq!(
        answer.json["error_description"],
        "Expected a body without content encoding"
    );

    let mut last = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    for _ in 0..3 {
        last = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    }
    assert_eq!(
        (last.status.as_u16(), &last.json["error_description"]),
        (429, &"Rate limit exceeded".into())
    );
}

/// The server's time for a request ends before the body does: the answer is the endpoint's own.
#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn a_request_whose_time_is_over_is_answered_by_its_endpoint() {
    let world = World::with(|options| options.body_timeout(Duration::from_secs(600)));
    let never = || {
        Body::from_stream(futures_util::stream::pending::<
            Result<Vec<u8>, std::io::Error>,
        >())
    };
    let late = |mut request: Request<Body>| {
        *request.body_mut() = never();
        request
            .extensions_mut()
            .insert(AnswerBy(Instant::now() + Duration::from_secs(60)));
        request
    };
    let begun = Instant::now();
    let answer = world
        .send(late(token_request(API_KEY, String::new())))
        .await;
    assert_eq!(
        (answer.status.as_u16(), &answer.json["error"]),
        (503, &"temporarily_unavailable".into())
    );
    assert!(!answer.header("x-requestkey").is_empty());
    let answer = world
        .send(late(statement_request(API_KEY, "x", "{}")))
        .await;
    assert_eq!(
        (answer.status.as_u16(), answer.error_code()),
        (503, "EC20005")
    );
    assert!(!answer.header("x-requestkey").is_empty());
    assert_eq!(begun.elapsed().as_secs(), 120);
}

#[tokio::test(flavor = "current_thread")]
async fn an_api_key_names_its_customer_and_a_token_makes_it_known() {
    let world = World::with(|options| options);
    let answer = world.send(token_request(API_KEY, world.form(SCOPES))).await;
    let token = answer.json["access_token"].as_str().unwrap();
    for (key, token, expected) in [
        ("another", token, &[][..]),
        (API_KEY, "invented", &[true]),
        (API_KEY, token, &[true, false]),
    ] {
        let told = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&told);
        let mut request = statement_request(key, token, "{}".to_owned());
        request
            .extensions_mut()
            .insert(KnownCaller::new(move |name| {
                record
                    .lock()
                    .unwrap()
                    .push(name.is_some_and(|name| !name.is_empty()));
            }));
        world.send(request).await;
        assert_eq!(*told.lock().unwrap(), expected, "{key} {token}");
    }
}
