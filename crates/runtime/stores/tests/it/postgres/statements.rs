//! The form in which statements reach the server, and its plans for them.

use super::client;
use crate::counters::{charge, policy};
use crate::engines::{
    at, incoming, lease, outgoing, owner, postgres_schema, query, receive_and_lease,
};
use bankrail_client_assertion::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_mailbox::{
    Circuit, Completion, DeliveryRecord, Disposition, Enqueued, Inbox, Incoming, LeaseRequest,
    Outbox, OutboxOperator, TransactionalInbox,
};
use bankrail_rate_limit::{Algorithm, CounterStore, Counting};
use bankrail_statement::{AccountId, EntryKey, PositionChange, SeenEntries, SeenEntry};
use bankrail_stores::postgres::tokio_postgres::{Error, NoTls, Transaction};
use bankrail_stores::postgres::{PostgresOptions, PostgresStore, PostgresWork};
use bankrail_values::Date;
use bankrail_webhook::history::{Histories, HistoryId};
use bankrail_webhook::{TransactionStatus, samples};
use std::collections::BTreeMap;
use std::time::Duration;

/// The plans of the statements that a connection has prepared.
type Plans = BTreeMap<String, String>;

/// Performs the daily operations of a provider and a customer once. Returns the plans of the
/// connection's prepared statements.
async fn work(store: &PostgresStore, number: u32) -> Plans {
    deliver(store, number).await;
    keep(store).await;
    let inbox = store.inbox();
    let (again, message) = (
        incoming(&query(number, "Why?"), number),
        incoming(&query(number, "Why?"), number),
    );
    let received = inbox.receive(&message, at(0)).await.unwrap().id();
    assert_eq!(
        inbox.lease(&[], 1, lease(3, 10), at(0)).await.unwrap()[0].id,
        received
    );
    assert_eq!(inbox.release_all(&[owner(3)]).await.unwrap(), 1);
    assert_eq!(
        inbox.lease(&[], 1, lease(1, 10), at(0)).await.unwrap()[0].id,
        received
    );
    // At a time when no other is due.
    assert!(
        inbox
            .release(received, owner(1), at(0), "later")
            .await
            .unwrap()
    );
    assert_eq!(
        inbox.lease(&[], 1, lease(2, 3), at(0)).await.unwrap()[0].id,
        received
    );
    assert_eq!(inbox.receive(&again, at(2)).await.unwrap().id(), received);
    assert!(inbox.extend(received, lease(2, 20), at(2)).await.unwrap());
    assert!(
        inbox
            .dead_letter(received, owner(2), "never", at(5))
            .await
            .unwrap()
    );
    let announces = Incoming {
        interim: true,
        ..incoming(&query(number, "Wait."), number)
    };
    let late = receive_and_lease(&inbox, &announces, lease(1, 10), at(0)).await;
    assert!(inbox.complete(late, owner(1), at(0)).await.unwrap());
    assert!(inbox.resend(received, at(0)).await.unwrap());
    assert_eq!(
        inbox.lease(&[], 1, lease(1, 10), at(0)).await.unwrap()[0].id,
        received
    );
    inbox.find(received).await.unwrap();
    assert_eq!(inbox.recall(at(2000), at(0)).await.unwrap(), 0);
    inbox.forget(at(0)).await.unwrap();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let look = PostgresWork::new(move |transaction| {
        Box::pin(async move {
            tell.send(plans(transaction).await?)?;
            Ok(())
        })
    });
    assert!(matches!(
        inbox.complete_with(received, owner(1), look, at(1)).await,
        Ok(Completion::Committed)
    ));
    told.recv().await.unwrap()
}

async fn deliver(store: &PostgresStore, number: u32) {
    let outbox = store.outbox();
    // A lease that lasts, among so many that end that it is numbered anew.
    let lasts = outbox
        .enqueue(&outgoing("other", number), at(0))
        .await
        .unwrap()
        .id();
    assert_eq!(
        outbox
            .lease(LeaseRequest::new(lease(1, 1000), 1), at(0))
            .await
            .unwrap()[0]
            .id,
        lasts
    );
    let sent = outbox
        .enqueue(&outgoing("biller", number), at(0))
        .await
        .unwrap()
        .id();
    assert_eq!(
        outbox
            .enqueue(&outgoing("biller", number), at(0))
            .await
            .unwrap(),
        Enqueued::AlreadyStored(sent)
    );
    assert_eq!(
        outbox
            .lease(LeaseRequest::new(lease(3, 10), 1), at(0))
            .await
            .unwrap()[0]
            .id,
        sent
    );
    assert_eq!(outbox.release_all(&[owner(3)]).await.unwrap(), 1);
    let record = DeliveryRecord {
        started_at: at(0),
        duration: Duration::ZERO,
        status: Some(200),
        note: None,
    };
    for _ in 0..70 {
        assert_eq!(
            outbox
                .lease(LeaseRequest::new(lease(1, 10), 1), at(0))
                .await
                .unwrap()[0]
                .id,
            sent
        );
        assert!(outbox.release(sent, owner(1), at(0)).await.unwrap());
    }
    for next in [
        Disposition::RetryAt(at(0)),
        Disposition::DeadLetter,
        Disposition::Delivered,
    ] {
        assert_eq!(
            outbox
                .lease(LeaseRequest::new(lease(1, 10), 1), at(0))
                .await
                .unwrap()[0]
                .id,
            sent
        );
        assert!(
            outbox
                .record(sent, owner(1), &record, next, None, at(1))
                .await
                .unwrap()
        );
        // Not after the last delivery, which would be pending for the next round.
        if next == Disposition::DeadLetter {
            assert!(outbox.resend(sent, at(0)).await.unwrap());
        }
    }
    outbox
        .resend_all(&"biller".parse().unwrap(), at(0))
        .await
        .unwrap();
    outbox.deliveries(sent).await.unwrap();
    let endpoint = "biller".parse().unwrap();
    let circuit = Circuit {
        openings: 1,
        open_until: Some(at(0)),
        rests_until: None,
    };
    outbox.hold_endpoint(&endpoint, circuit).await.unwrap();
    outbox.retry_endpoint(&endpoint, at(0)).await.unwrap();
    outbox.resume_endpoint(&endpoint, at(0)).await.unwrap();
    outbox.find(sent).await.unwrap();
    outbox.next_due().await.unwrap();
    assert_eq!(outbox.recall(at(2000), at(0)).await.unwrap(), 0);
    outbox.forget(at(0)).await.unwrap();
}

/// Stores the records other than messages.
async fn keep(store: &PostgresStore) {
    let account = "A".parse::<AccountId>().unwrap();
    let seen = SeenEntry::new(EntryKey::from([1; 32]), 1, None);
    let _ = store
        .record(
            &account,
            std::slice::from_ref(&seen),
            Some(PositionChange::new(None, Some("1"))),
        )
        .await
        .unwrap();
    assert_eq!(store.counts(&account, &[seen.key]).await.unwrap(), [1]);
    store.position(&account).await.unwrap();
    store
        .forget_before(&account, Date::parse("2000-01-01").unwrap())
        .await
        .unwrap();

    let (key, token) = (
        TokenCacheKey::from([1; 32]),
        CachedToken::new(vec![7; 60], at(10)),
    );
    store.put(&key, &token, at(0)).await.unwrap();
    store.get(&key, at(0)).await.unwrap();
    store.remove(&key, &token).await.unwrap();

    let policy = policy(Algorithm::Sliding, Counting::Attempts, &[(1000, 1)]);
    for cost in [0, 1] {
        let _decision = store
            .counters(bankrail_stores::CounterClock::Server)
            .charge(charge("A", &policy, 0, cost).unwrap())
            .await
            .unwrap();
    }

    let histories = store.histories();
    let message = samples::payment_outcome(&TransactionStatus::SettlementCompleted).into();
    histories.apply("", &message, at(1)).await.unwrap();
    histories.apply("", &message, at(2)).await.unwrap();
    histories
        .find("", &HistoryId::of(&message)[0])
        .await
        .unwrap();
    histories.changes_after(0, 10).await.unwrap();
    histories.forget(at(0)).await.unwrap();
}

async fn plans(transaction: &Transaction<'_>) -> Result<Plans, Error> {
    // The store's plans, not those of a caller's work.
    let as_the_store = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;
        SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
        SET LOCAL jit = off; SET LOCAL plan_cache_mode = force_generic_plan";
    transaction.batch_execute(as_the_store).await?;
    // Each is sent whole, so that none of them is among those that are looked at.
    let sql = "SELECT name, statement, cardinality(parameter_types) AS parameters FROM pg_prepared_statements
        WHERE statement NOT IN ('BEGIN', 'COMMIT')";
    let mut plans = Plans::new();
    for row in transaction.query_typed(sql, &[]).await? {
        let parameters =
            vec!["NULL"; usize::try_from(row.get::<_, i32>("parameters")).unwrap()].join(", ");
        let parameters = if parameters.is_empty() {
            parameters
        } else {
            format!("({parameters})")
        };
        let explain = format!(
            "EXPLAIN (COSTS OFF) EXECUTE {}{parameters}",
            row.get::<_, &str>("name")
        );
        let lines = transaction.query_typed(&explain, &[]).await?;
        let lines: Vec<&str> = lines.iter().map(|line| line.get(0)).collect();
        let earlier = plans.insert(row.get("statement"), lines.join("\n"));
        assert_eq!(earlier, None, "prepared twice");
    }
    Ok(plans)
}

/// A statement that the server has parsed and planned is not parsed and planned again for the next
/// message.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn each_statement_is_prepared_once_for_a_connection() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, PostgresOptions::new().connections(1))
        .await
        .unwrap();
    let first: Vec<String> = work(&store, 0).await.into_keys().collect();
    for table in [
        "bankrail_outbox",
        "bankrail_inbox",
        "bankrail_outbox_finished",
        "bankrail_inbox_finished",
    ] {
        let insert = format!("INSERT INTO {table} (");
        assert!(
            first.iter().any(|statement| statement.contains(&insert)),
            "{table}: {first:?}"
        );
    }
    for number in 1..3 {
        assert_eq!(
            work(&store, number).await.into_keys().collect::<Vec<_>>(),
            first
        );
    }
}

/// Tables with few rows, which are read whole or from their end.
const SHORT: &[&str] = &[
    "bankrail_outbox_cursor",
    "bankrail_inbox_cursor",
    "bankrail_circuit",
    "bankrail_stopped",
    "bankrail_history_change",
];

/// The text that the condition of a scan of these indexes must contain, so that the scan begins at
/// a position and not with old versions of rows, or finds one row.
const CONDITIONS: &[(&str, &str)] = &[
    ("bankrail_outbox_queue_pkey", "(entry = "),
    ("bankrail_inbox_queue_pkey", "(entry = "),
    ("bankrail_outbox_free", "ROW("),
    ("bankrail_inbox_queue_ready", "ROW("),
    ("bankrail_inbox_queue_waiting", "waits >"),
    ("bankrail_outbox_lease", "lease >= "),
    ("bankrail_seen_pkey", "key = "),
    ("bankrail_history_name_pkey", "name = "),
];

/// Returns true if a plan may read the whole of a table that may be long.
fn goes_through_a_table(statement: &str, plan: &str) -> bool {
    let lines: Vec<&str> = plan.lines().map(str::trim).collect();
    // Looks at what was written since the last lease; if that is much, at the first of all.
    let fresh = statement.contains("first (");
    lines.iter().enumerate().any(|(at, line)| {
        let Some((scan, on)) = line.split_once(" on bankrail") else {
            return false;
        };
        let table = format!("bankrail{}", on.split(' ').next().unwrap());
        let condition = lines
            .get(at + 1)
            .and_then(|next| next.strip_prefix("Index Cond: "));
        match scan.split_once(" using ") {
            _ if SHORT.contains(&&*table) => false,
            Some((_, index)) => match CONDITIONS.iter().find(|(known, _)| *known == index) {
                Some((_, wanted)) => !fresh && !condition.is_some_and(|it| it.contains(wanted)),
                None => condition.is_none(),
            },
            None => scan.contains("Scan") && !scan.contains("Tid Scan"),
        }
    })
}

/// A plan that was made for empty tables is still right when the tables have a million waiting
/// messages or their old versions.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn no_plan_depends_on_how_much_is_in_the_tables() {
    let config = postgres_schema().await;
    let options = PostgresOptions::new().connections(1);
    let empty = work(
        &PostgresStore::connect(&config, NoTls, options.clone())
            .await
            .unwrap(),
        0,
    )
    .await;
    client(&config)
        .await
        .batch_execute("VACUUM ANALYZE")
        .await
        .unwrap();
    let known_as_empty = work(
        &PostgresStore::connect(&config, NoTls, options.clone())
            .await
            .unwrap(),
        1,
    )
    .await;
    let store = PostgresStore::connect(&config, NoTls, options.clone())
        .await
        .unwrap();
    for number in 2..500 {
        store
            .outbox()
            .enqueue(&outgoing("biller", number), at(1))
            .await
            .unwrap();
        store
            .inbox()
            .receive(&incoming(&query(number, "Why?"), number), at(1))
            .await
            .unwrap();
    }
    // Until later, because a message that was never leased is due at any time.
    let inbox = store.inbox();
    for entry in inbox.lease(&[], 1000, lease(1, 10), at(1)).await.unwrap() {
        let released = inbox.release(entry.id, owner(1), at(1), "later").await;
        assert!(released.unwrap());
    }
    client(&config)
        .await
        .batch_execute("VACUUM ANALYZE")
        .await
        .unwrap();
    let full = work(
        &PostgresStore::connect(&config, NoTls, options.clone())
            .await
            .unwrap(),
        501,
    )
    .await;
    for (tables, plans) in [
        ("empty", empty),
        ("known as empty", known_as_empty),
        ("full", full),
    ] {
        assert!(plans.len() > 50, "{tables}: {} statements", plans.len());
        // Not every waiting message, but those of each endpoint behind the latest instant.
        let recall = plans
            .iter()
            .find(|(statement, _)| statement.contains("ahead AS"));
        let (_, recall) = recall.expect("a search for what a clock was ahead by");
        assert!(
            recall.contains("Index Cond: ((endpoint = first_1.endpoint) AND (due > $1))"),
            "{tables}: {recall}"
        );
        let bad = plans
            .iter()
            .filter(|(statement, plan)| goes_through_a_table(statement, plan));
        let bad: Vec<String> = bad
            .map(|(statement, plan)| format!("{statement}\n{plan}"))
            .collect();
        assert!(bad.is_empty(), "{tables}: {}", bad.join("\n\n"));
    }
}

/// Statements of an operation take effect in their order, although each is prepared at its first
/// use.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn the_first_operation_of_a_connection_is_committed() {
    let config = postgres_schema().await;
    let other = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    for number in 0..3 {
        let store = PostgresStore::connect(&config, NoTls, Default::default())
            .await
            .unwrap();
        let id = store
            .inbox()
            .receive(&incoming(&query(number, "Why?"), number), at(0))
            .await
            .unwrap()
            .id();
        assert_eq!(
            other
                .inbox()
                .lease(&[], 1, lease(1, 10), at(0))
                .await
                .unwrap()[0]
                .id,
            id
        );
    }
}

/// The caller's work is planned as on any connection.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn work_is_planned_as_by_default() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let id = receive_and_lease(
        &store.inbox(),
        &incoming(&query(1, "Why?"), 1),
        lease(1, 10),
        at(0),
    )
    .await;
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let look = PostgresWork::new(move |transaction| {
        Box::pin(async move {
            let sql = "SELECT name, setting FROM pg_settings WHERE context = 'user' AND setting <> reset_val
                AND (name LIKE 'enable_%' OR name IN ('jit', 'plan_cache_mode'))";
            tell.send(transaction.query(sql, &[]).await?.len())?;
            Ok(())
        })
    });
    assert!(matches!(
        store.inbox().complete_with(id, owner(1), look, at(1)).await,
        Ok(Completion::Committed)
    ));
    assert_eq!(told.recv().await, Some(0));
}
