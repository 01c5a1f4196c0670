//! Faults of a server that is absent, dies, hangs, forgets, or may not write: each is an error in
//! bounded time, and nothing is charged twice.

mod refusing;
mod silent;

use super::server::{SERVERS, Server};
use crate::counters::{at, charge, policy};
use bankrail_rate_limit::{
    Algorithm, CallType, CheckError, CheckOutcome, CounterStore, Counting, Limiter, Limits,
    OnStoreFailure, Policy,
};
use bankrail_stores::CounterClock;
use bankrail_stores::redis::{RedisCounters, RedisCountersOptions};
use bankrail_values::{StoreError, StoreErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_millis(100);
/// The time beyond the time-out that a busy machine may need.
const SLACK: Duration = Duration::from_secs(2);

fn hour() -> Policy {
    policy(Algorithm::Fixed, Counting::Attempts, &[(3_600_000, 1_000)])
}

/// Counters by client time, so that no hour ends during a test.
fn counters(server: &Server) -> RedisCounters {
    counters_at(&server.url())
}

fn counters_at(url: &str) -> RedisCounters {
    RedisCounters::open(
        url,
        RedisCountersOptions::new()
            .clock(CounterClock::Callers)
            .timeout(TIMEOUT),
    )
    .unwrap()
}

async fn fails(counters: &RedisCounters) -> StoreError {
    let asked = Instant::now();
    let error = counters
        .charge(charge("A", &hour(), 0, 1).unwrap())
        .await
        .unwrap_err();
    assert!(asked.elapsed() < TIMEOUT + SLACK, "{:?}", asked.elapsed());
    error
}

async fn works(counters: &RedisCounters) {
    assert!(
        counters
            .charge(charge("A", &hour(), 0, 1).unwrap())
            .await
            .unwrap()
            .is_allowed()
    );
}

/// Waits until the connection works again.
async fn works_again(counters: &RedisCounters) {
    let asked = Instant::now();
    while counters
        .charge(charge("recovered", &hour(), 0, 1).unwrap())
        .await
        .is_err()
    {
        assert!(asked.elapsed() < Duration::from_secs(20), "no recovery");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns the charges that the server has counted for the hour.
async fn charged(server: &Server) -> u32 {
    let look = server
        .counters_by_callers()
        .charge(charge("A", &hour(), 0, 0).unwrap())
        .await
        .unwrap();
    1_000 - look.remaining().unwrap()
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn absent_then_there() {
    for variable in SERVERS {
        let mut server = Server::start(variable).await;
        server.kill();
        let counters = counters(&server);
        assert_eq!(fails(&counters).await.kind(), StoreErrorKind::Unavailable);
        server.restart().await;
        works_again(&counters).await;
        assert_eq!(charged(&server).await, 0);
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn killed_and_back() {
    for variable in SERVERS {
        let mut server = Server::start(variable).await;
        let counters = counters(&server);
        works_again(&counters).await;
        server.kill();
        for _ in 0..3 {
            fails(&counters).await;
        }
        server.restart().await;
        works_again(&counters).await;
        assert_eq!(
            charged(&server).await,
            0,
            "a charge that failed was not sent again"
        );
        works(&counters).await;
        assert_eq!(charged(&server).await, 1);
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn stopped_by_a_signal() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let counters = counters(&server);
        works_again(&counters).await;
        server.signal("STOP");
        for _ in 0..3 {
            assert_eq!(fails(&counters).await.kind(), StoreErrorKind::Timeout);
        }
        server.signal("CONT");
        works_again(&counters).await;
        assert!(charged(&server).await <= 3, "each at most once");
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn slow() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let counters = counters(&server);
        works_again(&counters).await;
        let () = server.run(&["CLIENT", "PAUSE", "1000", "ALL"]).await;
        for _ in 0..3 {
            assert_eq!(fails(&counters).await.kind(), StoreErrorKind::Timeout);
        }
        works_again(&counters).await;
        assert!(charged(&server).await <= 3, "each at most once");
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn a_script_that_is_forgotten_is_sent_again_and_charges_once() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let counters = server.counters_by_callers();
        for request in 1..=20 {
            let () = server.run(&["SCRIPT", "FLUSH"]).await;
            works(&counters).await;
            assert_eq!(charged(&server).await, request);
        }
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn read_only_or_out_of_memory() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let counters = server.counters_by_callers();
        works(&counters).await;
        let () = server.run(&["REPLICAOF", "127.0.0.1", "1"]).await;
        assert_eq!(fails(&counters).await.kind(), StoreErrorKind::Unavailable);
        let () = server.run(&["REPLICAOF", "NO", "ONE"]).await;
        works(&counters).await;
        let () = server.run(&["CONFIG", "SET", "maxmemory", "1"]).await;
        assert_eq!(fails(&counters).await.kind(), StoreErrorKind::Unavailable);
        let () = server.run(&["CONFIG", "SET", "maxmemory", "0"]).await;
        works(&counters).await;
        assert_eq!(charged(&server).await, 3);
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn what_happens_without_the_store_is_chosen_per_call_type() {
    for variable in SERVERS {
        let mut server = Server::start(variable).await;
        server.kill();
        let mut limits = Limits::default();
        limits.set_on_store_failure(CallType::GraphQl, OnStoreFailure::Allow);
        let limiter = Limiter::new(limits, Arc::new(counters(&server)));
        let refused = limiter.check("A", CallType::Payment, at(0), 1).await;
        assert!(matches!(refused, Err(CheckError::Store(_))));
        let allowed = limiter
            .check("A", CallType::GraphQl, at(0), 1)
            .await
            .unwrap();
        assert!(matches!(allowed, CheckOutcome::Unchecked { .. }));
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_at_once() {
    let error = RedisCounters::open("not an address", Default::default()).unwrap_err();
    assert_eq!(error.to_string(), "the server's address cannot be used");
    assert!(std::error::Error::source(&error).is_some());
}
