use crate::engines::{at, suite};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_values::EXPIRY_GRACE;
use std::sync::Arc;

suite!(
    once_until_it_expires,
    a_clock_that_lags_sets_nothing_free,
    keys_are_apart,
    one_of_many_callers_is_the_first,
    a_backlog_of_expired_ones_shrinks,
    a_clock_that_was_ahead_or_behind_frees_nothing,
);

pub(crate) async fn once_until_it_expires<S: ReplayStore>(store: S) {
    assert!(
        store
            .claim(ReplayKey::new([1; 32], at(1000)), at(0))
            .await
            .unwrap()
    );
    for now in [0, 1, 999, 1000] {
        assert!(
            !store
                .claim(ReplayKey::new([1; 32], at(now + 5000)), at(now))
                .await
                .unwrap(),
            "at {now}"
        );
    }
    assert!(
        store
            .claim(ReplayKey::new([1; 32], at(2000)), at(1001))
            .await
            .unwrap(),
        "free once its instant has passed"
    );
    assert!(
        !store
            .claim(ReplayKey::new([1; 32], at(9000)), at(1001))
            .await
            .unwrap()
    );
    assert!(
        !store
            .claim(ReplayKey::new([1; 32], at(9000)), at(500))
            .await
            .unwrap(),
        "a clock that steps back frees nothing"
    );
}

/// A clock that lags frees no assertion: other callers' claims drop expired records, but only a
/// grace period after their expiry.
pub(crate) async fn a_clock_that_lags_sets_nothing_free<S: ReplayStore>(store: S) {
    let an_hour = 3_600_000;
    assert!(
        store
            .claim(ReplayKey::new([1; 32], at(1000)), at(0))
            .await
            .unwrap()
    );
    for (key, now) in [(2, 1001), (3, 2000), (4, 1000 + an_hour)] {
        assert!(
            store
                .claim(ReplayKey::new([key; 32], at(now + 1000)), at(now))
                .await
                .unwrap()
        );
        assert!(
            !store
                .claim(ReplayKey::new([1; 32], at(5000)), at(999))
                .await
                .unwrap(),
            "two milliseconds or more behind {now}"
        );
    }
}

pub(crate) async fn keys_are_apart<S: ReplayStore>(store: S) {
    for key in 0..=255 {
        assert!(
            store
                .claim(ReplayKey::new([key; 32], at(1000)), at(0))
                .await
                .unwrap()
        );
    }
    let mut near = [7; 32];
    near[31] = 8;
    assert!(
        store
            .claim(ReplayKey::new(near, at(1000)), at(0))
            .await
            .unwrap()
    );
}

pub(crate) async fn one_of_many_callers_is_the_first<S: ReplayStore + 'static>(store: S) {
    let store = Arc::new(store);
    for round in 0..20 {
        let callers: Vec<_> = (0..8)
            .map(|_| {
                let store = store.clone();
                tokio::spawn(async move {
                    store
                        .claim(ReplayKey::new([round; 32], at(1000)), at(0))
                        .await
                        .unwrap()
                })
            })
            .collect();
        let mut first = 0;
        for caller in callers {
            first += usize::from(caller.await.unwrap());
        }
        assert_eq!(first, 1);
    }
}

pub(crate) async fn a_backlog_of_expired_ones_shrinks<S: ReplayStore>(store: S) {
    for key in 0..200 {
        assert!(
            store
                .claim(ReplayKey::new([key; 32], at(i64::from(key))), at(0))
                .await
                .unwrap()
        );
    }
    // Each can be claimed again, swept or not.
    let now = 1000 + i64::try_from(EXPIRY_GRACE.as_millis()).unwrap();
    for key in (0..200).rev() {
        assert!(
            store
                .claim(ReplayKey::new([key; 32], at(now + 1000)), at(now))
                .await
                .unwrap()
        );
    }
}

/// A used assertion stays used, however the clock changes.
pub(crate) async fn a_clock_that_was_ahead_or_behind_frees_nothing<S: ReplayStore>(store: S) {
    let key = |number: i64, now: i64| {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_be_bytes());
        ReplayKey::new(key, at(now + 300_000))
    };
    let claim = async |number, now| store.claim(key(number, now), at(now)).await.unwrap();
    assert!(claim(0, 0).await);
    let days = [1, 30, 365, -1, -30, -365].map(|days| days * 86_400_000);
    for (number, jump) in (1..).zip([3_600_000, -3_600_000].into_iter().chain(days)) {
        for other in 0..100 {
            assert!(claim(1_000 * number + other, jump + other).await, "{jump}");
        }
        for now in [0, 1, 300_000] {
            assert!(!claim(0, now).await, "after {jump}");
        }
    }
}

/// Expired claims beyond the kept number are dropped by later writes.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn expired_claims_beyond_the_kept_ones_go_in_passing() {
    use bankrail_client_assertion::KEPT_CLAIMS;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bankrail.db");
    let store = bankrail_stores::sqlite::SqliteStore::open(&path, Default::default()).unwrap();
    let mut beside = rusqlite::Connection::open(&path).unwrap();
    let expired = beside.transaction().unwrap();
    let all = i64::try_from(KEPT_CLAIMS).unwrap() + 20;
    for number in 0..all {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_be_bytes());
        let insert = "INSERT INTO bankrail_replay (key, expires) VALUES (?1, ?2)";
        expired.execute(insert, (key, number)).unwrap();
    }
    expired.commit().unwrap();
    for claim in 1..=4 {
        let key = ReplayKey::new([claim; 32], at(1000));
        assert!(store.claim(key, at(0)).await.unwrap());
        let count = "SELECT count(*) FROM bankrail_replay WHERE expires < 1000000";
        let left: i64 = beside.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(left, all - 20 + (20 - 8 * i64::from(claim)).max(0));
    }
}

#[tokio::test]
async fn memory_refuses_when_full_of_what_is_still_needed() {
    let store = bankrail_stores::memory::MemoryStore::with_capacity(2);
    assert!(
        store
            .claim(ReplayKey::new([1; 32], at(10)), at(0))
            .await
            .unwrap()
    );
    assert!(
        store
            .claim(ReplayKey::new([2; 32], at(20)), at(0))
            .await
            .unwrap()
    );
    let full = store
        .claim(ReplayKey::new([3; 32], at(30)), at(10))
        .await
        .unwrap_err();
    assert_eq!(full.kind(), bankrail_values::StoreErrorKind::Full);
    assert!(
        !store
            .claim(ReplayKey::new([1; 32], at(30)), at(10))
            .await
            .unwrap(),
        "known ones are still answered"
    );
    let grace = i64::try_from(EXPIRY_GRACE.as_millis()).unwrap();
    let full = store
        .claim(ReplayKey::new([3; 32], at(30 + grace)), at(10 + grace))
        .await
        .unwrap_err();
    assert_eq!(
        full.kind(),
        bankrail_values::StoreErrorKind::Full,
        "a clock may lag"
    );
    assert!(
        store
            .claim(ReplayKey::new([3; 32], at(30 + grace)), at(11 + grace))
            .await
            .unwrap(),
        "room after the grace period"
    );
}
