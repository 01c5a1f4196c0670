//! Outbox and inbox during a transaction that is held open, and under a backlog.
//!
//! The cost of a message is counted in buffers (pages of tables and indexes that were read), which
//! do not depend on the machine's load. `BANKRAIL_LOAD_SECONDS` adds rates and times (`.ci/long`).

use super::client;
use crate::engines::postgres_schema;
use crate::load::{BATCH, Side, keeps_its_rate};
use bankrail_stores::postgres::tokio_postgres::{Client, NoTls};
use bankrail_stores::postgres::{PostgresOptions, PostgresStore};
use std::sync::Arc;
use std::time::Instant;
use tokio::task::JoinSet;

/// The number of leases from one backlog whose buffers are counted, and of those that are timed.
const COUNTED: usize = 20;
const TIMED: usize = 75;

/// The outbox or the inbox of a store.
type SideOf = fn(&PostgresStore) -> Side;

fn outbox(store: &PostgresStore) -> Side {
    Side::Outbox(Arc::new(store.outbox()))
}

fn inbox(store: &PostgresStore) -> Side {
    Side::Inbox(Arc::new(store.inbox()))
}

/// Stores messages, as many at once as the store has connections.
async fn store_many(side: &Side, messages: u32) {
    let mut storing = JoinSet::new();
    for first in 0..8 {
        let side = side.clone();
        storing.spawn(async move {
            for number in (first..messages).step_by(8) {
                side.store(number, 0).await;
            }
        });
    }
    storing.join_all().await;
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
        PostgresStore::connect(&config, NoTls, Default::default())
            .await
            .unwrap();
        let observer = client(&config).await;
        let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()";
        let tables = observer
            .query(tables, &[])
            .await
            .unwrap()
            .iter()
            .map(|row| row.get(0))
            .collect();
        let counted = Self {
            config,
            observer,
            tables,
        };
        // It would look at buffers, too.
        counted
            .for_each_table(
                &counted.observer,
                "ALTER TABLE $ SET (autovacuum_enabled = off)",
            )
            .await;
        counted
    }

    /// Returns the number of buffers that `work` reads.
    async fn buffers<T>(&self, work: impl AsyncFnOnce(&PostgresStore) -> T) -> (i64, T) {
        // What the planner knows decides how it goes about. Old versions of rows are not among it.
        // A session counts what it looked at a second later, or when it ends.
        let config = format!("{} application_name='{}'", self.config, self.name());
        let analyst = client(&config).await;
        self.for_each_table(&analyst, "ANALYZE $").await;
        drop(analyst);
        let before = self.total().await;
        let store = PostgresStore::connect(&config, NoTls, PostgresOptions::new().connections(1))
            .await
            .unwrap();
        let answer = work(&store).await;
        drop(store);
        (self.total().await - before, answer)
    }

    async fn for_each_table(&self, client: &Client, sql: &str) {
        for table in &self.tables {
            client
                .batch_execute(&sql.replace('$', table))
                .await
                .unwrap();
        }
    }

    fn name(&self) -> &str {
        self.config
            .rsplit('=')
            .next()
            .unwrap()
            .trim_end_matches('\'')
    }

    /// Returns the number of buffers that sessions have read, as soon as all except the observer's
    /// have ended.
    async fn total(&self) -> i64 {
        let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1";
        while self
            .observer
            .query_one(open, &[&self.name()])
            .await
            .unwrap()
            .get::<_, i64>(0)
            > 0
        {
            tokio::task::yield_now().await;
        }
        self.observer
            .batch_execute("SELECT pg_stat_clear_snapshot()")
            .await
            .unwrap();
        let sql = "SELECT coalesce(sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0)), 0)
            ::bigint FROM pg_statio_user_tables WHERE schemaname = current_schema()";
        self.observer.query_one(sql, &[]).await.unwrap().get(0)
    }
}

/// Begins a transaction that sees the present state, and stays open.
async fn hold_open(config: &str) -> Client {
    let client = client(config).await;
    client
        .batch_execute(
            "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM bankrail_schema",
        )
        .await
        .unwrap();
    client
}

async fn costs_as_much_as_ever(of: SideOf) {
    let counted = Counted::new().await;
    let held = hold_open(&counted.config).await;
    let mut costs = Vec::new();
    for window in 0..10_u32 {
        let (buffers, ()) = counted
            .buffers(async |store| {
                let side = of(store);
                for number in window * 200..(window + 1) * 200 {
                    side.store(number, number.into()).await;
                    if number % BATCH == BATCH - 1 {
                        assert_eq!(
                            side.work(1, number.into()).await.len(),
                            usize::try_from(BATCH).unwrap()
                        );
                    }
                }
            })
            .await;
        costs.push(buffers / 200);
    }
    drop(held);
    eprintln!("{costs:?} buffers a message beside an open transaction");
    assert!(costs[9] <= 2 * costs[1], "{costs:?} buffers a message");
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn beside_an_open_transaction_a_delivery_costs_as_much_as_ever() {
    costs_as_much_as_ever(outbox).await;
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn beside_an_open_transaction_a_receipt_costs_as_much_as_ever() {
    costs_as_much_as_ever(inbox).await;
}

/// Leases from 1,000 waiting messages and from `BANKRAIL_BACKLOG`, 5,000 by default. Both take
/// turns, because the machine's speed changes with time.
async fn costs_the_same_under_a_backlog(of: SideOf) {
    let most = std::env::var("BANKRAIL_BACKLOG")
        .map_or(Ok(5000), |text| text.parse())
        .unwrap();
    let mut costs = Vec::new();
    let mut sides = Vec::new();
    for backlog in [1000, most] {
        let counted = Counted::new().await;
        let side = of(
            &PostgresStore::connect(&counted.config, NoTls, Default::default())
                .await
                .unwrap(),
        );
        store_many(&side, backlog).await;
        // The first lease looks at what came since the last one.
        assert_eq!(side.work(1, 1).await.len(), usize::try_from(BATCH).unwrap());
        let (buffers, ()) = counted
            .buffers(async |store| lease_often(&of(store), COUNTED).await)
            .await;
        costs.push(buffers / i64::try_from(COUNTED).unwrap());
        let store = PostgresStore::connect(
            &counted.config,
            NoTls,
            PostgresOptions::new().connections(1),
        )
        .await
        .unwrap();
        sides.push((backlog, of(&store), Vec::new()));
    }
    for _ in 0..TIMED {
        for (_, side, times) in &mut sides {
            let began = Instant::now();
            lease_often(side, 1).await;
            times.push(began.elapsed());
        }
    }
    for ((backlog, side, mut times), buffers) in sides.into_iter().zip(&costs) {
        times.sort_unstable();
        let (name, median) = (side.name(), times[TIMED / 2]);
        eprintln!(
            "{name} from a backlog of {backlog}: a lease with its records {median:?}, {buffers} buffers"
        );
    }
    // An index of more entries has more levels.
    assert!(costs[1] * 2 <= costs[0] * 3, "{costs:?} buffers");
}

async fn lease_often(side: &Side, leases: usize) {
    for _ in 0..leases {
        assert_eq!(side.work(1, 1).await.len(), usize::try_from(BATCH).unwrap());
    }
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn under_a_backlog_a_delivery_costs_the_same() {
    costs_the_same_under_a_backlog(outbox).await;
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn under_a_backlog_a_receipt_costs_the_same() {
    costs_the_same_under_a_backlog(inbox).await;
}

async fn beside_an_open_transaction(of: SideOf) {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    keeps_its_rate(of(&store), async || hold_open(&config).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn the_outbox_keeps_its_rate_beside_an_open_transaction() {
    beside_an_open_transaction(outbox).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn the_inbox_keeps_its_rate_beside_an_open_transaction() {
    beside_an_open_transaction(inbox).await;
}
