//! Changes of histories, handed over one after the other.

use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use bankrail_webhook::Message;
use bankrail_webhook::history::{
    Histories, History, HistoryId, HistoryState, KeptHistory, Observation, PaymentHistory,
    follow_changes,
};
use std::future::ready;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

/// A store with five changes, of which three come with the first answer, and which fails after this
/// many calls.
#[derive(Debug)]
struct Changes {
    left: Mutex<u32>,
    asked: Mutex<Vec<String>>,
}

impl Changes {
    fn answer<T: Send + 'static>(&self, question: String, answer: T) -> StoreFuture<'_, T> {
        self.asked.lock().unwrap().push(question);
        let mut left = self.left.lock().unwrap();
        let fails = *left == 0;
        *left = left.saturating_sub(1);
        let error = || StoreError::from(StoreErrorKind::Unavailable);
        Box::pin(ready(if fails { Err(error()) } else { Ok(answer) }))
    }
}

impl Histories for Changes {
    fn changes_after(&self, change: u64, limit: u32) -> StoreFuture<'_, Vec<KeptHistory>> {
        let last = if change < 3 { 3 } else { 5 };
        let kept = |change| {
            let history = History::Payment(PaymentHistory::new());
            let mut kept = KeptHistory::new(change, Vec::new(), history, Timestamp::UNIX_EPOCH);
            kept.change = change;
            kept
        };
        self.answer(
            format!("after {change}, {limit}"),
            (change + 1..=last).map(kept).collect(),
        )
    }

    fn changed_after(&self, change: u64) -> StoreFuture<'_, ()> {
        self.answer(format!("until {change}"), ())
    }

    fn apply<'a>(
        &'a self,
        _: &'a str,
        _: &'a Message,
        _: Timestamp,
    ) -> StoreFuture<'a, Observation> {
        unreachable!("changes are only read")
    }

    fn find<'a>(&'a self, _: &'a str, _: &'a HistoryId) -> StoreFuture<'a, Option<KeptHistory>> {
        unreachable!("changes are only read")
    }

    fn list<'a>(
        &'a self,
        _: &'a str,
        _: HistoryState,
        _: Option<u64>,
        _: u32,
    ) -> StoreFuture<'a, Vec<KeptHistory>> {
        unreachable!("changes are only read")
    }

    fn forget(&self, _: Timestamp) -> StoreFuture<'_, u64> {
        unreachable!("changes are only read")
    }
}

#[test]
fn each_change_is_handed_over_once_until_the_store_fails() {
    for (answers, expected, asked) in [
        (0, vec![], "after 1, 100"),
        (1, vec![2, 3], "until 3"),
        (2, vec![2, 3], "after 3, 100"),
        (4, vec![2, 3, 4, 5], "after 5, 100"),
    ] {
        let store = Changes {
            left: Mutex::new(answers),
            asked: Mutex::default(),
        };
        let mut told = Vec::new();
        let error = {
            let following = pin!(follow_changes(&store, 1, |kept| told.push(kept.change)));
            match following.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(error) => error,
                Poll::Pending => panic!("every answer is there"),
            }
        };
        assert_eq!(
            (told, error.kind()),
            (expected, StoreErrorKind::Unavailable),
            "{answers}"
        );
        assert_eq!(
            store.asked.lock().unwrap().last().map(String::as_str),
            Some(asked)
        );
    }
}
