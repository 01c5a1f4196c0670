use crate::engines::{at, incoming, lease, memory, owner, query, suite};
use bankrail_mailbox::testing::{inbox_against_model, inbox_suite};
use bankrail_mailbox::{Inbox, ReceiveOutcome};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{StoreErrorKind, Timestamp};
use std::collections::BTreeSet;
use std::sync::Arc;

suite!(
    inbox:
    one_of_many_receivers_stores_it,
    one_of_many_workers_gets_it,
    every_entry_goes_to_one_worker,
    answers_as_the_model
);

#[tokio::test]
async fn memory_passes_the_suite() {
    inbox_suite(async || MemoryStore::new().inbox()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn sqlite_passes_the_suite() {
    use bankrail_stores::sqlite::{Durability, SqliteOptions, SqliteStore};
    inbox_suite(async || {
        SqliteStore::open_in_memory(Default::default())
            .unwrap()
            .inbox()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    // The suite does not test a loss of power.
    let options = SqliteOptions::new().durability(Durability::ProcessEnd);
    let mut files = 0..;
    let mut path = || folder.path().join(files.next().unwrap().to_string());
    inbox_suite(async || SqliteStore::open(path(), options.clone()).unwrap().inbox()).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
#[ignore = "needs postgresql"]
async fn postgres_passes_the_suite() {
    inbox_suite(async || crate::engines::postgres().await.store.inbox()).await;
}

pub(crate) async fn answers_as_the_model<I: Inbox>(inbox: I) {
    inbox_against_model(&inbox, 4711, 400).await;
}

pub(crate) async fn one_of_many_receivers_stores_it<I: Inbox + 'static>(inbox: I) {
    let inbox = Arc::new(inbox);
    for round in 0..10 {
        let deliveries: Vec<_> = (0..8)
            .map(|delivery| {
                let inbox = inbox.clone();
                // Two contents under one key: each is stored once.
                let message = query(round, if delivery % 2 == 0 { "Why?" } else { "How?" });
                let message = incoming(&message, round * 100 + delivery);
                tokio::spawn(async move { inbox.receive(&message, at(0)).await.unwrap() })
            })
            .collect();
        let mut outcomes = Vec::new();
        for delivery in deliveries {
            outcomes.push(delivery.await.unwrap());
        }
        let count = |wanted: fn(&ReceiveOutcome) -> bool| {
            outcomes.iter().filter(|outcome| wanted(outcome)).count()
        };
        assert_eq!(
            count(|outcome| matches!(outcome, ReceiveOutcome::New { .. })),
            1,
            "{outcomes:?}"
        );
        assert_eq!(
            count(|outcome| matches!(outcome, ReceiveOutcome::Conflict { .. })),
            1,
            "{outcomes:?}"
        );
        assert_eq!(
            count(|outcome| matches!(outcome, ReceiveOutcome::InProgress { .. })),
            6,
            "{outcomes:?}"
        );
        let acknowledgements: BTreeSet<_> = outcomes
            .iter()
            .map(|v| v.acknowledgement().to_vec())
            .collect();
        assert_eq!(
            acknowledgements.len(),
            2,
            "one for each of the two contents"
        );
    }
}

pub(crate) async fn one_of_many_workers_gets_it<I: Inbox + 'static>(inbox: I) {
    let inbox = Arc::new(inbox);
    for round in 0..10 {
        let workers: Vec<_> = (0..8)
            .map(|number| {
                let inbox = inbox.clone();
                let message = incoming(&query(round, "Why?"), round * 100 + u32::from(number));
                tokio::spawn(async move {
                    let received = inbox.receive(&message, at(0)).await.unwrap();
                    let leased = inbox
                        .lease(&[], 10, lease(number, 100), at(0))
                        .await
                        .unwrap();
                    (received.is_stored(), leased.len())
                })
            })
            .collect();
        let (mut stored, mut leased) = (0, 0);
        for worker in workers {
            let (own, entries) = worker.await.unwrap();
            (stored, leased) = (stored + usize::from(own), leased + entries);
        }
        assert_eq!((stored, leased), (1, 1));
    }
}

pub(crate) async fn every_entry_goes_to_one_worker<I: Inbox + 'static>(inbox: I) {
    let inbox = Arc::new(inbox);
    for number in 0..60 {
        inbox
            .receive(&incoming(&query(number, "Why?"), number), at(0))
            .await
            .unwrap();
    }
    let workers: Vec<_> = (0..4)
        .map(|number| {
            let inbox = inbox.clone();
            tokio::spawn(async move {
                let mut own = Vec::new();
                loop {
                    let leased = inbox
                        .lease(&[], 7, lease(number, 100), at(1))
                        .await
                        .unwrap();
                    if leased.is_empty() {
                        return own;
                    }
                    for entry in leased {
                        assert!(
                            inbox
                                .complete(entry.id, owner(number), at(2))
                                .await
                                .unwrap()
                        );
                        own.push(entry.id);
                    }
                }
            })
        })
        .collect();
    let mut handled = Vec::new();
    for worker in workers {
        handled.extend(worker.await.unwrap());
    }
    // A worker may find nothing while others have leased the rest, but together they handle each
    // message once.
    assert_eq!(handled.len(), 60);
    assert_eq!(handled.iter().collect::<BTreeSet<_>>().len(), 60);
}

#[tokio::test]
async fn memory_refuses_a_new_message_when_full() {
    let store = MemoryStore::with_capacity(1).inbox();
    let outcome = store
        .receive(&incoming(&query(1, "Why?"), 1), at(0))
        .await
        .unwrap();
    let full = store
        .receive(&incoming(&query(2, "Why?"), 2), at(0))
        .await
        .unwrap_err();
    assert_eq!(full.kind(), StoreErrorKind::Full);
    let again = store
        .receive(&incoming(&query(1, "Why?"), 3), at(0))
        .await
        .unwrap();
    assert_eq!(
        again.acknowledgement(),
        outcome.acknowledgement(),
        "a known one is still answered"
    );
    let engine = memory();
    assert_eq!(
        engine.store.inbox().forget(Timestamp::MAX).await.unwrap(),
        0
    );
}
