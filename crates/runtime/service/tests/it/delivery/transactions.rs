//! Messages that are enqueued in the caller's own transaction.

use super::world::{World, fresh_headers};
use bankrail_mailbox::{Outbox as _, OutboxStore, Outgoing};
use bankrail_service::delivery::{Dispatcher, DispatcherOptions, EnqueueError};
use bankrail_stores::postgres::{
    InTransaction, PostgresStore, tokio_postgres, tokio_postgres::NoTls,
};
use bankrail_stores::sqlite::{SqliteStore, TransactionError};
use bankrail_values::{Clock as _, Timestamp};
use bankrail_webhook::{MessageKind, OutgoingError, samples};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TABLE: &str = "CREATE TABLE settled (message TEXT NOT NULL PRIMARY KEY)";

fn dispatcher(world: &World, outbox: impl OutboxStore + 'static) -> Dispatcher {
    world.dispatcher_over(Arc::new(outbox), DispatcherOptions::new())
}

/// Returns a payment's outcome that has passed the checks of the specification.
async fn outcome(world: &World, dispatcher: &Dispatcher) -> Outgoing {
    let message = samples::all()
        .into_iter()
        .find(|message| message.kind() == MessageKind::PaymentOutcome)
        .unwrap();
    let headers = fresh_headers(MessageKind::Query);
    let refused = dispatcher
        .prepare(&world.acme, &message, headers)
        .await
        .unwrap_err();
    assert!(
        matches!(refused, EnqueueError::Refused(OutgoingError::Headers(_))),
        "{refused:?}"
    );
    dispatcher
        .prepare(&world.acme, &message, fresh_headers(message.kind()))
        .await
        .unwrap()
}

#[tokio::test]
async fn a_message_is_sent_if_the_callers_sqlite_transaction_commits() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let store = SqliteStore::open(folder.path().join("bank.db"), Default::default()).unwrap();
    store
        .transaction(|transaction| transaction.connection().execute_batch(TABLE))
        .await
        .unwrap();
    let dispatcher = dispatcher(&world, store.outbox());
    let outgoing = outcome(&world, &dispatcher).await;
    for no_funds in [true, false] {
        let (outgoing, now) = (outgoing.clone(), world.clock.now());
        let settled = store.transaction(
            move |transaction| -> Result<(), Box<dyn Error + Send + Sync>> {
                let id = outgoing.message_id.to_string();
                transaction
                    .connection()
                    .execute("INSERT INTO settled (message) VALUES (?1)", [id])?;
                transaction.enqueue(&outgoing, now)?;
                if no_funds {
                    Err("no funds".into())
                } else {
                    Ok(())
                }
            },
        );
        let settled = settled.await;
        assert_eq!(
            matches!(settled, Err(TransactionError::Undone(_))),
            no_funds,
            "{settled:?}"
        );
        dispatcher.wake();
        assert_eq!(dispatcher.run_once().await.unwrap(), usize::from(!no_funds));
    }
    assert_eq!(
        (dispatcher.run_once().await.unwrap(), world.receiver.count()),
        (0, 1),
        "sent once"
    );
}

/// A second handle of the file stands for another process. Without a notification the dispatcher
/// would query the outbox once an hour.
#[tokio::test]
async fn a_message_that_another_process_stores_in_a_sqlite_file_is_sent_at_once() {
    let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
    let open = || SqliteStore::open(folder.path().join("bank.db"), Default::default()).unwrap();
    let (here, elsewhere) = (open(), open());
    let hour = Duration::from_secs(3600);
    let options = DispatcherOptions::new()
        .longest_idle(hour)
        .shortest_idle(hour);
    let dispatcher = world.dispatcher_over(Arc::new(here.outbox()), options);
    let mut late = Vec::new();
    let stop = async {
        // Until the dispatcher is idle.
        tokio::time::sleep(Duration::from_millis(200)).await;
        for sent in 1..=20 {
            let outgoing = outcome(&world, &dispatcher).await;
            let began = Instant::now();
            elsewhere
                .outbox()
                .enqueue(&outgoing, world.clock.now())
                .await
                .unwrap();
            while world.receiver.count() < sent {
                assert!(
                    began.elapsed() < Duration::from_secs(10),
                    "message {sent} was not noticed"
                );
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            late.push(began.elapsed());
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
    };
    dispatcher.run(stop).await;
    late.sort_unstable();
    eprintln!(
        "from the enqueue to the receiver: median {:?}, longest {:?}",
        late[10], late[19]
    );
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_message_is_sent_if_the_callers_postgresql_transaction_commits() {
    let config =
        std::env::var("BANKRAIL_POSTGRES").expect("BANKRAIL_POSTGRES names a database to write to");
    let connect = async |config: &str| {
        let (client, connection) = tokio_postgres::connect(config, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    };
    let schema = format!("service_{}", std::process::id());
    let fresh = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
    connect(&config).await.batch_execute(&fresh).await.unwrap();
    let config = format!("{config} options='-c search_path={schema}'");
    let (world, store) = (
        World::new(),
        PostgresStore::connect(&config, NoTls, Default::default())
            .await
            .unwrap(),
    );
    let mut client = connect(&config).await;
    client.batch_execute(TABLE).await.unwrap();
    let dispatcher = dispatcher(&world, store.outbox());
    let outgoing = outcome(&world, &dispatcher).await;
    for commits in [false, true] {
        let now: Timestamp = world.clock.now();
        let transaction = client.transaction().await.unwrap();
        let id = outgoing.message_id.to_string();
        transaction
            .execute("INSERT INTO settled (message) VALUES ($1)", &[&id])
            .await
            .unwrap();
        InTransaction::of(&transaction)
            .enqueue(&outgoing, now)
            .await
            .unwrap();
        assert_eq!(
            dispatcher.run_once().await.unwrap(),
            0,
            "not before the commit"
        );
        if commits {
            transaction.commit().await.unwrap();
        } else {
            transaction.rollback().await.unwrap();
        }
        dispatcher.wake();
        assert_eq!(dispatcher.run_once().await.unwrap(), usize::from(commits));
    }
    assert_eq!(
        (dispatcher.run_once().await.unwrap(), world.receiver.count()),
        (0, 1),
        "sent once"
    );
}
