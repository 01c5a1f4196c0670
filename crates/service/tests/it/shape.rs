//! Every answer has a request key and a JSON body, whatever was asked.

use crate::world::{API_KEY, Fault, World, send, token_request};
use axum::body::Body;
use bankrail_service::{BuildError, Provider};
use http::{Method, Request, StatusCode};
use std::time::Duration;

fn request(method: Method, path: &str) -> Request<Body> {
    Request::builder().method(method).uri(path).body(Body::empty()).unwrap()
}

#[tokio::test]
async fn other_methods_are_405_and_told_which_is_allowed() {
    let world = World::new();
    for method in
        [Method::GET, Method::HEAD, Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH, Method::TRACE]
    {
        let answer = world.send(request(method.clone(), "/v1.0/auth")).await;
        assert_eq!((answer.status, answer.header("allow")), (StatusCode::METHOD_NOT_ALLOWED, "POST"), "{method}");
        assert!(!answer.header("x-requestkey").is_empty());
        assert!(method == Method::HEAD || answer.json["error"] == "invalid_request");
        let answer = world.send(request(method.clone(), "/accounts/v2.0/statement")).await;
        assert_eq!((answer.status, answer.header("allow")), (StatusCode::METHOD_NOT_ALLOWED, "POST"), "{method}");
        assert!(method == Method::HEAD || answer.error_code() == "EC405");
    }
}

#[tokio::test]
async fn anything_else_is_404() {
    let world = World::new();
    for path in ["/", "/v1.0/auth/", "/v1.0", "/accounts/v2.0/statement/1", "/accounts//v2.0/statement", "/%2e%2e/"] {
        for method in [Method::GET, Method::POST] {
            let answer = world.send(request(method, path)).await;
            assert_eq!((answer.status, answer.error_code()), (StatusCode::NOT_FOUND, "EC404"), "{path}");
        }
    }
    for (router, there, elsewhere) in [
        (world.provider.token_router(), "/v1.0/auth", "/accounts/v2.0/statement"),
        (world.provider.statement_router(), "/accounts/v2.0/statement", "/v1.0/auth"),
    ] {
        assert_eq!(send(router.clone(), request(Method::GET, there)).await.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(send(router, request(Method::GET, elsewhere)).await.error_code(), "EC404");
    }
}

#[tokio::test]
async fn a_panic_is_an_answer_too() {
    let world = World::new();
    world.book.fault.set(Fault::Panics);
    let answer = world.send(token_request(API_KEY, "")).await;
    assert_eq!((answer.status, &answer.json["error"]), (StatusCode::INTERNAL_SERVER_ERROR, &"server_error".into()));
    assert!(!answer.header("x-requestkey").is_empty());
    assert_eq!(world.statement("{}").await.error_code(), "EC20005");
}

#[tokio::test]
async fn paths_below_a_base() {
    let world = World::with(|builder| builder.base_path("/bank/").token_path("/token").statement_path("/statement"));
    for path in ["/bank/token", "/bank/statement"] {
        assert_eq!(world.send(request(Method::POST, path)).await.status, StatusCode::UNAUTHORIZED, "{path}");
    }
    assert_eq!(world.send(request(Method::POST, "/v1.0/auth")).await.status, StatusCode::NOT_FOUND);
}

#[test]
fn what_makes_no_provider() {
    let missing = Provider::builder().build().unwrap_err();
    assert_eq!(missing, BuildError::Missing { part: "directory" });
    for path in ["", "/", "token", "/{all}", "/*rest", "/a//b", "/a b", "/a?b", "/:a", "/a/:b"] {
        let refused = Provider::builder().token_path(path).build().unwrap_err();
        assert!(matches!(refused, BuildError::Path { .. }), "{path}: {refused}");
    }
    let twice = Provider::builder().token_path("/a").statement_path("/a").build().unwrap_err();
    assert!(matches!(twice, BuildError::SamePath { .. }));
    assert_eq!(Provider::builder().reporting_source("").build().unwrap_err(), BuildError::ReportingSource);
    let brief = Provider::builder().token_lifetime(Duration::from_millis(999)).build();
    assert!(matches!(brief, Err(BuildError::TokenLifetime)));
    assert!(matches!(Provider::builder().report_offset_minutes(841).build(), Err(BuildError::Offset { found: 841 })));
}

#[test]
fn printing_shows_no_secret() {
    let world = World::new();
    let shown = format!("{:?}", world.provider);
    assert!(!shown.contains(API_KEY) && shown.contains("CursorSecret(…)"));
}
