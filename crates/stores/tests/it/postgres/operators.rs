//! What an operator does while a worker changes the same message.

use super::client;
use crate::engines::{at, lease, outgoing, postgres_schema};
use bankrail_mailbox::{DropOutcome, EndpointId, Intervention, LeaseRequest, Outbox, OutboxOperator, OutboxState};
use bankrail_stores::postgres::{PostgresStore, tokio_postgres::NoTls};

/// The worker's transaction ends while the drop waits for it.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_message_that_is_being_given_up_is_dropped_after_all() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default()).await.unwrap();
    let outbox = store.outbox();
    let id = outbox.enqueue(&outgoing("biller", 1), at(0)).await.unwrap().id();
    assert_eq!(outbox.lease(LeaseRequest::new(lease(1, 10), 1), at(0)).await.unwrap().len(), 1);
    let (mut worker, watcher) = (client(&config).await, client(&config).await);
    let transaction = worker.transaction().await.unwrap();
    let give_up = "WITH entry AS (DELETE FROM bankrail_outbox_queue RETURNING entry, endpoint, due)
        INSERT INTO bankrail_outbox_finished (entry, endpoint, state, due, deliveries, finished)
        SELECT entry, endpoint, 'dead_letter', due, 1, due FROM entry";
    assert_eq!(transaction.execute(give_up, &[]).await.unwrap(), 1);
    let intervention = Intervention { by: "Jane".parse().unwrap(), reason: "settled".parse().unwrap() };
    let waits = "SELECT count(*) FROM pg_locks AS waiting JOIN pg_locks AS held USING (pid)
        WHERE NOT waiting.granted AND held.relation = 'bankrail_outbox_queue'::regclass";
    let (dropped, ()) = tokio::join!(outbox.drop_entry(id, &intervention, at(20)), async {
        while watcher.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
            tokio::task::yield_now().await;
        }
        transaction.commit().await.unwrap();
    });
    assert_eq!(dropped.unwrap(), DropOutcome::Dropped);
    assert_eq!(outbox.find(id).await.unwrap().unwrap().state, OutboxState::Dropped);
    assert_eq!(outbox.resend_all(&EndpointId::try_from("biller").unwrap(), at(21)).await.unwrap(), 0);
}
