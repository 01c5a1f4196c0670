//! What is answered without asking: refusals that are certain, and leased charges.

use super::same_answers::Random;
use super::server::{SERVERS, Server};
use super::{charge, policy};
use bankrail_rate_limit::{Algorithm, CounterStore, Counting, Counts, State, decide};
use std::collections::HashMap;

/// Longer than any test runs, and not about to end: the server's clock decides here.
const DAYS: u64 = 49 * 86_400_000;

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn a_certain_refusal_is_not_asked_for_again() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let counters = server.counters().with_deny_cache(10);
        let two = policy(Algorithm::Sliding, Counting::Admitted, &[(DAYS, 2)]);
        for request in 0..10 {
            let decision = counters.charge(charge("A", two, 0, 1).unwrap()).await.unwrap();
            assert_eq!(decision.is_allowed(), request < 2);
            assert_eq!(decision.remaining(), Some(1_u32.saturating_sub(request)));
        }
        // The second answer already says that a third is refused.
        assert_eq!(server.calls().await, 2 + 1, "the first was answered that the script is unknown");
        let raised = policy(Algorithm::Sliding, Counting::Admitted, &[(DAYS, 3)]);
        assert!(counters.charge(charge("A", raised, 0, 1).unwrap()).await.unwrap().is_allowed(), "asked anew");
        assert!(counters.charge(charge("B", two, 0, 1).unwrap()).await.unwrap().is_allowed());
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn where_refusals_count_each_is_asked_for() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let counters = server.counters().with_deny_cache(10).with_lease(5);
        let two = policy(Algorithm::Sliding, Counting::Attempts, &[(DAYS, 2)]);
        for request in 0..10 {
            let decision = counters.charge(charge("A", two, 0, 1).unwrap()).await.unwrap();
            assert_eq!(decision.is_allowed(), request < 2);
        }
        assert_eq!(server.calls().await, 10 + 1);
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn leases_save_calls_and_never_overshoot() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let policy = policy(Algorithm::Fixed, Counting::Admitted, &[(DAYS, 103)]);
        let machines = [0, 1, 2].map(|_| server.counters().with_lease(10));
        let mut admitted = [0_u32; 3];
        for _ in 0..100 {
            for (machine, admitted) in machines.iter().zip(&mut admitted) {
                let decision = machine.charge(charge("A", policy, 0, 1).unwrap()).await.unwrap();
                *admitted += u32::from(decision.is_allowed());
            }
        }
        assert_eq!(admitted.iter().sum::<u32>(), 103, "{admitted:?}");
        let calls = server.calls().await;
        assert!(calls < 25, "{calls} calls");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn leases_of_many_tasks_in_short_windows_never_overshoot() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        // By the server's clock, five windows pass while tasks on three machines try as fast as they can.
        let policy = policy(Algorithm::Fixed, Counting::Admitted, &[(DAYS, 60), (200, 12)]);
        let machines = [0, 1, 2].map(|_| std::sync::Arc::new(server.counters().with_lease(4)));
        let mut tasks = tokio::task::JoinSet::new();
        for task in 0..6 {
            let machine = std::sync::Arc::clone(&machines[task % 3]);
            tasks.spawn(async move {
                let mut admitted = Vec::new();
                for _ in 0..4_000 {
                    let decision = machine.charge(charge("A", policy, 0, 1).unwrap()).await.unwrap();
                    if decision.is_allowed() {
                        admitted.push(decision.asked_at().unix_millis() / 200);
                    }
                    tokio::task::yield_now().await;
                }
                admitted
            });
        }
        let admitted: Vec<i64> = tasks.join_all().await.into_iter().flatten().collect();
        let most = admitted.iter().map(|window| admitted.iter().filter(|other| *other == window).count()).max();
        assert!(most <= Some(12), "{most:?} in one window");
        assert!((1..=60).contains(&admitted.len()), "{}", admitted.len());
    }
}

/// What the server keeps, as it was charged last.
fn state(stored: &str) -> State {
    let numbers: Vec<i64> = stored.split(' ').map(|number| number.parse().unwrap()).collect();
    let number = |at: usize| u32::try_from(numbers[at]).unwrap();
    let counts: Vec<Counts> = (2..numbers.len())
        .step_by(3)
        .map(|at| Counts { length: number(at), current: number(at + 1), previous: number(at + 2) })
        .collect();
    State::from_counts(Some(super::at(numbers[1])), &counts).unwrap()
}

/// By the server's clock, whatever machine is asked and whatever it remembers: what is refused here, the server would have
/// refused at that time; what is allowed was charged there, in the windows in which it is spent.
#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn what_is_answered_here_is_what_the_server_would_answer() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let (mut calls, mut refused_here, mut spent_here) = (0, 0, 0);
        for seed in 0..40 {
            let mut random = Random(seed);
            let algorithm = random.of(&[Algorithm::Fixed, Algorithm::Sliding]);
            let (short, long) = (random.of(&[5, 20, 60, DAYS]), random.of(&[7, 100, 1_000, DAYS - 1]));
            let limit = |random: &mut Random| 1 + u32::try_from(random.below(14)).unwrap();
            let windows = [(short, limit(&mut random)), (long, limit(&mut random))];
            let policy = policy(algorithm, Counting::Admitted, &windows);
            let lease = 2 + u32::try_from(random.below(4)).unwrap();
            let machines =
                [server.counters(), server.counters().with_deny_cache(10), server.counters().with_lease(lease)];
            let customer = format!("C{seed}");
            let mut admitted: HashMap<(u64, i64), u32> = HashMap::new();
            for _ in 0..80 {
                let most = windows.map(|(_, limit)| limit).into_iter().min().unwrap();
                let cost = random.of(&[1, 1, 1, 2, 3]).min(most);
                let machine = random.of(&[0, 1, 1, 2, 2, 2]);
                let decision = machines[machine].charge(charge(&customer, policy, 0, cost).unwrap()).await.unwrap();
                let after = server.calls().await;
                let here = after == calls;
                calls = after;
                let asked_at = decision.asked_at();
                if decision.is_allowed() {
                    spent_here += usize::from(here);
                    for (length, _) in windows {
                        let window = asked_at.unix_millis() / i64::try_from(length).unwrap();
                        *admitted.entry((length, window)).or_default() += cost;
                    }
                } else {
                    refused_here += usize::from(here);
                    let stored: String = server.run(&["GET", &format!("bankrail:limit:payment:{customer}")]).await;
                    let there = decide(&mut state(&stored), &policy, asked_at, cost).unwrap();
                    assert!(!there.is_allowed(), "seed {seed}: {decision:?}, the server has {stored}");
                }
            }
            for ((length, window), admitted) in admitted {
                let limit = windows.iter().find(|(other, _)| *other == length).unwrap().1;
                assert!(admitted <= limit, "seed {seed}: {admitted} of {limit} in window {window} of {length} ms");
            }
        }
        assert!(refused_here > 100 && spent_here > 10, "{refused_here} and {spent_here} without a call");
    }
}
