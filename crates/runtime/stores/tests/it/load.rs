//! Messages that are stored at a constant rate and finished by a few workers during a transaction
//! that is held open. Rates and times depend on the machine, so a short run only prints them.

use crate::engines::{at, incoming, lease, outgoing, owner, query};
use bankrail_mailbox::{
    DeliveryRecord, Disposition, Inbox, Incoming, LeaseRequest, OutboxStore, Outgoing,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::{JoinHandle, JoinSet};

/// The number of messages of a lease.
pub(crate) const BATCH: u32 = 10;
const STORING: u32 = 16;
const WORKING: u8 = 3;

fn message_out(number: u32) -> Outgoing {
    let body = vec![b' '; 1500].into();
    Outgoing {
        body,
        ..outgoing(&format!("biller {}", number % 5), number)
    }
}

fn message_in(number: u32) -> Incoming {
    Incoming {
        body: vec![b' '; 1500].into(),
        ..incoming(&query(number, "Why?"), number)
    }
}

/// The store that a run works on.
#[derive(Clone, Debug)]
pub(crate) enum Side {
    Outbox(Arc<dyn OutboxStore>),
    Inbox(Arc<dyn Inbox>),
}

impl Side {
    /// Stores a message.
    pub(crate) async fn store(&self, number: u32, now: i64) {
        match self {
            Self::Outbox(outbox) => {
                outbox.enqueue(&message_out(number), at(now)).await.unwrap();
            }
            Self::Inbox(inbox) => drop(inbox.receive(&message_in(number), at(now)).await.unwrap()),
        }
    }

    /// Leases some messages and finishes them together. Returns their numbers.
    pub(crate) async fn work(&self, worker: u8, now: i64) -> Vec<u32> {
        let lease = lease(worker, now + 60_000);
        let mut finished = JoinSet::new();
        match self {
            Self::Outbox(outbox) => {
                for entry in outbox
                    .lease(LeaseRequest::new(lease, BATCH), at(now))
                    .await
                    .unwrap()
                {
                    let outbox = outbox.clone();
                    finished.spawn(async move {
                        let took = Duration::from_millis(5);
                        let record = DeliveryRecord {
                            started_at: at(now),
                            duration: took,
                            status: Some(200),
                            note: None,
                        };
                        let done = Disposition::Delivered;
                        assert!(
                            outbox
                                .record(entry.id, owner(worker), &record, done, None, at(now))
                                .await
                                .unwrap()
                        );
                        let [a, b, c, d, ..] = *entry.message.message_id.to_uuid().as_bytes();
                        u32::from_be_bytes([a, b, c, d])
                    });
                }
            }
            Self::Inbox(inbox) => {
                for entry in inbox.lease(&[], BATCH, lease, at(now)).await.unwrap() {
                    let inbox = inbox.clone();
                    finished.spawn(async move {
                        assert!(
                            inbox
                                .complete(entry.id, owner(worker), at(now))
                                .await
                                .unwrap()
                        );
                        let text = String::from_utf8_lossy(&entry.acknowledgement).into_owned();
                        text.trim_start_matches("acknowledgement ").parse().unwrap()
                    });
                }
            }
        }
        finished.join_all().await
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Outbox(_) => "Outbox",
            Self::Inbox(_) => "Inbox",
        }
    }
}

/// The time at which each message was stored, and the durations of the messages that were finished
/// since the last look.
#[derive(Debug, Default)]
struct Times {
    stored: HashMap<u32, Instant>,
    took: Vec<Duration>,
}

/// The events of a period.
#[derive(Clone, Copy, Debug)]
struct Period {
    per_second: f64,
    p99: Duration,
}

impl Period {
    /// Returns the median of each value, which shows lasting growth and hides short disturbances of
    /// the machine.
    fn median(periods: &[Self]) -> Self {
        let (mut rates, mut p99s) = (Vec::new(), Vec::new());
        for period in periods {
            rates.push(period.per_second);
            p99s.push(period.p99);
        }
        rates.sort_by(f64::total_cmp);
        p99s.sort_unstable();
        Self {
            per_second: rates[rates.len() / 2],
            p99: p99s[p99s.len() / 2],
        }
    }
}

/// Messages that are stored at a constant rate and finished by a few workers.
struct Load {
    times: Arc<Mutex<Times>>,
    ends: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Load {
    fn begin(side: &Side, per_second: u32) -> Self {
        let times = Arc::<Mutex<Times>>::default();
        let ends = Arc::<AtomicBool>::default();
        let next = Arc::<AtomicU32>::default();
        let began = Instant::now();
        let now = move || i64::try_from(began.elapsed().as_millis()).unwrap();
        let mut tasks = Vec::new();
        for _ in 0..STORING {
            let (times, ends, next, side) =
                (times.clone(), ends.clone(), next.clone(), side.clone());
            tasks.push(tokio::spawn(async move {
                while !ends.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let planned = began + Duration::from_secs(1) * number / per_second;
                    tokio::time::sleep_until(planned.into()).await;
                    times
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .stored
                        .insert(number, planned);
                    side.store(number, now()).await;
                }
            }));
        }
        for worker in 0..WORKING {
            let (times, ends, side) = (times.clone(), ends.clone(), side.clone());
            tasks.push(tokio::spawn(async move {
                while !ends.load(Ordering::Relaxed) {
                    let numbers = side.work(worker, now()).await;
                    if numbers.is_empty() {
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                    let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
                    for number in numbers {
                        let took = times
                            .stored
                            .remove(&number)
                            .expect("finished once")
                            .elapsed();
                        times.took.push(took);
                    }
                }
            }));
        }
        Self { times, ends, tasks }
    }

    async fn period(&self, length: Duration) -> Period {
        self.times
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .took
            .clear();
        let began = Instant::now();
        tokio::time::sleep(length).await;
        let mut took = std::mem::take(
            &mut self
                .times
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .took,
        );
        took.sort_unstable();
        let p99 = took
            .get(took.len() * 99 / 100)
            .copied()
            .unwrap_or(Duration::MAX);
        Period {
            per_second: f64::from(u32::try_from(took.len()).unwrap())
                / began.elapsed().as_secs_f64(),
            p99,
        }
    }

    async fn end(self) {
        self.ends.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.unwrap();
        }
    }
}

/// Works for `BANKRAIL_LOAD_SECONDS` (1 by default) at `BANKRAIL_LOAD_RATE` messages a second
/// during the transaction that `hold` begins and that ends when its value is dropped.
pub(crate) async fn keeps_its_rate<T>(side: Side, hold: impl AsyncFnOnce() -> T) {
    let number = |name: &str, default: u32| {
        std::env::var(name)
            .map_or(Ok(default), |text| text.parse())
            .unwrap()
    };
    let (seconds, per_second) = (
        number("BANKRAIL_LOAD_SECONDS", 1),
        number("BANKRAIL_LOAD_RATE", 200),
    );
    let load = Load::begin(&side, per_second);
    let part = Duration::from_secs((seconds / 15).max(1).into());
    load.period(part).await;
    let before = load.period(part).await;
    let held = hold().await;
    let mut beside = Vec::new();
    for _ in 0..seconds.div_ceil(u32::try_from(part.as_secs()).unwrap()) {
        let period = load.period(part).await;
        eprintln!("{} beside an open transaction: {period:.1?}", side.name());
        beside.push(period);
    }
    drop(held);
    // A minute after it has ended.
    load.period(Duration::from_secs(seconds.min(60).into()))
        .await;
    let after = load.period(part).await;
    let late = Period::median(&beside[beside.len() * 2 / 3..]);
    eprintln!(
        "{} before {before:.1?}, in the last third {late:.1?}, after {after:.1?}",
        side.name()
    );
    load.end().await;
    if seconds >= 60 {
        for period in [late, after] {
            assert!(
                period.per_second >= 0.9 * before.per_second && period.p99 <= 2 * before.p99,
                "{period:?}"
            );
        }
    }
}
