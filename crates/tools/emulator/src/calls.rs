//! The calls that were answered, and a subscription to later ones.

use crate::call::{Call, Endpoint};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// The maximum number of bytes of headers and bodies that are kept, of all calls together.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// The number of calls that a subscriber may fall behind.
const MAX_UNREAD_CALLS: usize = 500;

/// The newest calls of a bank and its newest deliveries, of at most 32 MiB together, and a
/// subscription to later ones. The value is cheap to clone, and clones share the calls.
#[derive(Clone, Debug)]
pub struct Calls(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    most: usize,
    kept: Mutex<CallLog>,
    news: broadcast::Sender<Call>,
}

#[derive(Debug, Default)]
struct CallLog {
    /// The number of calls so far.
    count: u64,
    /// The total size of the calls' headers and bodies, in bytes.
    bytes: usize,
    /// The calls, the oldest first.
    calls: VecDeque<Call>,
}

impl Calls {
    /// Returns an empty record that keeps the newest `most` calls, and as many deliveries.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let (news, _) = broadcast::channel(most.clamp(1, MAX_UNREAD_CALLS));
        Self(Arc::new(Inner {
            most,
            kept: Mutex::default(),
            news,
        }))
    }

    /// Numbers a call, stores it, and publishes it to subscribers.
    pub fn record(&self, mut call: Call) {
        let mut kept = self.lock();
        kept.count += 1;
        call.number = kept.count;
        kept.bytes += bytes(&call);
        kept.calls.push_back(call.clone());
        let alike = |kept: &&Call| {
            (kept.endpoint == Endpoint::Webhook) == (call.endpoint == Endpoint::Webhook)
        };
        if kept.calls.len() > self.0.most && kept.calls.iter().filter(alike).count() > self.0.most {
            let oldest = kept.calls.iter().position(|kept| alike(&kept));
            kept.drop_at(oldest);
        }
        // Bodies differ in length, so a bound on the number of calls does not bound the memory.
        while kept.bytes > MAX_BYTES {
            kept.drop_at(Some(0));
        }
        // Sends the call under the lock, so that subscribers receive calls in order. An error means
        // that nobody has subscribed.
        let _ = self.0.news.send(call);
    }

    /// Returns the stored calls, the newest first.
    #[must_use]
    pub fn newest(&self) -> Vec<Call> {
        self.since(0)
    }

    /// The calls after the one with this number, the newest first.
    pub(crate) fn since(&self, number: u64) -> Vec<Call> {
        let log = self.lock();
        let newest = log.calls.iter().rev();
        let since = newest.take_while(|call| call.number > number);
        since.cloned().collect()
    }

    /// The number of the newest call.
    pub(crate) fn count(&self) -> u64 {
        self.lock().count
    }

    /// Forgets the calls so far. Their numbers are not assigned again.
    pub fn forget(&self) {
        self.lock().keep(|_| false);
    }

    /// Forgets the calls of one customer so far.
    pub fn forget_of(&self, customer: &str) {
        self.lock()
            .keep(|call| call.customer.as_deref() != Some(customer));
    }

    /// Subscribes to the calls from now on. A subscriber that falls more than 500 calls behind
    /// misses some.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Call> {
        self.0.news.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, CallLog> {
        // Ignores a poisoned lock, because a panic in a test leaves only whole calls behind.
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallLog {
    fn drop_at(&mut self, place: Option<usize>) {
        if let Some(call) = place.and_then(|place| self.calls.remove(place)) {
            self.bytes -= bytes(&call);
        }
    }

    fn keep(&mut self, keeps: impl FnMut(&Call) -> bool) {
        self.calls.retain(keeps);
        self.bytes = self.calls.iter().map(bytes).sum();
    }
}

fn bytes(call: &Call) -> usize {
    let headers = call.headers.iter().chain(&call.answer_headers);
    let headers = headers
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum::<usize>();
    headers + call.body.len() + call.answer.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bankrail_values::Timestamp;

    #[test]
    fn the_newest_calls_are_kept_in_their_order() {
        let calls = Calls::new(500);
        let mut news = calls.subscribe();
        for _ in 0..520 {
            calls.record(Call::new(Endpoint::Token, Timestamp::UNIX_EPOCH));
        }
        let kept: Vec<u64> = calls.newest().iter().map(|call| call.number).collect();
        assert_eq!((kept.len(), kept[0], kept[499]), (500, 520, 21));
        assert!(matches!(
            news.try_recv(),
            Err(broadcast::error::TryRecvError::Lagged(_))
        ));
        let next = news.try_recv().unwrap().number;
        assert_eq!(news.try_recv().unwrap().number, next + 1);
        calls.forget();
        calls.record(Call::new(Endpoint::Token, Timestamp::UNIX_EPOCH));
        assert_eq!(
            calls
                .newest()
                .iter()
                .map(|call| call.number)
                .collect::<Vec<_>>(),
            [521]
        );
    }

    #[test]
    fn a_flood_of_deliveries_leaves_the_calls() {
        let calls = Calls::new(3);
        let record = |endpoint| calls.record(Call::new(endpoint, Timestamp::UNIX_EPOCH));
        record(Endpoint::Token);
        (0..10).for_each(|_| record(Endpoint::Webhook));
        (0..3).for_each(|_| record(Endpoint::Statement));
        let kept = || {
            calls
                .newest()
                .iter()
                .map(|call| call.number)
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(), [14, 13, 12, 11, 10, 9]);
        calls.forget_of("nobody");
        record(Endpoint::Webhook);
        assert_eq!(kept(), [15, 14, 13, 12, 11, 10]);
    }

    #[test]
    fn bodies_are_kept_up_to_a_bound() {
        let calls = Calls::new(500);
        for _ in 0..5 {
            let mut call = Call::new(Endpoint::Token, Timestamp::UNIX_EPOCH);
            call.body = vec![0; MAX_BYTES / 4].into();
            calls.record(call);
        }
        assert_eq!(
            calls
                .newest()
                .iter()
                .map(|call| call.number)
                .collect::<Vec<_>>(),
            [5, 4, 3, 2]
        );
        calls.forget();
        assert_eq!(calls.lock().bytes, 0);
    }
}
