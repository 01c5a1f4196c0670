//! A provider over a folder: the effect of a change on tokens that were issued before it.

use super::fixture::{Folder, customer};
use crate::engines::Sqlite;
use crate::ledger;
use crate::world::World;
use bankrail_service::ProviderOptions;
use http::StatusCode;
use std::sync::Arc;

#[tokio::test]
async fn a_removed_customer_is_refused_with_a_token_that_is_still_valid() {
    let folder = Folder::new();
    folder.write("A.toml", &customer("ACME", "acme", &["key-of-acme"], ""));
    folder.write("B.toml", &customer("BETA", "beta", &["key-of-beta"], ""));
    let ledger = Arc::new(ledger::ledger::<Sqlite>().await);
    let world = World::new(
        Arc::new(folder.open()),
        ledger,
        folder.clock.clone(),
        ProviderOptions::new(),
    );
    let answer = world.ask_for_token("key-of-acme").await;
    assert_eq!(answer.status, StatusCode::OK);
    let token = answer.json["access_token"].as_str().unwrap().to_owned();
    let statement = async |api_key: &str| {
        world
            .statement(api_key, &token, r#"{"accountId":"999001400100101"}"#)
            .await
            .status
    };
    assert_eq!(statement("key-of-acme").await, StatusCode::OK);

    // The key is replaced: the token goes on with the new key, and not with the old one.
    folder.write("A.toml", &customer("ACME", "acme", &["new-key"], ""));
    assert_eq!(
        (statement("key-of-acme").await, statement("new-key").await),
        (StatusCode::UNAUTHORIZED, StatusCode::OK)
    );

    // The scope is taken away.
    let less = customer("ACME", "acme", &["new-key"], "")
        .replace("GBL.INSTO.ACCOUNTS.STATEMENT.READ", "OTHER.READ");
    folder.write("A.toml", &less);
    assert_eq!(statement("new-key").await, StatusCode::FORBIDDEN);

    // The customer is removed: neither an old token nor a new one.
    folder.remove("A.toml");
    assert_eq!(statement("new-key").await, StatusCode::UNAUTHORIZED);
    assert_eq!(
        world.ask_for_token("new-key").await.status,
        StatusCode::UNAUTHORIZED
    );
    // Nor with the API key of another customer.
    assert_eq!(statement("key-of-beta").await, StatusCode::UNAUTHORIZED);
}
