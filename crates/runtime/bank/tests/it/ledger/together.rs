//! Concurrent transactions, which only PostgreSQL has.

use super::{account, ledger_in, paid, today, whole};
use crate::engines::{Engine, Postgres};
use bankrail_bank::{BookError, Booked, PostgresLedger};
use bankrail_service::RegisteredAccount;
use bankrail_statement::AccountId;
use bankrail_stores::postgres::tokio_postgres::{Client, NoTls, connect};
use bankrail_stores::postgres::{InTransaction, PostgresOptions, PostgresStore};
use bankrail_values::{Currency, Money, StoreErrorKind};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

async fn client(engine: &Postgres) -> Client {
    let (client, connection) = connect(&engine.config, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn balance(ledger: &PostgresLedger) -> String {
    ledger
        .balance(&account())
        .await
        .unwrap()
        .unwrap()
        .to_string()
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_booking_within_a_transaction_shares_its_fate() {
    let engine = Postgres::new().await;
    let (ledger, mut client) = (ledger_in(&engine).await, client(&engine).await);
    for commits in [false, true] {
        let transaction = client.transaction().await.unwrap();
        transaction
            .execute("CREATE TABLE mine (x INTEGER)", &[])
            .await
            .unwrap();
        let within = InTransaction::of(&transaction);
        let booked = ledger
            .book_within(within, &account(), &paid("5.00 AUD").reference("FP1"))
            .await
            .unwrap();
        assert_eq!(booked, Booked::New(1));
        // A refusal leaves what was booked before, if the caller goes on.
        let refused = ledger
            .book_within(within, &account(), &paid("6.00 AUD").reference("FP1"))
            .await;
        assert!(matches!(refused, Err(BookError::Conflict)), "{refused:?}");
        // Nobody else sees it yet.
        assert_eq!(balance(&ledger).await, "0 AUD");
        if commits {
            transaction.commit().await.unwrap()
        } else {
            transaction.rollback().await.unwrap()
        }
        assert_eq!(
            balance(&ledger).await,
            if commits { "5.00 AUD" } else { "0 AUD" }
        );
    }
    assert_eq!(
        whole(&ledger, today()).await.account.name.as_deref(),
        Some("Operating")
    );
    assert_eq!(ledger.balance(&"7".parse().unwrap()).await.unwrap(), None);
}

/// A booking gets its number when earlier ones are committed, so that no later entry is visible
/// before an earlier one. The booking waits at most as long as an operation may take.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_booking_waits_for_the_one_before_it() {
    let engine = Postgres::new().await;
    let options = PostgresOptions::new().operation_timeout(Duration::from_millis(500));
    let impatient = PostgresLedger::new(
        PostgresStore::connect(&engine.config, NoTls, options)
            .await
            .unwrap(),
    );
    let (ledger, mut client) = (ledger_in(&engine).await, client(&engine).await);
    let transaction = client.transaction().await.unwrap();
    let first = ledger
        .book_within(
            InTransaction::of(&transaction),
            &account(),
            &paid("1.00 AUD"),
        )
        .await
        .unwrap();
    let BookError::Store(late) = impatient
        .book(&account(), &paid("2.00 AUD"))
        .await
        .unwrap_err()
    else {
        panic!()
    };
    assert_eq!(late.kind(), StoreErrorKind::Timeout);
    // Another account is not held up, and neither is a reader.
    let other: AccountId = "2".parse().unwrap();
    assert_eq!(
        impatient.book(&other, &paid("2.00 AUD")).await.unwrap(),
        Booked::New(1)
    );
    assert_eq!(whole(&impatient, today()).await.entries.len(), 0);
    let waiting = tokio::spawn({
        let ledger = ledger.clone();
        async move { ledger.book(&account(), &paid("3.00 AUD")).await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waiting.is_finished());
    transaction.commit().await.unwrap();
    assert_eq!(
        (first, waiting.await.unwrap().unwrap()),
        (Booked::New(1), Booked::New(2))
    );
    assert_eq!(balance(&ledger).await, "4.00 AUD");
}

/// Instances agree if each registers the customers' accounts at its start, and several try the same
/// booking.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn instances_that_do_the_same_at_once_agree() {
    let engine = Postgres::new().await;
    ledger_in(&engine).await;
    let tasks: Vec<_> = (0..8_u32)
        .map(|task| {
            let engine = engine.clone();
            tokio::spawn(async move {
                let ledger = engine.again().await.ledger();
                for round in 0..10_u32 {
                    let id: AccountId = format!("{}", 100 + round).parse().unwrap();
                    let facts =
                        RegisteredAccount::new(Currency::AUD).with_name(format!("of {task}"));
                    let both = vec![(account(), facts.clone()), (id.clone(), facts)];
                    ledger
                        .register(&"ACME".parse().unwrap(), both)
                        .await
                        .unwrap();
                    ledger
                        .open_account(&id, Money::new(0.into(), Currency::AUD))
                        .await
                        .unwrap();
                    ledger
                        .book(
                            &account(),
                            &paid("1.00 AUD").reference(format!("FP{round}")),
                        )
                        .await
                        .unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let ledger = engine.ledger();
    assert_eq!(balance(&ledger).await, "10.00 AUD");
    assert_eq!(whole(&ledger, today()).await.entries.len(), 10);
    for round in 0..10 {
        let id = format!("{}", 100 + round).parse().unwrap();
        assert!(ledger.balance(&id).await.unwrap().is_some(), "{id}");
    }
}

/// A booking that is dropped half way, as by a time-out, keeps entry and balance together if the
/// caller commits.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_booking_that_is_dropped_half_way_keeps_entry_and_balance_together() {
    let engine = Postgres::new().await;
    let (ledger, mut client) = (ledger_in(&engine).await, client(&engine).await);
    ledger.book(&account(), &paid("1.00 AUD")).await.unwrap();
    for polls in 1.. {
        let transaction = client.transaction().await.unwrap();
        let (account, paid) = (account(), paid("1.00 AUD").reference(format!("FP{polls}")));
        let mut booking =
            Box::pin(ledger.book_within(InTransaction::of(&transaction), &account, &paid));
        let mut left = polls;
        let booked = poll_fn(|context| {
            left -= 1;
            match booking.as_mut().poll(context) {
                Poll::Pending if left == 0 => Poll::Ready(None),
                booked => booked.map(Some),
            }
        });
        let booked = booked.await;
        drop(booking);
        transaction.commit().await.unwrap();
        let entries = whole(&ledger, today()).await.entries.len();
        assert_eq!(
            balance(&ledger).await,
            format!("{entries}.00 AUD"),
            "dropped after {polls}"
        );
        if let Some(booked) = booked {
            booked.unwrap();
            break;
        }
    }
}

/// A server that refuses writes, such as a standby, books nothing and still serves pages.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_server_that_refuses_writes_still_serves_pages() {
    let engine = Postgres::new().await;
    let ledger = ledger_in(&engine).await;
    ledger.book(&account(), &paid("1.00 AUD")).await.unwrap();
    let freeze = "SET default_transaction_read_only = on";
    engine
        .store
        .long_read(async |session| session.execute(freeze, &[]).await)
        .await
        .unwrap();
    let refused = ledger.book(&account(), &paid("2.00 AUD")).await;
    let Err(BookError::Store(refused)) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(refused.kind(), StoreErrorKind::Unavailable);
    assert_eq!(whole(&ledger, today()).await.entries.len(), 1);
}
