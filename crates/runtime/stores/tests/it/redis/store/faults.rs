//! Faults of a server that is absent, hangs, forgets, loses an answer or has other data: each is an
//! error in bounded time, and no assertion is used twice.

use super::{HOUR, SERVERS, Server, account, count, entry, grant, key, store};
use crate::engines::at;
use crate::redis::proxy::Proxy;
use bankrail_client_assertion::token::{TokenHash, TokenStore};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_statement::{EntryKey, SeenEntries};
use bankrail_stores::redis::{RedisStore, RedisStoreOptions};
use bankrail_values::{StoreError, StoreErrorKind};
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Cmd, Pipeline, RedisFuture, Value};
use std::net::TcpListener;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_millis(100);
/// The time beyond the time-out that a busy machine may need.
const SLACK: Duration = Duration::from_secs(2);

fn impatient(url: &str) -> RedisStore {
    RedisStore::open(url, RedisStoreOptions::new().timeout(TIMEOUT)).unwrap()
}

/// Returns the error of each operation, and checks that it came within the maximum duration.
async fn failures<C: ConnectionLike + Clone + Send + Sync + 'static>(
    store: &RedisStore<C>,
    number: u8,
) -> Vec<StoreErrorKind> {
    let (hash, own) = (TokenHash::from([number; 32]), account("A"));
    let mut kinds = Vec::new();
    let mut failed = |asked: Instant, error: StoreError| {
        assert!(asked.elapsed() < TIMEOUT + SLACK, "{:?}", asked.elapsed());
        kinds.push(error.kind());
    };
    failed(
        Instant::now(),
        store
            .claim(ReplayKey::new([number; 32], at(HOUR)), at(0))
            .await
            .unwrap_err(),
    );
    failed(
        Instant::now(),
        store.insert(hash, grant(0, HOUR)).await.unwrap_err(),
    );
    failed(Instant::now(), store.find(hash, at(0)).await.unwrap_err());
    failed(Instant::now(), store.revoke(hash).await.unwrap_err());
    failed(
        Instant::now(),
        store
            .counts(&own, &[EntryKey::from([number; 32])])
            .await
            .unwrap_err(),
    );
    failed(
        Instant::now(),
        store
            .record(&own, &[entry(number, 1, None)], None)
            .await
            .unwrap_err(),
    );
    failed(
        Instant::now(),
        store
            .forget_before(&own, "2024-01-02".parse().unwrap())
            .await
            .unwrap_err(),
    );
    kinds
}

/// Waits until the connection works again.
async fn works_again(store: &RedisStore) {
    let asked = Instant::now();
    while store.find(TokenHash::from([0; 32]), at(0)).await.is_err() {
        assert!(asked.elapsed() < Duration::from_secs(20), "no recovery");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn without_a_server_everything_is_refused_in_time() {
    // Nothing listens on this port any more.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let store = impatient(&format!("redis://127.0.0.1:{port}/"));
    assert_eq!(failures(&store, 1).await, [StoreErrorKind::Unavailable; 7]);
    // The kernel accepts connections, and nothing answers.
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = impatient(&format!("redis://{}/", hole.local_addr().unwrap()));
    assert_eq!(failures(&store, 1).await, [StoreErrorKind::Timeout; 7]);
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn what_was_answered_survives_the_end_of_the_server() {
    for variable in SERVERS {
        let durable = ["--appendonly", "yes", "--appendfsync", "always"];
        let mut server = Server::with_options(variable, &durable).await;
        let patient = store(&server);
        assert!(
            patient
                .claim(ReplayKey::new([1; 32], at(HOUR)), at(0))
                .await
                .unwrap()
        );
        patient
            .insert(TokenHash::from([1; 32]), grant(0, HOUR))
            .await
            .unwrap();
        let _ = patient
            .record(&account("A"), &[entry(1, 2, None)], None)
            .await
            .unwrap();
        let impatient = impatient(&server.url());
        works_again(&impatient).await;
        server.kill();
        for kind in failures(&impatient, 9).await {
            assert!(
                matches!(kind, StoreErrorKind::Unavailable | StoreErrorKind::Timeout),
                "{kind:?}"
            );
        }
        server.restart().await;
        works_again(&impatient).await;
        let store = store(&server);
        assert!(
            !store
                .claim(ReplayKey::new([1; 32], at(HOUR)), at(0))
                .await
                .unwrap()
        );
        assert_eq!(
            store.find(TokenHash::from([1; 32]), at(0)).await.unwrap(),
            Some(grant(0, HOUR))
        );
        assert_eq!(count(&store, "A", 1).await, 2);
        // The failed claim was not repeated.
        assert!(
            store
                .claim(ReplayKey::new([9; 32], at(HOUR)), at(0))
                .await
                .unwrap()
        );
        assert_eq!(
            store.find(TokenHash::from([9; 32]), at(0)).await.unwrap(),
            None
        );
        assert_eq!(count(&store, "A", 9).await, 0);
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn stopped_read_only_or_out_of_memory() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let impatient = impatient(&server.url());
        works_again(&impatient).await;
        server.signal("STOP");
        assert_eq!(failures(&impatient, 1).await, [StoreErrorKind::Timeout; 7]);
        server.signal("CONT");
        let store = store(&server);
        assert!(
            store
                .claim(ReplayKey::new([2; 32], at(HOUR)), at(0))
                .await
                .unwrap()
        );
        let refused = async || {
            store
                .claim(ReplayKey::new([3; 32], at(HOUR)), at(0))
                .await
                .unwrap_err()
                .kind()
        };
        let () = server.run(&["REPLICAOF", "127.0.0.1", "1"]).await;
        assert_eq!(refused().await, StoreErrorKind::Unavailable);
        let () = server.run(&["REPLICAOF", "NO", "ONE"]).await;
        let () = server.run(&["CONFIG", "SET", "maxmemory", "1"]).await;
        assert_eq!(refused().await, StoreErrorKind::Unavailable);
        assert!(
            store
                .record(&account("B"), &[entry(1, 1, None)], None)
                .await
                .is_err()
        );
        assert!(
            store
                .insert(TokenHash::from([3; 32]), grant(0, HOUR))
                .await
                .is_err()
        );
        let () = server.run(&["CONFIG", "SET", "maxmemory", "0"]).await;
        assert_eq!(count(&store, "B", 1).await, 0);
        assert!(
            store
                .claim(ReplayKey::new([3; 32], at(HOUR)), at(0))
                .await
                .unwrap(),
            "a refused claim has used up nothing"
        );
        assert!(
            !store
                .claim(ReplayKey::new([2; 32], at(HOUR)), at(0))
                .await
                .unwrap()
        );
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn scripts_that_are_forgotten_are_sent_again() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let store = store(&server);
        for byte in 1..=20 {
            let () = server.run(&["SCRIPT", "FLUSH"]).await;
            assert!(
                store
                    .claim(ReplayKey::new([byte; 32], at(HOUR)), at(0))
                    .await
                    .unwrap()
            );
            let () = server.run(&["SCRIPT", "FLUSH"]).await;
            assert!(
                !store
                    .claim(ReplayKey::new([byte; 32], at(HOUR)), at(0))
                    .await
                    .unwrap()
            );
            let _ = store
                .record(&account("A"), &[entry(byte, 1, None)], None)
                .await
                .unwrap();
            assert_eq!(count(&store, "A", byte).await, 1);
        }
    }
}

/// A claim whose answer is lost is not reported as the first, and the assertion is used up.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn a_claim_whose_answer_is_lost_stays_taken() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let proxy = Proxy::before(&server);
        let cut_off = impatient(&format!("redis://127.0.0.1:{}/", proxy.port));
        works_again(&cut_off).await;
        let store = store(&server);
        // The server knows the scripts from then on.
        assert!(
            store
                .claim(ReplayKey::new([0; 32], at(HOUR)), at(0))
                .await
                .unwrap()
        );
        let _ = store
            .record(&account("A"), &[entry(0, 1, None)], None)
            .await
            .unwrap();
        proxy.deaf.store(true, Ordering::SeqCst);
        assert_eq!(failures(&cut_off, 1).await, [StoreErrorKind::Timeout; 7]);
        assert!(
            !store
                .claim(ReplayKey::new([1; 32], at(HOUR)), at(0))
                .await
                .unwrap()
        );
        assert_eq!(count(&store, "A", 1).await, 1);
    }
}

/// A connection that sends each request twice and returns the second answer, as after a lost
/// answer.
#[derive(Clone)]
struct Twice(MultiplexedConnection);

impl ConnectionLike for Twice {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let _ = self.0.req_packed_command(command).await;
            self.0.req_packed_command(command).await
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        self.0.req_packed_commands(pipeline, offset, count)
    }

    fn get_db(&self) -> i64 {
        self.0.get_db()
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn what_is_sent_twice_is_done_once() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let twice = RedisStore::over(Twice(server.connection().await), super::patient());
        assert!(
            twice
                .claim(ReplayKey::new([1; 32], at(HOUR)), at(0))
                .await
                .unwrap(),
            "its own claim is recognised"
        );
        assert!(
            !twice
                .claim(ReplayKey::new([1; 32], at(HOUR)), at(0))
                .await
                .unwrap(),
            "another claim is another one's"
        );
        assert!(
            !store(&server)
                .claim(ReplayKey::new([1; 32], at(HOUR)), at(0))
                .await
                .unwrap()
        );
        twice
            .insert(TokenHash::from([1; 32]), grant(0, HOUR))
            .await
            .unwrap();
        assert_eq!(
            twice.find(TokenHash::from([1; 32]), at(0)).await.unwrap(),
            Some(grant(0, HOUR))
        );
        let _ = twice
            .record(&account("A"), &[entry(1, 1, None), entry(1, 2, None)], None)
            .await
            .unwrap();
        assert_eq!(count(&twice, "A", 1).await, 2);
    }
}

#[tokio::test]
#[ignore = "needs redis-server and valkey-server"]
async fn what_cannot_be_read_is_an_error_and_never_the_first() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let store = store(&server);
        for value in ["", "of another version", "12", "12 xyz"] {
            let () = server.run(&["SET", &key("replay", 1), value]).await;
            let () = server.run(&["SET", &key("token", 1), value]).await;
            let () = server
                .run(&["HSET", "bankrail:seen:{A}", &"\u{1}".repeat(32), value])
                .await;
            let kinds = [
                store
                    .claim(ReplayKey::new([1; 32], at(HOUR)), at(0))
                    .await
                    .unwrap_err()
                    .kind(),
                store
                    .find(TokenHash::from([1; 32]), at(0))
                    .await
                    .unwrap_err()
                    .kind(),
                store
                    .counts(&account("A"), &[EntryKey::from([1; 32])])
                    .await
                    .unwrap_err()
                    .kind(),
                store
                    .record(&account("A"), &[entry(2, 1, None), entry(1, 1, None)], None)
                    .await
                    .unwrap_err()
                    .kind(),
            ];
            assert_eq!(kinds, [StoreErrorKind::Corrupt; 4], "{value:?}");
            assert_eq!(count(&store, "A", 2).await, 0);
        }
        for name in [
            key("replay", 2),
            key("token", 2),
            "bankrail:seen:{B}".to_owned(),
        ] {
            let () = server.run(&["RPUSH", &name, "a list"]).await;
        }
        let kinds = [
            store
                .claim(ReplayKey::new([2; 32], at(HOUR)), at(0))
                .await
                .unwrap_err()
                .kind(),
            store
                .find(TokenHash::from([2; 32]), at(0))
                .await
                .unwrap_err()
                .kind(),
            store
                .counts(&account("B"), &[EntryKey::from([1; 32])])
                .await
                .unwrap_err()
                .kind(),
        ];
        assert_eq!(kinds, [StoreErrorKind::Corrupt; 3]);
    }
}
