//! The specification's test accounts, over HTTPS.

use bankrail_camt052::{Entry, Report};
use bankrail_client::{Client, StatementPage};
use bankrail_emulator::{FakeBank, TestAccount};
use bankrail_statement::{AccountId, AccountKind, MaxEntries, StatementRequest};
use bankrail_values::Date;
use std::collections::BTreeSet;

async fn page(client: &Client, request: &StatementRequest) -> StatementPage {
    let page = client.statements().page(request).await.unwrap();
    assert!(
        page.received.findings.is_empty() && page.document_findings.is_empty(),
        "{:?}",
        page.document_findings
    );
    page
}

fn report(page: &StatementPage) -> &Report {
    let [report] = page.document.reports.as_slice() else {
        panic!("one report")
    };
    report
}

#[tokio::test]
async fn each_test_account_has_its_currency_and_its_entries_and_no_other_account_is_there() {
    let bank = FakeBank::start().await;
    bank.open_test_accounts();
    let client = bank.client();
    for account in TestAccount::ALL {
        let page = page(&client, &StatementRequest::new(&account.id())).await;
        let report = report(&page);
        assert_eq!(
            report.entries.len(),
            account.bookings(bank.now().date()).len(),
            "{}",
            account.id()
        );
        let [balance] = report.balances.as_slice() else {
            panic!("one balance")
        };
        let money = balance.amount.to_money().unwrap();
        assert_eq!(money.currency(), account.opening().currency());
        let decimals = money.currency().minor_units().map(u32::from);
        assert_eq!(Some(money.amount().scale()), decimals, "{money}");
        let has_virtual_accounts = account.registered().kind == AccountKind::WithVirtualAccounts;
        assert_eq!(
            page.received.sort_order.is_some(),
            has_virtual_accounts,
            "{}",
            account.id()
        );
    }
    let currencies: Vec<String> = TestAccount::ALL
        .iter()
        .map(|a| a.opening().currency().to_string())
        .collect();
    assert_eq!(
        currencies,
        [
            "AUD", "USD", "SBD", "HKD", "SGD", "INR", "PGK", "VND", "AUD", "AUD"
        ]
    );
    let unknown = AccountId::parse(TestAccount::UNKNOWN).unwrap();
    let refused = client
        .statements()
        .page(&StatementRequest::new(&unknown))
        .await
        .unwrap_err();
    assert!(refused.is_account_not_found(), "{refused:?}");
    for account in TestAccount::ALL {
        assert!(!account.id().is_reserved_for_negative_testing() && account.id() != unknown);
    }
}

/// Returns the parties, the virtual account and the text of an entry.
fn narrative(entry: &Entry) -> (bool, Option<String>, String) {
    let parties = entry
        .transactions()
        .find_map(|transaction| transaction.parties.as_ref());
    let number = entry.transactions().find_map(|transaction| {
        let account = transaction.parties.as_ref()?.creditor_account.as_ref()?;
        Some(format!("{:?}", account.id))
    });
    (parties.is_some(), number, entry.narrative().to_string())
}

#[tokio::test]
async fn the_two_with_virtual_accounts_show_their_narrative_on_request_only() {
    let bank = FakeBank::start().await;
    bank.open_test_accounts();
    let client = bank.client();
    let accounts = TestAccount::ALL
        .iter()
        .filter(|account| account.registered().kind != AccountKind::Ordinary);
    let ids: Vec<AccountId> = accounts.map(TestAccount::id).collect();
    assert_eq!(ids.len(), 2);
    for id in &ids {
        let ask = async |narrative: bool| {
            let mut request = StatementRequest::new(id);
            request.include_narrative = Some(narrative);
            report(&page(&client, &request).await)
                .entries
                .iter()
                .map(self::narrative)
                .collect::<Vec<_>>()
        };
        let (with, without) = (ask(true).await, ask(false).await);
        assert_eq!(with.len(), without.len());
        assert!(
            with.iter()
                .any(|(parties, number, text)| *parties && number.is_some() && !text.is_empty())
        );
        for ((_, number, _), hidden) in with
            .iter()
            .zip(&without)
            .filter(|((_, number, _), _)| number.is_some())
        {
            assert!(number.as_ref().unwrap().contains("70010"), "{number:?}");
            assert_eq!(*hidden, (false, None, String::new()));
        }
    }
    let mut paged = StatementRequest::new(&ids[1]);
    paged.max_entries = MaxEntries::new(3);
    let statement = client.statements().pages(paged).collect().await.unwrap();
    assert_eq!((statement.pages.len(), statement.entries().count()), (3, 7));
}

#[test]
fn a_day_repeats_no_reference_of_another() {
    let days = ["2026-03-02", "2026-03-03", "2027-03-02"].map(|day| Date::parse(day).unwrap());
    let mut keys = BTreeSet::new();
    for day in days {
        for account in TestAccount::ALL {
            for booking in account.bookings(day) {
                assert!(
                    keys.insert(booking.idempotency_key().unwrap().to_owned()),
                    "{booking:?}"
                );
            }
        }
    }
    assert_eq!(keys.len(), 3 * 22);
}
