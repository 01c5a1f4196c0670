//! The metadata of the issuer, and the audiences that follow from its name.

use crate::world::{API_KEY, Answer, World, keys, provider, send, token_request};
use axum::body::Body;
use bankrail_client_assertion::token::TokenRequest;
use bankrail_client_assertion::{AssertionBuilder, AssertionOptions, Audience};
use bankrail_service::{ProviderOptions, ProviderOptionsError};
use bankrail_values::Clock as _;
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};

const ISSUER: &str = "https://bank.example";

async fn ask(world: &World, method: Method, path: &str) -> Answer {
    world
        .send(
            Request::builder()
                .method(method)
                .uri(path)
                .body(Body::empty())
                .unwrap(),
        )
        .await
}

#[tokio::test]
async fn the_issuer_publishes_its_metadata() {
    let world = World::with(|options| options.issuer(ISSUER));
    let expected = json!({
        "issuer": "https://bank.example",
        "token_endpoint": "https://bank.example/v1.0/auth",
        "grant_types_supported": ["client_credentials"],
        "token_endpoint_auth_methods_supported": ["private_key_jwt"],
        "token_endpoint_auth_signing_alg_values_supported": ["RS256"],
        "scopes_supported": ["GBL.INSTO.ACCOUNTS.STATEMENT.READ"],
        "authorization_endpoint": "https://bank.example/authorize",
        "response_types_supported": [],
        "jwks_uri": "https://bank.example/.well-known/jwks.json",
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    });
    for path in [
        "/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server",
    ] {
        let answer = ask(&world, Method::GET, path).await;
        assert_eq!(
            (answer.status, &answer.json),
            (StatusCode::OK, &expected),
            "{path}"
        );
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.header("cache-control"), "public, max-age=3600");
        assert!(!answer.header("x-requestkey").is_empty());
        let head = ask(&world, Method::HEAD, path).await;
        assert_eq!((head.status, &*head.text), (StatusCode::OK, ""), "{path}");
        assert_eq!(head.header("content-length"), answer.text.len().to_string());
    }
    let keys = ask(&world, Method::GET, "/.well-known/jwks.json").await;
    assert_eq!(
        (keys.status, &*keys.text),
        (StatusCode::OK, r#"{"keys":[]}"#)
    );
}

/// OpenID Connect Discovery puts the well-known part after the path of the issuer, RFC 8414 before
/// it.
#[tokio::test]
async fn an_issuer_with_a_path_has_its_metadata_before_and_after_it() {
    let world = World::with(|options| {
        options
            .issuer("https://bank.example/oauth/")
            .base_path("/api")
    });
    for path in [
        "/oauth/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server/oauth",
        "/.well-known/openid-configuration/oauth",
    ] {
        let answer = ask(&world, Method::GET, path).await;
        assert_eq!(
            answer.json["issuer"], "https://bank.example/oauth/",
            "as it was named: {path}"
        );
        assert_eq!(
            answer.json["token_endpoint"], "https://bank.example/api/v1.0/auth",
            "{path}"
        );
        assert_eq!(
            answer.json["authorization_endpoint"], "https://bank.example/api/authorize",
            "{path}"
        );
        assert_eq!(
            answer.json["jwks_uri"], "https://bank.example/oauth/.well-known/jwks.json",
            "{path}"
        );
    }
    for path in [
        "/.well-known/openid-configuration",
        "/api/.well-known/openid-configuration",
    ] {
        assert_eq!(
            ask(&world, Method::GET, path).await.status,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
}

#[tokio::test]
async fn documents_are_for_get_and_head_only() {
    let world = World::with(|options| options.issuer(ISSUER));
    for path in [
        "/.well-known/openid-configuration",
        "/.well-known/jwks.json",
    ] {
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
            let answer = ask(&world, method, path).await;
            assert_eq!(
                (answer.status, answer.header("allow")),
                (StatusCode::METHOD_NOT_ALLOWED, "GET, HEAD")
            );
            assert_eq!(answer.error_code(), "EC405");
        }
    }
}

#[tokio::test]
async fn the_authorization_endpoint_refuses_everybody() {
    let world = World::with(|options| options.issuer(ISSUER));
    for method in [Method::GET, Method::POST] {
        let asked =
            "/authorize?response_type=code&client_id=ACME&redirect_uri=https%3A%2F%2Fevil.example";
        let answer = ask(&world, method, asked).await;
        let error = answer.json["error"].as_str();
        assert_eq!(
            (answer.status, error),
            (StatusCode::BAD_REQUEST, Some("unsupported_response_type"))
        );
        assert_eq!(answer.header("location"), "");
    }
}

#[tokio::test]
async fn without_an_issuer_there_is_no_metadata() {
    let world = World::new();
    for path in [
        "/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server",
        "/authorize",
    ] {
        assert_eq!(
            ask(&world, Method::GET, path).await.status,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    let world = World::with(|options| options.issuer(ISSUER));
    let request = || {
        Request::get("/.well-known/openid-configuration")
            .body(Body::empty())
            .unwrap()
    };
    assert_eq!(
        send(world.provider.token_router(), request()).await.status,
        StatusCode::OK
    );
    assert_eq!(
        send(world.provider.statement_router(), request())
            .await
            .status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn scopes_are_published_as_named() {
    let scopes = "AU.INSTO.PAYTO.MANDATE.READ GBL.INSTO.ACCOUNTS.STATEMENT.READ";
    let world = World::with(|options| {
        options
            .issuer(ISSUER)
            .scopes_supported(scopes.parse().unwrap())
    });
    let answer = ask(&world, Method::GET, "/.well-known/openid-configuration").await;
    let named: Vec<_> = scopes.split(' ').collect();
    assert_eq!(answer.json["scopes_supported"], json!(named));
}

/// Without the issuer's name only the verifier's own audience is accepted.
#[tokio::test]
async fn the_issuer_and_the_token_endpoint_are_audiences() {
    let token_status = async |world: &World, audience: &str| {
        let builder = AssertionBuilder::new(
            "ACME".parse().unwrap(),
            Audience::parse(audience).unwrap(),
            AssertionOptions::new(),
        );
        let assertion = builder.sign(&keys()[0], world.clock.now()).unwrap();
        let form = TokenRequest::new(
            assertion,
            "GBL.INSTO.ACCOUNTS.STATEMENT.READ".parse().unwrap(),
        )
        .to_form();
        world.send(token_request(API_KEY, form)).await.status
    };
    for (audience, with, without) in [
        (crate::world::AUDIENCE, 200, 200),
        (ISSUER, 200, 401),
        ("https://bank.example/v1.0/auth", 200, 401),
        ("https://bank.example/", 401, 401),
        ("https://bank.example/accounts/v2.0/statement", 401, 401),
        ("https://other.example", 401, 401),
    ] {
        let named = World::with(|options| options.issuer(ISSUER));
        assert_eq!(token_status(&named, audience).await, with, "{audience}");
        assert_eq!(
            token_status(&World::new(), audience).await,
            without,
            "{audience}"
        );
    }
}

#[test]
fn names_that_are_no_issuer_are_refused() {
    let world = World::new();
    let made =
        |options: ProviderOptions| provider(&world.book, &world.ledger, &world.stores, options);
    for bad in [
        "",
        "bank.example",
        "http://bank.example",
        "https://",
        "https://user@bank.example",
        "https://bank.example?a=b",
        "https://bank.example/#a",
        "https://bank.example//a",
        "https://bank.example/{a}",
        "HTTPS://bank.example",
        "https://bank.example/a b",
    ] {
        let refused = made(ProviderOptions::new().issuer(bad)).unwrap_err();
        assert!(
            matches!(refused, ProviderOptionsError::Issuer { .. }),
            "{bad}: {refused}"
        );
    }
    for good in [
        "https://bank.example:8443",
        "https://[::1]/a/b",
        "https://bank.example/a/",
    ] {
        assert!(made(ProviderOptions::new().issuer(good)).is_ok(), "{good}");
    }
    let taken = ProviderOptions::new()
        .issuer(ISSUER)
        .token_path("/.well-known/jwks.json");
    assert!(matches!(
        made(taken),
        Err(ProviderOptionsError::SamePath { .. })
    ));
    let taken = ProviderOptions::new()
        .issuer(ISSUER)
        .statement_path("/authorize");
    assert!(matches!(
        made(taken),
        Err(ProviderOptionsError::SamePath { .. })
    ));
}

/// A member whose value is an empty text or null would mislead clients.
#[tokio::test]
async fn no_member_is_empty_but_the_response_types() {
    let world = World::with(|options| options.issuer(ISSUER));
    let answer = ask(&world, Method::GET, "/.well-known/openid-configuration").await;
    for (name, value) in answer.json.as_object().unwrap() {
        let empty = matches!(value, Value::Null) || value == "" || value == &json!([]);
        assert_eq!(empty, name == "response_types_supported", "{name}");
    }
}
