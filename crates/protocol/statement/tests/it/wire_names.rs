//! The specification's names of the statement exchange, typed by hand.

use bankrail_statement::{
    AccountId, Cursor, ErrorCode, NextPage, ReceivedNextPage, SortOrder, StatementErrorBody,
    StatementReply, StatementRequest, StatementResponse,
};
use serde_json::{Value, json};

const KEY: &str = "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003";
const OTHER_KEY: &str = "9f0c6f2a-3c1b-4a56-9d5e-0c1f7d8b2a11";

fn account() -> AccountId {
    AccountId::parse("012003123456789").unwrap()
}

fn read(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

#[test]
fn the_request() {
    let document = json!({"accountId": "012003123456789", "includeNarrative": true});
    let mut request = StatementRequest::new(&account());
    request.include_narrative = Some(true);
    assert_eq!(read(&request.to_json()), document);
    assert_eq!(
        StatementRequest::from_json(document.to_string().as_bytes()).unwrap(),
        request
    );
}

#[test]
fn the_answer() {
    let document = json!({
        "accountId": "012003123456789",
        "extract": "intraday",
        "sortOrder": "forward",
        "payload": "<the payload/>",
        "requestKey": KEY,
        "cursor": "dGhlIGN1cnNvcg==",
        "moreTransactionsAvailable": true,
    });
    let cursor = Cursor::parse("dGhlIGN1cnNvcg==").unwrap();
    let mut response = StatementResponse::new(
        &account(),
        KEY.parse().unwrap(),
        NextPage::At {
            cursor: cursor.clone(),
        },
    );
    response.sort_order = Some(SortOrder::Forward);
    assert_eq!(read(&response.to_json("<the payload/>")), document);

    let StatementReply::Statement(received) =
        StatementReply::parse(200, document.to_string().as_bytes()).unwrap()
    else {
        panic!("a statement")
    };
    assert_eq!(received.findings, []);
    assert_eq!(received.account_id, "012003123456789");
    assert_eq!(received.extract, "intraday");
    assert_eq!(received.sort_order.as_deref(), Some("forward"));
    assert_eq!(received.payload, "<the payload/>");
    assert_eq!(received.request_key.to_string(), KEY);
    assert_eq!(received.next_page, ReceivedNextPage::At { cursor });

    // All members are always present, except the order and, without a next page, the cursor.
    for (member, required) in [
        ("accountId", true),
        ("extract", true),
        ("sortOrder", false),
        ("payload", true),
        ("requestKey", true),
        ("moreTransactionsAvailable", true),
    ] {
        let mut without = document.clone();
        without.as_object_mut().unwrap().remove(member).unwrap();
        let read = StatementReply::parse(200, without.to_string().as_bytes());
        assert_eq!(read.is_err(), required, "{member}: {read:?}");
    }
    let last = json!({
        "accountId": "012003123456789",
        "extract": "intraday",
        "payload": "<the payload/>",
        "requestKey": OTHER_KEY,
        "moreTransactionsAvailable": false,
    });
    let response = StatementResponse::new(&account(), OTHER_KEY.parse().unwrap(), NextPage::None);
    assert_eq!(read(&response.to_json("<the payload/>")), last);
}

#[test]
fn the_error_answer() {
    let document = json!({
        "requestKey": KEY,
        "error": {"statusCode": "EC20001", "title": "Account Id: '012003123456789' not found"},
    });
    let body = StatementErrorBody::account_not_found(KEY.parse().unwrap(), "012003123456789");
    assert_eq!(read(&body.to_json()), document);
    let StatementReply::Error(error) =
        StatementReply::parse(404, document.to_string().as_bytes()).unwrap()
    else {
        panic!("an error")
    };
    assert_eq!(
        (error.findings, error.code),
        (vec![], Some(ErrorCode::ACCOUNT_NOT_FOUND))
    );
    assert_eq!(error.request_key.unwrap().to_string(), KEY);
    assert_eq!(
        error.title.as_deref(),
        Some("Account Id: '012003123456789' not found")
    );
}
