use crate::engines::suite;
use bankrail_statement::{AccountId, EntryKey, SeenEntries, SeenEntry};
use bankrail_values::{Date, StoreErrorKind};

suite!(
    counts_are_the_highest_recorded,
    accounts_are_apart,
    days_are_forgotten,
    of_two_days_the_later_counts,
    a_whole_page
);

fn account(id: &str) -> AccountId {
    id.parse().unwrap()
}

fn key(n: u8) -> EntryKey {
    EntryKey::from([n; 32])
}

fn day(text: &str) -> Option<Date> {
    Some(text.parse().unwrap())
}

pub(crate) async fn counts_are_the_highest_recorded<S: SeenEntries>(store: S) {
    let own = account("012003123456789");
    assert_eq!(store.counts(&own, &[key(1), key(2)]).await.unwrap(), [0, 0]);
    let entries = [SeenEntry::new(key(1), 1, None), SeenEntry::new(key(1), 2, None), SeenEntry::new(key(3), 1, None)];
    store.record(&own, &entries).await.unwrap();
    store.record(&own, &entries[..1]).await.unwrap();
    store.record(&own, &[SeenEntry::new(key(4), 0, None)]).await.unwrap();
    let counts = store.counts(&own, &[key(3), key(1), key(2), key(1), key(4)]).await.unwrap();
    assert_eq!(counts, [1, 2, 0, 2, 0], "in the order of the question");
    assert!(store.counts(&own, &[]).await.unwrap().is_empty());
}

pub(crate) async fn accounts_are_apart<S: SeenEntries>(store: S) {
    store.record(&account("A"), &[SeenEntry::new(key(1), 1, None)]).await.unwrap();
    assert_eq!(store.counts(&account("a"), &[key(1)]).await.unwrap(), [0]);
    assert_eq!(store.counts(&account("A"), &[key(1)]).await.unwrap(), [1]);
}

pub(crate) async fn days_are_forgotten<S: SeenEntries>(store: S) {
    let own = account("A");
    let dated = [
        SeenEntry::new(key(1), 1, day("2024-02-28")),
        SeenEntry::new(key(2), 3, day("2024-02-29")),
        SeenEntry::new(key(3), 1, day("2024-03-01")),
        SeenEntry::new(key(4), 1, None),
    ];
    store.record(&own, &dated).await.unwrap();
    store.record(&account("B"), &dated).await.unwrap();
    assert_eq!(store.forget_before(&own, day("2024-03-01").unwrap()).await.unwrap(), 2);
    assert_eq!(store.forget_before(&own, day("2024-03-01").unwrap()).await.unwrap(), 0);
    let keys = [key(1), key(2), key(3), key(4)];
    assert_eq!(store.counts(&own, &keys).await.unwrap(), [0, 0, 1, 1]);
    assert_eq!(store.counts(&account("B"), &keys).await.unwrap(), [1, 3, 1, 1]);
}

pub(crate) async fn of_two_days_the_later_counts<S: SeenEntries>(store: S) {
    let own = account("A");
    let earlier = "2024-01-01";
    let later = "2024-01-03";
    for (n, first, second) in [(1, day(earlier), day(later)), (2, day(later), day(earlier)), (3, None, day(earlier))] {
        store.record(&own, &[SeenEntry::new(key(n), 1, first), SeenEntry::new(key(n), 2, second)]).await.unwrap();
    }
    assert_eq!(store.forget_before(&own, day("2024-01-02").unwrap()).await.unwrap(), 0);
    assert_eq!(store.forget_before(&own, day("9999-12-31").unwrap()).await.unwrap(), 2, "one has no day");
}

pub(crate) async fn a_whole_page<S: SeenEntries>(store: S) {
    let own = account("A");
    let key = |n: u32| {
        let mut key = [0; 32];
        key[..4].copy_from_slice(&n.to_be_bytes());
        EntryKey::from(key)
    };
    let page: Vec<_> = (0..1000).map(|n| SeenEntry::new(key(n), 1, day("2024-01-01"))).collect();
    store.record(&own, &page).await.unwrap();
    let keys: Vec<_> = (500..1500).map(key).collect();
    let counts = store.counts(&own, &keys).await.unwrap();
    assert_eq!(counts.iter().sum::<u32>(), 500);
    assert_eq!(store.forget_before(&own, day("2024-01-02").unwrap()).await.unwrap(), 1000);
}

#[tokio::test]
async fn memory_takes_all_of_a_page_or_nothing() {
    let store = bankrail_stores::memory::MemoryStore::with_capacity(2);
    let entry = |n| SeenEntry::new(key(n), 1, None);
    store.record(&account("A"), &[entry(1)]).await.unwrap();
    let full = store.record(&account("A"), &[entry(1), entry(2), entry(3)]).await.unwrap_err();
    assert_eq!(full.kind(), StoreErrorKind::Full);
    assert_eq!(store.counts(&account("A"), &[key(1), key(2), key(3)]).await.unwrap(), [1, 0, 0]);
    store.record(&account("A"), &[entry(1), entry(2), entry(2)]).await.unwrap();
}
