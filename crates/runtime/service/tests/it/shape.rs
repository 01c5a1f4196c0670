//! Every answer has a request key and a JSON body, whatever the request.

use crate::world::{API_KEY, Fault, World, provider, send, token_request};
use axum::body::Body;
use bankrail_service::{ProviderOptions, ProviderOptionsError, StatementFailure};
use bankrail_statement::ErrorCode;
use http::{Method, Request, StatusCode};
use std::time::Duration;

fn request(method: Method, path: &str) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .body(Body::empty())
        .unwrap()
}

#[tokio::test]
async fn other_methods_are_405_and_told_which_is_allowed() {
    let world = World::new();
    for method in [
        Method::GET,
        Method::HEAD,
        Method::PUT,
        Method::DELETE,
        Method::OPTIONS,
        Method::PATCH,
        Method::TRACE,
    ] {
        let answer = world.send(request(method.clone(), "/v1.0/auth")).await;
        assert_eq!(
            (answer.status, answer.header("allow")),
            (StatusCode::METHOD_NOT_ALLOWED, "POST"),
            "{method}"
        );
        assert!(!answer.header("x-requestkey").is_empty());
        assert!(method == Method::HEAD || answer.json["error"] == "invalid_request");
        let answer = world
            .send(request(method.clone(), "/accounts/v2.0/statement"))
            .await;
        assert_eq!(
            (answer.status, answer.header("allow")),
            (StatusCode::METHOD_NOT_ALLOWED, "POST"),
            "{method}"
        );
        assert!(method == Method::HEAD || answer.error_code() == "EC405");
    }
}

#[tokio::test]
async fn anything_else_is_404() {
    let world = World::new();
    for path in [
        "/",
        "/v1.0/auth/",
        "/v1.0",
        "/accounts/v2.0/statement/1",
        "/accounts//v2.0/statement",
        "/%2e%2e/",
    ] {
        for method in [Method::GET, Method::POST] {
            let answer = world.send(request(method, path)).await;
            assert_eq!(
                (answer.status, answer.error_code()),
                (StatusCode::NOT_FOUND, "EC404"),
                "{path}"
            );
        }
    }
    for (router, there, elsewhere) in [
        (
            world.provider.token_router(),
            "/v1.0/auth",
            "/accounts/v2.0/statement",
        ),
        (
            world.provider.statement_router(),
            "/accounts/v2.0/statement",
            "/v1.0/auth",
        ),
    ] {
        assert_eq!(
            send(router.clone(), request(Method::GET, there))
                .await
                .status,
            StatusCode::METHOD_NOT_ALLOWED
        );
        assert_eq!(
            send(router, request(Method::GET, elsewhere))
                .await
                .error_code(),
            "EC404"
        );
    }
}

#[tokio::test]
async fn a_panic_is_answered() {
    let world = World::new();
    world.book.fault.set(Fault::Panics);
    let answer = world.send(token_request(API_KEY, "")).await;
    assert_eq!(
        (answer.status, &answer.json["error"]),
        (StatusCode::INTERNAL_SERVER_ERROR, &"server_error".into())
    );
    assert!(!answer.header("x-requestkey").is_empty());
    assert_eq!(world.statement("{}").await.error_code(), "EC20005");
}

#[tokio::test]
async fn paths_below_a_base() {
    let world = World::with(|options| {
        options
            .base_path("/bank/")
            .token_path("/token")
            .statement_path("/statement")
    });
    for path in ["/bank/token", "/bank/statement"] {
        assert_eq!(
            world.send(request(Method::POST, path)).await.status,
            StatusCode::UNAUTHORIZED,
            "{path}"
        );
    }
    assert_eq!(
        world.send(request(Method::POST, "/v1.0/auth")).await.status,
        StatusCode::NOT_FOUND
    );
}

#[test]
fn unusable_options_are_refused() {
    let world = World::new();
    let refused = |change: fn(ProviderOptions) -> ProviderOptions| {
        provider(
            &world.book,
            &world.ledger,
            &world.stores,
            change(ProviderOptions::new()),
        )
        .unwrap_err()
    };
    for path in [
        "", "/", "token", "/{all}", "/*rest", "/a//b", "/a b", "/a?b", "/:a", "/a/:b",
    ] {
        let options = ProviderOptions::new().token_path(path);
        let refused = provider(&world.book, &world.ledger, &world.stores, options).unwrap_err();
        assert!(
            matches!(refused, ProviderOptionsError::Path { .. }),
            "{path}: {refused}"
        );
    }
    let twice = refused(|options| options.token_path("/a").statement_path("/a"));
    assert!(matches!(twice, ProviderOptionsError::SamePath { .. }));
    assert_eq!(
        refused(|options| options.reporting_source("")),
        ProviderOptionsError::ReportingSource
    );
    let brief = refused(|options| options.token_lifetime(Duration::from_millis(999)));
    assert_eq!(brief, ProviderOptionsError::TokenLifetime);
    let code = |failure| ProviderOptions::new().error_code(failure, ErrorCode::for_status(404));
    let refused_code = provider(
        &world.book,
        &world.ledger,
        &world.stores,
        code(StatementFailure::AccountNotFound),
    );
    assert!(
        matches!(refused_code, Err(ProviderOptionsError::ErrorCode { .. })),
        "the specification's code"
    );
    assert!(
        provider(
            &world.book,
            &world.ledger,
            &world.stores,
            code(StatementFailure::Scope)
        )
        .is_ok()
    );
    let status =
        refused(|options| options.error_status(StatementFailure::RateLimit, StatusCode::FORBIDDEN));
    assert!(
        matches!(status, ProviderOptionsError::ErrorStatus { .. }),
        "the specification's status"
    );
    let bare =
        refused(|options| options.error_status(StatementFailure::Scope, StatusCode::NO_CONTENT));
    assert!(
        matches!(bare, ProviderOptionsError::ErrorStatus { .. }),
        "a status without a body"
    );
    let nowhere = refused(|options| options.report_time_zone("new york"));
    assert_eq!(
        nowhere.to_string(),
        r#"expected an IANA time zone such as America/New_York, found "new york""#
    );
    let offset = refused(|options| options.report_time_zone("+10:00"));
    assert_eq!(
        offset.to_string(),
        r#"expected an IANA time zone such as Australia/Sydney, found "+10:00""#
    );
}

/// The framework's own answers have a request key too.
#[tokio::test]
async fn every_answer_has_a_request_key() {
    let world = World::new();
    let routers = [
        world.provider.router(),
        world.provider.token_router(),
        world.provider.statement_router(),
    ];
    for router in routers {
        for method in ["GET", "HEAD", "POST", "OPTIONS", "TRACE", "PROPFIND"] {
            for path in [
                "/",
                "/v1.0/auth",
                "/accounts/v2.0/statement",
                "/accounts/v2.0/statement/",
                "//",
                "/%ff",
                "*",
            ] {
                let request = Request::builder()
                    .method(method)
                    .uri(path)
                    .body(Body::empty())
                    .unwrap();
                let answer = send(router.clone(), request).await;
                let key = answer.header("x-requestkey");
                assert!(
                    key.parse::<bankrail_values::HyphenatedUuid>().is_ok(),
                    "{method} {path}: {key:?}"
                );
            }
        }
    }
}

#[test]
fn printing_shows_no_secret() {
    let world = World::new();
    let shown = format!("{:?}", world.provider);
    assert!(!shown.contains(API_KEY) && shown.contains("CursorSecret(…)"));
}
