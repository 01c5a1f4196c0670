//! Entries that cannot be read for a while.

use super::bank::{Bank, Customer, Row, booked, thorough};
use crate::support::Random;
use bankrail_statement::{AccountNotice, EntryRelation, PollOptions};
use std::collections::BTreeSet;
use std::time::Duration;

fn kinds(notices: &[AccountNotice]) -> Vec<&str> {
    notices.iter().map(AccountNotice::kind).collect()
}

#[test]
fn an_entry_that_cannot_be_read_for_a_while_has_not_vanished_and_is_handed_over_once() {
    for row in [booked(100), booked(100).named(1), booked(100).pending()] {
        for page_size in [2, 1_000] {
            let other = match row.reference {
                Some(_) => row.clone().named(2),
                None => row.clone().saying(4),
            };
            let rows = [booked(1), row.clone(), booked(3), other.clone(), booked(5)];
            let mut bank = Bank::new(&rows);
            bank.page_size = page_size;
            // The second unreadable entry was never read before.
            bank.unread = [3].into();
            let mut customer = Customer::thorough();
            let (said, notices) = customer.poll(&bank);
            assert_eq!((said.len(), kinds(&notices)), (4, vec!["unreadable"]));
            let AccountNotice::Unreadable { place } = &notices[0] else {
                panic!("{notices:?}")
            };
            assert!(place.contains("/Ntry[1]/Amt (line 1, column "), "{place}");
            bank.unread = [1, 3].into();
            customer.restart(thorough());
            assert_eq!(
                kinds(&customer.poll(&bank).1),
                ["unreadable"],
                "the other one"
            );
            for _ in 0..4 {
                customer.restart(thorough());
                assert_eq!(customer.poll(&bank), (vec![], vec![]), "said once");
                assert!(customer.full);
            }
            bank.unread.clear();
            customer.restart(thorough());
            let (said, notices) = customer.poll(&bank);
            let rows: Vec<&Row> = said.iter().map(|(row, ..)| row).collect();
            assert_eq!((rows, notices), (vec![&other], vec![]));
            assert_eq!(customer.poll(&bank), (vec![], vec![]));
            // Once all entries can be read, vanished and unreadable ones cause notices again.
            bank.rows.remove(1);
            customer.poll(&bank);
            assert_eq!(kinds(&customer.poll(&bank).1), ["vanished"]);
            bank.unread = [2].into();
            assert_eq!(kinds(&customer.poll(&bank).1), ["unreadable"]);
        }
    }
}

#[test]
fn a_new_entry_beside_one_that_cannot_be_read_does_not_replace_it() {
    let changes = [
        (booked(100), booked(100).saying(1)),
        (booked(100).named(1), booked(90).named(1)),
        (booked(100).saying(1).pending(), booked(100).saying(1)),
    ];
    for (before, after) in changes {
        let mut bank = Bank::new(&[booked(1), before.clone()]);
        let mut customer = Customer::thorough();
        customer.poll(&bank);
        let earlier = customer.id(&before);
        bank.rows.push(after.clone());
        bank.unread = [1].into();
        let may_replace = EntryRelation::New {
            may_replace: vec![earlier],
        };
        assert_eq!(customer.relations(&bank), [may_replace]);
        bank.unread.clear();
        assert_eq!(customer.poll(&bank), (vec![], vec![]));
        assert_eq!(customer.rows().len(), 3);
    }
}

#[test]
fn the_balances_are_not_said_to_be_wrong_while_an_entry_cannot_be_read() {
    let mut bank = Bank::new(&[booked(100), booked(50)]);
    (bank.opening, bank.closing) = (Some(0), Some(150));
    bank.unread = [1].into();
    let mut customer = Customer::thorough();
    assert_eq!(kinds(&customer.poll(&bank).1), ["unreadable"]);
    assert_eq!(customer.poll(&bank).1, []);
    bank.unread.clear();
    for _ in 0..3 {
        assert_eq!(customer.poll(&bank).1, []);
    }
    bank.closing = Some(170);
    customer.poll(&bank);
    assert_eq!(kinds(&customer.poll(&bank).1), ["balance_gap"]);
}

#[test]
fn pages_whose_entries_cannot_be_read_are_no_statement_without_end() {
    let rows: Vec<Row> = (1..=20).map(booked).collect();
    let mut bank = Bank::new(&rows);
    bank.page_size = 1;
    bank.unread = (4..16).collect();
    let mut customer = Customer::thorough();
    let (said, notices) = customer.poll(&bank);
    assert_eq!((said.len(), notices.len()), (8, 12));
    assert!(customer.full);
}

/// Runs twelve hours of an account. Returns the number of entries that could be read later.
pub(crate) fn live(mut random: Random, life: &str) -> usize {
    let mut read_late = 0;
    let mut bank = Bank::new(&[]);
    bank.page_size = 1 + random.below(6);
    let options = PollOptions::new().unseen(Duration::MAX);
    let mut customer = Customer::new(options);
    for hour in 0..12 {
        for _ in 0..random.below(4) {
            let mut row = booked([100, 100, -40, 7][random.below(4)]);
            row.reference = random
                .percent(50)
                .then_some(u32::try_from(bank.rows.len()).unwrap());
            bank.rows.push(row);
        }
        let unread = (0..bank.rows.len()).filter(|_| random.percent(15));
        let before = std::mem::replace(&mut bank.unread, unread.collect());
        if hour == 11 {
            bank.unread = BTreeSet::new();
        }
        read_late += before.difference(&bank.unread).count();
        customer.restart(options);
        let step = [600, 3_600][usize::from(hour == 11)];
        customer.now = customer.now.saturating_add(Duration::from_secs(step));
        // `Customer::take` panics if an entry is handed over twice.
        customer.poll(&bank);
        let is_told = |notice: &AccountNotice| matches!(notice, AccountNotice::Unreadable { .. });
        assert!(
            customer.notices.iter().all(is_told),
            "{life}: {:?}",
            customer.notices
        );
        let is_new = |relation: &EntryRelation| matches!(relation, EntryRelation::New { .. });
        assert!(
            customer
                .said
                .iter()
                .all(|(_, relation, _)| is_new(relation)),
            "{life}"
        );
    }
    let mut listed = bank.rows.clone();
    listed.sort_unstable();
    assert_eq!(customer.rows(), listed, "{life}");
    read_late
}

#[test]
fn over_many_invented_days_each_entry_is_handed_over_once_in_the_end() {
    let live = |seed| live(Random::new(seed), &format!("seed {seed}"));
    let read_late: usize = (0..400).map(live).sum();
    assert!(read_late > 1_000, "{read_late}");
}
