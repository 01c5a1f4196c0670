//! Limits at the endpoints.

use crate::world::World;
use bankrail_rate_limit::{
    CallType, Charge, CounterStore, Decision, Limiter, Limits, OnStoreFailure,
};
use bankrail_values::{StoreErrorKind, StoreFuture};
use http::StatusCode;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn the_26th_statement_within_the_hour_waits() {
    let world = World::new();
    for _ in 0..25 {
        assert_eq!(
            world.statement(r#"{"accountId":"2"}"#).await.status,
            StatusCode::OK
        );
    }
    // Charged and refused before the body is judged.
    let answer = world.statement("no JSON").await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::TOO_MANY_REQUESTS, "EC429")
    );
    assert!(answer.headers.get("ratelimit").is_none());
    let wait: u64 = answer.header("retry-after").parse().unwrap();
    world.clock.advance(Duration::from_secs(wait - 1));
    let limits = world.statement(r#"{"accountId":"2"}"#).await;
    assert_eq!(
        limits.status,
        StatusCode::TOO_MANY_REQUESTS,
        "one second early"
    );
    world.clock.advance(Duration::from_secs(
        limits.header("retry-after").parse().unwrap(),
    ));
    assert_eq!(
        world.statement(r#"{"accountId":"2"}"#).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn failed_requests_count_and_headers_are_optional() {
    let world = World::with(|options| options.rate_limit_headers(true));
    let answer = world.statement("no JSON").await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert_eq!(answer.header("ratelimit-policy"), "\"hour\";q=25;w=3600");
    assert_eq!(answer.header("ratelimit"), "\"hour\";r=24;t=3600");
    for _ in 0..24 {
        world.statement(r#"{"accountId":"2"}"#).await;
    }
    let answer = world.statement(r#"{"accountId":"2"}"#).await;
    assert_eq!(
        (answer.status, answer.header("ratelimit")),
        (StatusCode::TOO_MANY_REQUESTS, "\"hour\";r=0;t=3600")
    );
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
    let refusing = Arc::new(Limiter::new(Limits::default(), Arc::new(Down)));
    let world = World::with(|options| options.limiter(refusing));
    let answer = world.statement(r#"{"accountId":"2"}"#).await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::SERVICE_UNAVAILABLE, "EC20005")
    );
    let mut limits = Limits::default();
    limits.set_on_store_failure(CallType::Statement, OnStoreFailure::Allow);
    let allowing = Arc::new(Limiter::new(limits, Arc::new(Down)));
    let world = World::with(|options| options.limiter(allowing));
    assert_eq!(
        world.statement(r#"{"accountId":"2"}"#).await.status,
        StatusCode::OK
    );
}
