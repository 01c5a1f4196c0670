//! Messages that arrive before the position that leases have reached.

use super::client;
use crate::engines::{at, incoming, lease, outgoing, owner, postgres_schema, query};
use bankrail_mailbox::{
    DeliveryRecord, Disposition, EntryId, Inbox, LeaseRequest, Outbox, OutboxOperator,
};
use bankrail_stores::postgres::{InTransaction, PostgresStore, tokio_postgres::NoTls};
use std::time::Duration;

async fn leased_out(store: &PostgresStore, now: i64) -> Vec<EntryId> {
    let leased = store
        .outbox()
        .lease(LeaseRequest::new(lease(1, now + 10), 9), at(now))
        .await
        .unwrap();
    leased.iter().map(|entry| entry.id).collect()
}

async fn leased_in(store: &PostgresStore, now: i64) -> Vec<EntryId> {
    let leased = store
        .inbox()
        .lease(&[], 9, lease(1, now + 10), at(now))
        .await
        .unwrap();
    leased.iter().map(|entry| entry.id).collect()
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn what_an_open_transaction_stores_is_leased_once_it_commits() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let (mut early, mut late) = (client(&config).await, client(&config).await);
    let (early, late) = (
        early.transaction().await.unwrap(),
        late.transaction().await.unwrap(),
    );
    let out = InTransaction::of(&early)
        .enqueue(&outgoing("a", 1), at(1))
        .await
        .unwrap()
        .id();
    let other = InTransaction::of(&late)
        .enqueue(&outgoing("b", 2), at(2))
        .await
        .unwrap()
        .id();
    let received = InTransaction::of(&early)
        .receive(&incoming(&query(1, "Why?"), 1), at(1))
        .await
        .unwrap()
        .id();
    for number in 10..20 {
        let now = number.into();
        let id = store
            .outbox()
            .enqueue(&outgoing("a", number), at(now))
            .await
            .unwrap()
            .id();
        assert_eq!(leased_out(&store, now).await, [id]);
        assert!(
            store
                .outbox()
                .release(id, owner(1), at(1000))
                .await
                .unwrap()
        );
        let id = store
            .inbox()
            .receive(&incoming(&query(number, "Why?"), 1), at(now))
            .await
            .unwrap()
            .id();
        assert_eq!(leased_in(&store, now).await, [id]);
        assert!(store.inbox().complete(id, owner(1), at(now)).await.unwrap());
    }
    assert_eq!(store.outbox().next_due().await.unwrap(), Some(at(1000)));
    early.commit().await.unwrap();
    assert_eq!(
        store.outbox().next_due().await.unwrap(),
        Some(at(1)),
        "before it is leased"
    );
    assert_eq!(leased_out(&store, 30).await, [out]);
    assert_eq!(leased_in(&store, 30).await, [received]);
    late.commit().await.unwrap();
    assert_eq!(leased_out(&store, 31).await, [other]);
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_machine_whose_clock_is_behind_is_served_in_order() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let store_out = async |number, now| {
        let id = store
            .outbox()
            .enqueue(&outgoing("a", number), at(now))
            .await
            .unwrap()
            .id();
        (
            id,
            store
                .inbox()
                .receive(&incoming(&query(number, "Why?"), 1), at(now))
                .await
                .unwrap()
                .id(),
        )
    };
    let first = store_out(1, 100).await;
    assert_eq!(
        (leased_out(&store, 100).await, leased_in(&store, 100).await),
        (vec![first.0], vec![first.1])
    );
    let (ahead, behind) = (store_out(2, 101).await, store_out(3, 50).await);
    assert_eq!(leased_out(&store, 101).await, [behind.0, ahead.0]);
    assert_eq!(leased_in(&store, 101).await, [ahead.1, behind.1]);
    // A lease that ends in the past, and a release into the past.
    assert!(
        store
            .inbox()
            .release(ahead.1, owner(1), at(20), "busy")
            .await
            .unwrap()
    );
    assert!(
        store
            .outbox()
            .release(ahead.0, owner(1), at(20))
            .await
            .unwrap()
    );
    assert_eq!(
        (leased_out(&store, 102).await, leased_in(&store, 102).await),
        (vec![ahead.0], vec![ahead.1])
    );
}

/// A lease that lasts while many others begin and end during an open transaction stays counted, and
/// its owner can record.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_lease_that_lasts_is_not_lost_among_those_that_ended() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let outbox = store.outbox();
    let request = |number| LeaseRequest::new(lease(number, 10_000), 9).per_endpoint(2);
    let record = DeliveryRecord {
        started_at: at(1),
        duration: Duration::ZERO,
        status: Some(200),
        note: None,
    };
    let first = outbox.enqueue(&outgoing("a", 0), at(0)).await.unwrap().id();
    assert_eq!(outbox.lease(request(2), at(0)).await.unwrap().len(), 1);
    for number in (1..200).step_by(2) {
        for number in number..number + 2 {
            outbox
                .enqueue(&outgoing("a", number), at(number.into()))
                .await
                .unwrap();
        }
        for number in number..number + 2 {
            let leased = outbox
                .lease(request(1), at(i64::from(number) + 1))
                .await
                .unwrap();
            assert_eq!(leased.len(), 1, "the lease that lasts is one of two");
            assert!(
                outbox
                    .record(
                        leased[0].id,
                        owner(1),
                        &record,
                        Disposition::Delivered,
                        None,
                        at(201)
                    )
                    .await
                    .unwrap()
            );
        }
    }
    assert!(
        outbox
            .record(
                first,
                owner(2),
                &record,
                Disposition::Delivered,
                None,
                at(202)
            )
            .await
            .unwrap()
    );
    assert_eq!(outbox.counts(None).await.unwrap().delivered, 201);
}

/// Messages are found after a restore into a new server, which has not reached the dump's
/// transaction numbers.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn after_a_restore_into_a_new_server_messages_are_found() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let client = client(&config).await;
    let restored = "UPDATE bankrail_outbox_cursor SET seen = '90000000000:90000000000:';
        UPDATE bankrail_inbox_cursor SET seen = '90000000000:90000000000:'";
    client.batch_execute(restored).await.unwrap();
    for number in 1..4 {
        let now = number.into();
        let out = store
            .outbox()
            .enqueue(&outgoing("a", number), at(now))
            .await
            .unwrap()
            .id();
        let received = store
            .inbox()
            .receive(&incoming(&query(number, "Why?"), 1), at(now))
            .await
            .unwrap()
            .id();
        assert_eq!(store.outbox().next_due().await.unwrap(), Some(at(now)));
        assert_eq!(
            (leased_out(&store, now).await, leased_in(&store, now).await),
            (vec![out], vec![received])
        );
        assert!(
            store
                .outbox()
                .release(out, owner(1), at(1000))
                .await
                .unwrap()
        );
    }
    assert_eq!(leased_out(&store, 1000).await.len(), 3);
    let seen = "SELECT txid_snapshot_xmax(seen) < 90000000000 FROM bankrail_outbox_cursor ORDER BY number DESC LIMIT 1";
    assert!(
        client.query_one(seen, &[]).await.unwrap().get::<_, bool>(0),
        "and positions are the new server's"
    );
}
