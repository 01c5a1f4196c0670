use bankrail_mailbox::{Completion, Lease, LeaseOwner, TransactionalInbox};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::Timestamp;
use bankrail_webhook::history::{Histories, HistoryId, HistoryState, PaymentState};
use bankrail_webhook::testing::histories_suite;
use bankrail_webhook::{Message, TransactionStatus, samples};
use std::time::Duration;

#[tokio::test]
async fn memory_passes_the_suite() {
    histories_suite(async || MemoryStore::new().histories()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn sqlite_passes_the_suite() {
    use bankrail_stores::sqlite::SqliteStore;
    histories_suite(async || {
        SqliteStore::open_in_memory(Default::default())
            .unwrap()
            .histories()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let mut files = 0..;
    let path = |file: i32| folder.path().join(file.to_string());
    histories_suite(async || {
        SqliteStore::open(path(files.next().unwrap()), Default::default())
            .unwrap()
            .histories()
    })
    .await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
#[ignore = "needs postgresql"]
async fn postgres_passes_the_suite() {
    histories_suite(async || crate::engines::postgres().await.store.histories()).await;
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

fn settled() -> Message {
    samples::payment_outcome(&TransactionStatus::SettlementCompleted).into()
}

/// Leases a message and handles it with this work.
async fn handle<I: TransactionalInbox>(inbox: &I, work: I::Work) -> Completion {
    let message = crate::engines::incoming(&crate::engines::query(1, "Why?"), 1);
    let lease = Lease {
        owner: LeaseOwner::from_random_bytes([1; 16]),
        until: at(1_000),
    };
    let id = inbox.receive(&message, at(1)).await.unwrap().id();
    // Nothing the second time: it is leased already.
    inbox.lease(&[], 1, lease, at(1)).await.unwrap();
    inbox
        .complete_with(id, lease.owner, work, at(2))
        .await
        .unwrap()
}

/// A store in memory has no polling, so only the notification ends the wait.
#[cfg(feature = "memory")]
#[tokio::test]
async fn a_change_in_memory_wakes_who_waits() {
    let histories = MemoryStore::new().histories();
    let waiting = histories.clone();
    let waiting = tokio::spawn(async move { waiting.changed_after(0).await });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    histories.apply("", &settled(), at(1)).await.unwrap();
    tokio::time::timeout(Duration::from_secs(60), waiting)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
}

/// A history changes together with the inbox and the caller's tables, or not at all, and ends the
/// wait for a change.
async fn changes_in_the_inboxs_transaction<I, H, W>(inbox: I, histories: H, work: W)
where
    I: TransactionalInbox,
    H: Histories + Clone + 'static,
    W: Fn(bool) -> I::Work,
{
    let undone = handle(&inbox, work(true)).await;
    assert!(matches!(undone, Completion::Undone(_)), "{undone:?}");
    assert_eq!(histories.changes_after(0, 9).await.unwrap(), []);
    let waiting = histories.clone();
    let waiting = tokio::spawn(async move { waiting.changed_after(0).await });
    let done = handle(&inbox, work(false)).await;
    assert!(matches!(done, Completion::Committed), "{done:?}");
    tokio::time::timeout(Duration::from_secs(60), waiting)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    let kept = histories
        .find("", &HistoryId::of(&settled())[0])
        .await
        .unwrap()
        .unwrap();
    assert_eq!(kept.state(), HistoryState::Payment(PaymentState::Settled));
    assert_eq!(histories.changes_after(0, 9).await.unwrap(), [kept]);
    assert_eq!(inbox.counts().await.unwrap().completed, 1);
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn a_history_changes_in_the_inboxs_transaction_on_sqlite() {
    use bankrail_stores::sqlite::{SqliteStore, SqliteWork};
    let store = SqliteStore::open_in_memory(Default::default()).unwrap();
    let work = |fails: bool| {
        SqliteWork::new(move |transaction| {
            let id = &HistoryId::of(&settled())[0];
            assert_eq!(transaction.find_history("", id)?, None);
            transaction.apply_history("", &settled(), at(2))?;
            let kept = transaction.find_history("", id)?.unwrap();
            assert_eq!(kept.state(), HistoryState::Payment(PaymentState::Settled));
            if fails {
                Err("the ledger is closed".into())
            } else {
                Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
            }
        })
    };
    changes_in_the_inboxs_transaction(store.inbox(), store.histories(), work).await;
}

#[cfg(feature = "postgres")]
#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_history_changes_in_the_inboxs_transaction_on_postgres() {
    use bankrail_stores::postgres::{InTransaction, PostgresWork};
    let engine = crate::engines::postgres().await;
    let work = |fails: bool| {
        PostgresWork::new(move |transaction| {
            Box::pin(async move {
                let (transaction, id) = (
                    InTransaction::of(transaction),
                    &HistoryId::of(&settled())[0],
                );
                assert_eq!(transaction.find_history("", id).await?, None);
                transaction.apply_history("", &settled(), at(2)).await?;
                let kept = transaction.find_history("", id).await?.unwrap();
                assert_eq!(kept.state(), HistoryState::Payment(PaymentState::Settled));
                if fails {
                    Err("the ledger is closed".into())
                } else {
                    Ok(())
                }
            })
        })
    };
    changes_in_the_inboxs_transaction(engine.store.inbox(), engine.store.histories(), work).await;
}

/// Workers that fold at the same time lose no message, and a reader misses no change.
async fn folds_at_once<H: Histories + Clone + 'static>(histories: H) {
    let outcome = |number: u32| {
        let mut outcome = samples::payment_outcome(&TransactionStatus::Warehoused);
        outcome.uetr = None;
        outcome.instruction_identification = Some(format!("I-{number}").parse().unwrap());
        Message::from(outcome)
    };
    let folding: Vec<_> = (0..40)
        .map(|number| {
            let histories = histories.clone();
            tokio::spawn(async move {
                histories
                    .apply("", &outcome(number / 2), at(1))
                    .await
                    .unwrap()
            })
        })
        .collect();
    let (mut seen, mut change) = (Vec::new(), 0);
    while seen.len() < 20 {
        histories.changed_after(change).await.unwrap();
        for kept in histories.changes_after(change, 3).await.unwrap() {
            change = kept.change;
            seen.push(kept.number);
        }
    }
    for fold in folding {
        fold.await.unwrap();
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 20);
    assert_eq!(histories.changes_after(change, 9).await.unwrap(), []);
}

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn folds_at_once_on_sqlite() {
    let engine = crate::engines::sqlite_file();
    folds_at_once(engine.store.histories()).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn folds_at_once_on_postgres() {
    let engine = crate::engines::postgres().await;
    folds_at_once(engine.store.histories()).await;
}
