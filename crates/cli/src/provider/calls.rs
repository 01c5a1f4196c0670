//! The calls of customers as they come.

use bankrail::values::{HyphenatedUuid, Timestamp};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;

/// The calls that are kept.
const KEPT: usize = 500;

/// The newest calls, at most 500, and those that come. Cheap to clone; clones share the calls.
#[derive(Clone, Debug)]
pub(crate) struct Calls(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kept: Mutex<Kept>,
    news: broadcast::Sender<Call>,
}

#[derive(Debug, Default)]
struct Kept {
    /// How many calls there were.
    count: u64,
    /// The oldest first.
    calls: VecDeque<Call>,
}

/// A call that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its number, from 1 on. [`Calls::record`] sets it.
    pub(crate) number: u64,
    pub(crate) at: Timestamp,
    pub(crate) request_key: Option<HyphenatedUuid>,
    /// The customer whose API key it had.
    pub(crate) customer: Option<String>,
    /// `token`, `statement` or `other`.
    pub(crate) what: &'static str,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) status: u16,
    /// Why it was refused; never a secret.
    pub(crate) reason: Option<String>,
    pub(crate) took: Duration,
}

impl Calls {
    pub(crate) fn new() -> Self {
        let (news, _) = broadcast::channel(KEPT);
        Self(Arc::new(Inner { kept: Mutex::default(), news }))
    }

    /// Keeps a call, and tells those who subscribed.
    pub(crate) fn record(&self, mut call: Call) {
        let mut kept = self.lock();
        kept.count += 1;
        call.number = kept.count;
        if kept.calls.len() >= KEPT {
            kept.calls.pop_front();
        }
        kept.calls.push_back(call.clone());
        // While the lock is held, so that calls are told in their order. An error says that nobody has subscribed.
        let _ = self.0.news.send(call);
    }

    /// The calls that are kept, the newest first.
    #[cfg(any(feature = "page", test))]
    pub(crate) fn newest(&self) -> Vec<Call> {
        self.lock().calls.iter().rev().cloned().collect()
    }

    /// The calls from now on.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Call> {
        self.0.news.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Call {
        Call {
            number: 0,
            at: Timestamp::UNIX_EPOCH,
            request_key: None,
            customer: None,
            what: "token",
            method: "POST".to_owned(),
            path: bankrail::http::names::TOKEN_PATH.to_owned(),
            status: 200,
            reason: None,
            took: Duration::ZERO,
        }
    }

    #[test]
    fn the_newest_calls_are_kept_in_their_order() {
        let calls = Calls::new();
        let mut news = calls.subscribe();
        for _ in 0..KEPT + 20 {
            calls.record(call());
        }
        let kept: Vec<u64> = calls.newest().iter().map(|call| call.number).collect();
        assert_eq!((kept.len(), kept[0], kept[KEPT - 1]), (500, 520, 21));
        assert!(matches!(news.try_recv(), Err(broadcast::error::TryRecvError::Lagged(_))));
        let next = news.try_recv().unwrap().number;
        assert_eq!(news.try_recv().unwrap().number, next + 1);
    }
}
