//! The outcome of each call that a layer around the routers sees.

use crate::world::{
    API_KEY, AUDIENCE, FORM, OTHER_KEY, SCOPES, World, keys, statement_request, token_request,
};
use axum::body::Body;
use bankrail_client_assertion::token::{TokenRequest, names};
use bankrail_client_assertion::{AssertionBuilder, AssertionOptions, Audience};
use bankrail_service::CallOutcome;
use bankrail_values::Clock as _;
use http::Request;
use std::time::Duration;
use tower::ServiceExt as _;

/// Returns `ENDPOINT CUSTOMER REFUSAL` of a call.
async fn outcome(world: &World, request: Request<Body>) -> String {
    let answer = world.router.clone().oneshot(request).await.unwrap();
    let outcome = CallOutcome::of(answer.extensions()).expect("each answer has its outcome");
    assert_eq!(
        outcome.refusal.is_none(),
        answer.status().is_success(),
        "{outcome:?}"
    );
    let customer = outcome.customer.as_ref().map_or("-", |code| code.as_str());
    let refusal = outcome
        .refusal
        .as_ref()
        .map_or_else(|| "served".to_owned(), ToString::to_string);
    format!("{} {customer} {refusal}", outcome.endpoint)
}

fn form(world: &World, audience: &str) -> String {
    let builder = AssertionBuilder::new(
        "ACME".parse().unwrap(),
        Audience::parse(audience).unwrap(),
        AssertionOptions::new(),
    );
    let assertion = builder.sign(&keys()[0], world.clock.now()).unwrap();
    TokenRequest::new(assertion, SCOPES.parse().unwrap()).to_form()
}

#[tokio::test(flavor = "current_thread")]
async fn the_reason_why_a_token_is_refused_is_known_to_the_provider_alone() {
    let world = World::new();
    let good = form(&world, AUDIENCE);
    let foreign = form(&world, "https://elsewhere.example");
    let unsigned = format!(
        "{}x",
        good.trim_end_matches(|c: char| c.is_ascii_alphanumeric())
    );
    for (request, expected) in [
        (
            token_request("nobody", good.clone()),
            "token - api_key: Invalid API key",
        ),
        (
            Request::post("/v1.0/auth")
                .header("content-type", FORM)
                .body(Body::empty())
                .unwrap(),
            "token - api_key: API key required",
        ),
        (
            token_request(API_KEY, foreign),
            "token ACME assertion: expected \"https://auth.example/v1.0/auth\" as the claim aud, found",
        ),
        (
            token_request(OTHER_KEY, good.clone()),
            "token BETA assertion: expected the customer of the API key as the claim sub",
        ),
        (token_request(API_KEY, unsigned), "token ACME assertion: "),
        (
            token_request(API_KEY, "grant_type=client_credentials"),
            "token ACME request: expected the parameter",
        ),
        (token_request(API_KEY, good), "token ACME served"),
    ] {
        // Two a second are allowed.
        world.clock.advance(Duration::from_secs(1));
        let found = outcome(&world, request).await;
        assert!(found.starts_with(expected), "{found}");
        assert!(
            !found.contains("eyJ") && !found.contains(API_KEY),
            "{found}"
        );
    }
    let refused = world
        .send(token_request(
            API_KEY,
            form(&world, "https://elsewhere.example"),
        ))
        .await;
    assert_eq!(
        refused.text, r#"{"error":"invalid_client"}"#,
        "the answer does not tell"
    );
}

#[tokio::test(flavor = "current_thread")]
async fn the_reason_why_a_statement_is_refused_holds_no_account() {
    let world = World::new();
    let token = world.token("ACME", names::STATEMENT_READ).await;
    let narrow = world.token("ACME", names::MANDATE_READ).await;
    let ask = |token: &str, body: &str| statement_request(API_KEY, token, body.to_owned());
    for (request, expected) in [
        (ask(&token, r#"{"accountId":"1"}"#), "statement ACME served"),
        (
            ask(&token, r#"{"accountId":"313371337"}"#),
            "statement ACME account: not found, or not registered",
        ),
        (
            ask(&token, "{}"),
            "statement ACME request: expected the member \"accountId\", found none",
        ),
        (
            ask("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003", "{}"),
            "statement ACME access_token: expected a valid access token",
        ),
        (
            ask(&narrow, "{}"),
            "statement ACME scope: expected a token with the scope GBL.INSTO.ACCOUNTS.STATEMENT.READ",
        ),
        (
            Request::get("/nowhere").body(Body::empty()).unwrap(),
            "none - path",
        ),
        (
            Request::get("/accounts/v2.0/statement")
                .body(Body::empty())
                .unwrap(),
            "statement - method",
        ),
    ] {
        let found = outcome(&world, request).await;
        assert!(found.starts_with(expected), "{found}");
        assert!(
            !found.contains("313371337") && !found.contains(&token),
            "{found}"
        );
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_used_up_limit_says_when_it_allows_again() {
    let world = World::new();
    let mut last = String::new();
    for _ in 0..3 {
        last = outcome(&world, token_request(API_KEY, world.form(SCOPES))).await;
    }
    assert_eq!(
        last,
        "token ACME limit: rate limit exceeded, allowed again in 2 s"
    );
}
