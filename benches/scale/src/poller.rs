//! One page polled and recorded, against the number of accounts, with a bank that answers at once.

use crate::Curve;
use bankrail_client::{
    NewEntries, PageFuture, PageSource, PolledAccount, Poller, PollerOptions, StatementPage,
};
use bankrail_emulator::{FakeBank, FakeBooking};
use bankrail_statement::{AccountId, StatementRequest};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{Clock as _, SystemClock, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::Notify;

const PAGES: usize = 2_000;

pub(crate) async fn measure(curve: &Curve<'_>) {
    let bank = FakeBank::start().await;
    bank.book(&bank.account(), &FakeBooking::new("10.00 AUD"));
    let page = bank
        .client()
        .statements()
        .page(&StatementRequest::new(&bank.account()))
        .await
        .unwrap();
    for size in curve.sizes() {
        let most = usize::try_from(size).unwrap();
        let accounts = (0..size)
            .map(|number| PolledAccount::new(AccountId::parse(&format!("{number:015}")).unwrap()));
        let begun = Instant::now();
        let source = Source(Arc::new(Answers {
            page: page.clone(),
            most,
            given: AtomicUsize::new(0),
            all: Notify::new(),
        }));
        let handler = |_: NewEntries| async { Ok(()) };
        let poller = Poller::new(
            &source,
            Arc::new(MemoryStore::new()),
            accounts,
            handler,
            PollerOptions::new(),
        );
        curve.point(
            "made, for each account",
            size,
            "µs",
            crate::micros(begun.elapsed()) / size as f64,
        );
        let pages = PAGES.min(most);
        let begun = Instant::now();
        poller.run(async { source.0.all.notified().await }).await;
        curve.point(
            "a page",
            size,
            "µs",
            crate::micros(begun.elapsed()) / pages as f64,
        );
        let begun = Instant::now();
        drop(poller.check());
        curve.point(
            "the check for /readyz",
            size,
            "µs",
            crate::micros(begun.elapsed()),
        );
    }
}

/// A bank whose statements are all the same.
#[derive(Clone)]
struct Source(Arc<Answers>);

struct Answers {
    page: StatementPage,
    most: usize,
    given: AtomicUsize,
    all: Notify,
}

impl PageSource for Source {
    fn page<'a>(&'a self, _: &'a StatementRequest) -> PageFuture<'a> {
        if self.0.given.fetch_add(1, Ordering::Relaxed) + 1 == PAGES.min(self.0.most) {
            self.0.all.notify_one();
        }
        Box::pin(std::future::ready(Ok(self.0.page.clone())))
    }

    fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    /// Returns the calls that a bank grants if it counts each account separately.
    fn calls_an_hour(&self) -> Option<usize> {
        Some(25 * self.0.most)
    }
}
