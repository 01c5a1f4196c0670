//! Memory and script make the same decisions on the same requests.

use super::server::patient;
use super::server::{SERVERS, Server};
use crate::counters::{charge, is_allowed, policy, traces};
use bankrail_rate_limit::{Algorithm, CounterStore, Counting};
use bankrail_stores::CounterClock;
use bankrail_stores::redis::RedisCounters;
use bankrail_values::StoreErrorKind;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn tens_of_thousands_of_requests_are_decided_alike() {
    let count = match std::env::var("BANKRAIL_TRACES") {
        Ok(count) => count.parse().expect("BANKRAIL_TRACES is a number"),
        Err(_) => 4_000,
    };
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let counters = Arc::new(server.counters_by_callers());
        let decided = traces(move || Arc::clone(&counters), 0..count).await;
        assert!(decided as u64 >= 10 * count, "{decided}");
        println!("{variable}: {decided} decisions over {count} traces, all alike");
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn a_key_outlives_its_counters_by_an_hour_and_a_refusal_writes_nothing() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let counters = RedisCounters::open(
            &server.url(),
            patient().clock(CounterClock::Callers).prefix("p:"),
        )
        .unwrap();
        let policy = policy(Algorithm::Sliding, Counting::Admitted, &[(60_000, 1)]);
        let now = 1_627_520_523_450;
        assert!(is_allowed(&counters, "A {b}", &policy, now, 1).await);
        let keys: Vec<String> = server.run(&["KEYS", "*"]).await;
        assert_eq!(keys, ["p:payment:A {b}"]);
        let stored: String = server.run(&["GET", &keys[0]]).await;
        assert_eq!(stored, format!("1 {now} 60000 1 0"));
        let left: i64 = server.run(&["PTTL", &keys[0]]).await;
        let spent = 2 * 60_000 - now % 60_000 + 3_600_000;
        assert!(left <= spent && left > spent - 30_000, "{left} of {spent}");
        let () = server.run(&["PERSIST", &keys[0]]).await;
        assert!(!is_allowed(&counters, "A {b}", &policy, now + 1, 1).await);
        assert!(is_allowed(&counters, "A {b}", &policy, now + 1, 0).await);
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
            let error = counters
                .charge(charge("A", &policy, 0, 1).unwrap())
                .await
                .unwrap_err();
            assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{words:?}");
        }
    }
}
