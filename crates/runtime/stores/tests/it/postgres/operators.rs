//! Operations of an operator while a worker changes the same message, and the reading of an
//! operator's lists.

use super::client;
use crate::engines::{
    at, incoming, lease, outgoing, owner, postgres_schema, query, receive_and_lease,
};
use bankrail_mailbox::{
    DropOutcome, EndpointId, EntryId, Inbox, Incoming, Intervention, LeaseRequest, Outbox,
    OutboxOperator, OutboxQuery, OutboxState,
};
use bankrail_stores::postgres::tokio_postgres::{Client, NoTls, Transaction};
use bankrail_stores::postgres::{InTransaction, PostgresOptions, PostgresStore};
use bankrail_values::StoreError;

/// A message is dropped although a worker is about to make it a dead letter: the worker's
/// transaction ends while the drop waits for it.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_message_that_is_being_given_up_is_dropped_after_all() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let outbox = store.outbox();
    let id = outbox
        .enqueue(&outgoing("biller", 1), at(0))
        .await
        .unwrap()
        .id();
    assert_eq!(
        outbox
            .lease(LeaseRequest::new(lease(1, 10), 1), at(0))
            .await
            .unwrap()
            .len(),
        1
    );
    let (mut worker, watcher) = (client(&config).await, client(&config).await);
    let transaction = worker.transaction().await.unwrap();
    let give_up = "WITH entry AS (DELETE FROM bankrail_outbox_queue RETURNING entry, endpoint, due)
        INSERT INTO bankrail_outbox_finished (entry, endpoint, state, due, deliveries, finished)
        SELECT entry, endpoint, 'dead_letter', due, 1, due FROM entry";
    assert_eq!(transaction.execute(give_up, &[]).await.unwrap(), 1);
    let intervention = Intervention {
        by: "Jane".parse().unwrap(),
        reason: "settled".parse().unwrap(),
    };
    let (dropped, ()) = tokio::join!(
        outbox.drop_entry(id, &intervention, at(20)),
        commit_once_waited_for(transaction, &watcher, "bankrail_outbox_queue")
    );
    assert_eq!(dropped.unwrap(), DropOutcome::Dropped);
    assert_eq!(
        outbox.find(id).await.unwrap().unwrap().state,
        OutboxState::Dropped
    );
    assert_eq!(
        outbox
            .resend_all(&EndpointId::try_from("biller").unwrap(), at(21))
            .await
            .unwrap(),
        0
    );
}

/// Commits once another session that has used the table waits for a lock.
async fn commit_once_waited_for(transaction: Transaction<'_>, watcher: &Client, table: &str) {
    let waits = "SELECT count(*) FROM pg_locks AS waiting JOIN pg_locks AS held USING (pid)
        WHERE NOT waiting.granted AND held.relation = $1::text::regclass";
    while watcher
        .query_one(waits, &[&table])
        .await
        .unwrap()
        .get::<_, i64>(0)
        == 0
    {
        tokio::task::yield_now().await;
    }
    transaction.commit().await.unwrap();
}

/// Returns an interim message and its result.
fn announced() -> (Incoming, Incoming) {
    let announced = Incoming {
        interim: true,
        ..incoming(&query(1, "Why?"), 1)
    };
    (announced, incoming(&query(1, "Because."), 2))
}

/// Checks that the interim message is handled first, then its result.
async fn in_order(inbox: &impl Inbox, expected: [EntryId; 2]) {
    for id in expected {
        let leased = inbox.lease(&[], 9, lease(1, 90), at(40)).await.unwrap();
        let leased: Vec<_> = leased.iter().map(|entry| entry.id).collect();
        assert_eq!(leased, [id]);
        assert!(inbox.complete(id, owner(1), at(40)).await.unwrap());
    }
}

/// The worker's transaction ends while the receipt of the interim message waits for it.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_result_that_is_being_given_up_follows_its_late_interim_message() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let inbox = store.inbox();
    let (interim, result) = announced();
    let result = receive_and_lease(&inbox, &result, lease(1, 10), at(0)).await;
    let (mut worker, watcher) = (client(&config).await, client(&config).await);
    let transaction = worker.transaction().await.unwrap();
    let give_up = "WITH entry AS (DELETE FROM bankrail_inbox_queue RETURNING entry, attempts)
        INSERT INTO bankrail_inbox_finished (entry, state, attempts, finished)
        SELECT entry, 'dead_letter', attempts, 1 FROM entry";
    assert_eq!(transaction.execute(give_up, &[]).await.unwrap(), 1);
    let (interim, ()) = tokio::join!(
        inbox.receive(&interim, at(20)),
        commit_once_waited_for(transaction, &watcher, "bankrail_inbox_queue")
    );
    assert!(inbox.resend(result, at(30)).await.unwrap());
    in_order(&inbox, [interim.unwrap().id(), result]).await;
}

/// The transaction that receives the interim message ends while an operator's call waits for it.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_result_that_is_resent_follows_an_interim_message_that_is_being_received() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let inbox = store.inbox();
    let (interim, result) = announced();
    let result = receive_and_lease(&inbox, &result, lease(1, 10), at(0)).await;
    assert!(
        inbox
            .dead_letter(result, owner(1), "poison", at(1))
            .await
            .unwrap()
    );
    let (mut receiver, watcher) = (client(&config).await, client(&config).await);
    let transaction = receiver.transaction().await.unwrap();
    let interim = InTransaction::of(&transaction)
        .receive(&interim, at(20))
        .await
        .unwrap()
        .id();
    let (resent, ()) = tokio::join!(
        inbox.resend(result, at(30)),
        commit_once_waited_for(transaction, &watcher, "bankrail_inbox_finished")
    );
    assert!(resent.unwrap());
    in_order(&inbox, [interim, result]).await;
}

/// A page is read from indexes in their order, without reading or sorting later rows, under any
/// statistics of the planner.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_page_of_a_list_does_not_grow_with_the_backlog() {
    let config = postgres_schema().await;
    let options = PostgresOptions::new().connections(1);
    let store = PostgresStore::connect(&config, NoTls, options)
        .await
        .unwrap();
    let outbox = store.outbox();
    for number in 0..500 {
        let endpoint = if number % 10 == 0 { "quick" } else { "full" };
        outbox
            .enqueue(&outgoing(endpoint, number), at(number.into()))
            .await
            .unwrap();
    }
    let states = [None]
        .into_iter()
        .chain(OutboxState::ALL.iter().copied().map(Some));
    for (state, endpoint) in states.flat_map(|state| [(state, None), (state, Some("full"))]) {
        let mut query = OutboxQuery::new().limit(10);
        query.state = state;
        query.endpoint = endpoint.map(|name| EndpointId::try_from(name).unwrap());
        let listed = outbox.list(&query).await.unwrap().len();
        assert_eq!(
            listed,
            if state.is_none_or(|state| state == OutboxState::Pending) {
                10
            } else {
                0
            }
        );
    }
    // On the one connection, the statements of the lists are prepared.
    let plans = async |sql: &InTransaction<'_>| -> Result<Vec<(String, String)>, StoreError> {
        let prepared = "SELECT name, statement FROM pg_prepared_statements WHERE statement LIKE '%AS page%LIMIT $2'";
        let mut plans = Vec::new();
        for row in sql.query(prepared, &[]).await? {
            let explain = format!(
                "EXPLAIN EXECUTE {} (-1, 10, NULL, NULL, 'full')",
                row.get::<_, &str>("name")
            );
            let plan = sql.query(Box::leak(explain.into_boxed_str()), &[]).await?;
            let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
            plans.push((row.get("statement"), plan.join("\n")));
        }
        Ok(plans)
    };
    for analyzed in [false, true] {
        if analyzed {
            client(&config)
                .await
                .batch_execute("ANALYZE")
                .await
                .unwrap();
        }
        let plans = store.read(plans).await.unwrap();
        assert_eq!(plans.len(), 9);
        for (statement, plan) in plans {
            let others = ["Sort", "Seq Scan", "Bitmap", "Hash"]
                .iter()
                .any(|node| plan.contains(node));
            assert!(!others, "analyzed: {analyzed}, {statement}\n{plan}");
            let index = if statement.contains("'dead_letter' AND (endpoint") {
                "bankrail_outbox_finished_dead_letter_listed"
            } else if statement.contains("(endpoint ||") {
                "bankrail_outbox_listed"
            } else {
                ""
            };
            assert!(
                plan.contains(index),
                "analyzed: {analyzed}, {statement}\n{plan}"
            );
        }
    }
}
