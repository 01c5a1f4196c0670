//! A provider over a folder: what a change means for tokens that were issued before it.

use super::fixture::{Folder, customer};
use crate::world::{API_KEY, AUDIENCE, World, send, statement_request, token_request};
use bankrail_client_assertion::token::names;
use bankrail_client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail_service::{CursorSecret, Provider, ProviderOptions};
use http::StatusCode;
use std::sync::Arc;

#[tokio::test]
async fn a_removed_customer_is_refused_with_a_token_that_is_still_valid() {
    let (folder, world) = (Folder::new(), World::new());
    folder.clock.set(bankrail_values::Clock::now(&*world.clock));
    folder.write("A.toml", &customer("ACME", "acme", &[API_KEY], ""));
    folder.write("B.toml", &customer("BETA", "beta", &["key-of-beta"], ""));
    let provider = Provider::new(
        Arc::new(folder.open()),
        world.ledger.clone(),
        world.stores.clone(),
        world.stores.clone(),
        Verifier::new(Audience::parse(AUDIENCE).unwrap(), VerifierOptions::new()),
        ProviderOptions::new().clock(world.clock.clone()).cursor_secret(CursorSecret::from_bytes([9; 32])),
    );
    let router = provider.unwrap().router();
    let answer = send(router.clone(), token_request(API_KEY, world.form(names::STATEMENT_READ))).await;
    assert_eq!(answer.status, StatusCode::OK);
    let token = answer.json["access_token"].as_str().unwrap().to_owned();
    let statement = async |api_key: &str| {
        send(router.clone(), statement_request(api_key, &token, r#"{"accountId":"1"}"#)).await.status
    };
    assert_eq!(statement(API_KEY).await, StatusCode::OK);

    // The key is replaced: the token goes on with the new key, and not with the old one.
    folder.write("A.toml", &customer("ACME", "acme", &["new-key"], ""));
    assert_eq!((statement(API_KEY).await, statement("new-key").await), (StatusCode::UNAUTHORIZED, StatusCode::OK));

    // The scope is taken away.
    let less = customer("ACME", "acme", &["new-key"], "").replace("GBL.INSTO.ACCOUNTS.STATEMENT.READ", "OTHER.READ");
    folder.write("A.toml", &less);
    assert_eq!(statement("new-key").await, StatusCode::FORBIDDEN);

    // The customer is removed: neither an old token nor a new one.
    folder.remove("A.toml");
    assert_eq!(statement("new-key").await, StatusCode::UNAUTHORIZED);
    let answer = send(router.clone(), token_request("new-key", world.form(names::STATEMENT_READ))).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    // Nor with the API key of another customer.
    assert_eq!(statement("key-of-beta").await, StatusCode::UNAUTHORIZED);
}
