//! An entry that this version cannot read, as if a later version wrote it, does not block the
//! others.

use crate::engines::{at, incoming, lease, owner, query};
use bankrail_mailbox::{EntryId, Inbox};
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use {
    crate::engines::outgoing,
    bankrail_mailbox::{
        LeaseRequest, Outbox, OutboxCounts, OutboxOperator, OutboxQuery, OutboxState, OutboxStore,
    },
};

/// Checks that an unreadable entry blocks no other one. `spoil` makes the entry with a number
/// unreadable.
pub(crate) async fn stands_in_no_inboxs_way(inbox: &impl Inbox, spoil: impl AsyncFn(EntryId)) {
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(
            inbox
                .receive(&incoming(&query(number, "Why?"), number), at(0))
                .await
                .unwrap()
                .id(),
        );
    }
    spoil(ids[0]).await;
    spoil(ids[2]).await;
    let leased = inbox.lease(&[], 4, lease(1, 10), at(1)).await.unwrap();
    assert_eq!(
        leased.iter().map(|entry| entry.id).collect::<Vec<_>>(),
        [ids[1], ids[3]]
    );
    assert!(leased.iter().all(|entry| entry.attempts == 1));
    let counts = inbox.counts().await.unwrap();
    assert_eq!(
        (counts.pending, counts.dead_letters),
        (3, 2),
        "what cannot be read is out of the way, and counted"
    );
    assert!(
        inbox
            .dead_letter(ids[3], owner(1), "poison", at(2))
            .await
            .unwrap()
    );
    let listed = inbox.dead_letters(None, 1).await.unwrap();
    assert_eq!(
        listed.iter().map(|entry| entry.id).collect::<Vec<_>>(),
        [ids[3]],
        "a page of what can be read"
    );
    let rest = inbox.lease(&[], 4, lease(2, 20), at(10)).await.unwrap();
    assert_eq!(
        rest.iter().map(|entry| entry.id).collect::<Vec<_>>(),
        [ids[1], ids[4]]
    );
    assert!(
        inbox.find(ids[0]).await.is_err(),
        "asked for by its number, it is an error"
    );
}

/// Checks that an unreadable entry blocks no other one. `spoil` makes the entry with a number
/// unreadable.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) async fn stands_in_no_outboxs_way(
    outbox: &impl OutboxStore,
    spoil: impl AsyncFn(EntryId),
) {
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(
            outbox
                .enqueue(&outgoing("biller", number), at(0))
                .await
                .unwrap()
                .id(),
        );
    }
    spoil(ids[0]).await;
    spoil(ids[2]).await;
    let request = LeaseRequest::new(lease(1, 10), 9);
    let leased = outbox.lease(request, at(1)).await.unwrap();
    assert_eq!(
        leased.iter().map(|entry| entry.id).collect::<Vec<_>>(),
        [ids[1], ids[3]]
    );
    let counts = outbox.counts(None).await.unwrap();
    let want = OutboxCounts {
        pending: 2,
        dead_letters: 2,
        ..OutboxCounts::default()
    };
    assert_eq!(counts, want, "it is a dead letter, and counted");
    let dead = OutboxQuery::new().state(OutboxState::DeadLetter).limit(1);
    assert!(outbox.list(&dead).await.unwrap().is_empty());
    let listed = outbox.list(&OutboxQuery::new().limit(2)).await.unwrap();
    assert_eq!(
        listed.iter().map(|entry| entry.id).collect::<Vec<_>>(),
        [ids[1], ids[3]],
        "a page of what can be read"
    );
    assert!(
        outbox.find(ids[0]).await.is_err(),
        "asked for by its number, it is an error"
    );
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn sqlite() {
    let engine = crate::engines::sqlite_file();
    let store = engine.store.clone();
    let spoil = |table: &'static str| {
        let store = store.clone();
        async move |id: EntryId| {
            let sql = format!("UPDATE {table} SET kind = 'of another version' WHERE id = {id}");
            store
                .transaction(move |t| t.connection().execute(&sql, []))
                .await
                .unwrap();
        }
    };
    stands_in_no_inboxs_way(&engine.store.inbox(), spoil("bankrail_inbox")).await;
    stands_in_no_outboxs_way(&engine.store.outbox(), spoil("bankrail_outbox")).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn without_its_payload_in_sqlite() {
    let engine = crate::engines::sqlite_file();
    let store = engine.store.clone();
    let spoil = |table: &'static str| {
        let store = store.clone();
        async move |id: EntryId| {
            let sql = format!("DELETE FROM {table} WHERE id = {id}");
            assert_eq!(
                store
                    .transaction(move |t| t.connection().execute(&sql, []))
                    .await
                    .unwrap(),
                1
            );
        }
    };
    stands_in_no_inboxs_way(&engine.store.inbox(), spoil("bankrail_inbox_body")).await;
    let outbox = engine.store.outbox();
    let [first, second] = [0, 1].map(|number| outgoing("biller", number));
    let ids = [
        outbox.enqueue(&first, at(0)).await.unwrap().id(),
        outbox.enqueue(&second, at(0)).await.unwrap().id(),
    ];
    spoil("bankrail_outbox_body")(ids[0]).await;
    assert!(
        outbox.enqueue(&first, at(1)).await.is_err(),
        "nobody can tell whether it is the same"
    );
    let leased = outbox
        .lease(LeaseRequest::new(lease(1, 10), 9), at(1))
        .await
        .unwrap();
    assert_eq!(
        leased.iter().map(|entry| entry.id).collect::<Vec<_>>(),
        [ids[1]]
    );
    assert_eq!(outbox.counts(None).await.unwrap().dead_letters, 1);
}

#[cfg(feature = "postgres")]
#[tokio::test]
#[ignore = "needs postgresql"]
async fn postgres() {
    use bankrail_stores::postgres::{PostgresStore, tokio_postgres, tokio_postgres::NoTls};
    let config = crate::engines::postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let (client, connection) = tokio_postgres::connect(&config, NoTls).await.unwrap();
    tokio::spawn(connection);
    let client = &client;
    let spoil = |table: &'static str| {
        async move |id: EntryId| {
            let sql = format!("UPDATE {table} SET kind = 'of another version' WHERE id = {id}");
            client.batch_execute(&sql).await.unwrap();
        }
    };
    stands_in_no_inboxs_way(&store.inbox(), spoil("bankrail_inbox")).await;
    stands_in_no_outboxs_way(&store.outbox(), spoil("bankrail_outbox")).await;
}
