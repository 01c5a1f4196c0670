//! Entries without a reference that the bank lists in a completed form later.

use super::bank::{Bank, Customer, Row, booked, new, thorough};
use bankrail_camt052::Document;
use bankrail_statement::{
    AccountPoll, EntryIdentity, EntryLinks, EntryRelation, PageDecision, PollOptions, PollStep,
    PolledPage, ReceivedNextPage, StatementDay,
};
use std::collections::HashMap;
use std::time::Duration;

/// Returns rows with their completed forms.
fn completions() -> Vec<(&'static str, Row, Row)> {
    let row = || booked(100);
    vec![
        ("value date", row(), row().valued()),
        ("name", row().saying(1), row().saying(1).by(1)),
        ("text", row().by(1), row().by(1).saying(1)),
        ("details", row(), row().broken_down()),
        ("reference", row().saying(1), row().saying(1).named(7)),
        (
            "all at once",
            row(),
            row().valued().by(1).saying(1).broken_down().named(7),
        ),
        ("fewer parts", row().saying(1).by(1), row().by(1).valued()),
        ("a pending one", row().pending(), row().pending().saying(1)),
    ]
}

#[test]
fn an_entry_that_is_completed_later_is_there_once() {
    for (what, before, after) in completions() {
        let (mut customer, mut bank) = (
            Customer::thorough(),
            Bank::new(&[booked(-3), before.clone(), booked(7)]),
        );
        assert_eq!(customer.relations(&bank).len(), 3, "{what}");
        let earlier = customer.id(&before);
        bank.rows[1] = after.clone();
        customer.restart(thorough());
        assert_eq!(
            customer.relations(&bank),
            [EntryRelation::Replaces(earlier)],
            "{what}"
        );
        assert_eq!(
            customer.rows(),
            [booked(-3), booked(7), after.clone()],
            "{what}"
        );
        assert_eq!(customer.poll(&bank), (vec![], vec![]), "{what}: said once");
        // The bank undoes the completion and repeats it. An entry with a reference has no earlier
        // forms.
        let later = customer.id(&after);
        if after.reference.is_none() {
            for (row, other) in [(&before, later), (&after, earlier)] {
                bank.rows[1] = row.clone();
                let replaces = Some(other);
                let returned = EntryRelation::Returned { replaces };
                assert_eq!(customer.relations(&bank), [returned], "{what}");
            }
        }
    }
}

#[test]
fn an_entry_that_is_completed_on_one_of_several_pages_is_there_once() {
    for (what, before, after) in completions() {
        for at in 0..7 {
            for options in [thorough(), PollOptions::new()] {
                let mut rows: Vec<Row> = (1..7).map(booked).collect();
                rows.insert(at, before.clone());
                let (mut customer, mut bank) = (Customer::new(options), Bank::new(&rows));
                bank.page_size = 3;
                assert_eq!(customer.relations(&bank).len(), 7, "{what}");
                let earlier = customer.id(&before);
                bank.rows[at] = after.clone();
                let mut said = customer.relations(&bank);
                // A partial walk does not see the pages before it.
                customer.now = customer.now.saturating_add(Duration::from_secs(3_600));
                said.extend(customer.relations(&bank));
                assert_eq!(said, [EntryRelation::Replaces(earlier)], "{what} at {at}");
                assert_eq!(customer.rows().len(), 7, "{what} at {at}");
                for _ in 0..3 {
                    customer.now = customer.now.saturating_add(Duration::from_secs(3_600));
                    assert_eq!(customer.poll(&bank), (vec![], vec![]), "{what} at {at}");
                }
            }
        }
    }
}

/// The first full walk holds a completed entry back, and the second one hands it over. An entry
/// that is completed between both walks waits for a third.
#[test]
fn an_entry_that_is_completed_between_two_walks_is_there_once() {
    for (what, before, after) in completions() {
        for (at, other) in [(0, 4), (4, 0), (1, 2), (6, 5)] {
            for when in 0..9 {
                let mut rows: Vec<Row> = (1..8).map(booked).collect();
                rows[at] = booked(50).saying(3);
                rows[other] = before.clone();
                let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&rows));
                bank.page_size = 3;
                assert_eq!(customer.relations(&bank).len(), 7, "{what}");
                bank.rows[at] = booked(50).saying(3).by(2);
                // This many pages of the first walk, or of the second, still show the other entry's
                // earlier form.
                for _ in 0..when {
                    let _: PollStep = customer.step(&bank);
                }
                bank.rows[other] = after.clone();
                for _ in 0..3 {
                    customer.poll(&bank);
                }
                let mut expected = bank.rows.clone();
                expected.sort_unstable();
                assert_eq!(customer.rows(), expected, "{what} at {at}, {other}, {when}");
            }
        }
    }
}

#[test]
fn two_payments_that_nothing_but_their_number_tells_apart_stay_two() {
    let bare = || booked(100);
    // Each case has rows, their later forms, and the number of replaced ones.
    let cases: [(&str, Vec<Row>, Vec<Row>, usize); 9] = [
        (
            "one of two alike",
            vec![bare(), bare()],
            vec![bare(), bare().saying(1)],
            1,
        ),
        (
            "both of two alike",
            vec![bare(), bare()],
            vec![bare().saying(2), bare().saying(1)],
            2,
        ),
        (
            "one, and another beside it",
            vec![bare()],
            vec![bare(), bare().saying(1)],
            0,
        ),
        (
            "one, with one like it",
            vec![bare()],
            vec![bare().saying(1), bare().saying(1)],
            1,
        ),
        (
            "which of two?",
            vec![bare().saying(1), bare().by(1)],
            vec![bare().saying(1).by(1)],
            0,
        ),
        (
            "which became it?",
            vec![bare()],
            vec![bare().saying(1), bare().saying(2)],
            0,
        ),
        (
            "another text",
            vec![bare().saying(1)],
            vec![bare().saying(2).by(1)],
            0,
        ),
        ("another day", vec![bare()], vec![bare().saying(1).on(1)], 0),
        (
            "another reference",
            vec![bare().named(1)],
            vec![bare().named(2).saying(1)],
            0,
        ),
    ];
    for (what, before, after, expected) in cases {
        for page_size in [1_000, 2] {
            let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&before));
            bank.page_size = page_size;
            assert_eq!(customer.relations(&bank).len(), before.len(), "{what}");
            bank.rows.clone_from(&after);
            bank.rows.push(booked(7));
            let relations = customer.relations(&bank);
            let replaced = relations
                .iter()
                .filter(|relation| matches!(relation, EntryRelation::Replaces(_)))
                .count();
            assert_eq!(replaced, expected, "{what}: {relations:?}");
            let gone = before.iter().filter(|row| !after.contains(row)).count();
            let left = if expected > 0 { 0 } else { gone };
            assert_eq!(customer.rows().len(), after.len() + 1 + left, "{what}");
        }
    }
    // An undecided relation is marked, as without the completion.
    let before = [bare().saying(1), bare().by(1)];
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&before));
    assert_eq!(customer.relations(&bank), [new(), new()]);
    let may_replace = before.iter().map(|row| customer.id(row)).collect();
    bank.rows = vec![bare().saying(1).by(1)];
    assert_eq!(
        customer.relations(&bank),
        [EntryRelation::New { may_replace }]
    );
    // An entry that was gone for a walk was cancelled, so a later one is another entry.
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[bare(), booked(7)]));
    assert_eq!(customer.relations(&bank), [new(), new()]);
    bank.rows.remove(0);
    assert_eq!(customer.relations(&bank), []);
    bank.rows.push(bare().saying(1));
    assert!(matches!(
        customer.relations(&bank)[..],
        [EntryRelation::New { .. }]
    ));
}

/// The sum of successive pages, made after public reports, is not doubled.
#[test]
fn the_sum_of_successive_pages_is_not_doubled() {
    let Ok(folder) = std::env::var("BANKRAIL_SHARED") else {
        println!("BANKRAIL_SHARED not set: skipped");
        return;
    };
    for name in ["noref", "noref-value-date-added"] {
        let now = "2026-03-02T10:00:00.000Z".parse().unwrap();
        let options = PollOptions::new();
        let mut poll = AccountPoll::new(None, options);
        let mut counts = HashMap::new();
        let mut ledger = HashMap::new();
        for number in 0..3 {
            let path = format!("{folder}/samples/reports/{name}-{number}.xml");
            let xml = std::fs::read_to_string(&path).unwrap();
            let report = Document::parse(&xml).unwrap().document.reports.remove(0);
            let page = PolledPage::new(
                ReceivedNextPage::None,
                report.entries.iter().map(EntryIdentity::of).collect(),
            )
            .links(report.entries.iter().map(EntryLinks::of).collect())
            .day(StatementDay::of(&report));
            poll.cursor(now);
            let known: Vec<u32> = page
                .keys()
                .iter()
                .map(|key| counts.get(key).copied().unwrap_or(0))
                .collect();
            let PageDecision::Commit(commit) = poll.judge(&page, &known, now) else {
                panic!("a full walk")
            };
            for handed in commit.handed_over() {
                if let EntryRelation::Replaces(earlier) = handed.relation {
                    assert!(ledger.remove(earlier).is_some());
                }
                let amount = report.entries[handed.index].signed_amount().unwrap();
                assert_eq!(ledger.insert(handed.entry.id(), amount), None);
            }
            for entry in commit.entries() {
                counts.insert(entry.key, entry.occurrence);
            }
            assert_eq!(commit.notices(), [], "{path}");
            let listed: Vec<_> = report
                .entries
                .iter()
                .map(|one| one.signed_amount())
                .collect();
            let kept: Vec<_> = ledger.values().copied().map(Some).collect();
            assert_eq!(kept, listed, "{path}");
            let _ = poll.committed(commit).unwrap();
        }
    }
}
