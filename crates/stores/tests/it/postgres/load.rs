//! Outbox and inbox beside a transaction that is held open, and under a backlog.
//!
//! What a message costs is counted in buffers (pages of tables and indexes that were looked at), which do not depend on
//! the machine's load. `BANKRAIL_LOAD_SECONDS` adds rates and times (`.ci/long`).

use super::client;
use crate::engines::{at, incoming, lease, outgoing, owner, postgres_schema, query};
use bankrail_mailbox::{DeliveryRecord, Disposition, Inbox, Incoming, LeaseRequest, Outbox, Outgoing};
use bankrail_stores::postgres::tokio_postgres::{Client, NoTls};
use bankrail_stores::postgres::{InTransaction, PostgresOptions, PostgresStore};
use std::time::Duration;

mod rates;

/// Which store a run works on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    Outbox,
    Inbox,
}

const BATCH: u32 = 10;

fn message_out(number: u32) -> Outgoing {
    let body = vec![b' '; 1500].into();
    Outgoing { body, ..outgoing(&format!("biller {}", number % 5), number) }
}

fn message_in(number: u32) -> Incoming {
    Incoming { body: vec![b' '; 1500].into(), ..incoming(&query(number, "Why?"), number) }
}

impl Side {
    /// Stores a message.
    pub(super) async fn store(self, store: &PostgresStore, number: u32, now: i64) {
        match self {
            Self::Outbox => drop(store.outbox().enqueue(&message_out(number), at(now)).await.unwrap()),
            Self::Inbox => drop(store.inbox().receive(&message_in(number), at(now)).await.unwrap()),
        }
    }

    /// Stores messages in transactions of a thousand.
    async fn store_many(self, client: &mut Client, messages: u32) {
        for thousand in 0..messages / 1000 {
            let transaction = client.transaction().await.unwrap();
            let ours = InTransaction::of(&transaction);
            for number in thousand * 1000..(thousand + 1) * 1000 {
                match self {
                    Self::Outbox => drop(ours.enqueue(&message_out(number), at(0)).await.unwrap()),
                    Self::Inbox => drop(ours.receive(&message_in(number), at(0)).await.unwrap()),
                }
            }
            transaction.commit().await.unwrap();
        }
    }

    /// Leases some messages and finishes them. Returns their numbers.
    pub(super) async fn work(self, store: &PostgresStore, worker: u8, now: i64) -> Vec<u32> {
        let lease = lease(worker, now + 60_000);
        let mut numbers = Vec::new();
        match self {
            Self::Outbox => {
                let outbox = store.outbox();
                for entry in outbox.lease(LeaseRequest::new(lease, BATCH), at(now)).await.unwrap() {
                    let took = Duration::from_millis(5);
                    let record = DeliveryRecord { started_at: at(now), duration: took, status: Some(200), note: None };
                    let done = Disposition::Delivered;
                    assert!(outbox.record(entry.id, owner(worker), &record, done, at(now)).await.unwrap());
                    let [a, b, c, d, ..] = *entry.message.message_id.to_uuid().as_bytes();
                    numbers.push(u32::from_be_bytes([a, b, c, d]));
                }
            }
            Self::Inbox => {
                let inbox = store.inbox();
                for entry in inbox.lease(&[], BATCH, lease, at(now)).await.unwrap() {
                    assert!(inbox.complete(entry.id, owner(worker), at(now)).await.unwrap());
                    let text = String::from_utf8_lossy(&entry.acknowledgement).into_owned();
                    numbers.push(text.trim_start_matches("acknowledgement ").parse().unwrap());
                }
            }
        }
        numbers
    }
}

/// A store whose buffers are counted.
struct Counted {
    config: String,
    observer: Client,
    tables: Vec<String>,
}

impl Counted {
    async fn new() -> Self {
        let config = postgres_schema().await;
        PostgresStore::connect(&config).await.unwrap();
        let observer = client(&config).await;
        let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()";
        let tables = observer.query(tables, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
        let counted = Self { config, observer, tables };
        // It would look at buffers, too.
        counted.for_each_table(&counted.observer, "ALTER TABLE $ SET (autovacuum_enabled = off)").await;
        counted
    }

    /// The buffers that `work` looks at.
    async fn buffers<T>(&self, work: impl AsyncFnOnce(&PostgresStore) -> T) -> (i64, T) {
        // What the planner knows decides how it goes about. Old versions of rows are not among it. A session counts
        // what it looked at a second later, or when it ends.
        let config = format!("{} application_name='{}'", self.config, self.name());
        let analyst = client(&config).await;
        self.for_each_table(&analyst, "ANALYZE $").await;
        drop(analyst);
        let before = self.total().await;
        let store = PostgresOptions::new().connections(1).connect(&config, NoTls).await.unwrap();
        let answer = work(&store).await;
        drop(store);
        (self.total().await - before, answer)
    }

    async fn for_each_table(&self, client: &Client, sql: &str) {
        for table in &self.tables {
            client.batch_execute(&sql.replace('$', table)).await.unwrap();
        }
    }

    fn name(&self) -> &str {
        self.config.rsplit('=').next().unwrap().trim_end_matches('\'')
    }

    /// The buffers that sessions looked at, as soon as all but the observer's have ended.
    async fn total(&self) -> i64 {
        let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1";
        while self.observer.query_one(open, &[&self.name()]).await.unwrap().get::<_, i64>(0) > 0 {
            tokio::task::yield_now().await;
        }
        self.observer.batch_execute("SELECT pg_stat_clear_snapshot()").await.unwrap();
        let sql = "SELECT coalesce(sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0)), 0)
            ::bigint FROM pg_statio_user_tables WHERE schemaname = current_schema()";
        self.observer.query_one(sql, &[]).await.unwrap().get(0)
    }
}

/// Begins a transaction that sees everything as it is now, and stays open.
pub(super) async fn hold_open(config: &str) -> Client {
    let client = client(config).await;
    client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM bankrail_schema").await.unwrap();
    client
}

async fn costs_as_much_as_ever(side: Side) {
    let counted = Counted::new().await;
    let held = hold_open(&counted.config).await;
    let mut costs = Vec::new();
    for window in 0..10_u32 {
        let (buffers, ()) = counted
            .buffers(async |store| {
                for number in window * 200..(window + 1) * 200 {
                    side.store(store, number, number.into()).await;
                    if number % BATCH == BATCH - 1 {
                        assert_eq!(side.work(store, 1, number.into()).await.len(), usize::try_from(BATCH).unwrap());
                    }
                }
            })
            .await;
        costs.push(buffers / 200);
    }
    drop(held);
    eprintln!("{side:?}: {costs:?} buffers a message beside an open transaction");
    assert!(costs[9] <= 2 * costs[1], "{side:?}: {costs:?} buffers a message");
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn beside_an_open_transaction_a_delivery_costs_as_much_as_ever() {
    costs_as_much_as_ever(Side::Outbox).await;
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn beside_an_open_transaction_a_receipt_costs_as_much_as_ever() {
    costs_as_much_as_ever(Side::Inbox).await;
}

/// Leases from 1,000 waiting messages and from `BANKRAIL_BACKLOG`, 5,000 by default.
async fn costs_the_same_under_a_backlog(side: Side) {
    let most = std::env::var("BANKRAIL_BACKLOG").map_or(Ok(5000), |text| text.parse()).unwrap();
    let mut costs = Vec::new();
    for backlog in [1000, most] {
        let counted = Counted::new().await;
        let store = PostgresStore::connect(&counted.config).await.unwrap();
        side.store_many(&mut client(&counted.config).await, backlog).await;
        // The first lease looks at what came since the last one.
        assert_eq!(side.work(&store, 1, 1).await.len(), usize::try_from(BATCH).unwrap());
        let began = std::time::Instant::now();
        let (buffers, ()) = counted
            .buffers(async |store| {
                for _ in 0..50 {
                    assert_eq!(side.work(store, 1, 1).await.len(), usize::try_from(BATCH).unwrap());
                }
            })
            .await;
        costs.push(buffers / 50);
        let took = began.elapsed() / 50;
        eprintln!(
            "{side:?}: from a backlog of {backlog}, a lease with its records: {took:?}, {} buffers",
            buffers / 50
        );
    }
    // An index of more entries has more levels.
    assert!(costs[1] * 2 <= costs[0] * 3, "{side:?}: {costs:?} buffers");
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn under_a_backlog_a_delivery_costs_the_same() {
    costs_the_same_under_a_backlog(Side::Outbox).await;
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn under_a_backlog_a_receipt_costs_the_same() {
    costs_the_same_under_a_backlog(Side::Inbox).await;
}
