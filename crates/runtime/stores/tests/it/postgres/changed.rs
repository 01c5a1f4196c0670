//! Tests that an idle worker is notified of messages that another process enqueues. A second store
//! stands for another process.

use super::client;
use crate::engines::{at, lease, outgoing, postgres_schema};
use bankrail_mailbox::{LeaseRequest, Outbox as _, OutboxOperator as _};
use bankrail_stores::postgres::tokio_postgres::NoTls;
use bankrail_stores::postgres::{InTransaction, PostgresOptions, PostgresOutbox, PostgresStore};
use std::time::Duration;

/// A wait that is far longer than a notification takes, and shorter than the interval of probes.
const LONG: Duration = Duration::from_secs(15);

async fn until(done: impl Future<Output = ()>) {
    tokio::time::timeout(LONG, done).await.expect("within 15 s");
}

async fn connect(config: &str) -> PostgresStore {
    PostgresStore::connect(config, NoTls, PostgresOptions::new())
        .await
        .unwrap()
}

async fn is_told(outbox: &PostgresOutbox, within: Duration) -> bool {
    tokio::time::timeout(within, outbox.changed()).await.is_ok()
}

/// Leases all messages, so that the next one is new.
async fn lease_all(outbox: &PostgresOutbox) -> usize {
    outbox
        .lease(
            LeaseRequest::new(lease(1, 1000), 100).per_endpoint(100),
            at(1),
        )
        .await
        .unwrap()
        .len()
}

/// Waits until a worker holds the locks, and so waits for a notification.
async fn until_idle(config: &str) {
    let client = client(config).await;
    let held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND database =
        (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid = ANY (SELECT pid FROM pg_stat_activity
        WHERE application_name = current_setting('application_name'))";
    until(async {
        while client.query_one(held, &[]).await.unwrap().get::<_, i64>(0) < 64 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// Makes a schema whose connections have this name.
async fn config(name: &str) -> String {
    format!(
        "{} application_name='{name} {}'",
        postgres_schema().await,
        std::process::id()
    )
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn an_idle_worker_is_told_of_messages_and_of_no_other_writes() {
    let config = config("told of messages").await;
    let (here, elsewhere) = (connect(&config).await, connect(&config).await);
    let outbox = here.outbox();
    elsewhere
        .outbox()
        .enqueue(&outgoing("acme", 0), at(1))
        .await
        .unwrap();
    assert!(is_told(&outbox, LONG).await, "what came before");
    for number in 1..4 {
        assert_eq!(lease_all(&outbox).await, 1);
        assert!(
            !is_told(&outbox, Duration::from_millis(100)).await,
            "no message was stored"
        );
        // The worker looks, as it does at its own interval, and waits again.
        assert_eq!(lease_all(&outbox).await, 0);
        let enqueue = async {
            until_idle(&config).await;
            elsewhere
                .outbox()
                .enqueue(&outgoing("acme", number), at(1))
                .await
                .unwrap();
        };
        assert!(
            tokio::join!(is_told(&outbox, LONG), enqueue).0,
            "while it waits"
        );
    }
    // A message for a stopped endpoint is new until somebody has looked.
    lease_all(&outbox).await;
    let stop = bankrail_mailbox::Intervention {
        by: "test".parse().unwrap(),
        reason: "test".parse().unwrap(),
    };
    outbox
        .stop_endpoint(&"acme".parse().unwrap(), &stop, at(1))
        .await
        .unwrap();
    elsewhere
        .outbox()
        .enqueue(&outgoing("acme", 9), at(1))
        .await
        .unwrap();
    assert!(is_told(&outbox, LONG).await);
    assert_eq!(lease_all(&outbox).await, 0);
    assert!(!is_told(&outbox, Duration::from_millis(200)).await);
    assert_eq!(outbox.counts(None).await.unwrap().pending, 5);
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn several_idle_workers_are_told() {
    let config = config("several workers").await;
    let stores = [
        connect(&config).await,
        connect(&config).await,
        connect(&config).await,
    ];
    let [one, other, third] = stores.each_ref().map(PostgresStore::outbox);
    let enqueue = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        third.enqueue(&outgoing("acme", 1), at(1)).await.unwrap();
    };
    let (one, other, ()) = tokio::join!(is_told(&one, LONG), is_told(&other, LONG), enqueue);
    assert!(one && other);
}

/// A store without sessions cannot listen, but its enqueues notify other stores.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn without_sessions_a_worker_asks_at_its_own_interval() {
    let config = config("without sessions").await;
    let options = PostgresOptions::new().transaction_pooling(true);
    let pooled = PostgresStore::connect(&config, NoTls, options)
        .await
        .unwrap();
    let told = connect(&config).await;
    let enqueue = async {
        until_idle(&config).await;
        pooled
            .outbox()
            .enqueue(&outgoing("acme", 1), at(1))
            .await
            .unwrap();
    };
    let (pooled, told) = (pooled.outbox(), told.outbox());
    let (pooled, told, ()) = tokio::join!(
        is_told(&pooled, Duration::from_millis(500)),
        is_told(&told, LONG),
        enqueue
    );
    assert!(!pooled && told);
}

/// The commit notifies the worker, although the message becomes visible long after the worker's
/// query.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_callers_transaction_tells_when_it_is_committed() {
    let config = config("callers transaction").await;
    let store = connect(&config).await;
    let outbox = store.outbox();
    let mut client = client(&config).await;
    for begins_before in [true, false] {
        let transaction = client.transaction().await.unwrap();
        let enqueue = async || {
            let number = u32::from(begins_before);
            InTransaction::of(&transaction)
                .enqueue(&outgoing("acme", number), at(1))
                .await
                .unwrap();
        };
        if begins_before {
            enqueue().await;
            assert!(!is_told(&outbox, Duration::from_millis(200)).await);
        } else {
            assert!(!is_told(&outbox, Duration::from_millis(200)).await);
            enqueue().await;
            assert!(!is_told(&outbox, Duration::from_millis(200)).await);
        }
        let commit = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            transaction.commit().await.unwrap();
        };
        assert!(tokio::join!(is_told(&outbox, LONG), commit).0);
        assert_eq!(lease_all(&outbox).await, 1);
    }
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_lost_connection_is_made_again_and_what_came_meanwhile_is_told() {
    let config = config("lost connection").await;
    let (here, elsewhere) = (connect(&config).await, connect(&config).await);
    let outbox = here.outbox();
    let lose = async {
        until_idle(&config).await;
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
            AND mode = 'ShareLock' AND pid = ANY (SELECT pid FROM pg_stat_activity
                WHERE application_name = current_setting('application_name'))";
        assert!(
            client(&config)
                .await
                .query_one(end, &[])
                .await
                .unwrap()
                .get::<_, i64>(0)
                >= 64
        );
        elsewhere
            .outbox()
            .enqueue(&outgoing("acme", 1), at(1))
            .await
            .unwrap();
    };
    assert!(tokio::join!(is_told(&outbox, LONG), lose).0);
    // A store that nobody uses any more listens no longer.
    drop((outbox, here, elsewhere));
    let sessions = "SELECT count(*) FROM pg_stat_activity
        WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()";
    let client = client(&config).await;
    until(async {
        while client
            .query_one(sessions, &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
            > 0
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}
