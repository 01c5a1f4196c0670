//! The rules of an archive's store as cases.

use super::at;
use crate::{ArchiveLabel, ArchiveRecord, ArchiveStore, Kind};
use bankrail_values::StoreErrorKind;

/// The maximum number of bytes of each kind in these cases.
const MAX_BYTES: u64 = 100;

/// Runs every case on fresh, empty stores made by `make`.
///
/// # Panics
/// If the engine breaks a rule; the panic's text states the rule.
pub async fn archive_suite<S: ArchiveStore>(mut make: impl AsyncFnMut() -> S) {
    what_is_kept_comes_back(&make().await).await;
    the_oldest_go_first_and_each_kind_by_itself(&make().await).await;
}

fn label(kind: &str, second: u64) -> ArchiveLabel {
    ArchiveLabel::new(
        Kind::parse(kind).expect("a kind of the suite"),
        "012003123456789",
        None,
        at(second * 1_000),
    )
}

async fn numbers(store: &impl ArchiveStore) -> Vec<u64> {
    store
        .records(0, 100)
        .await
        .expect("records")
        .iter()
        .map(|record| record.number)
        .collect()
}

async fn what_is_kept_comes_back(store: &impl ArchiveStore) {
    let mut first = label("page", 1);
    first.call = Some(
        "0b7c2f6e-8a1d-41eb-8dcd-0242ac130003"
            .parse()
            .expect("a key of the suite"),
    );
    let second = label("page", 2);
    store
        .add(&first, &b"sealed".to_vec().into(), at(0), MAX_BYTES)
        .await
        .expect("add");
    store
        .add(&second, &vec![7; 9].into(), at(0), MAX_BYTES)
        .await
        .expect("add");
    let records = store.records(0, 9).await.expect("records");
    let expected = [
        ArchiveRecord::new(1, first, 6),
        ArchiveRecord::new(2, second, 9),
    ];
    assert_eq!(
        records, expected,
        "records come in the order in which they were added"
    );
    assert_eq!(
        store.records(0, 1).await.expect("records"),
        expected[..1],
        "at most as many as asked for"
    );
    assert_eq!(
        store.records(1, 9).await.expect("records"),
        expected[1..],
        "those after a number"
    );
    assert!(
        store.records(2, 9).await.expect("records").is_empty(),
        "none after the last one"
    );
    assert_eq!(
        store.content(1).await.expect("content"),
        Some(b"sealed".to_vec().into()),
        "the content as it was"
    );
    for number in [0, 3, u64::MAX] {
        assert_eq!(
            store.content(number).await.expect("content"),
            None,
            "no record of number {number}"
        );
    }
    let full = store
        .add(&label("page", 3), &vec![0; 101].into(), at(0), MAX_BYTES)
        .await
        .expect_err("too large");
    assert_eq!(
        full.kind(),
        StoreErrorKind::Full,
        "more than the bound by itself is refused"
    );
    assert_eq!(numbers(store).await, [1, 2], "and removes nothing");
}

async fn the_oldest_go_first_and_each_kind_by_itself(store: &impl ArchiveStore) {
    let add = async |kind: &str, second: u64, bytes: usize, oldest: u64| {
        store
            .add(
                &label(kind, second),
                &vec![7; bytes].into(),
                at(oldest * 1_000),
                MAX_BYTES,
            )
            .await
            .expect("add");
    };
    for second in 1..=4 {
        add("page", second, 30, 0).await;
    }
    assert_eq!(
        numbers(store).await,
        [2, 3, 4],
        "the oldest go until the rest fits"
    );
    assert_eq!(
        store.content(1).await.expect("content"),
        None,
        "with their content"
    );
    add("other", 5, 100, 0).await;
    assert_eq!(
        numbers(store).await,
        [2, 3, 4, 5],
        "another kind has a bound of its own"
    );
    add("page", 6, 40, 0).await;
    assert_eq!(numbers(store).await, [3, 4, 5, 6], "exactly the bound fits");
    add("page", 7, 1, 4).await;
    assert_eq!(
        numbers(store).await,
        [4, 5, 6, 7],
        "what is older goes, what is as old stays"
    );
    add("page", 8, 100, 0).await;
    assert_eq!(
        numbers(store).await,
        [5, 8],
        "one record may be as large as the bound"
    );
    add("page", 9, 1, 100).await;
    add("page", 200, 1, 100).await;
    assert_eq!(numbers(store).await, [5, 10], "no number is used twice");
}
