//! The simplest archive, written by the words of the trait.

use bankrail_mailbox::{ArchiveLabel, ArchiveRecord, ArchiveStore, Kind, OpaqueBytes};
use bankrail_values::{StoreErrorKind, StoreFuture, Timestamp};
use std::future::{Future, ready};
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

/// The last number, and the records with their content.
#[derive(Debug, Default)]
struct Simplest(Mutex<(u64, Vec<(ArchiveRecord, OpaqueBytes)>)>);

impl ArchiveStore for Simplest {
    fn add<'a>(
        &'a self,
        label: &'a ArchiveLabel,
        sealed: &'a OpaqueBytes,
        oldest: Timestamp,
        max_bytes: u64,
    ) -> StoreFuture<'a, ()> {
        let bytes = sealed.len() as u64;
        if bytes > max_bytes {
            return Box::pin(ready(Err(StoreErrorKind::Full.into())));
        }
        let (last, records) = &mut *self.0.lock().unwrap();
        *last += 1;
        records.push((ArchiveRecord::new(*last, label.clone(), bytes), sealed.clone()));
        let is_of_kind = |record: &ArchiveRecord| record.label.kind == label.kind;
        records.retain(|(record, _)| !is_of_kind(record) || record.label.at >= oldest);
        let mut left: u64 =
            records.iter().filter(|(record, _)| is_of_kind(record)).map(|(record, _)| record.bytes).sum();
        records.retain(|(record, _)| {
            let is_kept = left <= max_bytes || !is_of_kind(record);
            left -= if is_kept { 0 } else { record.bytes };
            is_kept
        });
        Box::pin(ready(Ok(())))
    }

    fn records(&self, after: u64, most: u32) -> StoreFuture<'_, Vec<ArchiveRecord>> {
        let records = &self.0.lock().unwrap().1;
        let found = records.iter().map(|(record, _)| record.clone()).filter(|record| record.number > after);
        Box::pin(ready(Ok(found.take(most as usize).collect())))
    }

    fn content(&self, number: u64) -> StoreFuture<'_, Option<OpaqueBytes>> {
        let records = &self.0.lock().unwrap().1;
        let found = records.iter().find(|(record, _)| record.number == number);
        Box::pin(ready(Ok(found.map(|(_, content)| content.clone()))))
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it never waits"),
    }
}

#[test]
fn records_are_found_by_number_until_they_are_too_old_or_too_many() {
    let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
    let label = |kind: &str, millis| ArchiveLabel::new(Kind::parse(kind).unwrap(), "account", None, at(millis));
    let store: &dyn ArchiveStore = &Simplest::default();
    let add = |kind: &str, millis, bytes: usize, oldest| {
        run(store.add(&label(kind, millis), &vec![7; bytes].into(), at(oldest), 10)).map_err(|error| error.kind())
    };
    let numbers = || run(store.records(0, 9)).unwrap().iter().map(|record| record.number).collect::<Vec<_>>();
    assert_eq!(add("page", 1, 4, 0), Ok(()));
    assert_eq!(add("page", 2, 6, 0), Ok(()));
    assert_eq!(add("message", 3, 10, 3), Ok(()), "another kind has bounds of its own");
    assert_eq!(numbers(), [1, 2, 3]);
    let second = ArchiveRecord::new(2, label("page", 2), 6);
    assert_eq!(run(store.records(1, 1)).unwrap(), [second]);
    assert_eq!(run(store.content(2)).unwrap(), Some(vec![7; 6].into()));
    assert_eq!(add("page", 4, 11, 0), Err(StoreErrorKind::Full));
    assert_eq!(add("page", 4, 1, 0), Ok(()));
    assert_eq!(numbers(), [2, 3, 4], "the oldest ones go until the rest fits");
    assert_eq!(add("page", 5, 1, 4), Ok(()));
    assert_eq!(numbers(), [3, 4, 5], "what is too old goes");
    assert_eq!(run(store.content(2)).unwrap(), None);
}
