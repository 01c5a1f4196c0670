//! Takes bytes, or changes of answers, requests and stored positions. Reading answers and requests
//! of the statement endpoint never panics, what is read is written and read again equal, and the
//! answer is checked against its request.

use crate::invented::{json, logged};
use bankrail_statement::{
    AccountId, Checkpoint, ErrorCode, NextPage, PollPosition, ReceivedErrorBody, ReceivedNextPage,
    ReceivedStatement, SortOrder, StatementErrorBody, StatementReply, StatementRequest,
    StatementResponse,
};
use serde_json::Value;
use std::sync::LazyLock;

static SAMPLES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let key = "2a5558c4-d888-4683-b57e-d02afb52f7a0";
    let document = include_str!("../seeds/report_parse/one_entry");
    let page = |order: &str, payload: &str, next: Value| {
        let mut page = serde_json::json!({
            "accountId": "012003123456789", "extract": "intraday", "sortOrder": order,
            "payload": payload, "requestKey": key, "moreTransactionsAvailable": !next.is_null(),
        });
        page["cursor"] = next;
        page.to_string()
    };
    let hash = "0".repeat(64);
    vec![
        page("forward", document, "AAAA".into()),
        page("backward", "<a/>\u{e9}", "-".into()),
        page("forward", document, Value::Null).replace(",\"cursor\":null", ""),
        format!(r#"{{"requestKey":"{key}","error":{{"statusCode":"EC404001","title":"no"}}}}"#),
        r#"{"error":"invalid_token"}"#.to_owned(),
        r#"{"accountId":"012003123456789","includeNarrative":"true","cursor":"AAAA","sortOrder":"backward","maxEntries":48,"extract":"intraday"}"#.to_owned(),
        format!(r#"{{"version":1,"cursor":"a","counts":[["{hash}",1]]}}"#),
        format!(r#"{{"poll":1,"fullWalkAt":"2026-03-01T01:02:03.004Z","day":"2026-03-01","cursor":"c","listed":[["{hash}",1]],"unread":[1,2]}}"#),
    ]
});

const VALUES: &[&str] = &[
    r#""EC000_002""#, r#""EC401""#, r#""EC12345678901234567""#, r#""intraday""#, r#""forward""#,
    r#""backward""#, r#""Forward""#, "1000", "1001", "48.0", "65536", r#""48""#, r#""AAAA""#,
    r#""AAA""#, r#""012003111111111""#, r#""012003123456789""#, r#""\ufffd""#,
];

fn judge_statement(body: &[u8], mut statement: ReceivedStatement) {
    if let Ok(json) = serde_json::from_slice::<Value>(body) {
        // The last page is not taken for one with another behind it, nor the other way round.
        let more = json["moreTransactionsAvailable"] == true;
        assert_eq!(statement.next_page == ReceivedNextPage::None, !more, "{json}");
        let has_cursor = json["cursor"].as_str().is_some_and(|cursor| !cursor.is_empty());
        let at = matches!(statement.next_page, ReceivedNextPage::At { .. });
        assert_eq!(at, more && has_cursor, "{json}");
        assert_eq!(json["payload"], statement.payload);
        assert_eq!(json["accountId"], statement.account_id);
    }
    // Only the payload may have halves of characters.
    let text = String::from_utf8_lossy(body).to_lowercase();
    if !text.contains('\u{fffd}') && !text.contains("\\ufffd") {
        let texts = [&statement.account_id, &statement.extract];
        let texts = texts.into_iter().chain(&statement.sort_order);
        assert!(!texts.into_iter().any(|text| text.contains('\u{fffd}')), "{text}");
    }
    statement.findings.iter().for_each(|finding| logged(finding));
    rewrite(&statement);
    let Ok(account) = AccountId::parse("012003123456789") else {
        return;
    };
    let mut request = StatementRequest::new(&account);
    request.sort_order = [None, Some(SortOrder::Forward)][body.len() % 2];
    let checked = statement.check_against(&request);
    assert_eq!(checked.is_ok(), statement.account_id == account.as_str());
    let document = statement.document().map(|read| read.document);
    let checked = checked.and_then(|()| match &document {
        Ok(document) => statement.check_document(document, &request),
        Err(error) => {
            logged(error);
            Ok(())
        }
    });
    let _ = checked.map_err(|error| logged(&error));
    match statement.deny_findings() {
        Ok(()) => assert!(statement.findings.is_empty()),
        Err(error) => logged(&error),
    }
    assert!(!format!("{statement:?}").contains(char::is_control));
}

fn judge_error(status: u16, error: &ReceivedErrorBody) {
    assert_eq!(error.status, status);
    error.findings.iter().for_each(|finding| logged(finding));
    let Some((key, code)) = error.request_key.zip(error.code.clone()) else {
        return;
    };
    let not_found = code == ErrorCode::ACCOUNT_NOT_FOUND;
    assert_eq!(error.is_account_not_found(), not_found);
    let known = ErrorCode::new(code.as_str());
    assert_eq!(known.is_some(), code.is_well_formed());
    assert!((400..=599).contains(&code.default_status()));
    assert!(code.gateway_status().is_none() || code.is_gateway());
    let title = error.title.clone().unwrap_or_default();
    for body in [
        StatementErrorBody::new(key, code, title),
        StatementErrorBody::account_not_found(key, "a\"b"),
        StatementErrorBody::retrieval_failed(key, "a\\b"),
        StatementErrorBody::internal(key),
    ] {
        let again = StatementReply::parse(status, body.to_json().as_bytes());
        let Ok(StatementReply::Error(again)) = again else {
            panic!("not read again: {}", body.to_json())
        };
        assert_eq!(again.title.as_ref(), Some(&body.title));
        // A code of another form is answered as an internal error.
        let code = if body.code.is_well_formed() {
            body.code
        } else {
            ErrorCode::INTERNAL
        };
        assert_eq!((again.request_key, again.code), (Some(key), Some(code)));
    }
}

fuzz_target!(|data: &[u8]| {
    let body = &*json(data, &SAMPLES, VALUES);
    for status in [200, 404] {
        match StatementReply::parse(status, body) {
            Ok(StatementReply::Statement(statement)) => {
                assert_eq!(status, 200);
                judge_statement(body, statement);
            }
            Ok(StatementReply::Error(error)) => judge_error(status, &error),
            Err(error) => logged(&error),
        }
    }
    match StatementRequest::from_json(body) {
        Ok(request) => {
            assert_eq!(
                StatementRequest::from_json(request.to_json().as_bytes()).as_ref(),
                Ok(&request)
            );
            assert!((1..=1000).contains(&request.entries_at_most()));
            assert_eq!(request.order(), request.sort_order.unwrap_or_default());
            let account = AccountId::parse(request.account_id());
            assert_eq!(request.account().ok(), account.ok());
        }
        Err(error) => {
            logged(&error);
            assert_eq!(error.code(), ErrorCode::VALIDATION);
        }
    }
    let Ok(text) = std::str::from_utf8(body) else {
        return;
    };
    match Checkpoint::from_json(text) {
        Ok(checkpoint) => assert_eq!(
            Checkpoint::from_json(&checkpoint.to_json()).as_ref(),
            Ok(&checkpoint)
        ),
        Err(error) => logged(&error),
    }
    match PollPosition::from_json(text) {
        Ok(position) => assert_eq!(
            PollPosition::from_json(&position.to_json()).as_ref(),
            Ok(&position)
        ),
        Err(error) => logged(&error),
    }
});

/// Sends on what a server could have sent.
fn rewrite(statement: &ReceivedStatement) {
    let page = match &statement.next_page {
        ReceivedNextPage::None => NextPage::None,
        ReceivedNextPage::At { cursor } => NextPage::At {
            cursor: cursor.clone(),
        },
        ReceivedNextPage::WithoutCursor => return,
    };
    let Ok(account) = AccountId::parse(&statement.account_id) else {
        return;
    };
    let mut response = StatementResponse::new(&account, statement.request_key, page);
    response.sort_order = statement.order();
    let json = response.to_json(&statement.payload);
    let Ok(StatementReply::Statement(again)) = StatementReply::parse(200, json.as_bytes()) else {
        panic!("not read again: {json}")
    };
    assert_eq!(
        (&again.payload, &again.next_page),
        (&statement.payload, &statement.next_page)
    );
    assert_eq!(
        (again.request_key, again.order()),
        (statement.request_key, statement.order())
    );
}
