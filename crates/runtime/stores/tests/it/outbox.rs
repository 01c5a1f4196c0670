use crate::engines::{at, lease, outgoing, owner, suite};
use bankrail_mailbox::testing::{outbox_against_model, outbox_suite};
use bankrail_mailbox::{DeliveryRecord, Disposition, Enqueued, LeaseRequest, Outbox, OutboxStore};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::StoreErrorKind;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

suite!(
    outbox:
    one_of_many_enqueues_stores_it,
    every_entry_goes_to_one_worker,
    the_bound_holds_among_workers,
    a_long_backlog_is_due_now,
    answers_as_the_model
);

#[tokio::test]
async fn memory_passes_the_suite() {
    outbox_suite(async || MemoryStore::new().outbox()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn sqlite_passes_the_suite() {
    use bankrail_stores::sqlite::{Durability, SqliteOptions, SqliteStore};
    outbox_suite(async || {
        SqliteStore::open_in_memory(Default::default())
            .unwrap()
            .outbox()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    // The suite does not test a loss of power.
    let options = SqliteOptions::new().durability(Durability::ProcessEnd);
    let mut files = 0..;
    let mut path = || folder.path().join(files.next().unwrap().to_string());
    outbox_suite(async || SqliteStore::open(path(), options.clone()).unwrap().outbox()).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
#[ignore = "needs postgresql"]
async fn postgres_passes_the_suite() {
    outbox_suite(async || crate::engines::postgres().await.store.outbox()).await;
}

pub(crate) async fn answers_as_the_model<O: OutboxStore>(outbox: O) {
    outbox_against_model(&outbox, 4711, 400).await;
}

pub(crate) async fn one_of_many_enqueues_stores_it<O: OutboxStore + 'static>(outbox: O) {
    let outbox = Arc::new(outbox);
    for round in 0..10 {
        let enqueues: Vec<_> = (0..8)
            .map(|_| {
                let outbox = outbox.clone();
                tokio::spawn(async move {
                    outbox
                        .enqueue(&outgoing("biller", round), at(0))
                        .await
                        .unwrap()
                })
            })
            .collect();
        let (mut new, mut ids) = (0, BTreeSet::new());
        for enqueue in enqueues {
            let enqueued = enqueue.await.unwrap();
            new += usize::from(matches!(enqueued, Enqueued::New(_)));
            ids.insert(enqueued.id());
        }
        assert_eq!((new, ids.len()), (1, 1));
    }
}

pub(crate) async fn a_long_backlog_is_due_now<O: OutboxStore>(outbox: O) {
    let endpoint = "biller".parse().unwrap();
    for number in 0..1001 {
        let id = outbox
            .enqueue(&outgoing("biller", number), at(0))
            .await
            .unwrap()
            .id();
        assert_eq!(
            outbox.lease(request(1, 1, 1), at(0)).await.unwrap()[0].id,
            id
        );
        assert!(
            outbox
                .release(id, owner(1), at(2000 - i64::from(number)))
                .await
                .unwrap()
        );
    }
    assert!(!outbox.resume_endpoint(&endpoint, at(5)).await.unwrap());
    let leased = outbox.lease(request(1, 2000, 2000), at(5)).await.unwrap();
    assert!(
        leased.len() == 1001 && leased.is_sorted_by_key(|entry| entry.id),
        "{}",
        leased.len()
    );
}

fn request(number: u8, limit: u32, per_endpoint: u32) -> LeaseRequest<'static> {
    LeaseRequest::new(lease(number, 100), limit).per_endpoint(per_endpoint)
}

pub(crate) async fn every_entry_goes_to_one_worker<O: OutboxStore + 'static>(outbox: O) {
    let outbox = Arc::new(outbox);
    for number in 0..60 {
        let endpoint = format!("biller {}", number % 3);
        outbox
            .enqueue(&outgoing(&endpoint, number), at(0))
            .await
            .unwrap();
    }
    let workers: Vec<_> = (0..4)
        .map(|number| {
            let outbox = outbox.clone();
            tokio::spawn(async move {
                let mut own = Vec::new();
                // An empty answer may mean that other workers have leased the rest.
                while outbox.counts(None).await.unwrap().pending > 0 {
                    for entry in outbox.lease(request(number, 7, 100), at(1)).await.unwrap() {
                        let took = Duration::from_millis(5);
                        let delivery = DeliveryRecord {
                            started_at: at(1),
                            duration: took,
                            status: Some(200),
                            note: None,
                        };
                        let disposition = Disposition::Delivered;
                        assert!(
                            outbox
                                .record(
                                    entry.id,
                                    owner(number),
                                    &delivery,
                                    disposition,
                                    None,
                                    at(2)
                                )
                                .await
                                .unwrap()
                        );
                        own.push(entry.id);
                    }
                }
                own
            })
        })
        .collect();
    let mut delivered = Vec::new();
    for worker in workers {
        delivered.extend(worker.await.unwrap());
    }
    assert_eq!(delivered.len(), 60);
    assert_eq!(delivered.iter().collect::<BTreeSet<_>>().len(), 60);
}

pub(crate) async fn the_bound_holds_among_workers<O: OutboxStore + 'static>(outbox: O) {
    let outbox = Arc::new(outbox);
    for number in 0..40 {
        outbox
            .enqueue(&outgoing("biller", number), at(0))
            .await
            .unwrap();
    }
    let workers: Vec<_> = (0..8)
        .map(|number| {
            let outbox = outbox.clone();
            tokio::spawn(async move {
                let mut own = 0;
                for _ in 0..3 {
                    own += outbox
                        .lease(request(number, 2, 5), at(1))
                        .await
                        .unwrap()
                        .len();
                }
                own
            })
        })
        .collect();
    let mut leased = 0;
    for worker in workers {
        leased += worker.await.unwrap();
    }
    assert_eq!(leased, 5);
}

#[tokio::test]
async fn memory_refuses_a_new_message_when_full() {
    let store = MemoryStore::with_capacity(1).outbox();
    let stored = store.enqueue(&outgoing("biller", 1), at(0)).await.unwrap();
    let full = store
        .enqueue(&outgoing("biller", 2), at(0))
        .await
        .unwrap_err();
    assert_eq!(full.kind(), StoreErrorKind::Full);
    let again = store.enqueue(&outgoing("biller", 1), at(0)).await.unwrap();
    assert_eq!(again, Enqueued::AlreadyStored(stored.id()));
}
