//! Takes bytes. Reading answers and requests of the statement endpoint never panics, and what is
//! read is written and read again equal.

use bankrail_statement::{
    AccountId, Checkpoint, NextPage, PollPosition, ReceivedNextPage, ReceivedStatement,
    StatementReply, StatementRequest, StatementResponse,
};

fuzz_target!(|body: &[u8]| {
    for status in [200, 404] {
        match StatementReply::parse(status, body) {
            Ok(StatementReply::Statement(statement)) => {
                assert_eq!(status, 200);
                rewrite(&statement);
            }
            Ok(StatementReply::Error(error)) => assert_eq!(error.status, status),
            Err(error) => drop(error.to_string()),
        }
    }
    if let Ok(request) = StatementRequest::from_json(body) {
        assert_eq!(
            StatementRequest::from_json(request.to_json().as_bytes()).as_ref(),
            Ok(&request)
        );
    }
    if let Ok(checkpoint) = std::str::from_utf8(body)
        .map_err(drop)
        .and_then(|text| Checkpoint::from_json(text).map_err(drop))
    {
        assert_eq!(
            Checkpoint::from_json(&checkpoint.to_json()).as_ref(),
            Ok(&checkpoint)
        );
    }
    if let Ok(position) = std::str::from_utf8(body)
        .map_err(drop)
        .and_then(|text| PollPosition::from_json(text).map_err(drop))
    {
        assert_eq!(
            PollPosition::from_json(&position.to_json()).as_ref(),
            Ok(&position)
        );
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
