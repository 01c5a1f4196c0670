//! Rates and times beside a transaction that is held open. They depend on the machine, so a short run only shows them.

use super::{Side, client, hold_open, postgres_schema};
use bankrail_stores::postgres::PostgresStore;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

const STORING: u32 = 4;
const WORKING: u8 = 3;

/// When each message was stored, and how long those took that were finished since the last look.
#[derive(Debug, Default)]
struct Times {
    stored: HashMap<u32, Instant>,
    took: Vec<Duration>,
}

/// What happened in a period.
#[derive(Clone, Copy, Debug)]
struct Period {
    per_second: f64,
    p99: Duration,
}

/// Messages that are stored at a constant rate and finished by a few workers.
struct Load {
    times: Arc<Mutex<Times>>,
    ends: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Load {
    fn begin(side: Side, store: &PostgresStore, per_second: u32) -> Self {
        let times = Arc::<Mutex<Times>>::default();
        let ends = Arc::<AtomicBool>::default();
        let next = Arc::<AtomicU32>::default();
        let began = Instant::now();
        let now = move || i64::try_from(began.elapsed().as_millis()).unwrap();
        let mut tasks = Vec::new();
        for _ in 0..STORING {
            let (times, ends, next, store) = (times.clone(), ends.clone(), next.clone(), store.clone());
            tasks.push(tokio::spawn(async move {
                while !ends.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let planned = began + Duration::from_secs(1) * number / per_second;
                    tokio::time::sleep_until(planned.into()).await;
                    times.lock().unwrap_or_else(PoisonError::into_inner).stored.insert(number, planned);
                    side.store(&store, number, now()).await;
                }
            }));
        }
        for worker in 0..WORKING {
            let (times, ends, store) = (times.clone(), ends.clone(), store.clone());
            tasks.push(tokio::spawn(async move {
                while !ends.load(Ordering::Relaxed) {
                    let numbers = side.work(&store, worker, now()).await;
                    if numbers.is_empty() {
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                    let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
                    for number in numbers {
                        let took = times.stored.remove(&number).expect("finished once").elapsed();
                        times.took.push(took);
                    }
                }
            }));
        }
        Self { times, ends, tasks }
    }

    async fn period(&self, length: Duration) -> Period {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).took.clear();
        let began = Instant::now();
        tokio::time::sleep(length).await;
        let mut took = std::mem::take(&mut self.times.lock().unwrap_or_else(PoisonError::into_inner).took);
        took.sort_unstable();
        let p99 = took.get(took.len() * 99 / 100).copied().unwrap_or(Duration::MAX);
        Period { per_second: f64::from(u32::try_from(took.len()).unwrap()) / began.elapsed().as_secs_f64(), p99 }
    }

    async fn end(self) {
        self.ends.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.unwrap();
        }
    }
}

/// `BANKRAIL_LOAD_SECONDS` (1 by default) beside an open transaction, of `BANKRAIL_LOAD_RATE` messages a second.
async fn keeps_its_rate(side: Side) {
    let number = |name: &str, default: u32| std::env::var(name).map_or(Ok(default), |text| text.parse()).unwrap();
    let (seconds, per_second) = (number("BANKRAIL_LOAD_SECONDS", 1), number("BANKRAIL_LOAD_RATE", 200));
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config).await.unwrap();
    let observer = client(&config).await;
    let load = Load::begin(side, &store, per_second);
    let part = Duration::from_secs((seconds / 15).max(1).into());
    load.period(part).await;
    let before = load.period(part).await;
    let held = hold_open(&config).await;
    let mut beside = before;
    for _ in 0..seconds.div_ceil(u32::try_from(part.as_secs()).unwrap()) {
        beside = load.period(part).await;
        let dead = "SELECT coalesce(sum(n_dead_tup), 0)::bigint FROM pg_stat_user_tables
            WHERE schemaname = current_schema()";
        let dead: i64 = observer.query_one(dead, &[]).await.unwrap().get(0);
        eprintln!("{side:?} beside an open transaction: {beside:.1?}, {dead} dead rows");
    }
    drop(held);
    // A minute after it has ended.
    load.period(Duration::from_secs(seconds.min(60).into())).await;
    let after = load.period(part).await;
    eprintln!("{side:?} before {before:.1?}, after {after:.1?}");
    load.end().await;
    if seconds >= 60 {
        for period in [beside, after] {
            assert!(period.per_second >= 0.9 * before.per_second && period.p99 <= 2 * before.p99, "{period:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn the_outbox_keeps_its_rate_beside_an_open_transaction() {
    keeps_its_rate(Side::Outbox).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn the_inbox_keeps_its_rate_beside_an_open_transaction() {
    keeps_its_rate(Side::Inbox).await;
}
