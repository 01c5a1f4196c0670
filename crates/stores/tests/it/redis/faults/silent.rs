//! Whoever takes the connection and gives no answer, or loses the answer on the way.

use super::{charged, counters_at, fails, works};
use crate::redis::server::{SERVERS, Server};
use bankrail_rate_limit::{CallType, Limits, OnStoreError, StoreLimiter};
use bankrail_values::StoreErrorKind;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[tokio::test]
async fn a_black_hole_is_left_in_time_and_the_policy_holds() {
    // The kernel accepts for it.
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let counters = counters_at(&format!("redis://{}/", hole.local_addr().unwrap()));
    for _ in 0..3 {
        assert_eq!(fails(&counters).await.kind(), StoreErrorKind::Timeout);
    }
    let limiter =
        StoreLimiter::new(Limits::default(), Arc::new(counters)).on_store_error(CallType::GraphQl, OnStoreError::Allow);
    assert!(limiter.check("A", CallType::GraphQl, crate::redis::at(0), 1).await.unwrap().is_allowed());
    assert!(limiter.check("A", CallType::Payment, crate::redis::at(0), 1).await.is_err());
}

/// Hands on what both sides say, until told to keep the server's answers.
struct Proxy {
    port: u16,
    deaf: Arc<AtomicBool>,
}

impl Proxy {
    fn before(server: &Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, server) = (listener.local_addr().unwrap().port(), server.port);
        let deaf = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&deaf);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let upstream = TcpStream::connect(("127.0.0.1", server)).unwrap();
                let (to, from) = (upstream.try_clone().unwrap(), client.try_clone().unwrap());
                std::thread::spawn(move || hand_on(from, to, &AtomicBool::new(false)));
                let deaf = Arc::clone(&shared);
                std::thread::spawn(move || hand_on(upstream, client, &deaf));
            }
        });
        Self { port, deaf }
    }
}

fn hand_on(mut from: TcpStream, mut to: TcpStream, deaf: &AtomicBool) {
    let mut octets = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut octets) {
        if !deaf.load(Ordering::SeqCst) && to.write_all(&octets[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
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
        assert_eq!(charged(&server).await, before + 5, "each was charged, and none again");
    }
}
