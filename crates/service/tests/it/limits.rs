//! Limits at the endpoints, and the layer for services of one's own.

use crate::world::{World, send};
use axum::Router;
use axum::body::Body;
use axum::routing::get;
use bankrail_rate_limit::{CallType, Charge, CounterStore, Decision, Limiter, Limits, OnStoreError, StoreLimiter};
use bankrail_service::limit::{LimitKey, LimitLayer, RefusalBody};
use bankrail_values::{Clock as _, ManualClock, StoreErrorKind, StoreFuture};
use http::{Request, StatusCode};
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn the_26th_statement_within_the_hour_waits() {
    let world = World::new();
    for _ in 0..25 {
        assert_eq!(world.statement(r#"{"accountId":"2"}"#).await.status, StatusCode::OK);
    }
    // Charged and refused before the body is looked at.
    let answer = world.statement("no JSON").await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::TOO_MANY_REQUESTS, "EC429"));
    assert!(answer.headers.get("ratelimit").is_none());
    let wait: u64 = answer.header("retry-after").parse().unwrap();
    world.clock.advance(Duration::from_secs(wait - 1));
    let limits = world.statement(r#"{"accountId":"2"}"#).await;
    assert_eq!(limits.status, StatusCode::TOO_MANY_REQUESTS, "one second early");
    world.clock.advance(Duration::from_secs(limits.header("retry-after").parse().unwrap()));
    assert_eq!(world.statement(r#"{"accountId":"2"}"#).await.status, StatusCode::OK);
}

#[tokio::test]
async fn failed_requests_count_and_headers_tell_when_wanted() {
    let world = World::with(|builder| builder.rate_limit_headers(true));
    let answer = world.statement("no JSON").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(answer.header("ratelimit-policy"), "\"hour\";q=25;w=3600");
    assert_eq!(answer.header("ratelimit"), "\"hour\";r=24;t=3600");
    for _ in 0..24 {
        world.statement(r#"{"accountId":"2"}"#).await;
    }
    let answer = world.statement(r#"{"accountId":"2"}"#).await;
    assert_eq!((answer.status, answer.header("ratelimit")), (StatusCode::TOO_MANY_REQUESTS, "\"hour\";r=0;t=3600"));
}

#[derive(Debug)]
struct Down;

impl CounterStore for Down {
    fn charge<'a>(&'a self, _: Charge<'a>) -> StoreFuture<'a, Decision> {
        Box::pin(async { Err(StoreErrorKind::Unavailable.into()) })
    }
}

#[tokio::test]
async fn counters_that_cannot_be_reached() {
    let refusing = Arc::new(StoreLimiter::new(Limits::default(), Arc::new(Down)));
    let world = World::with(|builder| builder.limits(refusing));
    let answer = world.statement(r#"{"accountId":"2"}"#).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::SERVICE_UNAVAILABLE, "EC503"));
    let allowing = StoreLimiter::new(Limits::default(), Arc::new(Down));
    let allowing = Arc::new(allowing.on_store_error(CallType::Statement, OnStoreError::Allow));
    let world = World::with(|builder| builder.limits(allowing));
    assert_eq!(world.statement(r#"{"accountId":"2"}"#).await.status, StatusCode::OK);
}

fn layered(change: impl FnOnce(LimitLayer) -> LimitLayer) -> (Router, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new("2021-07-29T01:00:00.000Z".parse().unwrap()));
    let limits = Arc::new(StoreLimiter::new(Limits::default(), Arc::new(Limiter::default())));
    let layer = LimitLayer::new(limits, Arc::clone(&clock) as _, |request| {
        let customer = request.headers.get("customer")?.to_str().ok()?;
        Some(LimitKey::new(customer, CallType::PaymentInstruction))
    });
    (Router::new().route("/", get(|| async { "served" })).layer(change(layer)), clock)
}

async fn ask(router: &Router, customer: Option<&str>) -> crate::world::Answer {
    let mut request = Request::get("/");
    if let Some(customer) = customer {
        request = request.header("customer", customer);
    }
    send(router.clone(), request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn the_layer_refuses_by_key_and_lets_the_rest_pass() {
    let (router, clock) = layered(|layer| layer);
    for _ in 0..5 {
        assert_eq!(ask(&router, Some("ACME")).await.text, "served");
    }
    let refused = ask(&router, Some("ACME")).await;
    assert_eq!((refused.status, refused.text.as_str()), (StatusCode::TOO_MANY_REQUESTS, ""));
    assert_eq!(refused.header("retry-after"), "2");
    assert!(refused.header("x-requestkey").parse::<bankrail_values::HyphenatedUuid>().is_ok());
    for _ in 0..9 {
        assert_eq!(ask(&router, None).await.status, StatusCode::OK);
        let _ = clock.now();
    }
    assert_eq!(ask(&router, Some("BETA")).await.status, StatusCode::OK);
    clock.advance(Duration::from_secs(2));
    assert_eq!(ask(&router, Some("ACME")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn the_layer_says_what_it_is_told_to() {
    let (router, _) = layered(|layer| layer.with_problem_json().with_rate_limit_headers());
    let served = ask(&router, Some("ACME")).await;
    assert_eq!(served.header("ratelimit-policy"), "\"second\";q=5;w=1");
    assert_eq!(served.header("ratelimit"), "\"second\";r=4;t=1");
    for _ in 0..4 {
        ask(&router, Some("ACME")).await;
    }
    let refused = ask(&router, Some("ACME")).await;
    assert_eq!(refused.header("content-type"), "application/problem+json");
    assert_eq!(refused.header("ratelimit"), "\"second\";r=0;t=1");
    assert_eq!(refused.json["type"], "https://iana.org/assignments/http-problem-types#quota-exceeded");
    assert_eq!((&refused.json["status"], &refused.json["violated-policies"][0]), (&429.into(), &"second".into()));

    let (router, _) = layered(|layer| {
        layer.with_body(|refusal, key| {
            RefusalBody::json(format!("{{\"status\":{},\"key\":\"{key}\"}}", refusal.status().as_u16()))
        })
    });
    for _ in 0..5 {
        ask(&router, Some("ACME")).await;
    }
    let refused = ask(&router, Some("ACME")).await;
    assert_eq!(
        (&refused.json["status"], refused.json["key"].as_str().unwrap()),
        (&429.into(), refused.header("x-requestkey"))
    );
}
