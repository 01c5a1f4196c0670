//! The relations of an entry to earlier ones.

mod account;
mod bank;
mod cases;
mod completed;
mod invented_days;
mod unread;

use crate::support::{entry, entry_xml};
use bank::{Bank, Customer, Id, Row, booked, date, new, thorough};
use bankrail_statement::{AccountNotice, EntryIdentity, EntryLinks, EntryRelation, PollOptions};
use bankrail_values::Timestamp;
use std::time::Duration;

#[test]
fn a_pending_entry_that_is_booked_under_its_reference_or_as_the_same_payment_is_replaced() {
    let cases = [
        (
            "its reference",
            booked(100).named(1).pending(),
            booked(100).named(1),
        ),
        (
            "another reference, the same payment",
            booked(100).named(1).saying(5).pending(),
            booked(100).named(2).saying(5),
        ),
        (
            "no reference",
            booked(100).named(1).saying(5).pending(),
            booked(100).saying(5),
        ),
        (
            "another amount under the reference",
            booked(100).named(1).pending(),
            booked(90).named(1),
        ),
    ];
    for (what, before, after) in cases {
        let (mut customer, mut bank) = (
            Customer::thorough(),
            Bank::new(&[booked(-3), before.clone()]),
        );
        assert_eq!(customer.relations(&bank), [new(), new()], "{what}");
        let earlier = customer.id(&before);
        bank.rows[1] = after.clone();
        assert_eq!(
            customer.relations(&bank),
            [EntryRelation::Replaces(earlier)],
            "{what}"
        );
        assert_eq!(customer.rows(), [booked(-3), after], "{what}");
        assert_eq!(customer.poll(&bank), (vec![], vec![]), "{what}: said once");
    }
}

#[test]
fn what_the_bank_changes_under_one_reference_replaces_what_it_was() {
    let changes = [
        booked(101).named(1),
        booked(100).named(1).on(1),
        booked(100).named(1).pending(),
    ];
    for after in changes {
        let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(100).named(1)]));
        assert_eq!(customer.relations(&bank), [new()]);
        let earlier = customer.id(&bank.rows[0]);
        bank.rows[0] = after.clone();
        assert_eq!(
            customer.relations(&bank),
            [EntryRelation::Replaces(earlier)],
            "{after:?}"
        );
    }
    // A charge with the payment's reference, and a reversal, replace nothing.
    for other in [booked(2).named(1), booked(-100).named(1)] {
        let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(100).named(1)]));
        assert_eq!(customer.relations(&bank), [new()]);
        bank.rows.push(other);
        assert_eq!(customer.relations(&bank), [new()]);
    }
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(100).named(1)]));
    assert_eq!(customer.relations(&bank), [new()]);
    bank.rows[0] = booked(-100).named(1);
    assert_eq!(
        customer.relations(&bank),
        [new()],
        "the reversal of an entry that is gone is no correction"
    );
}

#[test]
fn what_the_bank_corrects_on_one_of_several_pages_is_there_once() {
    let before = booked(100).named(1);
    for after in [booked(101).named(1), booked(100).named(1).on(1)] {
        for at in 0..7 {
            for options in [thorough(), PollOptions::new()] {
                let mut rows: Vec<Row> = (1..7).map(booked).collect();
                rows.insert(at, before.clone());
                let (mut customer, mut bank) = (Customer::new(options), Bank::new(&rows));
                bank.page_size = 3;
                assert_eq!(customer.relations(&bank).len(), 7);
                let earlier = customer.id(&before);
                bank.rows[at] = after.clone();
                let mut said = customer.relations(&bank);
                // A partial walk does not see the pages before it.
                customer.now = customer.now.saturating_add(Duration::from_secs(3_600));
                said.extend(customer.relations(&bank));
                assert_eq!(
                    said,
                    [EntryRelation::Replaces(earlier)],
                    "{after:?} at {at}"
                );
                assert_eq!(customer.rows().len(), 7, "{after:?} at {at}");
            }
        }
    }
    // Parts of a batch share a reference, and one on another page replaces none of them.
    let mut rows: Vec<Row> = (1..7).map(booked).collect();
    rows.push(before.clone());
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&rows));
    bank.page_size = 3;
    assert_eq!(customer.relations(&bank).len(), 7);
    bank.rows.insert(0, booked(50).named(1));
    assert_eq!(customer.relations(&bank), [new()]);
    assert_eq!(customer.rows().len(), 8);
}

#[test]
fn a_text_that_changes_under_its_reference_is_said_under_its_id() {
    let (mut customer, mut bank) = (
        Customer::thorough(),
        Bank::new(&[booked(100).named(1).saying(1)]),
    );
    assert_eq!(customer.relations(&bank), [new()]);
    let id = customer.id(&bank.rows[0]);
    bank.rows[0].text = Some(2);
    assert_eq!(customer.relations(&bank), [EntryRelation::TextChanged]);
    assert_eq!(customer.id(&bank.rows[0]), id);
    assert_eq!(customer.relations(&bank), []);
    // Without a reference, the entry cannot be distinguished from another one.
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(100).saying(1)]));
    assert_eq!(customer.relations(&bank), [new()]);
    let id = customer.id(&bank.rows[0]);
    bank.rows[0].text = Some(2);
    assert_eq!(
        customer.relations(&bank),
        [EntryRelation::New {
            may_replace: vec![id]
        }]
    );
}

#[test]
fn of_twins_each_is_replaced_once_and_what_nothing_tells_apart_is_marked() {
    let pending = booked(100).saying(5).pending();
    // One of two equal entries is booked; it makes no difference which one.
    let (mut customer, mut bank) = (
        Customer::thorough(),
        Bank::new(&[pending.clone(), pending.clone()]),
    );
    assert_eq!(customer.relations(&bank), [new(), new()]);
    bank.rows[1] = booked(100).saying(5);
    assert!(matches!(
        customer.relations(&bank)[..],
        [EntryRelation::Replaces(_)]
    ));
    bank.rows[0] = booked(100).saying(5);
    assert!(matches!(
        customer.relations(&bank)[..],
        [EntryRelation::Replaces(_)]
    ));
    assert_eq!(customer.rows(), bank.rows);
    // Both are gone and one is booked, which makes no difference either.
    let (mut customer, mut bank) = (
        Customer::thorough(),
        Bank::new(&[pending.clone(), pending.clone()]),
    );
    assert_eq!(customer.relations(&bank), [new(), new()]);
    bank.rows = vec![booked(100).saying(5)];
    assert!(matches!(
        customer.relations(&bank)[..],
        [EntryRelation::Replaces(_)]
    ));
    // Of two entries with different references, one is booked without a reference, so it may be
    // either.
    let twins = [pending.clone().named(1), pending.clone().named(2)];
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&twins));
    assert_eq!(customer.relations(&bank), [new(), new()]);
    let may_replace = twins.iter().map(|row| customer.id(row)).collect();
    bank.rows = vec![booked(100).saying(5)];
    assert_eq!(
        customer.relations(&bank),
        [EntryRelation::New { may_replace }]
    );
    // Both are booked, and each replaces one.
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&twins));
    assert_eq!(customer.relations(&bank), [new(), new()]);
    let ids = twins.map(|row| EntryRelation::Replaces(customer.id(&row)));
    bank.rows = vec![booked(100).saying(5), booked(100).saying(5)];
    assert_eq!(customer.relations(&bank), ids);
    // Of three entries, two or all are booked.
    let three = [1, 2, 3].map(|reference| pending.clone().named(reference));
    for count in [2, 3] {
        let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&three));
        assert_eq!(customer.relations(&bank), [new(), new(), new()]);
        let ids: Vec<Id> = three.iter().map(|row| customer.id(row)).collect();
        bank.rows = vec![booked(100).saying(5); count];
        let expected = match count {
            2 => vec![EntryRelation::New { may_replace: ids }; 2],
            _ => ids.into_iter().map(EntryRelation::Replaces).collect(),
        };
        assert_eq!(customer.relations(&bank), expected);
    }
    // One entry is booked under its reference and one without; the latter may be any of the other
    // two.
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&three));
    assert_eq!(customer.relations(&bank), [new(), new(), new()]);
    let [first, second, third] = three.map(|row| customer.id(&row));
    bank.rows = vec![booked(100).named(1).saying(5), booked(100).saying(5)];
    let may_replace = vec![second, third];
    assert_eq!(
        customer.relations(&bank),
        [
            EntryRelation::Replaces(first),
            EntryRelation::New { may_replace }
        ]
    );
    // At most eight candidates are named.
    let nine: Vec<Row> = (1..10)
        .map(|reference| pending.clone().named(reference))
        .collect();
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&nine));
    assert_eq!(customer.relations(&bank).len(), 9);
    let may_replace = nine[..8].iter().map(|row| customer.id(row)).collect();
    bank.rows = vec![booked(100).saying(5)];
    assert_eq!(
        customer.relations(&bank),
        [EntryRelation::New { may_replace }]
    );
    // More than 63 equal payments are not compared.
    for (count, are_replaced) in [(63, true), (64, false)] {
        let many: Vec<Row> = (0..count)
            .map(|reference| pending.clone().named(reference))
            .collect();
        let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&many));
        assert_eq!(customer.relations(&bank), vec![new(); many.len()]);
        bank.rows = vec![booked(100).saying(5); many.len()];
        let replaced = |relation: &EntryRelation| matches!(relation, EntryRelation::Replaces(_));
        assert!(
            customer
                .relations(&bank)
                .iter()
                .all(|relation| replaced(relation) == are_replaced),
            "{count}"
        );
    }
    // The amount alone is no evidence, and a pending entry that is still listed was not booked.
    for (before, after) in [
        (vec![booked(100).pending()], vec![booked(100)]),
        (
            vec![booked(100).pending().saying(1)],
            vec![booked(100).saying(2)],
        ),
    ] {
        let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&before));
        assert_eq!(customer.relations(&bank), [new()]);
        let id = customer.id(&before[0]);
        bank.rows = after;
        assert_eq!(
            customer.relations(&bank),
            [EntryRelation::New {
                may_replace: vec![id]
            }]
        );
    }
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[pending]));
    assert_eq!(customer.relations(&bank), [new()]);
    bank.rows.push(booked(100).saying(5));
    assert_eq!(customer.relations(&bank), [new()]);
}

#[test]
fn in_a_partial_walk_only_a_reference_with_its_amount_is_evidence() {
    let rows = |last: Row| [booked(1), booked(2), booked(3), last];
    let cases = [
        (booked(100).named(1).pending(), booked(100).named(1), true),
        (
            booked(100).named(1).saying(1).pending(),
            booked(100).saying(1),
            false,
        ),
        (booked(100).named(1).pending(), booked(101).named(1), false),
        (
            booked(100).named(1).pending(),
            booked(100).named(1).pending().on(1),
            false,
        ),
    ];
    for (before, after, certain) in cases {
        let (mut customer, mut bank) = (
            Customer::new(PollOptions::new()),
            Bank::new(&rows(before.clone())),
        );
        bank.page_size = 3;
        assert_eq!(customer.relations(&bank).len(), 4);
        let id = customer.id(&before);
        bank.rows[3] = after.clone();
        let expected = if certain {
            EntryRelation::Replaces(id)
        } else {
            EntryRelation::New {
                may_replace: vec![id],
            }
        };
        assert_eq!(customer.relations(&bank), [expected], "{after:?}");
        // The next two full walks do not list it, so it has vanished.
        let mut vanished = Vec::new();
        for _ in 0..2 {
            customer.now = customer.now.saturating_add(Duration::from_secs(3_600));
            vanished.extend(customer.poll(&bank).1);
        }
        let expected = if certain {
            vec![]
        } else {
            vec![AccountNotice::Vanished { id, booked: false }]
        };
        assert_eq!(vanished, expected, "{after:?}");
        assert_eq!(customer.rows().len(), 4);
    }
    // A booked entry that is not on this page may be on another one.
    let rows = rows(booked(4)).map(|row| row.clone().named(u32::try_from(row.amount).unwrap()));
    let (mut customer, mut bank) = (Customer::new(PollOptions::new()), Bank::new(&rows));
    bank.page_size = 3;
    assert_eq!(customer.relations(&bank).len(), 4);
    bank.rows.push(booked(2).named(9));
    assert_eq!(customer.relations(&bank), [new()]);
}

#[test]
fn an_entry_vanishes_after_two_full_walks_and_returns_under_its_id() {
    let rows = [booked(1).named(1), booked(2), booked(2)];
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&rows));
    assert_eq!(customer.relations(&bank).len(), 3);
    bank.rows = vec![booked(2)];
    assert_eq!(
        customer.poll(&bank),
        (vec![], vec![]),
        "one walk is no evidence"
    );
    customer.restart(thorough());
    let vanished = customer.poll(&bank).1;
    assert_eq!(vanished.len(), 2);
    assert!(
        vanished
            .iter()
            .all(|notice| matches!(notice, AccountNotice::Vanished { booked: true, .. }))
    );
    assert_eq!(customer.poll(&bank).1, [], "said once");
    bank.rows = rows.to_vec();
    let (said, notices) = customer.poll(&bank);
    assert_eq!((said, notices.len()), (vec![], 2), "{notices:?}");
    assert_eq!(notices[0].kind(), "reappeared");
    assert_eq!(customer.poll(&bank), (vec![], vec![]));
    // A vanished entry can still be replaced, and returns if the bank undoes that.
    bank.rows = vec![booked(2)];
    assert_eq!(
        (customer.poll(&bank).1.len(), customer.poll(&bank).1.len()),
        (0, 2)
    );
    bank.rows.push(booked(5).named(1));
    assert!(matches!(
        customer.relations(&bank)[..],
        [EntryRelation::Replaces(_)]
    ));
    bank.rows = rows.to_vec();
    let (said, notices) = customer.poll(&bank);
    assert!(
        matches!(
            said[..],
            [(_, EntryRelation::Returned { replaces: Some(_) }, false)]
        ),
        "{said:?}"
    );
    assert_eq!((notices.len(), customer.poll(&bank).1), (1, vec![]));
    // A single walk without the entry in between has no effect.
    bank.rows = vec![booked(2)];
    assert_eq!(customer.poll(&bank).1, []);
    bank.rows = rows.to_vec();
    assert_eq!(customer.poll(&bank), (vec![], vec![]));
    bank.rows = vec![booked(2)];
    assert_eq!(customer.poll(&bank).1, []);
    bank.rows = rows.to_vec();
    assert_eq!(customer.poll(&bank).1, []);
    // If all entries vanish at once, there is one notice.
    bank.rows = vec![];
    assert_eq!(customer.poll(&bank).1, []);
    assert_eq!(
        customer.poll(&bank).1,
        [AccountNotice::AllVanished { count: 3 }]
    );
    bank.rows = rows.to_vec();
    assert_eq!(customer.poll(&bank).1.len(), 3);
    // A vanished entry that was the only one is named; two count as all.
    for count in [1, 2] {
        let (mut another, mut its_bank) =
            (Customer::thorough(), Bank::new(&vec![booked(2); count]));
        assert_eq!(another.relations(&its_bank).len(), count);
        let id = another.id(&booked(2));
        its_bank.rows.clear();
        let expected = match count {
            1 => AccountNotice::Vanished { id, booked: true },
            _ => AccountNotice::AllVanished { count },
        };
        assert_eq!(
            (another.poll(&its_bank).1, another.poll(&its_bank).1),
            (vec![], vec![expected])
        );
    }
    // A walk that holds back an entry is no evidence.
    let (mut another, mut its_bank) = (
        Customer::thorough(),
        Bank::new(&[booked(1).named(1), booked(2), booked(3)]),
    );
    its_bank.page_size = 2;
    assert_eq!(another.relations(&its_bank).len(), 3);
    its_bank.rows = vec![booked(2), booked(3), booked(2)];
    assert_eq!(
        another.poll(&its_bank).1,
        [],
        "of two walks, the second one only"
    );
    assert_eq!(another.poll(&its_bank).1.len(), 1);
    // Entries that leave the statement at the end of their day have not vanished.
    (bank.day, bank.rows) = (1, vec![]);
    assert_eq!(customer.poll(&bank).1, []);
    assert_eq!(customer.poll(&bank).1, []);
}

#[test]
fn a_pending_entry_is_replaced_for_seven_days() {
    for (days, expected) in [(7, true), (8, false)] {
        let pending = booked(100).named(1).pending();
        let (mut customer, mut bank) = (
            Customer::thorough(),
            Bank::new(std::slice::from_ref(&pending)),
        );
        assert_eq!(customer.relations(&bank), [new()]);
        let id = customer.id(&pending);
        (bank.day, bank.rows) = (days, vec![]);
        assert_eq!(customer.poll(&bank), (vec![], vec![]));
        let vanished = AccountNotice::Vanished { id, booked: false };
        assert_eq!(
            customer.poll(&bank),
            (vec![], vec![vanished]),
            "also after {days} days"
        );
        bank.rows = vec![booked(100).named(1).on(days)];
        let relation = if expected {
            EntryRelation::Replaces(id)
        } else {
            new()
        };
        assert_eq!(customer.relations(&bank), [relation], "after {days} days");
    }
    // A booked entry of yesterday is not replaced: it left the statement with its day, and is
    // forgotten.
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(100).named(1)]));
    let remembers =
        |customer: &Customer| customer.position.as_ref().unwrap().contains("\"entries\"");
    assert_eq!(customer.relations(&bank), [new()]);
    assert!(remembers(&customer));
    (bank.day, bank.rows) = (1, vec![booked(101).named(1).on(1)]);
    assert_eq!(customer.relations(&bank), [new()]);
    (bank.day, bank.rows) = (2, vec![]);
    assert_eq!(customer.relations(&bank), []);
    assert!(!remembers(&customer));
}

#[test]
fn an_entry_of_a_day_that_was_complete_is_late() {
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(1).on(-1)]));
    let late = |customer: &mut Customer, bank: &Bank| -> Vec<bool> {
        customer
            .poll(bank)
            .0
            .into_iter()
            .map(|(_, _, late)| late)
            .collect()
    };
    assert_eq!(
        late(&mut customer, &bank),
        [false],
        "no day was complete before"
    );
    bank.rows.push(booked(2));
    assert_eq!(late(&mut customer, &bank), [false]);
    (bank.day, bank.rows) = (1, vec![booked(3), booked(4).on(1)]);
    assert_eq!(
        late(&mut customer, &bank),
        [false, false],
        "booked after the last poll of its day"
    );
    bank.rows
        .extend([booked(5), booked(6).on(1), booked(7).on(2)]);
    assert_eq!(late(&mut customer, &bank), [true, false, false]);
    customer.poll.cursor_refused().unwrap();
    assert!(
        late(&mut customer, &bank).is_empty(),
        "what is known is not late"
    );
    let vanished = bank.rows.remove(2);
    assert!(late(&mut customer, &bank).is_empty() && late(&mut customer, &bank).is_empty());
    bank.rows.push(vanished);
    assert!(
        late(&mut customer, &bank).is_empty(),
        "nor is what has reappeared"
    );
    bank.rows.push(booked(8).pending());
    assert_eq!(
        late(&mut customer, &bank),
        [false],
        "nor is what is not booked"
    );
    // At the last second of a day, the statement of the day after the next is one of a wrong clock.
    customer.now = date(0)
        .to_time()
        .with_hms(23, 59, 59)
        .map(|at| Timestamp::from_time(at.assume_utc()))
        .unwrap()
        .unwrap();
    for day in [1, 2] {
        bank.day = day;
        assert!(late(&mut customer, &bank).is_empty());
        bank.rows.push(booked(10 + day));
        assert_eq!(late(&mut customer, &bank), [day == 1]);
    }
}

#[test]
fn what_is_remembered_is_bounded_and_pending_entries_stay_longest() {
    let mut rows: Vec<Row> = (0..2_100).map(|number| booked(1_000 + number)).collect();
    rows[0] = rows[0].clone().pending();
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&rows));
    assert_eq!(customer.poll(&bank).0.len(), 2_100);
    let pending = customer.id(&rows[0]);
    bank.rows.clear();
    assert_eq!(customer.poll(&bank).1, []);
    let (said, notices) = customer.poll(&bank);
    let pending = AccountNotice::Vanished {
        id: pending,
        booked: false,
    };
    assert_eq!(
        (said, notices),
        (
            vec![],
            vec![pending, AccountNotice::AllVanished { count: 1_999 }]
        )
    );
    // Vanished entries stay remembered, in preference to new ones.
    bank.rows = (0..50).map(|number| booked(9_000 + number)).collect();
    assert_eq!(customer.poll(&bank).0.len(), 50);
    bank.rows = rows[1..].to_vec();
    let reappeared = customer.poll(&bank).1;
    assert_eq!(
        (reappeared.len(), reappeared[0].kind()),
        (1_999, "reappeared")
    );
}

#[test]
fn a_full_memory_stays_as_it_is() {
    let rows: Vec<Row> = (0..2_001).map(|number| booked(1_000 + number)).collect();
    let (mut customer, bank) = (Customer::thorough(), Bank::new(&rows));
    assert_eq!(customer.poll(&bank).0.len(), 2_001);
    let before = customer.position.clone();
    assert_eq!(customer.poll(&bank), (vec![], vec![]));
    assert!(customer.position == before);
}

#[test]
fn a_correction_on_the_last_page_replaces_what_was_listed_or_missing_before() {
    let booked_before = booked(100).named(1);
    let pending_before = booked_before.clone().pending();
    let cases = [
        ("pending", &pending_before, 1_000, false),
        ("pending, two pages", &pending_before, 2, false),
        ("booked", &booked_before, 1_000, false),
        ("booked, two pages", &booked_before, 2, false),
        ("booked, and missing before", &booked_before, 2, true),
    ];
    for (what, before, page_size, is_missing) in cases {
        let (mut customer, mut bank) = (
            Customer::thorough(),
            Bank::new(&[booked(1), booked(2), before.clone()]),
        );
        bank.page_size = page_size;
        assert_eq!(customer.relations(&bank).len(), 3, "{what}");
        let id = customer.id(before);
        bank.rows.pop();
        if is_missing {
            assert_eq!(customer.poll(&bank), (vec![], vec![]), "{what}");
        }
        bank.rows.push(booked(101).named(1));
        assert_eq!(
            customer.relations(&bank),
            [EntryRelation::Replaces(id)],
            "{what}"
        );
    }
}

#[test]
fn parts_under_one_reference_that_come_to_stand_on_two_pages_have_not_vanished() {
    let part = booked(-250).named(1);
    let (mut customer, mut bank) = (
        Customer::thorough(),
        Bank::new(&[booked(1), part.clone(), part.clone().saying(1)]),
    );
    bank.page_size = 3;
    assert_eq!(customer.poll(&bank).0.len(), 3);
    bank.rows.insert(0, booked(7));
    for _ in 0..3 {
        let (said, notices) = customer.poll(&bank);
        assert!(said.iter().all(|(row, ..)| *row == booked(7)), "{said:?}");
        assert_eq!(notices, []);
    }
}

#[test]
fn what_is_known_and_was_forgotten_is_watched_again() {
    let pending = booked(100).named(1).saying(1).pending();
    let (mut customer, mut bank) = (
        Customer::thorough(),
        Bank::new(std::slice::from_ref(&pending)),
    );
    assert_eq!(customer.relations(&bank), [new()]);
    let id = customer.id(&pending);
    // The position is absent, as after a version that remembered no entries.
    customer.position = None;
    customer.restart(thorough());
    assert_eq!(customer.relations(&bank), []);
    bank.rows = vec![booked(100).named(2).saying(1)];
    assert_eq!(customer.relations(&bank), [EntryRelation::Replaces(id)]);
}

#[test]
fn a_placeholder_is_no_reference() {
    let of = |reference: &str| {
        let xml = entry_xml(
            "1.00",
            "<Dt>2026-03-01</Dt>",
            "",
            "",
            &format!("<AcctSvcrRef>{reference}</AcctSvcrRef>"),
        );
        let entry = entry(xml);
        (
            EntryIdentity::of(&entry).has_reference,
            EntryLinks::of(&entry).reference.is_some(),
        )
    };
    for none in ["NONREF", "NotProvided", " nonref "] {
        assert_eq!(of(none), (false, false), "{none}");
    }
    assert_eq!(of("NONREF1"), (true, true));
}
