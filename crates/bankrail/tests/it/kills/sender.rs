//! The sender's process: enqueues message after message and delivers them.

use super::{NEXT, Surroundings, print, read};
use crate::both::{endpoint, endpoints, query};
use bankrail_mailbox::{Outbox, Schedule};
use bankrail_service::delivery::{
    BreakerPolicy, Dispatcher, DispatcherOptions, HttpsTransport, HttpsTransportOptions, TlsRoots, Transport,
    TransportFuture, TransportRequest,
};
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::Clock;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// At most so many messages are enqueued beyond those that were answered.
const AHEAD: usize = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "started by nothing_is_lost_and_effects_happen_once"]
async fn process() {
    let Surroundings { folder, keys, port, clock } = Surroundings::find();
    let next = std::env::var(NEXT).expect("the parent says what is next");
    let outbox = Arc::new(SqliteStore::open(folder.join("outbox.db")).unwrap().outbox());
    let answered = Arc::new(Semaphore::new(AHEAD));
    let transport = Counting { inner: transport(&folder), answered: answered.clone() };
    let options = DispatcherOptions::new()
        .schedule(Schedule::new(std::iter::repeat_n(Duration::from_millis(20), 100_000), 50))
        .timeout(Duration::from_secs(10))
        .per_endpoint(16)
        .breaker(BreakerPolicy::new().failures(u32::MAX))
        .longest_idle(Duration::from_millis(20))
        .shortest_idle(Duration::from_millis(5));
    let endpoints = endpoints(&format!("https://localhost:{port}/"), &keys);
    let clock: Arc<dyn Clock> = Arc::new(clock);
    let dispatcher = Dispatcher::new(outbox.clone(), endpoints, Arc::new(transport), clock, options).unwrap();
    if next == "drain" {
        while outbox.counts(None).await.unwrap().pending > 0 {
            dispatcher.run_once().await.unwrap();
        }
        return print("drained now.\n".to_owned());
    }
    let delivering = dispatcher.clone();
    tokio::spawn(async move { delivering.run(std::future::pending()).await });
    for number in next.parse::<u32>().unwrap().. {
        answered.acquire().await.unwrap().forget();
        let (message, headers) = query(number);
        dispatcher.enqueue(&endpoint(), &message, headers).await.unwrap();
        print(format!("enqueued {number}.\n"));
    }
}

fn transport(folder: &Path) -> HttpsTransport {
    let roots = TlsRoots::OnlyPem(read(folder, "certificate.pem").into_bytes());
    HttpsTransport::new(&HttpsTransportOptions::new().tls_roots(roots)).unwrap()
}

/// Gives a permit for each answer.
#[derive(Debug)]
struct Counting {
    inner: HttpsTransport,
    answered: Arc<Semaphore>,
}

impl Transport for Counting {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            let answer = self.inner.post(request).await;
            if answer.is_ok() {
                self.answered.add_permits(1);
            }
            answer
        })
    }
}
