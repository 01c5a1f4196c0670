//! The written form of responses.

use crate::support::KEY;
use bankrail_statement::{AccountId, Cursor, NextPage, SortOrder, StatementResponse};

fn response(page: NextPage) -> StatementResponse {
    let key = KEY.parse().unwrap();
    StatementResponse::new(&AccountId::parse("1").unwrap(), key, page)
}

#[test]
fn a_cursor_comes_exactly_with_more() {
    let more = response(NextPage::At {
        cursor: Cursor::from_bytes(b"x").unwrap(),
    })
    .to_json("");
    assert!(more.ends_with(r#","cursor":"eA==","moreTransactionsAvailable":true}"#));
    let last = response(NextPage::None).to_json("");
    assert!(last.ends_with(r#"","moreTransactionsAvailable":false}"#) && !last.contains("cursor"));
}

#[test]
fn the_order_is_said_between_extract_and_payload() {
    let mut said = response(NextPage::None);
    said.sort_order = Some(SortOrder::Backward);
    assert!(
        said.to_json("")
            .contains(r#""extract":"intraday","sortOrder":"backward","payload":"#)
    );
}

#[test]
fn the_payload_survives_as_it_is() {
    let xml = "<?xml version=\"1.0\"?>\r\n<a b='\\'>👍\u{7f}\u{2028}</a>\t";
    let json: serde_json::Value =
        serde_json::from_str(&response(NextPage::None).to_json(xml)).unwrap();
    assert_eq!(json["payload"], xml);
}
