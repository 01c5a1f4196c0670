//! Pages and their cursors.

use crate::world::{API_KEY, OTHER_KEY, World, statement_request};
use bankrail_client_assertion::token::names;
use bankrail_service::CursorSecret;
use http::StatusCode;
use std::sync::atomic::Ordering;

async fn first_cursor(world: &World, more: &str) -> String {
    let answer = world
        .statement(&format!(r#"{{"accountId":"1","maxEntries":2{more}}}"#))
        .await;
    assert_eq!(
        answer.json["moreTransactionsAvailable"], true,
        "{}",
        answer.text
    );
    answer.json["cursor"].as_str().unwrap().to_owned()
}

async fn with_cursor(world: &World, cursor: &str, more: &str) -> StatusCode {
    let body = serde_json::json!({ "accountId": "1", "cursor": cursor }).to_string();
    let answer = world
        .statement(&body.replace('}', &format!("{more}}}")))
        .await;
    assert!(answer.status == StatusCode::OK || answer.error_code() == "EC42001");
    answer.status
}

#[tokio::test]
async fn a_walk_sees_each_entry_once_and_each_page_sums_itself() {
    let world = World::new();
    for (order, spared, expected) in [
        ("forward", 0, 3),
        ("backward", 0, 3),
        ("forward", 1, 5),
        ("backward", 1, 5),
    ] {
        world.ledger.spared.store(spared, Ordering::SeqCst);
        let (mut body, mut amounts, mut pages) = (
            serde_json::json!({ "accountId": "1", "maxEntries": 2, "sortOrder": order }),
            Vec::new(),
            0,
        );
        loop {
            let answer = world.statement(&body.to_string()).await;
            let document = answer.document();
            let report = &document.reports[0];
            let count = report
                .summary
                .as_ref()
                .unwrap()
                .all
                .as_ref()
                .unwrap()
                .entries
                .as_ref()
                .unwrap()
                .to_string();
            assert_eq!(count, report.entries.len().to_string());
            amounts.extend(
                report
                    .entries
                    .iter()
                    .map(|entry| entry.amount.value().to_string()),
            );
            pages += 1;
            let more = answer.json["moreTransactionsAvailable"].as_bool().unwrap();
            assert_eq!(answer.json.get("cursor").is_some(), more);
            if !more {
                break;
            }
            body["cursor"] = answer.json["cursor"].clone();
        }
        if order == "backward" {
            amounts.reverse();
        }
        assert_eq!(
            (pages, amounts.join(" ").as_str()),
            (expected, "10.00 2.50 0.05 7.00 1.00")
        );
    }
}

#[tokio::test]
async fn later_requests_of_a_walk_may_omit_its_choices() {
    let world = World::new();
    let cursor = first_cursor(
        &world,
        r#","sortOrder":"backward","includeNarrative":false"#,
    )
    .await;
    let body = serde_json::json!({ "accountId": "1", "cursor": cursor }).to_string();
    let document = world.statement(&body).await.document();
    let entries = &document.reports[0].entries;
    assert_eq!(entries[0].amount.to_string(), "0.05 AUD");
    assert!(
        entries[2].details[0].transactions[0].parties.is_none(),
        "the fast payment stays hidden"
    );
}

#[tokio::test]
async fn all_pages_of_a_walk_say_their_order_or_none_does() {
    for (account, first, always, said) in [
        ("1", "", false, None),
        ("1", r#","sortOrder":"forward""#, false, Some("forward")),
        ("1", r#","sortOrder":"backward""#, false, Some("backward")),
        ("1", "", true, Some("forward")),
        ("6", "", false, Some("forward")),
    ] {
        let world = World::with(|options| options.always_say_sort_order(always));
        let mut answer = world
            .statement(&format!(
                r#"{{"accountId":"{account}","maxEntries":2{first}}}"#
            ))
            .await;
        for page in 1..=3 {
            let order = answer
                .json
                .get("sortOrder")
                .and_then(|order| order.as_str());
            assert_eq!(
                order, said,
                "account {account}, page {page}, {first}, {always}"
            );
            let Some(cursor) = answer.json.get("cursor") else {
                assert_eq!(page, 3);
                break;
            };
            // The second request names no order, the third the same one.
            let mut next =
                serde_json::json!({ "accountId": account, "maxEntries": 2, "cursor": cursor });
            if page == 2 {
                next["sortOrder"] = said.unwrap_or("forward").into();
            }
            answer = world.statement(&next.to_string()).await;
        }
    }
}

#[tokio::test]
async fn a_cursor_is_valid_for_its_own_walk_only() {
    let world = World::new();
    let cursor = first_cursor(&world, "").await;
    assert_eq!(with_cursor(&world, &cursor, "").await, StatusCode::OK);
    for more in [
        r#","maxEntries":1"#,
        r#","sortOrder":"forward""#,
        r#","includeNarrative":true"#,
    ] {
        assert_eq!(
            with_cursor(&world, &cursor, more).await,
            StatusCode::OK,
            "{more}"
        );
    }
    for more in [r#","sortOrder":"backward""#, r#","includeNarrative":false"#] {
        assert_eq!(
            with_cursor(&world, &cursor, more).await,
            StatusCode::BAD_REQUEST,
            "{more}"
        );
    }
    let body = serde_json::json!({ "accountId": "2", "cursor": cursor }).to_string();
    assert_eq!(
        world.statement(&body).await.status,
        StatusCode::BAD_REQUEST,
        "another account"
    );
    let token = world.token("BETA", names::STATEMENT_READ).await;
    let body = serde_json::json!({ "accountId": "1", "cursor": cursor }).to_string();
    let answer = world
        .send(statement_request(OTHER_KEY, &token, body.clone()))
        .await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::BAD_REQUEST, "EC42001"),
        "another customer"
    );
    let elsewhere = World::with(|options| options.cursor_secret(CursorSecret::from_bytes([8; 32])));
    assert_eq!(
        elsewhere.statement(&body).await.status,
        StatusCode::BAD_REQUEST,
        "another provider"
    );
    let restarted = World::new();
    assert_eq!(
        restarted.statement(&body).await.status,
        StatusCode::OK,
        "the secret survives a restart"
    );
}

#[tokio::test]
async fn a_changed_cursor_never_reaches_the_ledger() {
    let world = World::new();
    let cursor = first_cursor(&world, "").await;
    let asked = world.ledger.asked.load(Ordering::SeqCst);
    for at in (0..cursor.len()).step_by(4) {
        let mut changed = cursor.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        let token = world.token("ACME", names::STATEMENT_READ).await;
        let body = serde_json::json!({ "accountId": "1", "cursor": changed }).to_string();
        let status = world
            .send(statement_request(API_KEY, &token, body))
            .await
            .status;
        assert!(
            [StatusCode::BAD_REQUEST, StatusCode::TOO_MANY_REQUESTS].contains(&status),
            "{changed}"
        );
        world.clock.advance(std::time::Duration::from_secs(3600));
    }
    for cursor in [
        "AA==",
        "====",
        "rubbish",
        &"A".repeat(4096),
        &"A".repeat(4097),
    ] {
        assert_eq!(
            with_cursor(&World::new(), cursor, "").await,
            StatusCode::BAD_REQUEST
        );
    }
    assert_eq!(world.ledger.asked.load(Ordering::SeqCst), asked);
}

#[tokio::test]
async fn a_repeated_position_of_the_ledger_is_an_error() {
    let world = World::new();
    world.ledger.stuck.store(1, Ordering::SeqCst);
    let cursor = first_cursor(&world, "").await;
    let body =
        serde_json::json!({ "accountId": "1", "maxEntries": 2, "cursor": cursor }).to_string();
    assert_eq!(world.statement(&body).await.error_code(), "EC20003");
}

#[tokio::test]
async fn a_page_without_entries_that_is_not_the_last_is_an_error() {
    let world = World::new();
    world.ledger.barren.store(1, Ordering::SeqCst);
    let answer = world.statement(r#"{"accountId":"1"}"#).await;
    assert_eq!(
        (answer.status, answer.error_code()),
        (StatusCode::INTERNAL_SERVER_ERROR, "EC20003")
    );
}

#[tokio::test]
async fn a_position_that_the_ledger_no_longer_knows_is_an_invalid_cursor() {
    let world = World::new();
    world.ledger.far.store(7, Ordering::SeqCst);
    let cursor = first_cursor(&world, "").await;
    assert_eq!(
        with_cursor(&world, &cursor, "").await,
        StatusCode::BAD_REQUEST
    );
}

/// The second page is requested after midnight in the reports' time zone, and is still of the first
/// page's day.
#[tokio::test]
async fn a_statement_fetched_around_midnight_is_of_one_day() {
    let world = World::with(|options| options.report_time_zone("Australia/Brisbane"));
    world.clock.set("2021-07-29T13:59:58.000Z".parse().unwrap());
    let cursor = first_cursor(&world, "").await;
    world.clock.set("2021-07-29T14:00:01.000Z".parse().unwrap());
    assert_eq!(with_cursor(&world, &cursor, "").await, StatusCode::OK);
    assert_eq!(
        world.statement(r#"{"accountId":"1"}"#).await.status,
        StatusCode::OK
    );
    assert_eq!(
        *world.ledger.days.lock().unwrap(),
        ["2021-07-29", "2021-07-29", "2021-07-30"]
    );
}
