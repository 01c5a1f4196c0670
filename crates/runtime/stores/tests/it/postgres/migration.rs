//! The migration of tables of earlier versions.

use super::client;
use crate::engines::{at, incoming, lease, outgoing, owner, postgres_schema, query};
use bankrail_mailbox::{
    Circuit, DeliveryRecord, Disposition, EndpointCircuit, Enqueued, EntryId, Inbox, InboxCounts,
    InboxState, LeaseRequest, Outbox, OutboxCounts, OutboxOperator, OutboxQuery, OutboxState,
    OutboxSummary, ReceiveOutcome, StoppedEndpoint,
};
use bankrail_stores::postgres::{PostgresStore, tokio_postgres::NoTls};
use std::time::Duration;

const VERSION_4: [&str; 4] = [
    include_str!("../../../src/postgres/schema/1.sql"),
    include_str!("../../../src/postgres/schema/2.sql"),
    include_str!("../../../src/postgres/schema/3.sql"),
    include_str!("../../../src/postgres/schema/4.sql"),
];

/// The version that added the names of people who stop endpoints, dropped messages and circuits.
const VERSION_5: &str = include_str!("../../../src/postgres/schema/5.sql");

const NEWS_OF_VERSION_5: &str =
    "INSERT INTO bankrail_dropped VALUES (6, 'Jane', 'settled by telephone');
    INSERT INTO bankrail_circuit VALUES ('ill', 2, 1800000000070, NULL);
    CREATE TABLE bankrail_schema (version INTEGER NOT NULL);
    INSERT INTO bankrail_schema VALUES (5)";

/// The rows of the outbox: a delivered message, a dead letter, a leased message, one that is due,
/// one that waits, and a dropped one.
const OUTBOX: [&str; 6] = [
    "'delivered', 1, NULL, NULL, 2, 7",
    "'dead_letter', 2, NULL, NULL, 3, 8",
    "'pending', 3, decode(repeat('01', 16), 'hex'), 1800000000050, 1, NULL",
    "'pending', 4, NULL, NULL, 0, NULL",
    "'pending', 1800000000090, NULL, NULL, 5, NULL",
    "'delivered', 6, NULL, NULL, 4, 9",
];

/// The rows of the inbox: a handled message, a dead letter, a leased message, a ready one, and one
/// that waits.
const INBOX: [&str; 5] = [
    "'completed', 1, NULL, NULL, 1, NULL, NULL, 7",
    "'dead_letter', 2, NULL, NULL, 2, 'poison', NULL, 8",
    "'pending', 3, decode(repeat('01', 16), 'hex'), 1800000000050, 3, NULL, 1800000000050, NULL",
    "'pending', 4, NULL, NULL, 0, NULL, NULL, NULL",
    "'pending', 1800000000090, NULL, NULL, 5, 'busy', 1800000000090, NULL",
];

#[tokio::test]
#[ignore = "needs postgresql"]
async fn what_versions_4_and_5_stored_is_kept() {
    let config = postgres_schema().await;
    let client = client(&config).await;
    for step in VERSION_4 {
        client.batch_execute(step).await.unwrap();
    }
    for (number, state) in (1..).zip(OUTBOX) {
        let message = outgoing("biller", number);
        let sql = format!(
            "INSERT INTO bankrail_outbox (endpoint, kind, message_id, fingerprint, attributes, enqueued, body,
            state, due, owner, until, deliveries, finished) VALUES ('biller', 'query', $1, $2, $3, 0, $4, {state})"
        );
        let id = message.message_id.to_string();
        let fingerprint = message.fingerprint.as_bytes().as_slice();
        client
            .execute(
                &sql,
                &[&id, &fingerprint, &&*message.attributes, &&*message.body],
            )
            .await
            .unwrap();
    }
    client
        .batch_execute("INSERT INTO bankrail_delivery VALUES (2, 1, 5, 6, 503, 'refused')")
        .await
        .unwrap();
    client
        .batch_execute("INSERT INTO bankrail_stopped VALUES ('gone', 1800000000001, 'moved')")
        .await
        .unwrap();
    for (number, state) in (1..).zip(INBOX) {
        let message = incoming(&query(number, "Why?"), number);
        let sql = format!(
            "INSERT INTO bankrail_inbox (kind, attributes, fingerprint, acknowledgement, received, body, state, due,
            owner, until, attempts, last_error, waits, finished) VALUES ('query', $1, $2, $3, 0, $4, {state})"
        );
        let fingerprint = message.fingerprint.as_bytes().as_slice();
        let known = &message.acknowledgement;
        client
            .execute(
                &sql,
                &[
                    &&*message.attributes,
                    &fingerprint,
                    &&**known,
                    &&*message.body,
                ],
            )
            .await
            .unwrap();
        let key = message.key.hashes()[0].as_bytes().as_slice();
        let sql = "INSERT INTO bankrail_inbox_key SELECT $1, $2, max(id) FROM bankrail_inbox";
        client.execute(sql, &[&key, &fingerprint]).await.unwrap();
    }
    client.batch_execute(VERSION_5).await.unwrap();
    client.batch_execute(NEWS_OF_VERSION_5).await.unwrap();

    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    what_operators_did_is_kept(&store).await;
    outbox_is_kept(&store).await;
    inbox_is_kept(&store).await;
}

async fn what_operators_did_is_kept(store: &PostgresStore) {
    let outbox = store.outbox();
    let dropped = outbox
        .list(&OutboxQuery::new().state(OutboxState::Dropped))
        .await
        .unwrap();
    let [
        OutboxSummary {
            id,
            deliveries: 4,
            dropped: Some(dropped),
            ..
        },
    ] = &*dropped
    else {
        panic!("{dropped:?}")
    };
    assert_eq!(
        (id.get(), dropped.by.as_str(), dropped.reason.as_str()),
        (6, "Jane", "settled by telephone")
    );
    assert_eq!(
        outbox.enqueue(&outgoing("biller", 6), at(0)).await.unwrap(),
        Enqueued::AlreadyStored(EntryId::new(6))
    );
    let stopped = outbox.stopped_endpoints().await.unwrap();
    let [
        StoppedEndpoint {
            endpoint,
            since,
            intervention,
            ..
        },
    ] = &*stopped
    else {
        panic!("{stopped:?}")
    };
    assert_eq!((endpoint.as_str(), *since), ("gone", at(1)));
    assert_eq!(
        (intervention.by.as_str(), intervention.reason.as_str()),
        ("unknown", "moved")
    );
    let circuits = outbox.circuits().await.unwrap();
    let [
        EndpointCircuit {
            endpoint, circuit, ..
        },
    ] = &*circuits
    else {
        panic!("{circuits:?}")
    };
    let ill = Circuit {
        openings: 2,
        open_until: Some(at(70)),
        rests_until: None,
    };
    assert_eq!((endpoint.as_str(), *circuit), ("ill", ill));
}

async fn outbox_is_kept(store: &PostgresStore) {
    let outbox = store.outbox();
    let counts = outbox.counts(None).await.unwrap();
    assert_eq!(
        counts,
        OutboxCounts {
            pending: 3,
            delivered: 1,
            dead_letters: 1,
            dropped: 1
        }
    );
    assert_eq!(
        outbox.enqueue(&outgoing("biller", 1), at(0)).await.unwrap(),
        Enqueued::AlreadyStored(EntryId::new(1))
    );
    let dead = outbox.find(EntryId::new(2)).await.unwrap().unwrap();
    assert_eq!(
        (dead.state, dead.deliveries, dead.message),
        (OutboxState::DeadLetter, 3, outgoing("biller", 2))
    );
    assert_eq!(outbox.deliveries(EntryId::new(2)).await.unwrap().len(), 1);
    let leased = outbox
        .lease(LeaseRequest::new(lease(2, 60), 9), at(10))
        .await
        .unwrap();
    assert_eq!(
        leased
            .iter()
            .map(|entry| (entry.id.get(), entry.deliveries))
            .collect::<Vec<_>>(),
        [(4, 0)]
    );
    assert_eq!(outbox.next_due().await.unwrap(), Some(at(50)));
    let record = DeliveryRecord {
        started_at: at(9),
        duration: Duration::ZERO,
        status: Some(200),
        note: None,
    };
    let done = outbox
        .record(
            EntryId::new(3),
            owner(1),
            &record,
            Disposition::Delivered,
            None,
            at(11),
        )
        .await
        .unwrap();
    assert!(done, "a lease goes on");
    assert!(outbox.resend(EntryId::new(2), at(12)).await.unwrap());
    let leased = outbox
        .lease(LeaseRequest::new(lease(2, 200), 9), at(90))
        .await
        .unwrap();
    assert_eq!(
        leased
            .iter()
            .map(|entry| entry.id.get())
            .collect::<Vec<_>>(),
        [4, 2, 5]
    );
    assert_eq!(outbox.forget(at(100)).await.unwrap(), 3);
}

async fn inbox_is_kept(store: &PostgresStore) {
    let inbox = store.inbox();
    let counts = inbox.counts().await.unwrap();
    assert_eq!(
        counts,
        InboxCounts {
            pending: 3,
            completed: 1,
            dead_letters: 1
        }
    );
    let again = inbox
        .receive(&incoming(&query(1, "Why?"), 9), at(1))
        .await
        .unwrap();
    assert!(
        matches!(again, ReceiveOutcome::Duplicate { id, .. } if id.get() == 1),
        "{again:?}"
    );
    let dead = inbox.find(EntryId::new(2)).await.unwrap().unwrap();
    assert_eq!(
        (dead.state, dead.attempts, dead.last_error.as_deref()),
        (InboxState::DeadLetter, 2, Some("poison"))
    );
    let leased = inbox.lease(&[], 9, lease(2, 60), at(10)).await.unwrap();
    assert_eq!(
        leased
            .iter()
            .map(|entry| entry.id.get())
            .collect::<Vec<_>>(),
        [4]
    );
    assert!(
        inbox
            .complete(EntryId::new(3), owner(1), at(11))
            .await
            .unwrap(),
        "a lease goes on"
    );
    assert!(inbox.resend(EntryId::new(2), at(12)).await.unwrap());
    let leased = inbox.lease(&[], 9, lease(2, 200), at(90)).await.unwrap();
    let leased: Vec<_> = leased
        .iter()
        .map(|entry| (entry.id.get(), entry.attempts))
        .collect();
    assert_eq!(leased, [(2, 1), (4, 2), (5, 6)]);
    assert_eq!(inbox.forget(at(100)).await.unwrap(), 2);
}
