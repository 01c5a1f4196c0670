//! The rules of a store of seen entries as cases, and a comparison with the model.

use super::model::ModelSeenEntries;
use super::{account, day, entry, key, record};
use crate::{
    EntryKey, MAX_POSITION_BYTES, PositionChange, Recorded, SeenEntries, SeenEntry, find_new,
};
use bankrail_values::StoreErrorKind;

/// Runs every case on a fresh, empty store made by `make`, then compares with the model on some
/// random runs.
///
/// # Panics
/// If the engine breaks a rule; the panic's text states the rule.
pub async fn seen_entries_suite<S: SeenEntries>(mut make: impl AsyncFnMut() -> S) {
    counts_are_the_highest_recorded(&make().await).await;
    accounts_are_apart(&make().await).await;
    days_are_forgotten(&make().await).await;
    of_two_days_the_later_counts(&make().await).await;
    a_whole_page(&make().await).await;
    positions_are_kept(&make().await).await;
    a_position_is_replaced_with_the_entries_or_not_at_all(&make().await).await;
    a_walk_from_another_position_records_nothing(&make().await).await;
    for seed in 0..4 {
        seen_entries_against_model(&make().await, seed, 200).await;
    }
}

async fn counts_are_the_highest_recorded(store: &impl SeenEntries) {
    let own = account("012003123456789");
    let counts = store.counts(&own, &[key(1), key(2)]).await.expect("counts");
    assert_eq!(counts, [0, 0], "an unknown key counts 0");
    let entries = [entry(1, 1), entry(1, 2), entry(3, 1)];
    record(store, &own, &entries, None).await.expect("record");
    record(store, &own, &entries[..1], None)
        .await
        .expect("record");
    record(store, &own, &[entry(4, 0)], None)
        .await
        .expect("record");
    let counts = store
        .counts(&own, &[key(3), key(1), key(2), key(1), key(4)])
        .await
        .expect("counts");
    assert_eq!(
        counts,
        [1, 2, 0, 2, 0],
        "the highest recorded, in the order of the question"
    );
    assert!(
        store.counts(&own, &[]).await.expect("counts").is_empty(),
        "no question, no answer"
    );
    let new = find_new(store, &own, &[entry(1, 2), entry(1, 3), entry(9, 1)])
        .await
        .expect("find");
    assert_eq!(
        new,
        [false, true, true],
        "an occurrence above the recorded one is new"
    );
}

async fn accounts_are_apart(store: &impl SeenEntries) {
    record(store, &account("A"), &[entry(1, 1)], Some("one"))
        .await
        .expect("record");
    assert_eq!(
        store
            .counts(&account("a"), &[key(1)])
            .await
            .expect("counts"),
        [0],
        "accounts are compared by bytes"
    );
    assert_eq!(
        store
            .counts(&account("A"), &[key(1)])
            .await
            .expect("counts"),
        [1]
    );
    assert_eq!(
        store.position(&account("a")).await.expect("position"),
        None,
        "accounts are compared by bytes"
    );
}

async fn days_are_forgotten(store: &impl SeenEntries) {
    let own = account("A");
    let dated = [
        SeenEntry::new(key(1), 1, day("2024-02-28")),
        SeenEntry::new(key(2), 3, day("2024-02-29")),
        SeenEntry::new(key(3), 1, day("2024-03-01")),
        entry(4, 1),
    ];
    let first = day("2024-03-01").expect("a day");
    record(store, &own, &dated, Some("here"))
        .await
        .expect("record");
    record(store, &account("B"), &dated, None)
        .await
        .expect("record");
    assert_eq!(
        store.forget_before(&own, first).await.expect("forget"),
        2,
        "the days before, strictly"
    );
    assert_eq!(
        store.forget_before(&own, first).await.expect("forget"),
        0,
        "once"
    );
    let keys = [key(1), key(2), key(3), key(4)];
    let counts = store.counts(&own, &keys).await.expect("counts");
    assert_eq!(counts, [0, 0, 1, 1], "what has no day stays");
    let counts = store.counts(&account("B"), &keys).await.expect("counts");
    assert_eq!(counts, [1, 3, 1, 1], "of this account only");
    assert_eq!(
        store.position(&own).await.expect("position").as_deref(),
        Some("here"),
        "the position stays"
    );
}

async fn of_two_days_the_later_counts(store: &impl SeenEntries) {
    let own = account("A");
    let (earlier, later) = (day("2024-01-01"), day("2024-01-03"));
    for (number, first, second) in [(1, earlier, later), (2, later, earlier), (3, None, earlier)] {
        let entries = [
            SeenEntry::new(key(number), 1, first),
            SeenEntry::new(key(number), 2, second),
        ];
        record(store, &own, &entries, None).await.expect("record");
    }
    let forgotten = store
        .forget_before(&own, day("2024-01-02").expect("a day"))
        .await
        .expect("forget");
    assert_eq!(forgotten, 0, "of two days the later one counts");
    let forgotten = store
        .forget_before(&own, day("9999-12-31").expect("a day"))
        .await
        .expect("forget");
    assert_eq!(forgotten, 2, "a key without a day stays without one");
}

async fn a_whole_page(store: &impl SeenEntries) {
    let own = account("A");
    let key = |number: u32| {
        let mut key = [0; 32];
        key[..4].copy_from_slice(&number.to_be_bytes());
        EntryKey::from(key)
    };
    let page: Vec<_> = (0..1000)
        .map(|number| SeenEntry::new(key(number), 1, day("2024-01-01")))
        .collect();
    record(store, &own, &page, None).await.expect("record");
    let keys: Vec<_> = (500..1500).map(key).collect();
    let counts = store.counts(&own, &keys).await.expect("counts");
    assert_eq!(
        counts.iter().sum::<u32>(),
        500,
        "each of a thousand entries"
    );
    let forgotten = store
        .forget_before(&own, day("2024-01-02").expect("a day"))
        .await
        .expect("forget");
    assert_eq!(forgotten, 1000);
}

async fn positions_are_kept(store: &impl SeenEntries) {
    let own = account("A");
    assert_eq!(
        store.position(&own).await.expect("position"),
        None,
        "none at first"
    );
    record(store, &own, &[entry(1, 1)], None)
        .await
        .expect("record");
    assert_eq!(
        store.position(&own).await.expect("position"),
        None,
        "none until one is recorded"
    );
    let longest = "x".repeat(MAX_POSITION_BYTES);
    for position in ["{\"cursor\":\"👍\"}", "", "a\0b", &longest, "short again"] {
        record(store, &own, &[], Some(position))
            .await
            .expect("record");
        assert_eq!(
            store.position(&own).await.expect("position").as_deref(),
            Some(position),
            "as recorded"
        );
        record(store, &own, &[entry(1, 1)], None)
            .await
            .expect("record");
        assert_eq!(
            store.position(&own).await.expect("position").as_deref(),
            Some(position),
            "none replaces nothing"
        );
    }
    assert_eq!(
        store.counts(&own, &[key(1)]).await.expect("counts"),
        [1],
        "a position is no entry"
    );
}

async fn a_position_is_replaced_with_the_entries_or_not_at_all(store: &impl SeenEntries) {
    let own = account("A");
    record(store, &own, &[entry(1, 1)], Some("before"))
        .await
        .expect("record");
    let too_long = "x".repeat(MAX_POSITION_BYTES + 1);
    let refused = record(store, &own, &[entry(1, 2), entry(2, 1)], Some(&too_long))
        .await
        .expect_err("too long");
    assert_eq!(
        refused.kind(),
        StoreErrorKind::Full,
        "a position over the bound is refused"
    );
    assert_eq!(
        store.counts(&own, &[key(1), key(2)]).await.expect("counts"),
        [1, 0],
        "and its entries with it"
    );
    assert_eq!(
        store.position(&own).await.expect("position").as_deref(),
        Some("before")
    );
    record(store, &own, &[entry(1, 2)], Some("after"))
        .await
        .expect("record");
    assert_eq!(store.counts(&own, &[key(1)]).await.expect("counts"), [2]);
    assert_eq!(
        store.position(&own).await.expect("position").as_deref(),
        Some("after"),
        "in the same step"
    );
}

async fn a_walk_from_another_position_records_nothing(store: &impl SeenEntries) {
    let own = account("A");
    let mut number = 0;
    for (current, before) in [
        (None, Some("")),
        (None, Some("one")),
        (Some("one"), None),
        (Some("one"), Some("ONE")),
        (Some("one"), Some("one\0")),
        (Some(""), None),
    ] {
        if let Some(current) = current {
            record(store, &own, &[], Some(current))
                .await
                .expect("record");
        }
        number += 1;
        for after in [Some("after"), None] {
            let change = PositionChange::new(before, after);
            let recorded = store
                .record(&own, &[entry(number, 1)], Some(change))
                .await
                .expect("record");
            assert!(
                matches!(recorded, Recorded::Overtaken),
                "another process has moved from {before:?} to {current:?}: {recorded:?}"
            );
            assert_eq!(
                store.counts(&own, &[key(number)]).await.expect("counts"),
                [0],
                "nothing is recorded"
            );
            assert_eq!(
                store.position(&own).await.expect("position").as_deref(),
                current,
                "the position of the other process stays"
            );
        }
    }
    let change = PositionChange::new(Some(""), None);
    let recorded = store
        .record(&own, &[entry(9, 1)], Some(change))
        .await
        .expect("record");
    assert!(
        matches!(recorded, Recorded::Committed),
        "the position is the one before: {recorded:?}"
    );
    assert_eq!(store.counts(&own, &[key(9)]).await.expect("counts"), [1]);
    assert_eq!(
        store.position(&own).await.expect("position").as_deref(),
        Some(""),
        "a position without another after it stays"
    );
}

/// Runs `steps` random operations on an empty store and on the model, and compares every answer.
///
/// # Panics
/// At the first answer that differs.
#[doc(hidden)]
pub async fn seen_entries_against_model(store: &impl SeenEntries, seed: u64, steps: u32) {
    let model = ModelSeenEntries::new();
    let mut random = Random(seed);
    let keys: Vec<EntryKey> = (0..6).map(key).collect();
    for step in 0..steps {
        let own = account(["A", "B"][usize::from(random.below(2))]);
        let context = format!("run {seed}, step {step}");
        match random.below(4) {
            0 | 1 => {
                let mut some = || {
                    let on = random.below(5);
                    let on = if on == 0 {
                        None
                    } else {
                        day(&format!("2024-01-0{on}"))
                    };
                    SeenEntry::new(key(random.below(6)), random.below(4).into(), on)
                };
                let entries: Vec<SeenEntry> = (0..step % 5).map(|_| some()).collect();
                let position = (random.below(3) == 0).then(|| format!("position {step}"));
                record(store, &own, &entries, position.as_deref())
                    .await
                    .expect("record");
                record(&model, &own, &entries, position.as_deref())
                    .await
                    .expect("record");
            }
            2 => {
                let before = day(&format!("2024-01-0{}", 1 + random.below(5))).expect("a day");
                let got = store.forget_before(&own, before).await.expect("forget");
                assert_eq!(
                    got,
                    model.forget_before(&own, before).await.expect("forget"),
                    "{context}"
                );
            }
            _ => {
                let got = store.position(&own).await.expect("position");
                assert_eq!(
                    got,
                    model.position(&own).await.expect("position"),
                    "{context}"
                );
            }
        }
        let got = store.counts(&own, &keys).await.expect("counts");
        assert_eq!(
            got,
            model.counts(&own, &keys).await.expect("counts"),
            "{context}"
        );
    }
}

/// A generator of pseudo-random numbers (SplitMix64), which is the same on every machine.
struct Random(u64);

impl Random {
    /// Returns a number below `bound`, which is not 0.
    fn below(&mut self, bound: u8) -> u8 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u8::try_from((mixed ^ (mixed >> 31)) % u64::from(bound)).unwrap_or(0)
    }
}
