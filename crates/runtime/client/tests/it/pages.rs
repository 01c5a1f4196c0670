use crate::provider::{Provider, Reply, request};
use bankrail_client::CallErrorKind;
use bankrail_statement::{Checkpoint, StatementRequest, WalkError};

fn asked(provider: &Provider) -> Vec<Option<String>> {
    let read = |body: &str| {
        StatementRequest::from_json(body.as_bytes())
            .unwrap()
            .cursor
            .map(|c| c.as_str().to_owned())
    };
    provider
        .statement_calls()
        .iter()
        .map(|call| read(&call.body))
        .collect()
}

#[tokio::test]
async fn all_pages_in_their_order() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    provider.statements([
        Reply::page(2, Some("QQ==")),
        Reply::page(0, Some("Qg==")),
        Reply::page(1, None),
    ]);
    let statement = client
        .statements()
        .pages(request())
        .collect()
        .await
        .unwrap();
    let counts: Vec<usize> = statement
        .pages
        .iter()
        .map(|page| page.entries().count())
        .collect();
    assert_eq!((counts, statement.entries().count()), (vec![2, 0, 1], 3));
    assert_eq!(
        asked(&provider),
        [None, Some("QQ==".to_owned()), Some("Qg==".to_owned())]
    );
}

#[tokio::test]
async fn the_cursor_moves_only_behind_a_stored_page() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    provider.statements([
        Reply::page(1, Some("QQ==")),
        Reply::page(1, Some("QQ==")),
        Reply::page(1, None),
    ]);
    let mut pages = client.statements().pages(request());
    drop(pages.next().await.unwrap().unwrap()); // storing failed
    let page = pages.next().await.unwrap().unwrap();
    assert_eq!(page.checkpoint().unwrap().cursor().as_str(), "QQ==");
    page.stored().unwrap();
    let last = pages.next().await.unwrap().unwrap();
    assert!(last.checkpoint().is_none());
    last.stored().unwrap();
    assert!(pages.next().await.unwrap().is_none() && pages.next().await.unwrap().is_none());
    assert_eq!(asked(&provider), [None, None, Some("QQ==".to_owned())]);
}

#[tokio::test]
async fn a_walk_goes_on_from_a_checkpoint_and_counts_on() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    provider.statements([Reply::page(2, Some("QQ==")), Reply::page(1, None)]);
    let mut pages = client.statements().pages(request());
    let page = pages.next().await.unwrap().unwrap();
    let occurrences: Vec<u32> = page
        .seen_entries()
        .iter()
        .map(|entry| entry.occurrence)
        .collect();
    assert_eq!(occurrences, [1, 2], "two equal entries are two");
    let kept = page.checkpoint().unwrap().to_json();
    drop(pages); // the process died after storing
    let mut pages = client
        .statements()
        .resume(request(), Checkpoint::from_json(&kept).unwrap());
    let page = pages.next().await.unwrap().unwrap();
    assert_eq!(page.seen_entries()[0].occurrence, 3);
    page.stored().unwrap();
    assert_eq!(asked(&provider), [None, Some("QQ==".to_owned())]);
}

#[tokio::test]
async fn a_repeated_cursor_ends_the_walk() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    provider.statements([
        Reply::page(1, Some("QQ==")),
        Reply::page(1, Some("Qg==")),
        Reply::page(1, Some("QQ==")),
    ]);
    let error = client
        .statements()
        .pages(request())
        .collect()
        .await
        .unwrap_err();
    assert!(
        matches!(
            error.reason,
            CallErrorKind::Walk(WalkError::RepeatedCursor { page: 3 })
        ),
        "{error:?}"
    );
    assert_eq!(provider.statement_calls().len(), 3);
}

#[tokio::test]
async fn more_without_a_cursor_ends_the_walk_after_the_page() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    let body = bankrail_statement::StatementResponse::new(
        &bankrail_statement::AccountId::parse(crate::provider::ACCOUNT).unwrap(),
        crate::provider::request_key(),
        bankrail_statement::NextPage::None,
    )
    .to_json(&crate::provider::document(1))
    .replace(
        r#""moreTransactionsAvailable":false"#,
        r#""moreTransactionsAvailable":true"#,
    );
    provider.statements([Reply::new(200, body)]);
    let mut pages = client.statements().pages(request());
    let page = pages.next().await.unwrap().unwrap();
    assert_eq!(page.entries().count(), 1, "the page itself is good");
    let error = page.stored().unwrap_err();
    assert!(matches!(
        error.reason,
        CallErrorKind::Walk(WalkError::MoreWithoutCursor)
    ));
    assert!(pages.next().await.unwrap().is_none());
}

#[tokio::test]
async fn the_number_of_pages_is_bounded() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    provider.statements((0..5).map(|number| Reply::page(1, Some(&format!("QQ{number}=")))));
    let error = client
        .statements()
        .pages(request())
        .max_pages(2)
        .collect()
        .await
        .unwrap_err();
    assert!(
        matches!(
            error.reason,
            CallErrorKind::Walk(WalkError::TooManyPages { limit: 2 })
        ),
        "{error:?}"
    );
    assert_eq!(provider.statement_calls().len(), 2);
}

#[tokio::test]
async fn a_page_that_is_never_stored_is_not_fetched_for_ever() {
    let (provider, client, _) = Provider::client().await;
    provider
        .tokens([Reply::token(1, 3600)])
        .statements((0..5).map(|_| Reply::page(1, None)));
    let mut pages = client.statements().pages(request());
    for _ in 0..3 {
        assert!(pages.next().await.unwrap().is_some());
    }
    let error = pages.next().await.unwrap_err();
    assert!(matches!(
        error.reason,
        CallErrorKind::NotStored { times: 3, .. }
    ));
    assert_eq!(provider.statement_calls().len(), 3);
}

#[tokio::test]
async fn an_error_on_the_way_leaves_the_walk_where_it_is() {
    let (provider, client, _) = Provider::client().await;
    provider.tokens([Reply::token(1, 3600)]);
    provider.statements([
        Reply::page(1, Some("QQ==")),
        Reply::new(500, ""),
        Reply::page(1, None),
    ]);
    let mut pages = client.statements().pages(request());
    pages.next().await.unwrap().unwrap().stored().unwrap();
    assert!(pages.next().await.unwrap_err().is_retryable());
    pages.next().await.unwrap().unwrap().stored().unwrap();
    assert_eq!(
        asked(&provider),
        [None, Some("QQ==".to_owned()), Some("QQ==".to_owned())]
    );
}
