//! The log: customer, outcome and duration, without secrets or contents.

use crate::capture::Capture;
use crate::world::{API_KEY, Fault, SCOPES, World, statement_request, token_request};
use bankrail_client_assertion::token::names;
#[tokio::test(flavor = "current_thread")]
async fn a_line_for_each_answer_without_secrets_or_contents() {
    let log = Capture::start();
    let world = World::new();
    let form = world.form(SCOPES);
    let answer = world.send(token_request(API_KEY, form.clone())).await;
    let token = answer.json["access_token"].as_str().unwrap().to_owned();
    let mut keys = vec![answer.header("x-requestkey").to_owned()];
    for (body, token) in [
        (r#"{"accountId":"1"}"#, token.as_str()),
        (r#"{"accountId":"secretaccount"}"#, &token),
        (
            r#"{"accountId":"secretaccount","maxEntries":"secretaccount"}"#,
            &token,
        ),
        (
            r#"{"accountId":"1"}"#,
            "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003",
        ),
    ] {
        keys.push(
            world
                .send(statement_request(API_KEY, token, body))
                .await
                .header("x-requestkey")
                .to_owned(),
        );
    }
    keys.push(
        world
            .send(token_request(API_KEY, form.clone()))
            .await
            .header("x-requestkey")
            .to_owned(),
    );
    world.clock.advance(std::time::Duration::from_secs(2));
    let broken = world
        .form(names::STATEMENT_READ)
        .replace("client_assertion=", "client_assertion=x");
    keys.push(
        world
            .send(token_request("key-of-nobody", broken.clone()))
            .await
            .header("x-requestkey")
            .to_owned(),
    );
    keys.push(
        world
            .send(token_request(API_KEY, broken))
            .await
            .header("x-requestkey")
            .to_owned(),
    );
    world.ledger.fault.set(Fault::Fails);
    keys.push(
        world
            .statement(r#"{"accountId":"1"}"#)
            .await
            .header("x-requestkey")
            .to_owned(),
    );

    for _ in 0..150 {
        world
            .send(token_request("key-of-nobody", String::new()))
            .await;
    }
    keys.push(
        world
            .statement(r#"{"accountId":"1"}"#)
            .await
            .header("x-requestkey")
            .to_owned(),
    );

    let text = log.text();
    let strangers = text
        .lines()
        .filter(|line| line.contains("answered") && !line.contains("customer="));
    assert!(
        strangers.count() <= 122,
        "60 in a minute, and a number: {text}"
    );
    for key in keys {
        assert!(
            text.lines()
                .any(|line| line.contains(&key) && line.contains("answered")),
            "{key} in {text}"
        );
    }
    assert!(text.contains("ACME") && text.contains("status=200") && text.contains("duration_ms="));
    assert!(
        text.contains("assertion refused") && text.contains("error=replayed"),
        "{text}"
    );
    assert!(text.contains("error=malformed"), "{text}");
    assert!(text.contains("ledger failed") && text.contains("the store is unavailable"));
    let assertion = form.rsplit("client_assertion=").next().unwrap();
    for secret in [
        API_KEY,
        "key-of-nobody",
        &token,
        assertion,
        "eyJ",
        "secretaccount",
        "A. Payer",
        "Rent",
        "124531337",
    ] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}
