use bankrail_client::{CallErrorKind, Client};
use bankrail_emulator::{FakeBank, FakeBankOptions, FakeBooking};
use bankrail_statement::{AccountId, MaxEntries, SortOrder, StatementRequest};
use bankrail_values::Currency;
use std::time::Duration;

/// Returns the references and narratives of all pages of an account's statement.
async fn listed(client: &Client, request: StatementRequest) -> Vec<String> {
    let statement = client.statements().pages(request).collect().await.unwrap();
    assert!(
        statement
            .pages
            .iter()
            .all(|page| page.document_findings.is_empty() && page.received.findings.is_empty())
    );
    let line = |entry: &bankrail_camt052::Entry| {
        let reference = entry
            .transactions()
            .find_map(|t| t.references.as_ref()?.servicer_reference.clone());
        format!(
            "{} {}",
            reference.map_or_else(|| "-".to_owned(), |text| text.to_string()),
            entry.narrative()
        )
    };
    statement.entries().map(line).collect()
}

fn request(bank: &FakeBank) -> StatementRequest {
    StatementRequest::new(&bank.account())
}

#[tokio::test]
async fn what_is_booked_is_listed_page_by_page_in_either_order() {
    let bank = FakeBank::start().await;
    let (client, account) = (bank.client(), bank.account());
    for text in ["a", "b", "c", "d"] {
        bank.book(&account, &FakeBooking::new("1.00 AUD").narrative(text));
    }
    let fee = bank.book(
        &account,
        &FakeBooking::new("-0.50 AUD")
            .ordinary()
            .without_reference()
            .narrative("fee"),
    );
    bank.book(
        &account,
        &FakeBooking::new("2.00 AUD")
            .reference("X")
            .narrative("early")
            .listed_first(),
    );
    let mut pages = request(&bank);
    pages.max_entries = MaxEntries::new(4);
    let forward = [
        "X early",
        "FB00000001 a",
        "FB00000002 b",
        "FB00000003 c",
        "FB00000004 d",
        "- fee",
    ];
    assert_eq!(listed(&client, pages.clone()).await, forward);
    pages.sort_order = Some(SortOrder::Backward);
    assert_eq!(
        listed(&client, pages).await,
        forward.iter().rev().copied().collect::<Vec<_>>()
    );

    bank.correct(
        fee,
        &FakeBooking::new("-0.75 AUD")
            .ordinary()
            .without_reference()
            .narrative("right fee"),
    );
    assert_eq!(
        listed(&client, request(&bank)).await.last().unwrap(),
        "- right fee"
    );
    bank.ledger().remove(fee);
    assert_eq!(listed(&client, request(&bank)).await.len(), 5);
    bank.ledger().reverse(&account);
    assert_eq!(listed(&client, request(&bank)).await[0], "FB00000004 d");
    bank.clock().advance(Duration::from_secs(24 * 3600));
    assert!(
        listed(&client, request(&bank)).await.is_empty(),
        "a new day begins without entries"
    );
}

#[tokio::test]
async fn the_balance_is_that_of_all_days() {
    let bank = FakeBank::start().await;
    bank.ledger()
        .set_opening_balance(&bank.account(), "100".parse().unwrap());
    bank.book(&bank.account(), &FakeBooking::new("-30.25 AUD"));
    bank.clock().advance(Duration::from_secs(24 * 3600));
    let statement = bank
        .client()
        .statements()
        .statement(&bank.account())
        .await
        .unwrap();
    let balance = &statement.pages[0].document.reports[0].balances[0];
    assert_eq!(balance.amount.value().to_string(), "69.75");
}

#[tokio::test]
async fn customers_see_their_own_accounts_only() {
    let bank = FakeBank::start().await;
    let other = Client::new(
        bank.add_customer("OTHER"),
        bank.url(),
        bank.client_options(),
    )
    .unwrap();
    let error = other
        .statements()
        .statement(&bank.account())
        .await
        .unwrap_err();
    assert!(error.is_account_not_found(), "{error:?}");
    let dollars = AccountId::parse("999001400100102").unwrap();
    bank.open_account(&dollars, Currency::USD);
    bank.book(&dollars, &FakeBooking::new("5.00 USD"));
    assert_eq!(
        bank.client()
            .statements()
            .statement(&dollars)
            .await
            .unwrap()
            .entries()
            .count(),
        1
    );
}

#[tokio::test]
#[should_panic(expected = "expected a booking in AUD, found one in USD")]
async fn a_booking_in_another_currency_is_a_mistake_of_the_test() {
    let bank = FakeBank::start().await;
    bank.book(&bank.account(), &FakeBooking::new("5.00 USD"));
}

#[tokio::test]
async fn the_same_seed_tells_the_same() {
    async fn told(seed: u64) -> Vec<String> {
        let bank = FakeBank::start_with(FakeBankOptions::new().seed(seed)).await;
        bank.book(&bank.account(), &FakeBooking::new("1.00 AUD"));
        let page = bank
            .client()
            .statements()
            .page(&request(&bank))
            .await
            .unwrap();
        let key = page.request_key().to_string();
        vec![
            key,
            bank.mandate().id().to_string(),
            bank.payment().id().to_string(),
            bank.now().to_string(),
        ]
    }
    let (one, same, other) = (told(1).await, told(1).await, told(2).await);
    assert_eq!(one, same);
    assert_ne!(one[..3], other[..3]);
    assert_eq!(one[3], "2026-03-02T00:00:00.000Z");
}

#[tokio::test]
async fn limits_follow_the_clock() {
    let bank = FakeBank::start().await;
    let client = bank.client();
    for _ in 0..25 {
        client.statements().page(&request(&bank)).await.unwrap();
    }
    // A client does not send calls that exceed the limits by its own count; a new client does not
    // know of the earlier calls.
    let held = client.statements().page(&request(&bank)).await.unwrap_err();
    assert!(matches!(held.reason, CallErrorKind::HeldBack), "{held:?}");
    let refused = bank.client().statements().page(&request(&bank)).await;
    let refused = refused.unwrap_err();
    assert!(
        matches!(refused.reason, CallErrorKind::TooManyCalls),
        "{refused:?}"
    );
    bank.clock().advance(Duration::from_secs(2 * 3600));
    client.statements().page(&request(&bank)).await.unwrap();
}

#[tokio::test]
async fn without_tls_for_other_clients() {
    let bank = FakeBank::start_with(FakeBankOptions::new().plain_http(true)).await;
    assert!(bank.url().starts_with("http://127.0.0.1:"));
    bank.client()
        .statements()
        .page(&request(&bank))
        .await
        .unwrap();
    assert_eq!(bank.calls(), ["token 200", "statement 999001400100101 200"]);
    bank.forget_calls();
    assert!(bank.calls().is_empty());
}

#[tokio::test]
async fn the_day_is_that_of_the_reports_time_zone() {
    let provider = bankrail_service::ProviderOptions::new().report_time_zone("Australia/Sydney");
    let bank = FakeBank::start_with(FakeBankOptions::new().provider(provider)).await;
    // 23:00 in UTC is the next morning in Sydney.
    bank.clock().advance(Duration::from_secs(23 * 3600));
    bank.book(
        &bank.account(),
        &FakeBooking::new("1.00 AUD").narrative("early"),
    );
    assert_eq!(listed(&bank.client(), request(&bank)).await.len(), 1);
}
