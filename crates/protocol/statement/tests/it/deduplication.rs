//! Overlapping polls: each entry of the ledger is imported exactly once.

use crate::support::{account, block_on};
use bankrail_statement::testing::ModelSeenEntries;
use bankrail_statement::{
    Checkpoint, Cursor, EntryIdentity, EntryKey, PageWalk, PositionChange, ReceivedNextPage,
    Recorded, SeenEntries, SeenEntryId, Step, find_new,
};
use proptest::prelude::*;
use std::collections::HashMap;

/// An entry of the ledger: its content, and its number if it has a reference, which is unique.
#[derive(Clone, Copy, Debug)]
struct Real {
    looks: u8,
    unique: Option<u16>,
}

impl Real {
    fn identity(self) -> EntryIdentity {
        let mut key = [self.looks; 32];
        match self.unique {
            None => EntryIdentity::by_content(EntryKey::from(key), None),
            Some(number) => {
                key[..3].copy_from_slice(&[255, number.to_be_bytes()[0], number.to_be_bytes()[1]]);
                EntryIdentity::by_reference(EntryKey::from(key), None)
            }
        }
    }
}

/// A consumer of statements, with its imported entries and its state between calls.
#[derive(Default)]
struct Consumer {
    /// The store of seen entries, with the checkpoint, which is empty after the last page.
    seen: ModelSeenEntries,
    /// The imported entries by stable identifier, each with the number of its imports.
    imported: HashMap<SeenEntryId, (u8, u32)>,
    /// The number of imports, whatever their identifiers.
    total: usize,
}

/// The point at which a poll is interrupted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Crash {
    None,
    /// The poll is interrupted on this page, after the import and before the record.
    AfterImport(usize),
    /// The poll is interrupted on this page, after the record.
    AfterRecord(usize),
}

impl Consumer {
    /// Walks from the stored checkpoint, or else from the beginning, to the end of `ledger`.
    fn poll(&mut self, ledger: &[Real], size: usize, crash: Crash) {
        let mut before = block_on(self.seen.position(&account())).unwrap();
        let mut walk = match before.as_deref().filter(|kept| !kept.is_empty()) {
            Some(kept) => PageWalk::resume(Checkpoint::from_json(kept).unwrap()),
            None => PageWalk::new(),
        };
        for number in 0..=ledger.len() {
            let start = walk
                .cursor()
                .map_or(0, |cursor| cursor.as_str().parse::<usize>().unwrap());
            let end = (start + size).min(ledger.len());
            let page = match end < ledger.len() {
                true => ReceivedNextPage::At {
                    cursor: Cursor::parse(&end.to_string()).unwrap(),
                },
                false => ReceivedNextPage::None,
            };
            let entries = &ledger[start..end];
            let identities: Vec<_> = entries.iter().map(|real| real.identity()).collect();
            let pending = walk.receive(&page, &identities);
            let new = block_on(find_new(&self.seen, &account(), pending.entries())).unwrap();
            for ((seen, real), _) in pending
                .entries()
                .iter()
                .zip(entries)
                .zip(&new)
                .filter(|(_, new)| **new)
            {
                self.imported.entry(seen.id()).or_insert((real.looks, 0)).1 += 1;
                self.total += 1;
            }
            if crash == Crash::AfterImport(number) {
                return;
            }
            let checkpoint = pending
                .checkpoint()
                .map_or_else(String::new, |checkpoint| checkpoint.to_json());
            let change = PositionChange::new(before.as_deref(), Some(&checkpoint));
            let recorded = block_on(
                self.seen
                    .record(&account(), pending.entries(), Some(change)),
            )
            .unwrap();
            assert!(matches!(recorded, Recorded::Committed), "{recorded:?}");
            before = Some(checkpoint);
            let step = pending.stored().unwrap();
            if crash == Crash::AfterRecord(number) || step == Step::Done {
                return;
            }
        }
        panic!("the walk does not end");
    }
}

fn named() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.3)
}

/// Generates the entries of a day. There are only four contents, so that many entries are alike;
/// some have references.
fn ledgers() -> impl Strategy<Value = Vec<Real>> {
    prop::collection::vec((0_u8..4, named()), 0..30).prop_map(|entries| {
        let number = |index| u16::try_from(index).unwrap();
        let make = |(index, (looks, named)): (usize, (u8, bool))| Real {
            looks,
            unique: named.then(|| number(index)),
        };
        entries.into_iter().enumerate().map(make).collect()
    })
}

fn crashes() -> impl Strategy<Value = Crash> {
    prop_oneof![Just(Crash::None), (0_usize..4).prop_map(Crash::AfterRecord)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Polls of a growing day import each entry once. Each poll begins at the first page or at the
    /// checkpoint before a crash, with pages of any size.
    #[test]
    fn each_entry_is_imported_once(
        ledger in ledgers(),
        polls in prop::collection::vec((0_usize..=30, 1_usize..8, crashes()), 1..6),
    ) {
        let mut consumer = Consumer::default();
        let mut grown = 0;
        for (until, size, crash) in polls {
            grown = grown.max(until.min(ledger.len()));
            consumer.poll(&ledger[..grown], size, crash);
        }
        consumer.poll(&ledger, 5, Crash::None);
        // The last poll may have resumed from a checkpoint. The next one starts over and must find
        // nothing new.
        let total = consumer.total;
        consumer.poll(&ledger, 3, Crash::None);
        prop_assert_eq!((total, consumer.total), (ledger.len(), ledger.len()));
        let mut expected = [0_u32; 4];
        let mut imported = [0_u32; 4];
        ledger.iter().for_each(|real| expected[usize::from(real.looks)] += 1);
        consumer.imported.values().for_each(|(looks, times)| imported[usize::from(*looks)] += times);
        prop_assert_eq!(imported, expected);
    }

    /// After a crash between import and record, the page is imported again with the same
    /// identifiers, so that a unique key refuses the second import.
    #[test]
    fn a_repeated_page_repeats_the_identifiers(ledger in ledgers(), size in 1_usize..8, page in 0_usize..4) {
        let mut consumer = Consumer::default();
        consumer.poll(&ledger, size, Crash::AfterImport(page));
        consumer.poll(&ledger, size, Crash::None);
        prop_assert_eq!(consumer.imported.len(), ledger.len());
    }
}

#[test]
fn two_identical_entries_on_two_pages_are_two() {
    let alike = [Real {
        looks: 1,
        unique: None,
    }; 3];
    for size in 1..=3 {
        let mut consumer = Consumer::default();
        consumer.poll(&alike, size, Crash::None);
        consumer.poll(&alike, size, Crash::None);
        assert_eq!(consumer.total, 3, "pages of {size}");
    }
}

/// Two pages may overlap if entries are posted between two calls; one page lists no entry twice.
#[test]
fn one_reference_on_two_pages_is_one_entry_and_twice_on_one_page_is_two() {
    let named = [Real {
        looks: 1,
        unique: Some(7),
    }; 2];
    for (size, entries) in [(1, 1), (2, 2)] {
        let mut consumer = Consumer::default();
        consumer.poll(&named, size, Crash::None);
        consumer.poll(&named, size, Crash::None);
        assert_eq!(consumer.total, entries, "pages of {size}");
    }
}
