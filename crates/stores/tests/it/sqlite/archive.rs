//! The archive: order, bounds, and that kinds do not share them.

use bankrail_mailbox::{ArchiveLabel, ArchiveStore, Kind, OpaqueBytes};
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::{StoreErrorKind, Timestamp};

const PAGE: Kind = Kind::from_static("page");
const OTHER: Kind = Kind::from_static("other");

fn at(second: i64) -> Timestamp {
    Timestamp::from_unix_millis(second * 1000).unwrap()
}

async fn add(store: &SqliteStore, kind: Kind, second: i64, bytes: usize, oldest: i64) {
    let label = ArchiveLabel::new(kind, "1", None, at(second));
    store.add(&label, &OpaqueBytes::from(vec![7; bytes]), at(oldest), 100).await.unwrap();
}

async fn numbers(store: &SqliteStore) -> Vec<u64> {
    store.records(0, 100).await.unwrap().iter().map(|record| record.number).collect()
}

#[tokio::test]
async fn the_oldest_go_first_and_each_kind_by_itself() {
    let store = SqliteStore::open_in_memory(Default::default()).unwrap();
    for second in 1..=4 {
        add(&store, PAGE, second, 30, 0).await;
    }
    assert_eq!(numbers(&store).await, [2, 3, 4], "at most 100 bytes");
    add(&store, OTHER, 5, 100, 0).await;
    assert_eq!(numbers(&store).await, [2, 3, 4, 5], "another kind has its own");
    add(&store, PAGE, 6, 40, 0).await;
    assert_eq!(numbers(&store).await, [3, 4, 5, 6]);
    add(&store, PAGE, 7, 1, 4).await;
    assert_eq!(numbers(&store).await, [4, 5, 6, 7], "too old");
    add(&store, PAGE, 8, 100, 0).await;
    assert_eq!(numbers(&store).await, [5, 8]);
    add(&store, PAGE, 9, 1, 100).await;
    add(&store, PAGE, 200, 1, 100).await;
    assert_eq!(numbers(&store).await, [5, 10], "no number is used twice");
}

#[tokio::test]
async fn what_is_kept_comes_back() {
    let store = SqliteStore::open_in_memory(Default::default()).unwrap();
    let call = Some("0b7c2f6e-8a1d-41eb-8dcd-0242ac130003".parse().unwrap());
    let label = ArchiveLabel::new(PAGE, "012003123456789", call, at(1));
    store.add(&label, &OpaqueBytes::from(b"sealed".to_vec()), at(0), 6).await.unwrap();
    let record = store.records(0, 1).await.unwrap().remove(0);
    assert_eq!((record.number, &record.label, record.bytes), (1, &label, 6));
    assert_eq!(&*store.content(1).await.unwrap().unwrap(), b"sealed");
    assert!(store.records(1, 1).await.unwrap().is_empty() && store.content(u64::MAX).await.unwrap().is_none());
    let full = store.add(&label, &OpaqueBytes::from(vec![0; 7]), at(0), 6).await.unwrap_err();
    assert_eq!(full.kind(), StoreErrorKind::Full);
    assert_eq!(numbers(&store).await, [1]);
}
