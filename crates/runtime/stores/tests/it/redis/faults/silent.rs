//! A server that accepts the connection and gives no answer, or whose answer is lost.

use super::{charged, counters_at, fails, works};
use crate::redis::proxy::Proxy;
use crate::redis::server::{SERVERS, Server};
use bankrail_rate_limit::{CallType, Limiter, Limits, OnStoreFailure};
use bankrail_stores::redis::{RedisStore, RedisStoreOptions};
use bankrail_values::{StoreError, StoreErrorKind};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A server that answers each command with `OK`, except on its first connections, which stay open
/// without answers.
struct Hanging {
    port: u16,
    silent: AtomicUsize,
    opened: AtomicUsize,
    /// The number of `SET` commands that the server got, as from `RedisStore::check`, answered or
    /// not.
    written: AtomicUsize,
    /// The delay of an answer.
    delay: Duration,
}

impl Hanging {
    fn start(silent: usize, delay: Duration) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (silent, port) = (
            AtomicUsize::new(silent),
            listener.local_addr().unwrap().port(),
        );
        let server = Self {
            port,
            silent,
            opened: AtomicUsize::new(0),
            written: AtomicUsize::new(0),
            delay,
        };
        let server = Arc::new(server);
        let shared = Arc::clone(&server);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (server, number) = (
                    Arc::clone(&shared),
                    shared.opened.fetch_add(1, Ordering::SeqCst),
                );
                std::thread::spawn(move || server.answer(client.unwrap(), number));
            }
        });
        server
    }

    fn answer(&self, mut client: TcpStream, number: usize) {
        let mut bytes = [0; 4096];
        while let Ok(length @ 1..) = client.read(&mut bytes) {
            let text = String::from_utf8_lossy(&bytes[..length]);
            self.written
                .fetch_add(text.matches("\r\nSET\r\n").count(), Ordering::SeqCst);
            if number >= self.silent.load(Ordering::SeqCst) {
                // Each command begins with the number of its words.
                std::thread::sleep(self.delay);
                let commands = text.matches('*').count();
                if client
                    .write_all("+OK\r\n".repeat(commands).as_bytes())
                    .is_err()
                {
                    break;
                }
            }
        }
    }

    fn store(&self, timeout: Duration) -> RedisStore {
        RedisStore::open(
            &format!("redis://127.0.0.1:{}/", self.port),
            RedisStoreOptions::new().timeout(timeout),
        )
        .unwrap()
    }
}

/// Another connection is opened after a server hangs and is replaced at its address, or a host
/// vanishes, although the old connection is never closed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_connection_is_opened_when_the_one_in_use_gives_no_answer() {
    let server = Hanging::start(0, Duration::ZERO);
    let store = server.store(Duration::from_millis(500));
    store.check().await.unwrap();
    let mut asked = 1;
    // The second time the first attempt finds a server that still hangs.
    for hangs_for in [Duration::ZERO, Duration::from_millis(1_200)] {
        let opened = server.opened.load(Ordering::SeqCst);
        server.silent.store(usize::MAX, Ordering::SeqCst);
        let hung = Instant::now();
        let mut failed: Vec<StoreError> = Vec::new();
        while hung.elapsed() < hangs_for || failed.is_empty() {
            failed.push(store.check().await.unwrap_err());
        }
        // What is open stays silent.
        server
            .silent
            .store(server.opened.load(Ordering::SeqCst), Ordering::SeqCst);
        let back = Instant::now();
        while let Err(error) = store.check().await {
            failed.push(error);
            assert!(back.elapsed() < Duration::from_secs(20), "no recovery");
        }
        let (took, opened) = (
            back.elapsed(),
            server.opened.load(Ordering::SeqCst) - opened,
        );
        assert!(took < Duration::from_secs(5), "{took:?}");
        assert!(
            failed
                .iter()
                .all(|error| error.kind() == StoreErrorKind::Timeout),
            "{failed:?}"
        );
        assert!(
            opened <= 3,
            "{opened} opened within {:?}: at most one a second",
            hung.elapsed()
        );
        asked += failed.len() + 1;
        for _ in 0..20 {
            store.check().await.unwrap();
            asked += 1;
        }
    }
    assert!(
        server.written.load(Ordering::SeqCst) <= asked,
        "nothing is sent twice"
    );
}

/// A caller that no longer waits does not show that a server hangs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_other_connection_is_opened_when_a_caller_gives_up() {
    let server = Hanging::start(0, Duration::from_millis(20));
    let store = server.store(Duration::from_secs(20));
    store.check().await.unwrap();
    for _ in 0..3 {
        assert!(
            tokio::time::timeout(Duration::from_millis(1), store.check())
                .await
                .is_err()
        );
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        store.check().await.unwrap();
    }
    let opened = server.opened.load(Ordering::SeqCst);
    assert!(opened < 4, "{opened}: another one for each caller");
}

#[tokio::test]
async fn a_black_hole_is_left_in_time_and_the_policy_holds() {
    // The kernel accepts connections, and nothing answers.
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let counters = counters_at(&format!("redis://{}/", hole.local_addr().unwrap()));
    for _ in 0..3 {
        assert_eq!(fails(&counters).await.kind(), StoreErrorKind::Timeout);
    }
    let mut limits = Limits::default();
    limits.set_on_store_failure(CallType::GraphQl, OnStoreFailure::Allow);
    let limiter = Limiter::new(limits, Arc::new(counters));
    assert!(
        limiter
            .check("A", CallType::GraphQl, crate::counters::at(0), 1)
            .await
            .unwrap()
            .is_allowed()
    );
    assert!(
        limiter
            .check("A", CallType::Payment, crate::counters::at(0), 1)
            .await
            .is_err()
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server and valkey-server"]
async fn a_charge_whose_answer_is_lost_is_charged_once() {
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let proxy = Proxy::before(&server);
        let counters = counters_at(&format!("redis://127.0.0.1:{}/", proxy.port));
        // The first connection and the script take longer than one call may on a busy machine.
        super::works_again(&counters).await;
        works(&counters).await;
        let before = charged(&server).await;
        proxy.deaf.store(true, Ordering::SeqCst);
        for _ in 0..5 {
            assert_eq!(fails(&counters).await.kind(), StoreErrorKind::Timeout);
        }
        assert_eq!(
            charged(&server).await,
            before + 5,
            "each was charged, and none again"
        );
    }
}
