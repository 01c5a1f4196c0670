//! Accounts, registrations and bookings.

use super::{account, day, ledger, page, paid, today, whole};
use crate::engines::{Books, Engine, Sqlite, over_both};
use bankrail_bank::{AccountError, BookError, Booked, Booking, BookingKind, RegisterError};
use bankrail_service::{LedgerAnswer, RegisteredAccount};
use bankrail_statement::{AccountId, AccountKind, SortOrder};
use bankrail_stores::sqlite::TransactionError;
use bankrail_values::Currency;
use tokio::task::JoinSet;

async fn balance(ledger: &impl Books) -> String {
    ledger
        .balance(&account())
        .await
        .unwrap()
        .unwrap()
        .to_string()
}

async fn a_booking_changes_the_balance_and_is_booked_once<E: Engine>() {
    let ledger = ledger::<E>().await;
    let fee = Booking::new(BookingKind::Fee, "15.25 AUD".parse().unwrap(), today());
    assert_eq!(
        ledger
            .book(&account(), &paid("10.00 AUD").reference("FP1"))
            .await
            .unwrap(),
        Booked::New(1)
    );
    assert_eq!(ledger.book(&account(), &fee).await.unwrap(), Booked::New(2));
    // Without a key, an equal one is another.
    assert_eq!(ledger.book(&account(), &fee).await.unwrap(), Booked::New(3));
    assert_eq!(balance(&ledger).await, "-20.50 AUD");
    assert_eq!(
        ledger
            .book(&account(), &paid("10.00 AUD").reference("FP1"))
            .await
            .unwrap(),
        Booked::Known(1)
    );
    assert_eq!(
        ledger
            .book(&account(), &paid("10 AUD").reference("FP1").key("FP1"))
            .await
            .unwrap(),
        Booked::Known(1)
    );
    let other = ledger
        .book(&account(), &paid("10.01 AUD").reference("FP1"))
        .await;
    assert!(matches!(other, Err(BookError::Conflict)), "{other:?}");
    // A key of its own lets entries share a reference.
    assert_eq!(
        ledger
            .book(&account(), &paid("1 AUD").reference("FP1").key("b"))
            .await
            .unwrap(),
        Booked::New(4)
    );
    assert_eq!(balance(&ledger).await, "-19.50 AUD");
    let page = whole(&ledger, today()).await;
    assert_eq!(
        (page.entries.len(), page.balance.to_string().as_str()),
        (4, "-19.50")
    );
    assert_eq!(page.balance_date, today());
}

async fn what_is_refused_changes_nothing<E: Engine>() {
    let ledger = ledger::<E>().await;
    let nowhere = ledger.book(&"9".parse().unwrap(), &paid("1.00 AUD")).await;
    assert!(
        matches!(nowhere, Err(BookError::UnknownAccount)),
        "{nowhere:?}"
    );
    let dollars = ledger
        .book(&account(), &paid("1.00 USD"))
        .await
        .unwrap_err();
    assert_eq!(dollars.to_string(), "currency: expected AUD, found USD");
    let none = ledger.book(&account(), &paid("0.00 AUD")).await;
    assert!(matches!(none, Err(BookError::Booking(_))), "{none:?}");
    let mut pending = paid("1.00 AUD").to_entry().unwrap();
    pending.entry.status = bankrail_camt052::EntryStatus::PENDING;
    let pending = ledger.book_entry(&account(), &pending, None).await;
    assert!(matches!(pending, Err(BookError::Status)), "{pending:?}");
    let mut dateless = paid("1.00 AUD").to_entry().unwrap();
    dateless.entry.booking_date = None;
    let dateless = ledger.book_entry(&account(), &dateless, None).await;
    assert!(
        matches!(dateless, Err(BookError::BookingDay)),
        "{dateless:?}"
    );
    let mut long = paid("1.00 AUD").to_entry().unwrap();
    long.entry.servicer_reference = Some("x".repeat(36).as_str().into());
    let long = ledger.book_entry(&account(), &long, None).await;
    assert!(matches!(long, Err(BookError::Entry(_))), "{long:?}");
    let key = ledger
        .book_entry(&account(), &paid("1.00 AUD").to_entry().unwrap(), Some(""))
        .await;
    assert!(matches!(key, Err(BookError::Booking(_))), "{key:?}");
    // The balance after it would have more than 18 digits.
    ledger
        .book(&account(), &paid("9999999999999999.99 AUD"))
        .await
        .unwrap();
    let full = ledger.book(&account(), &paid("0.02 AUD")).await;
    assert!(matches!(full, Err(BookError::Entry(_))), "{full:?}");
    assert_eq!(balance(&ledger).await, "9999999999999999.99 AUD");
    assert_eq!(whole(&ledger, today()).await.entries.len(), 1);
}

#[tokio::test]
async fn a_booking_within_a_transaction_shares_its_fate() {
    let store = Sqlite::new().await;
    let ledger = super::ledger_in(&store).await;
    for commits in [false, true] {
        let booking = ledger.clone();
        let work = store
            .store
            .transaction(move |transaction| -> Result<Booked, BookError> {
                transaction
                    .connection()
                    .execute_batch("CREATE TABLE mine (x INTEGER) STRICT")
                    .unwrap();
                let booked = booking.book_within(
                    transaction,
                    &account(),
                    &paid("5.00 AUD").reference("FP1"),
                )?;
                // A refusal leaves what was booked before, if the caller goes on.
                booking
                    .book_within(transaction, &account(), &paid("6.00 AUD").reference("FP1"))
                    .unwrap_err();
                if commits {
                    Ok(booked)
                } else {
                    Err(BookError::Conflict)
                }
            });
        match work.await {
            Ok(booked) => assert!(commits && booked == Booked::New(1)),
            Err(error) => {
                assert!(!commits && matches!(error, TransactionError::Undone(BookError::Conflict)))
            }
        }
        assert_eq!(
            balance(&ledger).await,
            if commits { "5.00 AUD" } else { "0 AUD" }
        );
    }
}

async fn registering_replaces_a_customers_accounts_and_keeps_their_entries<E: Engine>() {
    let ledger = ledger::<E>().await;
    let acme = "ACME".parse().unwrap();
    ledger.book(&account(), &paid("5.00 AUD")).await.unwrap();
    let other: AccountId = "HKD000000000104".parse().unwrap();
    let dollars = RegisteredAccount::new(Currency::HKD).with_virtual_accounts();
    ledger
        .register(&acme, vec![(other.clone(), dollars)])
        .await
        .unwrap();
    assert!(matches!(
        page(&ledger, today(), SortOrder::Forward, 1, None).await,
        LedgerAnswer::UnknownAccount
    ));
    assert_eq!(
        ledger.balance(&other).await.unwrap().unwrap().to_string(),
        "0 HKD"
    );
    let again = RegisteredAccount::new(Currency::AUD)
        .with_name("Savings")
        .with_virtual_accounts()
        .with_reporting_source("ABC");
    ledger
        .register(&acme, vec![(account(), again)])
        .await
        .unwrap();
    let page = whole(&ledger, today()).await;
    assert_eq!(
        (
            page.account.name.as_deref(),
            page.account.reporting_source.as_deref()
        ),
        (Some("Savings"), Some("ABC"))
    );
    assert_eq!(page.account.kind, AccountKind::WithVirtualAccounts);
    assert_eq!(
        (page.entries.len(), page.balance.to_string().as_str()),
        (1, "5.00")
    );
    // Another customer may ask for the same account, under another name.
    ledger
        .register(
            &"BETA".parse().unwrap(),
            vec![(account(), RegisteredAccount::new(Currency::AUD))],
        )
        .await
        .unwrap();
    assert_eq!(
        whole(&ledger, today()).await.account.name.as_deref(),
        Some("Savings")
    );
}

async fn accounts_that_cannot_be_registered_are_named_by_their_place<E: Engine>() {
    let ledger = ledger::<E>().await;
    let aud = || RegisteredAccount::new(Currency::AUD);
    let register = async |second: RegisteredAccount, id: &str| {
        let accounts = vec![("7".parse().unwrap(), aud()), (id.parse().unwrap(), second)];
        ledger
            .register(&"ACME".parse().unwrap(), accounts)
            .await
            .unwrap_err()
    };
    let twice = register(aud(), "7").await;
    assert!(
        matches!(twice, RegisterError::Twice { number: 2 }),
        "{twice:?}"
    );
    let currency = register(RegisteredAccount::new(Currency::USD), "2").await;
    assert_eq!(currency.to_string(), "account 2 of the list");
    let RegisterError::Account { source, .. } = currency else {
        panic!("an account")
    };
    assert_eq!(source.to_string(), "currency: expected AUD, found USD");
    let unlisted = register(RegisteredAccount::new("ABC".parse().unwrap()), "8").await;
    assert!(matches!(
        unlisted,
        RegisterError::Account {
            source: AccountError::UnlistedCurrency { .. },
            ..
        }
    ));
    for (facts, name) in [
        (aud().with_name("x".repeat(71)), true),
        (aud().with_reporting_source(""), false),
    ] {
        let RegisterError::Account { source, .. } = register(facts, "8").await else {
            panic!("an account")
        };
        assert!(
            matches!(source, AccountError::Name if name)
                || matches!(source, AccountError::ReportingSource)
        );
    }
    // Nothing of a list that is refused is registered or opened.
    assert_eq!(ledger.balance(&"7".parse().unwrap()).await.unwrap(), None);
    assert_eq!(
        whole(&ledger, today()).await.account.name.as_deref(),
        Some("Operating")
    );
}

async fn an_account_is_opened_once<E: Engine>() {
    let ledger = ledger::<E>().await;
    let seven = "7".parse().unwrap();
    assert!(
        ledger
            .open_account(&seven, "-12.50 AUD".parse().unwrap())
            .await
            .unwrap()
    );
    assert!(
        !ledger
            .open_account(&seven, "99 AUD".parse().unwrap())
            .await
            .unwrap()
    );
    assert_eq!(
        ledger.balance(&seven).await.unwrap().unwrap().to_string(),
        "-12.50 AUD"
    );
    let other = ledger.open_account(&seven, "0 USD".parse().unwrap()).await;
    assert!(
        matches!(other, Err(AccountError::Currency { .. })),
        "{other:?}"
    );
    let large = ledger
        .open_account(
            &"8".parse().unwrap(),
            "1234567890123456789 AUD".parse().unwrap(),
        )
        .await;
    assert!(matches!(large, Err(AccountError::Balance)), "{large:?}");
    assert!(whole(&ledger, day("2021-07-30")).await.entries.is_empty());
}

over_both! {
    a_booking_changes_the_balance_and_is_booked_once,
    what_is_refused_changes_nothing,
    registering_replaces_a_customers_accounts_and_keeps_their_entries,
    accounts_that_cannot_be_registered_are_named_by_their_place,
    an_account_is_opened_once,
}

/// Concurrent bookings share transactions, and each has its own answer.
#[tokio::test]
async fn of_bookings_at_once_each_is_booked_or_refused_by_itself() {
    let ledger = ledger::<Sqlite>().await;
    let mut running = JoinSet::new();
    for number in 0..90 {
        let ledger = ledger.clone();
        let amount = if number % 3 == 1 {
            "1.00 USD"
        } else {
            "1.00 AUD"
        };
        // Each key is there twice.
        let booking = paid(amount).key(format!("key {}", number / 6));
        running.spawn(async move {
            ledger
                .book(&account(), &booking)
                .await
                .map_err(|error| error.to_string())
        });
    }
    let outcomes = running.join_all().await;
    let count = |is: fn(&Result<Booked, String>) -> bool| {
        outcomes.iter().filter(|outcome| is(outcome)).count()
    };
    let refused = count(|outcome| {
        outcome
            .as_ref()
            .is_err_and(|error| error == "currency: expected AUD, found USD")
    });
    assert_eq!(
        (
            count(|outcome| matches!(outcome, Ok(Booked::New(_)))),
            refused
        ),
        (15, 30)
    );
    assert_eq!(count(|outcome| matches!(outcome, Ok(Booked::Known(_)))), 45);
    assert_eq!(balance(&ledger).await, "15.00 AUD");
    assert_eq!(whole(&ledger, today()).await.entries.len(), 15);
}
