//! Operations a second of each store, against the callers at once.

use crate::Curve;
use crate::mailbox::{deliver, endpoint, incoming, now};
use crate::statements::{day, rows};
use bankrail_bank::{Booking, BookingKind, SqlLedger};
use bankrail_mailbox::{Inbox, Outbox};
use bankrail_rate_limit::{CallType, CounterStore, Limits, Policy};
use bankrail_service::{Ledger, RegisteredAccount, StatementQuery};
use bankrail_statement::{AccountId, MaxEntries};
use bankrail_stores::CounterClock;
use bankrail_stores::redis::{RedisCounters, RedisCountersOptions, RedisInbox, RedisInboxOptions};
use bankrail_values::Currency;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const FOR: Duration = Duration::from_secs(2);
static NEXT: AtomicU64 = AtomicU64::new(0);

macro_rules! over {
    ($curve:ident, $name:literal, $store:ident, $counters:expr) => {{
        mailboxes(
            $curve,
            $name,
            Arc::new($store.inbox()),
            Some(Arc::new($store.outbox())),
        )
        .await;
        counters($curve, $name, Arc::new($counters)).await;
        let ledger = Arc::new(SqlLedger::new($store));
        let of = |number: u64| AccountId::parse(&format!("{:015}", number % 1000)).unwrap();
        for number in 0..1000 {
            ledger
                .open_account(&of(number), "0.00 AUD".parse().unwrap())
                .await
                .unwrap();
        }
        let account = AccountId::parse("011222814766538").unwrap();
        ledger
            .open_account(&account, "0.00 AUD".parse().unwrap())
            .await
            .unwrap();
        let registered = vec![(account.clone(), RegisteredAccount::new(Currency::AUD))];
        ledger
            .register(&"ACME".parse().unwrap(), registered)
            .await
            .unwrap();
        ledger
            .load_csv(std::io::Cursor::new(rows(0, 1000)))
            .await
            .unwrap();
        for callers in [1, 8, 64] {
            let shared = Arc::clone(&ledger);
            rate(
                $curve,
                concat!($name, ", bookings"),
                callers,
                move |number| {
                    let (ledger, account) = (Arc::clone(&shared), of(number));
                    async move {
                        let booking =
                            Booking::new(BookingKind::Fee, "0.01 AUD".parse().unwrap(), day());
                        ledger.book(&account, &booking).await.unwrap();
                    }
                },
            )
            .await;
            let (shared, account) = (Arc::clone(&ledger), account.clone());
            rate(
                $curve,
                concat!($name, ", statement pages of 100"),
                callers,
                move |_| {
                    let (ledger, account) = (Arc::clone(&shared), account.clone());
                    async move {
                        let mut query =
                            StatementQuery::new("ACME".parse().unwrap(), account, day());
                        query.max_entries = MaxEntries::new(100).unwrap();
                        ledger.statement(&query).await.unwrap();
                    }
                },
            )
            .await;
        }
    }};
}

pub(crate) async fn measure(curve: &Curve<'_>) {
    let (store, _folder) = crate::sqlite();
    over!(curve, "SQLite", store, store.clone());
    if let Some((store, _)) = crate::postgres(curve, "scale_callers").await {
        over!(
            curve,
            "PostgreSQL",
            store,
            store.counters(CounterClock::Callers)
        );
    }
    if let Ok(url) = std::env::var("BANKRAIL_REDIS") {
        let inbox = RedisInbox::open(&url, RedisInboxOptions::new().name("scale")).unwrap();
        mailboxes(
            curve,
            "Valkey",
            Arc::new(inbox),
            None::<Arc<bankrail_stores::postgres::PostgresOutbox>>,
        )
        .await;
        let options = RedisCountersOptions::new().prefix("scale:");
        counters(
            curve,
            "Valkey",
            Arc::new(RedisCounters::open(&url, options).unwrap()),
        )
        .await;
    }
}

async fn mailboxes(
    curve: &Curve<'_>,
    name: &str,
    inbox: Arc<impl Inbox + 'static>,
    outbox: Option<Arc<impl Outbox + 'static>>,
) {
    for callers in [1, 8, 64] {
        let inbox = Arc::clone(&inbox);
        rate(
            curve,
            &format!("{name}, receipts"),
            callers,
            move |number| {
                let inbox = Arc::clone(&inbox);
                async move { drop(inbox.receive(&incoming(number), now()).await.unwrap()) }
            },
        )
        .await;
        let Some(outbox) = outbox.clone() else {
            continue;
        };
        rate(
            curve,
            &format!("{name}, deliveries"),
            callers,
            move |number| {
                let outbox = Arc::clone(&outbox);
                async move {
                    deliver(
                        &*outbox,
                        &endpoint(&format!("endpoint {}", number % 100)),
                        number,
                    )
                    .await
                }
            },
        )
        .await;
    }
}

async fn counters(curve: &Curve<'_>, name: &str, counters: Arc<impl CounterStore + 'static>) {
    let mut limits = Limits::default();
    limits.set_default(CallType::Statement, Policy::unlimited());
    let limits = Arc::new(limits);
    for callers in [1, 8, 64] {
        let (counters, limits) = (Arc::clone(&counters), Arc::clone(&limits));
        rate(
            curve,
            &format!("{name}, limit decisions"),
            callers,
            move |number| {
                let (counters, limits) = (Arc::clone(&counters), Arc::clone(&limits));
                async move {
                    let key = format!("customer-{}", number % 1000);
                    let charge = limits.charge(&key, CallType::Payment, now(), 1).unwrap();
                    assert!(black_box(counters.charge(charge).await).is_ok());
                }
            },
        )
        .await;
    }
}

/// Runs an operation from that many callers for a while.
async fn rate<F: Future<Output = ()> + Send + 'static>(
    curve: &Curve<'_>,
    series: &str,
    callers: u64,
    operation: impl Fn(u64) -> F + Clone + Send + Sync + 'static,
) {
    if callers > curve.most {
        return;
    }
    let begun = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..callers {
        let operation = operation.clone();
        running.spawn(async move {
            let mut done = 0_u64;
            while begun.elapsed() < FOR {
                operation(NEXT.fetch_add(1, Ordering::Relaxed)).await;
                done += 1;
            }
            done
        });
    }
    let done: u64 = running.join_all().await.into_iter().sum();
    curve.point(
        series,
        callers,
        "/s",
        done as f64 / begun.elapsed().as_secs_f64(),
    );
}
