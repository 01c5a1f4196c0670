//! The numbers and lists of the specification, tested at the endpoints in full.

use crate::world::{API_KEY, LIMITED, World, statement_request, token_request};
use bankrail_client_assertion::token::names;
use bankrail_values::HyphenatedUuid;
use http::StatusCode;
use std::time::Duration;

/// Specification: "Limits": ten tokens an hour, at most two of them in a second.
#[tokio::test]
async fn the_eleventh_token_in_an_hour_waits() {
    let eleven = || async {
        let world = World::new();
        for _ in 0..10 {
            let answer = world
                .send(token_request(API_KEY, world.form(names::STATEMENT_READ)))
                .await;
            assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
            world.clock.advance(Duration::from_secs(2));
        }
        let answer = world
            .send(token_request(API_KEY, world.form(names::STATEMENT_READ)))
            .await;
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(answer.text, LIMITED);
        assert!(
            answer
                .header("x-requestkey")
                .parse::<HyphenatedUuid>()
                .is_ok()
        );
        let wait: u64 = answer.header("retry-after").parse().unwrap();
        (world, Duration::from_secs(wait))
    };
    let (early, wait) = eleven().await;
    assert!(
        (Duration::from_secs(60)..=Duration::from_secs(7200)).contains(&wait),
        "{wait:?}"
    );
    early.clock.advance(wait - Duration::from_secs(2));
    let answer = early
        .send(token_request(API_KEY, early.form(names::STATEMENT_READ)))
        .await;
    assert_eq!(
        answer.status,
        StatusCode::TOO_MANY_REQUESTS,
        "before its time"
    );
    let (patient, wait) = eleven().await;
    patient.clock.advance(wait);
    let answer = patient
        .send(token_request(API_KEY, patient.form(names::STATEMENT_READ)))
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
}

/// Specification: "Access token response", the header of a granted token.
#[tokio::test]
async fn a_granted_token_comes_with_a_request_key_of_its_own() {
    let world = World::new();
    let mut keys = Vec::new();
    for _ in 0..2 {
        let answer = world
            .send(token_request(API_KEY, world.form(names::STATEMENT_READ)))
            .await;
        assert_eq!(answer.status, StatusCode::OK);
        let members = answer.json.as_object().unwrap();
        let mut names: Vec<&str> = members.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["access_token", "expires_in", "token_type"]);
        keys.push(
            answer
                .header("x-requestkey")
                .parse::<HyphenatedUuid>()
                .unwrap(),
        );
    }
    assert_ne!(keys[0], keys[1]);
}

/// Specification: "Request statement", one test account for each currency.
#[tokio::test]
async fn a_statement_in_each_currency_of_the_test_accounts() {
    let world = World::new();
    for (currency, amount) in [
        ("AUD", "10.00"),
        ("USD", "10.00"),
        ("SBD", "10.00"),
        ("HKD", "10.00"),
        ("SGD", "10.00"),
        ("INR", "10.00"),
        ("PGK", "10.00"),
        ("VND", "10"),
    ] {
        let token = world.token("ACME", names::STATEMENT_READ).await;
        let body = format!(r#"{{"accountId":"CUR.{currency}"}}"#);
        let answer = world.send(statement_request(API_KEY, &token, body)).await;
        assert_eq!(answer.status, StatusCode::OK, "{currency}: {}", answer.text);
        let payload = answer.json["payload"].as_str().unwrap();
        let amount = format!(r#"<Amt Ccy="{currency}">{amount}</Amt>"#);
        // The balance, the entry and its transaction.
        assert_eq!(payload.matches(&amount).count(), 3, "{payload}");
        assert_eq!(
            payload.matches(&format!("<Ccy>{currency}</Ccy>")).count(),
            1,
            "{payload}"
        );
        assert_eq!(payload.matches("Ccy=").count(), 3, "{payload}");
        let document = answer.document();
        assert_eq!(
            document.reports[0]
                .account
                .currency
                .as_ref()
                .unwrap()
                .to_string(),
            currency
        );
    }
}
