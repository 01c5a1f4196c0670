//! Counters: every engine decides as [`decide`] does.

use bankrail_rate_limit::{
    Algorithm, CallType, Charge, CostError, CounterStore, Counting, Policy, State, Window, decide,
};
use bankrail_values::{EXPIRY_GRACE, StoreErrorKind, Timestamp};
use std::sync::Arc;
use std::time::Duration;

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

pub(crate) fn policy(algorithm: Algorithm, counting: Counting, windows: &[(u64, u32)]) -> Policy {
    let windows: Vec<Window> = windows
        .iter()
        .map(|(millis, limit)| Window::new(Duration::from_millis(*millis), *limit).unwrap())
        .collect();
    Policy::new(algorithm, counting, &windows).unwrap()
}

pub(crate) fn charge<'a>(
    customer: &'a str,
    policy: &'a Policy,
    millis: i64,
    cost: u32,
) -> Result<Charge<'a>, CostError> {
    Charge::new(customer, CallType::Payment, policy, at(millis), cost)
}

/// True if a call of one of these customers is allowed.
pub(crate) async fn is_allowed(
    counters: &impl CounterStore,
    customer: &str,
    policy: &Policy,
    millis: i64,
    cost: u32,
) -> bool {
    let charge = charge(customer, policy, millis, cost).unwrap();
    counters.charge(charge).await.unwrap().is_allowed()
}

async fn are_counted_apart(counters: &impl CounterStore) {
    let policy = policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 1)]);
    for customer in ["A", "B", "a", "", "\u{0}", "A ", "\\x41"] {
        let first = is_allowed(counters, customer, &policy, 0, 1).await;
        let second = is_allowed(counters, customer, &policy, 0, 1).await;
        assert_eq!((first, second), (true, false), "{customer:?}");
    }
    let other = Charge::new("A", CallType::Token, &policy, at(0), 1);
    assert!(counters.charge(other.unwrap()).await.unwrap().is_allowed());
}

/// Charges until only the counters of the customer `last` are left, and returns the time of its
/// last charge.
async fn expired_go_in_passing(
    counters: &impl CounterStore,
    policy: &Policy,
    rows: impl AsyncFn() -> i64,
) -> i64 {
    for customer in 0..20 {
        assert!(is_allowed(counters, &customer.to_string(), policy, 0, 1).await);
    }
    // What was charged at 0 weighs something until 2 s.
    let grace = i64::try_from(EXPIRY_GRACE.as_millis()).unwrap();
    for (now, expected) in [
        (2_000 + grace, 21),
        (2_001 + grace, 13),
        (2_001 + grace, 5),
        (2_001 + grace, 1),
    ] {
        assert!(is_allowed(counters, "last", policy, now, 1).await);
        assert_eq!(rows().await, expected, "at {now}");
    }
    2_001 + grace
}

async fn unreadable_is_an_error(counters: &impl CounterStore, spoil: impl AsyncFn(&'static str)) {
    let policy = policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 5)]);
    assert!(is_allowed(counters, "A", &policy, 0, 1).await);
    for counts in ["", "garbage", "60000 1", "0 1 1"] {
        spoil(counts).await;
        for cost in [0, 1] {
            let charge = charge("A", &policy, 0, cost).unwrap();
            let error = counters.charge(charge).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{counts:?}");
        }
    }
}

/// Splitmix64, so that traces are the same in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }
}

const LENGTHS: [u64; 12] = [
    1,
    2,
    3,
    7,
    10,
    16,
    60,
    1_000,
    60_000,
    3_600_000,
    86_400_000,
    4_294_967_295,
];

fn some_policy(random: &mut Random, lengths: &[u64]) -> Policy {
    let huge = random.below(12) == 0;
    let windows: Vec<(u64, u32)> = lengths
        .iter()
        .map(|length| {
            let ceiling = Window::new(Duration::from_millis(*length), 1)
                .unwrap()
                .ceiling();
            let limit = u32::try_from(1 + random.below(11)).unwrap();
            (*length, if huge { ceiling - limit } else { limit })
        })
        .collect();
    let algorithm = random.of(&[Algorithm::Fixed, Algorithm::Sliding, Algorithm::Sliding]);
    policy(
        algorithm,
        random.of(&[Counting::Attempts, Counting::Admitted]),
        &windows,
    )
}

/// Makes requests of one customer, of any cost, at any step, under changing policies. Returns the
/// number of decisions.
pub(crate) async fn trace(counters: &impl CounterStore, seed: u64) -> usize {
    let mut random = Random(seed);
    let mut lengths = LENGTHS.to_vec();
    while lengths.len() > 1 + usize::try_from(seed % 3).unwrap() {
        lengths.swap_remove(usize::try_from(random.below(lengths.len() as u64)).unwrap());
    }
    let policies = [
        some_policy(&mut random, &lengths),
        some_policy(&mut random, &lengths[..1]),
    ];
    let customer = format!("C{seed}");
    let mut now = random.of(&[0, -5, 1_627_520_523_450, 1_795_229_204_283]);
    let (mut state, mut decided) = (State::new(), 0);
    for _ in 0..4 + random.below(16) {
        let length = i64::try_from(random.of(&lengths)).unwrap();
        let step = random.of(&[
            0,
            0,
            0,
            1,
            length - 1,
            length,
            length + 1,
            2 * length,
            -1,
            -length,
            -2 * length,
            -2 * length - 1,
            length / 3,
            2_592_000_000,
            -2_592_000_000,
        ]);
        now += step;
        let policy = policies[usize::from(random.below(6) == 0)];
        let most = policy
            .windows()
            .iter()
            .map(|window| window.limit())
            .min()
            .unwrap();
        let cost = random.of(&[0, 1, 1, 1, 1, 2, 3, most, most / 2]);
        let Ok(charge) = charge(&customer, &policy, now, cost) else {
            continue;
        };
        let expected = decide(&mut state, &policy, at(now), cost).unwrap();
        let found = counters.charge(charge).await.unwrap();
        assert_eq!(found, expected, "trace {seed}, request {decided}");
        decided += 1;
    }
    decided
}

/// Runs the traces of many customers at once, by client time, each in counters that `make` creates.
pub(crate) async fn traces<S: CounterStore + 'static>(
    make: impl Fn() -> S + Send + Sync + 'static,
    seeds: std::ops::Range<u64>,
) -> usize {
    let make = Arc::new(make);
    let mut tasks = tokio::task::JoinSet::new();
    const TASKS: u64 = 16;
    for task in 0..TASKS {
        let (make, seeds) = (Arc::clone(&make), seeds.clone());
        tasks.spawn(async move {
            let mut decided = 0;
            for seed in seeds.filter(|seed| seed % TASKS == task) {
                decided += trace(&make(), seed).await;
            }
            decided
        });
    }
    tasks.join_all().await.into_iter().sum()
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::{
        are_counted_apart, expired_go_in_passing, is_allowed, policy, traces,
        unreadable_is_an_error,
    };
    use crate::engines::{sqlite_file, sqlite_memory};
    use bankrail_rate_limit::{Algorithm, Counting};
    use bankrail_stores::sqlite::{SqliteStore, rusqlite};

    #[tokio::test(flavor = "multi_thread")]
    async fn requests_are_decided_as_in_memory() {
        // Each in a file of its own: others' later charges drop what has expired.
        let decided = traces(|| sqlite_memory().store, 0..300).await;
        assert!(decided >= 2_000, "{decided}");
    }

    #[tokio::test]
    async fn customers_and_call_types_are_counted_apart() {
        are_counted_apart(&sqlite_file().store).await;
    }

    /// Two processes that share the file admit the limit together.
    #[tokio::test(flavor = "multi_thread")]
    async fn two_handles_of_one_file_admit_the_limit_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bankrail.db");
        let stores = [
            SqliteStore::open(&path, Default::default()).unwrap(),
            SqliteStore::open(&path, Default::default()).unwrap(),
        ];
        let policy = policy(
            Algorithm::Sliding,
            Counting::Admitted,
            &[(3_600_000, 10), (1_000, 10)],
        );
        let tasks = stores.map(|store| {
            tokio::spawn(async move {
                let mut admitted = 0;
                for _ in 0..10 {
                    admitted += u32::from(is_allowed(&store, "A", &policy, 5, 1).await);
                }
                admitted
            })
        });
        let mut admitted = 0;
        for task in tasks {
            admitted += task.await.unwrap();
        }
        assert_eq!(admitted, 10);
    }

    #[tokio::test]
    async fn expired_counters_go_in_passing_after_the_grace_period() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bankrail.db");
        let store = SqliteStore::open(&path, Default::default()).unwrap();
        let policy = policy(Algorithm::Fixed, Counting::Admitted, &[(1_000, 5)]);
        let beside = rusqlite::Connection::open(&path).unwrap();
        let rows = async || {
            beside
                .query_row("SELECT count(*) FROM bankrail_counter", [], |row| {
                    row.get(0)
                })
                .unwrap()
        };
        let now = expired_go_in_passing(&store, &policy, rows).await;
        assert!(is_allowed(&store, "last", &policy, 9 * now, 0).await);
        assert_eq!(rows().await, 1, "a look writes nothing");
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bankrail.db");
        let store = SqliteStore::open(&path, Default::default()).unwrap();
        let beside = rusqlite::Connection::open(&path).unwrap();
        unreadable_is_an_error(&store, async |counts| {
            beside
                .execute("UPDATE bankrail_counter SET counts = ?1", [counts])
                .unwrap();
        })
        .await;
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::{
        are_counted_apart, charge, expired_go_in_passing, is_allowed, policy, trace,
        unreadable_is_an_error,
    };
    use crate::engines::{postgres, postgres_schema};
    use bankrail_rate_limit::{Algorithm, CounterStore, Counting};
    use bankrail_stores::CounterClock;
    use bankrail_stores::postgres::tokio_postgres::{Client, NoTls, connect};
    use bankrail_stores::postgres::{PostgresCounters, PostgresStore};
    use std::sync::Arc;
    use tokio::sync::Barrier;

    /// Makes counters by client time in a new schema, and another connection to it. No test is
    /// about durability.
    async fn counters() -> (PostgresCounters, Client) {
        let config = postgres_schema()
            .await
            .replace("-c search", "-c synchronous_commit=off -c search");
        let store = PostgresStore::connect(&config, NoTls, Default::default())
            .await
            .unwrap();
        let (beside, connection) = connect(&config, NoTls).await.unwrap();
        tokio::spawn(connection);
        (store.counters(CounterClock::Callers), beside)
    }

    #[tokio::test]
    #[ignore = "needs postgresql"]
    async fn requests_are_decided_as_in_memory() {
        let (counters, beside) = counters().await;
        let mut decided = 0;
        for seed in 0..300 {
            decided += trace(&counters, seed).await;
            // Otherwise a later trace would drop what has expired by its time, which may be that of
            // an earlier decade.
            beside
                .batch_execute("DELETE FROM bankrail_counter")
                .await
                .unwrap();
        }
        assert!(decided >= 2_000, "{decided}");
    }

    #[tokio::test]
    #[ignore = "needs postgresql"]
    async fn customers_and_call_types_are_counted_apart() {
        let (store, _) = counters().await;
        are_counted_apart(&store).await;
    }

    /// Several tasks together admit exactly the limit, because no update is lost.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    #[ignore = "needs postgresql"]
    async fn eight_tasks_admit_the_limit_together() {
        const ROUNDS: usize = 20;
        let config = postgres_schema().await;
        let (one, other) = tokio::join!(
            PostgresStore::connect(&config, NoTls, Default::default()),
            PostgresStore::connect(&config, NoTls, Default::default())
        );
        let stores = [one, other].map(|store| store.unwrap().counters(CounterClock::Callers));
        let policy = policy(
            Algorithm::Sliding,
            Counting::Admitted,
            &[(3_600_000, 25), (1_000, 25)],
        );
        let together = Arc::new(Barrier::new(8));
        let mut tasks = tokio::task::JoinSet::new();
        for task in 0..8 {
            let (store, together) = (stores[task % 2].clone(), Arc::clone(&together));
            tasks.spawn(async move {
                let mut admitted = [0_u32; ROUNDS];
                for (round, admitted) in admitted.iter_mut().enumerate() {
                    together.wait().await;
                    for _ in 0..5 {
                        let customer = format!("C{round}");
                        let is_allowed = is_allowed(&store, &customer, &policy, 5, 1).await;
                        *admitted += u32::from(is_allowed);
                    }
                }
                admitted
            });
        }
        let mut admitted = [0_u32; ROUNDS];
        for counts in tasks.join_all().await {
            admitted
                .iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
        }
        assert_eq!(admitted, [25; ROUNDS], "of 40 requests");
    }

    /// The callers' clocks are twenty years apart and both wrong; the server's counts.
    #[tokio::test]
    #[ignore = "needs postgresql"]
    async fn the_servers_clock_decides_unless_the_callers_are_chosen() {
        let store = postgres().await.store;
        // Longer than the test can take, and with the full weight of the window before, should a
        // new one begin.
        let policy = policy(
            Algorithm::Sliding,
            Counting::Admitted,
            &[(4_294_967_295, 1)],
        );
        let (past, future) = (946_684_800_000, 4_102_444_800_000);
        let [by_server, by_callers] =
            [CounterClock::Server, CounterClock::Callers].map(|clock| store.counters(clock));
        let first = by_server.charge(charge("A", &policy, past, 1).unwrap());
        let first = first.await.unwrap();
        assert!(first.is_allowed());
        let known = first.state().high_water().unwrap().unix_millis();
        assert!(known > past && known < future, "the server's time, {known}");
        assert!(!is_allowed(&by_server, "A", &policy, future, 1).await);
        assert!(is_allowed(&by_callers, "B", &policy, past, 1).await);
        assert!(is_allowed(&by_callers, "B", &policy, future, 1).await);
    }

    #[tokio::test]
    #[ignore = "needs postgresql"]
    async fn expired_counters_go_in_passing_after_the_grace_period() {
        let (store, beside) = counters().await;
        let policy = policy(Algorithm::Fixed, Counting::Admitted, &[(1_000, 5)]);
        let rows = async || {
            beside
                .query_one("SELECT count(*) FROM bankrail_counter", &[])
                .await
                .unwrap()
                .get(0)
        };
        let now = expired_go_in_passing(&store, &policy, rows).await;
        let version = "SELECT xmin::text FROM bankrail_counter";
        let before: String = beside.query_one(version, &[]).await.unwrap().get(0);
        assert!(is_allowed(&store, "last", &policy, 9 * now, 0).await);
        assert!(!is_allowed(&store, "last", &policy, now, 5).await);
        let after: String = beside.query_one(version, &[]).await.unwrap().get(0);
        assert_eq!(
            before, after,
            "neither a look nor a refusal that charges nothing writes"
        );
    }

    #[tokio::test]
    #[ignore = "needs postgresql"]
    async fn what_cannot_be_read_is_an_error() {
        let (store, beside) = counters().await;
        unreadable_is_an_error(&store, async |counts| {
            beside
                .execute("UPDATE bankrail_counter SET counts = $1", &[&counts])
                .await
                .unwrap();
        })
        .await;
    }
}
