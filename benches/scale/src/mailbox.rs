//! Deliveries against the backlog and the number of endpoints; receipts against the keys that are
//! remembered.

use crate::Curve;
use bankrail_mailbox::{
    DeliveryRecord, Disposition, DuplicateKey, EndpointId, Enqueued, Fingerprint, Inbox, Incoming,
    Intervention, KeyHash, Kind, Lease, LeaseOwner, LeaseRequest, Outbox, OutboxOperator,
    OutboxQuery, Outgoing, ReceiveOutcome,
};
use bankrail_stores::postgres::{InTransaction, PostgresStore};
use bankrail_stores::sqlite::{SqliteStore, Transaction};
use bankrail_values::{Clock as _, HyphenatedUuid, StoreError, SystemClock, Timestamp};
use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const TIMES: usize = 101;
/// The calls at once that share commits.
const AT_ONCE: u64 = 256;
/// The messages in one transaction while a store is filled. Their keys are anywhere in an index, so
/// each takes a page of SQLite's cache.
const IN_ONE: usize = 256;

/// A backlog of one endpoint, beside messages to another that are delivered one by one.
pub(crate) async fn backlog(curve: &Curve<'_>) {
    let waiting = |number| outgoing(endpoint("a full one"), number);
    let (store, _folder) = crate::sqlite();
    let fill = async |numbers| {
        in_sqlite(&store, numbers, move |to, number| {
            black_box(to.enqueue(&waiting(number), now()).unwrap());
        })
        .await;
    };
    backlog_over(curve, "SQLite", &store.outbox(), fill).await;
    if let Some((store, shorter)) = crate::postgres(curve, "scale_backlog").await {
        let fill = async |numbers| {
            in_postgres(&store, numbers, async |to, number| {
                black_box(to.enqueue(&waiting(number), now()).await.unwrap());
            })
            .await;
        };
        backlog_over(&shorter, "PostgreSQL", &store.outbox(), fill).await;
    }
}

async fn backlog_over(
    curve: &Curve<'_>,
    name: &str,
    outbox: &(impl Outbox + OutboxOperator),
    fill: impl AsyncFn(Range<u64>),
) {
    let (full, quick) = (endpoint("a full one"), endpoint("quick"));
    let why = Intervention {
        by: "bench".parse().unwrap(),
        reason: "it does not answer".parse().unwrap(),
    };
    outbox.stop_endpoint(&full, &why, now()).await.unwrap();
    let (mut number, mut waiting) = (0, 0);
    for size in curve.sizes() {
        fill(waiting..size).await;
        waiting = size;
        curve
            .time(
                &format!("{name}, one message enqueued and delivered"),
                size,
                TIMES,
                async || {
                    number += 1;
                    deliver(outbox, &quick, 1_000_000_000 + number).await;
                },
            )
            .await;
        let series = format!("{name}, the operator's backlogs");
        curve
            .time(&series, size, 11, async || {
                drop(outbox.backlogs(None, 100).await.unwrap())
            })
            .await;
        let series = format!("{name}, the operator's list of an endpoint");
        let query = OutboxQuery::new().endpoint(full.clone());
        curve
            .time(&series, size, 11, async || {
                drop(outbox.list(&query).await.unwrap())
            })
            .await;
        let series = format!("{name}, counts");
        curve
            .time(&series, size, 11, async || {
                black_box(outbox.counts(None).await.unwrap());
            })
            .await;
    }
}

/// One message waits for each endpoint.
pub(crate) async fn endpoints(curve: &Curve<'_>) {
    let (store, _folder) = crate::sqlite();
    endpoints_over(curve, "SQLite", Arc::new(store.outbox())).await;
    if let Some((store, _)) = crate::postgres(curve, "scale_endpoints").await {
        endpoints_over(curve, "PostgreSQL", Arc::new(store.outbox())).await;
    }
}

async fn endpoints_over(curve: &Curve<'_>, name: &str, outbox: Arc<impl Outbox + 'static>) {
    let mut filled = 0;
    for size in curve.sizes() {
        each(filled..size, |number| {
            let outbox = Arc::clone(&outbox);
            async move {
                let message = outgoing(endpoint(&format!("endpoint {number}")), number);
                black_box(outbox.enqueue(&message, now()).await.unwrap());
            }
        })
        .await;
        filled = size;
        let (mut leases, mut returns) = (Vec::new(), Vec::new());
        for _ in 0..31 {
            let owner = owner();
            let lease = Lease {
                owner,
                until: now().saturating_add(Duration::from_secs(60)),
            };
            let begun = Instant::now();
            let leased = outbox
                .lease(LeaseRequest::new(lease, 16).per_endpoint(4), now())
                .await
                .unwrap();
            leases.push(begun.elapsed());
            assert!(leased.len() == 16 || size < 16);
            let begun = Instant::now();
            outbox.release_all(&[owner]).await.unwrap();
            returns.push(begun.elapsed());
        }
        curve.median(&format!("{name}, a lease of 16"), size, leases);
        curve.median(&format!("{name}, its return"), size, returns);
    }
}

pub(crate) async fn receipts(curve: &Curve<'_>) {
    let (store, _folder) = crate::sqlite();
    // Of a message that was handled no body is kept.
    let known = |number| Incoming {
        body: Vec::new().into(),
        ..incoming(number)
    };
    let fill = async |numbers| {
        in_sqlite(&store, numbers, move |to, number| {
            drop(to.receive(&known(number), now()).unwrap())
        })
        .await;
    };
    receipts_over(curve, "SQLite", &store.inbox(), fill).await;
    if let Some((store, shorter)) = crate::postgres(curve, "scale_receipts").await {
        let fill = async |numbers| {
            in_postgres(&store, numbers, async |to, number| {
                drop(to.receive(&known(number), now()).await.unwrap())
            })
            .await;
        };
        receipts_over(&shorter, "PostgreSQL", &store.inbox(), fill).await;
    }
}

async fn receipts_over(
    curve: &Curve<'_>,
    name: &str,
    inbox: &impl Inbox,
    fill: impl AsyncFn(Range<u64>),
) {
    let (mut remembered, mut number) = (0, 1_000_000_000);
    for size in curve.sizes() {
        fill(remembered..size).await;
        remembered = size;
        curve
            .time(&format!("{name}, a new message"), size, TIMES, async || {
                number += 1;
                let outcome = inbox.receive(&incoming(number), now()).await.unwrap();
                assert!(matches!(outcome, ReceiveOutcome::New { .. }));
            })
            .await;
        curve
            .time(
                &format!("{name}, a known message"),
                size,
                TIMES,
                async || {
                    let outcome = inbox.receive(&incoming(size / 2), now()).await.unwrap();
                    assert!(!outcome.is_stored());
                },
            )
            .await;
    }
}

/// Enqueues a message, leases what is due and records its delivery.
pub(crate) async fn deliver(outbox: &impl Outbox, endpoint: &EndpointId, number: u64) {
    let enqueued = outbox
        .enqueue(&outgoing(endpoint.clone(), number), now())
        .await
        .unwrap();
    assert!(matches!(enqueued, Enqueued::New(_)));
    let owner = owner();
    let lease = Lease {
        owner,
        until: now().saturating_add(Duration::from_secs(60)),
    };
    let leased = outbox
        .lease(LeaseRequest::new(lease, 1).per_endpoint(64), now())
        .await
        .unwrap();
    let record = DeliveryRecord {
        started_at: now(),
        duration: Duration::ZERO,
        status: Some(200),
        note: None,
    };
    for entry in leased {
        let done = Disposition::Delivered;
        assert!(
            outbox
                .record(
                    entry.id,
                    owner,
                    &record,
                    done,
                    Some(&entry.message.endpoint),
                    now()
                )
                .await
                .unwrap()
        );
    }
}

/// Runs work for each number, many in each transaction.
async fn in_sqlite(
    store: &SqliteStore,
    numbers: Range<u64>,
    work: impl Fn(&Transaction<'_>, u64) + Copy + Send + 'static,
) {
    for begin in numbers.clone().step_by(IN_ONE) {
        let part = begin..numbers.end.min(begin + IN_ONE as u64);
        let run = move |transaction: &Transaction<'_>| -> Result<(), StoreError> {
            part.for_each(|number| work(transaction, number));
            Ok(())
        };
        store.transaction(run).await.unwrap();
    }
}

/// Runs work for each number, many in each transaction.
async fn in_postgres(
    store: &PostgresStore,
    numbers: Range<u64>,
    work: impl AsyncFn(&InTransaction<'_>, u64),
) {
    for begin in numbers.clone().step_by(IN_ONE) {
        let run = async |transaction: &InTransaction<'_>| -> Result<(), StoreError> {
            for number in begin..numbers.end.min(begin + IN_ONE as u64) {
                work(transaction, number).await;
            }
            Ok(())
        };
        store.long_transaction(run).await.unwrap();
    }
}

/// Runs work for each number, many at once.
pub(crate) async fn each<F: Future<Output = ()> + Send + 'static>(
    numbers: Range<u64>,
    work: impl Fn(u64) -> F,
) {
    let mut running = JoinSet::new();
    for number in numbers {
        if u64::try_from(running.len()).unwrap() >= AT_ONCE {
            running.join_next().await.unwrap().unwrap();
        }
        running.spawn(work(number));
    }
    running.join_all().await;
}

fn outgoing(endpoint: EndpointId, number: u64) -> Outgoing {
    Outgoing {
        endpoint,
        kind: Kind::from_static("query"),
        message_id: HyphenatedUuid::from_random_bytes(u128::from(number).to_le_bytes()),
        fingerprint: Fingerprint::from_bytes(hash(number)),
        attributes: vec![b'a'; 100].into(),
        body: vec![b'm'; 800].into(),
    }
}

pub(crate) fn incoming(number: u64) -> Incoming {
    Incoming {
        kind: Kind::from_static("query"),
        key: DuplicateKey::from(KeyHash::from_bytes(hash(number))),
        fingerprint: Fingerprint::from_bytes(hash(number)),
        other_spellings: Vec::new(),
        interim: false,
        attributes: vec![b'a'; 100].into(),
        body: vec![b'm'; 800].into(),
        acknowledgement: vec![b'k'; 60].into(),
    }
}

/// Far from its neighbours, as a hash is.
fn hash(number: u64) -> [u8; 32] {
    let mut hash = [0; 32];
    let mut word = number;
    for part in hash.chunks_mut(8) {
        word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        part.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes());
    }
    hash
}

pub(crate) fn endpoint(name: &str) -> EndpointId {
    name.parse().unwrap()
}

fn owner() -> LeaseOwner {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    LeaseOwner::from_random_bytes(u128::from(number).to_le_bytes())
}

pub(crate) fn now() -> Timestamp {
    SystemClock.now()
}
