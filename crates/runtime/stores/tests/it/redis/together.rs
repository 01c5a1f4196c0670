//! Four processes on one server: together they admit each window's limit, exactly.

use super::server::patient;
use super::server::{SERVERS, Server};
use crate::counters::{charge, policy};
use bankrail_rate_limit::{Algorithm, CounterStore, Counting};
use bankrail_stores::CounterClock;
use bankrail_stores::redis::RedisCounters;
use std::process::{Command, Stdio};

const WINDOWS: usize = 40;
const LIMIT: u32 = 25;
const PROCESSES: usize = 4;
/// The number of tries, above the limit, so that the first process in a window fills it.
const TRIES: usize = 30;
const URL: &str = "BANKRAIL_TEST_WORKER_URL";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn four_processes_admit_the_limit_of_each_window() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let workers: Vec<_> = (0..PROCESSES)
            .map(|_| {
                Command::new(std::env::current_exe().unwrap())
                    .args([
                        "redis::together::one_of_the_four",
                        "--exact",
                        "--ignored",
                        "--nocapture",
                    ])
                    .env(URL, server.url())
                    .stdout(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        let mut admitted = [0_u32; WINDOWS];
        for worker in workers {
            let output = worker.wait_with_output().unwrap();
            assert!(output.status.success());
            let text = String::from_utf8(output.stdout).unwrap();
            let line = text
                .lines()
                .find_map(|line| line.split("admitted ").nth(1))
                .expect("a worker reports");
            for (sum, count) in admitted.iter_mut().zip(line.split(' ')) {
                *sum += count.parse::<u32>().unwrap();
            }
        }
        assert_eq!(admitted, [LIMIT; WINDOWS]);
        let policy = policy(
            Algorithm::Fixed,
            Counting::Admitted,
            &[(3_600_000, 1_000_000), (1_000, LIMIT)],
        );
        let last = i64::try_from(WINDOWS - 1).unwrap() * 1_000;
        let counters = server.counters_by_callers();
        let look = counters
            .charge(charge("A", &policy, last, 0).unwrap())
            .await
            .unwrap();
        let counts: Vec<u32> = look.state().counts().map(|counts| counts.current).collect();
        assert_eq!(
            counts,
            [LIMIT * u32::try_from(WINDOWS).unwrap(), LIMIT],
            "refusals charged no window"
        );
    }
}

/// Runs as one of the four processes; the test above starts it and names the server.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by four_processes_admit_the_limit_of_each_window"]
async fn one_of_the_four() {
    let Ok(url) = std::env::var(URL) else { return };
    let counters = RedisCounters::open(&url, patient().clock(CounterClock::Callers)).unwrap();
    let counters = std::sync::Arc::new(counters);
    let policy = policy(
        Algorithm::Fixed,
        Counting::Admitted,
        &[(3_600_000, 1_000_000), (1_000, LIMIT)],
    );
    let mut admitted = [0_u32; WINDOWS];
    for window in 0..i64::try_from(WINDOWS).unwrap() {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..TRIES {
            let counters = std::sync::Arc::clone(&counters);
            tasks.spawn(async move {
                let decision = counters
                    .charge(charge("A", &policy, window * 1_000, 1).unwrap())
                    .await
                    .unwrap();
                // A process that is behind another one is judged in the other's window.
                let judged = decision.state().high_water().unwrap().unix_millis() / 1_000;
                decision
                    .is_allowed()
                    .then(|| usize::try_from(judged).unwrap())
            });
        }
        for window in tasks.join_all().await.into_iter().flatten() {
            admitted[window] += 1;
        }
    }
    let counts: Vec<String> = admitted.iter().map(u32::to_string).collect();
    println!("admitted {}", counts.join(" "));
}
