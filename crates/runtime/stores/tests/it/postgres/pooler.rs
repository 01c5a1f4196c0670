//! PgBouncer in transaction mode, with two connections to the server for each database.

use super::client;
use crate::engines::{at, outgoing};
use bankrail_client_assertion::testing::token_cache_suite;
use bankrail_mailbox::testing::{inbox_suite, outbox_suite};
use bankrail_mailbox::{Outbox as _, OutboxOperator as _};
use bankrail_statement::testing::{seen_entries_suite, transactional_seen_entries_suite};
use bankrail_stores::postgres::tokio_postgres::NoTls;
use bankrail_stores::postgres::{InTransaction, PostgresOptions, PostgresStore, PostgresWork};
use bankrail_values::StoreError;
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns the connection string of a new database through the pooler that `BANKRAIL_PGBOUNCER`
/// names.
async fn database() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let server =
        std::env::var("BANKRAIL_POSTGRES").expect("BANKRAIL_POSTGRES names a database to write to");
    let pooler =
        std::env::var("BANKRAIL_PGBOUNCER").expect("BANKRAIL_PGBOUNCER names a pooler before it");
    let name = format!(
        "pooled_{}_{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    );
    client(&server)
        .await
        .batch_execute(&format!("CREATE DATABASE {name}"))
        .await
        .unwrap();
    format!("{pooler} dbname={name}")
}

async fn connect(config: &str) -> PostgresStore {
    PostgresStore::connect(
        config,
        NoTls,
        PostgresOptions::new().transaction_pooling(true),
    )
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn the_suites_pass() {
    let empty = async || connect(&database().await).await;
    inbox_suite(async || empty().await.inbox()).await;
    outbox_suite(async || empty().await.outbox()).await;
    seen_entries_suite(empty).await;
    token_cache_suite(empty).await;
    #[cfg(feature = "webhook")]
    bankrail_webhook::testing::histories_suite(async || empty().await.histories()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn the_transactional_suite_passes() {
    let config = database().await;
    let (one, other) = (connect(&config).await, connect(&config).await);
    let create =
        async |sql: &InTransaction<'_>| sql.execute("CREATE TABLE mine (x BIGINT)", &[]).await;
    one.transaction(create).await.unwrap();
    let work = |number: u32, fails: bool| {
        PostgresWork::new(move |transaction| {
            Box::pin(async move {
                transaction
                    .execute("INSERT INTO mine VALUES ($1)", &[&i64::from(number)])
                    .await?;
                if fails {
                    Err("as a test".into())
                } else {
                    Ok(())
                }
            })
        })
    };
    let effects = async || {
        let rows = other
            .read(async |sql| sql.query("SELECT x FROM mine", &[]).await)
            .await
            .unwrap();
        rows.iter()
            .map(|row| row.get::<_, i64>(0).try_into().unwrap())
            .collect()
    };
    transactional_seen_entries_suite(&one, &other, work, effects).await;
}

/// Each transaction of the store has the store's settings on any connection of the server, and
/// transactions of other programs do not have them.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn each_transaction_is_set_up_and_leaves_nothing() {
    let config = database().await;
    let store = connect(&config).await;
    let mut stranger = client(&config).await;
    let shown = "SELECT concat_ws(' ', current_setting('transaction_isolation'), current_setting('lock_timeout'),
        current_setting('idle_in_transaction_session_timeout'), current_setting('enable_seqscan')) AS all";
    let database = config.rsplit('=').next().unwrap();
    let serializable =
        format!("ALTER DATABASE {database} SET default_transaction_isolation = serializable");
    stranger.batch_execute(&serializable).await.unwrap();
    let held = stranger.transaction().await.unwrap();
    let ask = async |sql: &InTransaction<'_>| -> Result<String, StoreError> {
        Ok(sql.query(shown, &[]).await?[0].get("all"))
    };
    assert_eq!(
        store.transaction(ask).await.unwrap(),
        "read committed 10s 10s off"
    );
    assert_eq!(
        store.read(ask).await.unwrap(),
        "repeatable read 10s 10s off"
    );
    held.rollback().await.unwrap();
    for _ in 0..4 {
        store.check().await.unwrap();
        store
            .outbox()
            .enqueue(&outgoing("biller", 1), at(0))
            .await
            .unwrap();
        let transaction = stranger.transaction().await.unwrap();
        let row = transaction.query_typed_one(shown, &[]).await.unwrap();
        assert!(row.get::<_, String>(0).ends_with(" 0 0 on"), "{row:?}");
        let prepared = "SELECT count(*) FROM pg_prepared_statements";
        assert_eq!(
            transaction
                .query_typed_one(prepared, &[])
                .await
                .unwrap()
                .get::<_, i64>(0),
            0
        );
        transaction.rollback().await.unwrap();
    }
    let refused = store.listen("bankrail_customer").await.unwrap_err();
    assert!(
        chain(&refused).contains("transaction_pooling"),
        "{refused:?}"
    );
}

/// Returns the text of an error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(
        || error.to_string(),
        |cause| format!("{error}: {}", chain(cause)),
    )
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn without_the_option_the_error_names_it() {
    let config = database().await;
    let store = PostgresStore::connect(&config, NoTls, PostgresOptions::new().connections(1))
        .await
        .unwrap();
    // Another client holds the connection on which the next statement was prepared.
    let mut others = [client(&config).await, client(&config).await];
    let refused = loop {
        if let Err(error) = store.outbox().circuits().await {
            break error;
        }
        let [one, two] = &mut others;
        let (one, _) = (
            one.transaction().await.unwrap(),
            two.batch_execute("SELECT 1").await.unwrap(),
        );
        one.batch_execute("SELECT 1").await.unwrap();
        if let Err(error) = store.outbox().circuits().await {
            break error;
        }
    };
    assert!(
        chain(&refused).contains("answered 26000: a pooler"),
        "{}",
        chain(&refused)
    );
    assert!(
        chain(&refused).contains("set PostgresOptions::transaction_pooling"),
        "{}",
        chain(&refused)
    );

    // What the first one has set is found on a new connection.
    let config = database().await;
    let _first = PostgresStore::connect(&config, NoTls, PostgresOptions::new())
        .await
        .unwrap();
    let refused = PostgresStore::connect(&config, NoTls, PostgresOptions::new())
        .await
        .unwrap_err();
    assert!(
        chain(&refused).contains("set PostgresOptions::transaction_pooling"),
        "{}",
        chain(&refused)
    );
}
