//! Memory and script make the same decisions on the same requests.

use super::server::{SERVERS, Server};
use super::{at, charge, policy};
use bankrail_rate_limit::{Algorithm, CounterStore, Counting, Policy, State, Window, decide};
use bankrail_values::StoreErrorKind;
use std::sync::Arc;

/// Splitmix64, so that traces are the same in each run.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(super) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }
}

const LENGTHS: [u64; 12] = [1, 2, 3, 7, 10, 16, 60, 1_000, 60_000, 3_600_000, 86_400_000, 4_294_967_295];

fn some_policy(random: &mut Random, lengths: &[u64]) -> Policy {
    let huge = random.below(12) == 0;
    let windows: Vec<(u64, u32)> = lengths
        .iter()
        .map(|length| {
            let ceiling = Window::new(std::time::Duration::from_millis(*length), 1).unwrap().ceiling();
            let limit = u32::try_from(1 + random.below(11)).unwrap();
            (*length, if huge { ceiling - limit } else { limit })
        })
        .collect();
    let algorithm = random.of(&[Algorithm::Fixed, Algorithm::Sliding, Algorithm::Sliding]);
    policy(algorithm, random.of(&[Counting::Attempts, Counting::Admitted]), &windows)
}

/// The requests of one customer: of any cost, at any step, under changing policies. Returns the number of decisions.
async fn trace(counters: &impl CounterStore, seed: u64) -> usize {
    let mut random = Random(seed);
    let mut lengths = LENGTHS.to_vec();
    while lengths.len() > 1 + usize::try_from(seed % 3).unwrap() {
        lengths.swap_remove(usize::try_from(random.below(lengths.len() as u64)).unwrap());
    }
    let policies = [some_policy(&mut random, &lengths), some_policy(&mut random, &lengths[..1])];
    let customer = format!("C{seed}");
    let mut now = random.of(&[0, -5, 1_627_520_523_450, 1_795_229_204_283]);
    let (mut state, mut decided) = (State::new(), 0);
    for _ in 0..4 + random.below(16) {
        let length = i64::try_from(random.of(&lengths)).unwrap();
        let step = random.of(&[0, 0, 0, 1, length - 1, length, length + 1, 2 * length, -1, -length, length / 3]);
        now += step;
        let policy = policies[usize::from(random.below(6) == 0)];
        let most = policy.windows().iter().map(|window| window.limit()).min().unwrap();
        let cost = random.of(&[0, 1, 1, 1, 1, 2, 3, most, most / 2]);
        let Ok(charge) = charge(&customer, policy, now, cost) else { continue };
        let expected = decide(&mut state, &policy, at(now), cost).unwrap();
        let found = counters.charge(charge).await.unwrap();
        assert_eq!(found, expected, "trace {seed}, request {decided}");
        decided += 1;
    }
    decided
}

/// The traces of many customers at once, by client time.
pub(super) async fn traces(counters: impl CounterStore + 'static, seeds: std::ops::Range<u64>) -> usize {
    let counters = Arc::new(counters);
    let mut tasks = tokio::task::JoinSet::new();
    const TASKS: u64 = 16;
    for task in 0..TASKS {
        let (counters, seeds) = (Arc::clone(&counters), seeds.clone());
        tasks.spawn(async move {
            let mut decided = 0;
            for seed in seeds.filter(|seed| seed % TASKS == task) {
                decided += trace(&*counters, seed).await;
            }
            decided
        });
    }
    tasks.join_all().await.into_iter().sum()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn tens_of_thousands_of_requests_are_decided_alike() {
    let count = match std::env::var("BANKRAIL_TRACES") {
        Ok(count) => count.parse().expect("BANKRAIL_TRACES is a number"),
        Err(_) => 4_000,
    };
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let decided = traces(server.counters().with_client_time(), 0..count).await;
        assert!(decided as u64 >= 10 * count, "{decided}");
        println!("{variable}: {decided} decisions over {count} traces, all alike");
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn a_key_outlives_its_counters_by_an_hour_and_a_refusal_writes_nothing() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let counters = server.counters().with_client_time().with_prefix("p:");
        let policy = policy(Algorithm::Sliding, Counting::Admitted, &[(60_000, 1)]);
        let now = 1_627_520_523_450;
        assert!(counters.charge(charge("A {b}", policy, now, 1).unwrap()).await.unwrap().is_allowed());
        let keys: Vec<String> = server.run(&["KEYS", "*"]).await;
        assert_eq!(keys, ["p:payment:A {b}"]);
        let stored: String = server.run(&["GET", &keys[0]]).await;
        assert_eq!(stored, format!("1 {now} 60000 1 0"));
        let left: i64 = server.run(&["PTTL", &keys[0]]).await;
        let spent = 2 * 60_000 - now % 60_000 + 3_600_000;
        assert!(left <= spent && left > spent - 30_000, "{left} of {spent}");
        let () = server.run(&["PERSIST", &keys[0]]).await;
        assert!(!counters.charge(charge("A {b}", policy, now + 1, 1).unwrap()).await.unwrap().is_allowed());
        assert!(counters.charge(charge("A {b}", policy, now + 1, 0).unwrap()).await.unwrap().is_allowed());
        assert_eq!(server.run::<i64>(&["PTTL", &keys[0]]).await, -1);
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn what_others_stored_under_the_key_is_an_error() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let counters = server.counters();
        let policy = policy(Algorithm::Fixed, Counting::Attempts, &[(60_000, 1)]);
        for words in [
            ["SET", "bankrail:limit:payment:A", "garbage"],
            ["SET", "bankrail:limit:payment:A", "2 5 60000 1 0"],
            ["SET", "bankrail:limit:payment:A", "1 5 60000 1"],
            ["HSET", "bankrail:limit:payment:A", "field"],
        ] {
            let () = server.run(&["DEL", words[1]]).await;
            let mut words = words.to_vec();
            words.extend((words[0] == "HSET").then_some("value"));
            let () = server.run(&words).await;
            let error = counters.charge(charge("A", policy, 0, 1).unwrap()).await.unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{words:?}");
        }
    }
}
