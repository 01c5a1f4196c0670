//! A server that accepts the connection and gives no answer, or whose answer is lost.

use super::{charged, counters_at, fails, works};
use crate::redis::proxy::Proxy;
use crate::redis::server::{SERVERS, Server};
use bankrail_rate_limit::{CallType, Limiter, Limits, OnStoreError};
use bankrail_values::StoreErrorKind;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[tokio::test]
async fn a_black_hole_is_left_in_time_and_the_policy_holds() {
    // The kernel accepts connections, and nothing answers.
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let counters = counters_at(&format!("redis://{}/", hole.local_addr().unwrap()));
    for _ in 0..3 {
        assert_eq!(fails(&counters).await.kind(), StoreErrorKind::Timeout);
    }
    let mut limits = Limits::default();
    limits.set_on_store_error(CallType::GraphQl, OnStoreError::Allow);
    let limiter = Limiter::new(limits, Arc::new(counters));
    assert!(limiter.check("A", CallType::GraphQl, crate::counters::at(0), 1).await.unwrap().is_allowed());
    assert!(limiter.check("A", CallType::Payment, crate::counters::at(0), 1).await.is_err());
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
