//! The caller's own statements on the store's connections.

use super::client;
use crate::engines::postgres_schema;
#[cfg(feature = "mailbox")]
use bankrail_mailbox::Inbox as _;
use bankrail_stores::postgres::tokio_postgres::NoTls;
use bankrail_stores::postgres::tokio_postgres::types::Type;
use bankrail_stores::postgres::{InTransaction, PostgresOptions, PostgresStore};
use bankrail_values::{StoreError, StoreErrorKind};
use std::time::Duration;

const ADD: &str = "INSERT INTO mine VALUES ($1)";
const COUNT: &str = "SELECT count(*) AS rows FROM mine";

async fn count(transaction: &InTransaction<'_>) -> Result<i64, StoreError> {
    Ok(transaction.query(COUNT, &[]).await?[0].get("rows"))
}

async fn add(transaction: &InTransaction<'_>, number: i64) -> Result<u64, StoreError> {
    transaction.execute(ADD, &[(&number, Type::INT8)]).await
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn what_fails_is_undone_whole_and_its_connection_goes_on() {
    let config = postgres_schema().await;
    // One connection, on which each statement is prepared at its first use.
    let store = PostgresStore::connect(&config, NoTls, PostgresOptions::new().connections(1))
        .await
        .unwrap();
    client(&config)
        .await
        .batch_execute("CREATE TABLE mine (x BIGINT PRIMARY KEY)")
        .await
        .unwrap();
    for round in 0..3 {
        assert_eq!(store.read(count).await.unwrap(), round);
        let refused = store.transaction(async |transaction| {
            add(transaction, 10 + round).await?;
            Err::<(), _>(StoreError::new(
                StoreErrorKind::Conflict,
                "the caller's own",
            ))
        });
        assert_eq!(refused.await.unwrap_err().kind(), StoreErrorKind::Conflict);
        assert_eq!(
            store
                .transaction(async |transaction| add(transaction, round).await)
                .await
                .unwrap(),
            1
        );
        let ignored = store.transaction(async |transaction| {
            add(transaction, 10 + round).await?;
            let _ = add(transaction, round).await;
            Ok::<_, StoreError>(())
        });
        assert_eq!(
            ignored.await.unwrap_err().kind(),
            StoreErrorKind::Unavailable,
            "a failed statement was ignored"
        );
        let written = store
            .read(async |transaction| add(transaction, 10 + round).await)
            .await;
        assert_eq!(
            written.unwrap_err().kind(),
            StoreErrorKind::Unavailable,
            "reading does not write"
        );
    }
    assert_eq!(store.long_read(count).await.unwrap(), 3);
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn all_that_is_read_is_of_one_state() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, PostgresOptions::new())
        .await
        .unwrap();
    client(&config)
        .await
        .batch_execute("CREATE TABLE mine (x BIGINT PRIMARY KEY)")
        .await
        .unwrap();
    let other = store.clone();
    let counts = store.read(async |transaction| {
        let before = count(transaction).await?;
        other
            .transaction(async |transaction| add(transaction, 1).await)
            .await?;
        Ok::<_, StoreError>((before, count(transaction).await?))
    });
    assert_eq!(counts.await.unwrap(), (0, 0));
    assert_eq!(store.read(count).await.unwrap(), 1);
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn each_statement_of_long_work_is_bounded() {
    let config = postgres_schema().await;
    let options = PostgresOptions::new().operation_timeout(Duration::from_secs(1));
    let store = PostgresStore::connect(&config, NoTls, options)
        .await
        .unwrap();
    let sleep =
        async |transaction: &InTransaction<'_>, sql| transaction.query(sql, &[]).await.map(drop);
    let twice = async |transaction: &InTransaction<'_>| {
        sleep(transaction, "SELECT pg_sleep(0.7)").await?;
        sleep(transaction, "SELECT pg_sleep(0.7)").await
    };
    assert_eq!(
        store.transaction(twice).await.unwrap_err().kind(),
        StoreErrorKind::Timeout
    );
    store.long_transaction(twice).await.unwrap();
    let long = store.long_read(async |transaction| sleep(transaction, "SELECT pg_sleep(20)").await);
    assert_eq!(long.await.unwrap_err().kind(), StoreErrorKind::Timeout);
}

/// Several connections are open to a server from which another one has taken over. After the first
/// refusal none of them is used again, not even one that is reading.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn connections_that_turned_read_only_are_closed() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, PostgresOptions::new())
        .await
        .unwrap();
    client(&config)
        .await
        .batch_execute("CREATE TABLE mine (x BIGINT PRIMARY KEY)")
        .await
        .unwrap();
    let turn = async |transaction: &InTransaction<'_>| {
        transaction
            .execute("SET default_transaction_read_only = on", &[])
            .await?;
        count(transaction).await
    };
    let both = store.transaction(async |transaction| {
        turn(transaction).await?;
        store.transaction(turn).await
    });
    assert_eq!(both.await.unwrap(), 0);
    store
        .read(async |reading| {
            let refused = store
                .transaction(async |transaction| add(transaction, 1).await)
                .await;
            assert_eq!(refused.unwrap_err().kind(), StoreErrorKind::Unavailable);
            count(reading).await
        })
        .await
        .unwrap();
    for number in 0..3 {
        store
            .transaction(async |transaction| add(transaction, number).await)
            .await
            .unwrap();
    }
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_notification_is_heard_when_its_transaction_is_committed() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, PostgresOptions::new())
        .await
        .unwrap();
    let mut heard = store.listen("bankrail \"mine\"").await.unwrap();
    let notify = async |transaction: &InTransaction<'_>| {
        let notify = "SELECT pg_notify('bankrail \"mine\"', number::text) FROM generate_series(1, 50) AS number";
        transaction.query(notify, &[]).await.map(drop)
    };
    store.transaction(notify).await.unwrap();
    assert_eq!(heard.next().await, Some(()));
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND query = 'LISTEN \"bankrail \"\"mine\"\"\"'";
    client(&config).await.query(end, &[]).await.unwrap();
    while heard.next().await.is_some() {}
}

/// These are transactions of their own outside of a caller's.
#[cfg(feature = "webhook")]
#[tokio::test]
#[ignore = "needs postgresql"]
async fn what_the_store_does_within_is_undone_with_the_rest() {
    use crate::engines::{at, incoming, query};
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, PostgresOptions::new().connections(1))
        .await
        .unwrap();
    let refused = store.transaction(async |transaction| {
        transaction
            .receive(&incoming(&query(1, "Why?"), 1), at(0))
            .await?;
        Err::<(), _>(StoreError::new(
            StoreErrorKind::Conflict,
            "the caller's own",
        ))
    });
    assert_eq!(refused.await.unwrap_err().kind(), StoreErrorKind::Conflict);
    assert_eq!(store.inbox().counts().await.unwrap().pending, 0);
}
