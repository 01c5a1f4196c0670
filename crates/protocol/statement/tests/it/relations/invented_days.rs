//! A random bank over many invented days, against a naive model.

use super::bank::{Bank, Customer, Row, booked};
use crate::support::Random;
use bankrail_statement::{AccountNotice, EntryRelation, PollOptions};
use bankrail_values::Decimal;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Returns the parts that identify a row. The parts under one reference cannot be distinguished by
/// a changed text.
fn identity(row: &Row) -> Row {
    Row {
        text: row.text.filter(|_| row.reference.is_none()),
        ..row.clone()
    }
}

/// The entries with their completed forms.
type Completions = Vec<(Row, Row)>;

/// Replaces a row by its completed form, at the same place.
fn complete(row: &mut Row, completions: &mut Completions, serial: &mut u32, random: &mut Random) {
    let before = row.clone();
    for _ in 0..=random.below(2) {
        match random.below(5) {
            0 => row.valued = true,
            1 if row.name.is_none() => row.name = Some(u32::try_from(random.below(3)).unwrap()),
            2 if row.text.is_none() => row.text = Some(u32::try_from(random.below(3)).unwrap()),
            3 => row.broken_down = true,
            4 if row.reference.is_none() => {
                *serial += 1;
                row.reference = Some(*serial);
            }
            _ => {}
        }
    }
    match completions.iter_mut().find(|(_, later)| *later == before) {
        Some((_, later)) => later.clone_from(row),
        None if *row != before => completions.push((before, row.clone())),
        None => {}
    }
}

/// Returns these rows without those of the bank.
fn without(rows: impl Iterator<Item = Row>, bank: &Bank) -> Vec<Row> {
    let mut listed = bank.rows.clone();
    rows.filter(|row| match listed.iter().position(|other| other == row) {
        Some(at) => {
            listed.swap_remove(at);
            false
        }
        None => true,
    })
    .collect()
}

/// Checks the relations of completed entries in a poll. `gone` are the ledger's rows before the
/// poll that the bank no longer lists, and `missing` those of them that an earlier full walk did
/// not list either. Returns the number of entries that had to be replaced.
fn check(
    customer: &Customer,
    completions: &mut Completions,
    gone: &[Row],
    missing: &[Row],
    what: &str,
) -> usize {
    let is_payment = |pending: &Row, row: &Row| {
        !pending.booked
            && row.booked
            && pending.amount == row.amount
            && (pending.text, pending.name) == (row.text, row.name)
            && (row.text.is_some() || row.name.is_some())
    };
    let said = || customer.said.iter().map(|(row, ..)| row).zip(&customer.ids);
    let mut decided = 0;
    completions.retain(|(before, after)| {
        let Some((_, id)) = said().find(|(row, _)| *row == after) else {
            return true;
        };
        let forms: Vec<&Row> = gone.iter().filter(|row| row.can_become(after)).collect();
        let others: Vec<&Row> = said()
            .map(|(row, _)| row)
            .filter(|row| before.can_become(row))
            .collect();
        let is_decided = !forms.is_empty()
            && forms.iter().all(|row| *row == before)
            && (others.len() <= forms.len() || others.iter().all(|row| *row == after))
            && !missing.contains(before)
            // A pending entry may have been booked with the same payer's data, and is a form too.
            && !gone.iter().any(|row| is_payment(row, after) && !missing.contains(row))
            && !said().any(|(row, _)| is_payment(before, row));
        let replaced = said()
            .filter(|(row, _)| *row == after)
            .any(|(_, id)| customer.replaced.get(id) == Some(before));
        assert!(
            replaced || !is_decided,
            "{what}: {before:?} is there beside {after:?}"
        );
        decided += usize::from(is_decided);
        // No other entry has replaced it in that case.
        let taken = said().find(|(row, own)| {
            *row != after && customer.replaced.get(own) == Some(before) && before.can_become(row)
        });
        assert!(
            replaced || taken.is_none(),
            "{what}: {before:?} was not {taken:?}, {id:?}"
        );
        false
    });
    decided
}

/// Changes the statement as banks do; booked rows change the balance too.
fn change(
    bank: &mut Bank,
    gone: &mut Vec<Row>,
    completions: &mut Completions,
    serial: &mut u32,
    random: &mut Random,
) {
    let some = (!bank.rows.is_empty()).then(|| random.below(bank.rows.len().max(1)));
    let invented = |serial: &mut u32, random: &mut Random| {
        *serial += 1;
        let mut row = booked([100, 100, -40, 7][random.below(4)]).on(bank.day);
        row.booked = random.percent(50);
        row.reference = random.percent(50).then_some(*serial);
        row.text = random
            .percent(70)
            .then(|| u32::try_from(random.below(3)).unwrap());
        row
    };
    match (random.below(18), some) {
        (0..4, _) => bank.rows.push(invented(serial, random)),
        (4, _) => {
            let at = random.below(bank.rows.len() + 1);
            let row = invented(serial, random);
            bank.rows.insert(at, row);
        }
        // A reference on two pages is one entry.
        (5, Some(at)) if bank.rows[at].reference.is_none() || bank.page_size == 1_000 => {
            bank.rows.push(bank.rows[at].clone())
        }
        (6..9, Some(at)) if !bank.rows[at].booked => {
            let mut row = bank.rows.remove(at);
            (row.booked, row.day) = (true, bank.day);
            match random.below(3) {
                0 => {}
                1 => row.reference = None,
                _ => {
                    *serial += 1;
                    row.reference = Some(*serial);
                }
            }
            bank.rows.push(row);
        }
        (9, Some(at)) => bank.rows[at].amount += 1,
        (10, Some(at)) => bank.rows[at].text = Some(3),
        (11, Some(at)) => gone.push(bank.rows.remove(at)),
        (12, _) if !gone.is_empty() => {
            let row = gone.remove(random.below(gone.len()));
            bank.rows.push(row);
        }
        (13, Some(at)) => {
            let row = bank.rows.remove(at);
            let to = random.below(bank.rows.len() + 1);
            bank.rows.insert(to, row);
        }
        (14.., Some(at))
            if bank.rows[at].reference.is_none()
                // A booked entry of an earlier day is not watched.
                && (!bank.rows[at].booked || bank.rows[at].day == bank.day) =>
        {
            complete(&mut bank.rows[at], completions, serial, random);
        }
        _ => {}
    }
}

/// Runs ten days of an account. At the end of each day the ledger equals the bank's list, without
/// duplicates and losses. Returns the number of completed entries that had to be replaced.
pub(crate) fn live(mut random: Random, life: &str) -> usize {
    let mut bank = Bank::new(&[]);
    let options = PollOptions::new();
    let mut customer = Customer::new(options);
    let (mut gone, mut serial) = (Vec::new(), 0);
    let (mut completions, mut missing, mut decided) = (Vec::new(), Vec::new(), 0);
    bank.page_size = [1_000, 1_000, 3, 5][random.below(4)];
    let states_opening = random.percent(50);
    for day in 0..10 {
        bank.day = day;
        // Pending entries stay, and entries that are not booked yet are known on the next day.
        bank.rows.retain(|row| !row.booked);
        gone.clear();
        completions.clear();
        let foreign = random.percent(20).then(|| random.below(8));
        let opening = i64::try_from(random.below(5_000)).unwrap();
        bank.opening = states_opening.then_some(opening);
        let (mut gaps, mut hidden, mut all_gone) = (Vec::new(), 0, false);
        for round in 0..8 + 3 {
            if round < 8 {
                for _ in 0..random.below(4) {
                    change(
                        &mut bank,
                        &mut gone,
                        &mut completions,
                        &mut serial,
                        &mut random,
                    );
                }
                if random.percent(2) && day > 0 {
                    bank.rows.push(
                        booked(5)
                            .on(day - 1)
                            .saying(u32::try_from(round).unwrap() + 10),
                    );
                }
            } else {
                customer.now = customer.now.saturating_add(Duration::from_secs(3_600));
            }
            if foreign == Some(round) && round > 0 {
                hidden = 13;
            }
            let sum: i64 = bank
                .rows
                .iter()
                .filter(|row| row.booked)
                .map(|row| row.amount)
                .sum();
            bank.closing = Some(opening + sum + hidden);
            customer.now = customer.now.saturating_add(Duration::from_secs(
                u64::try_from(random.below(1_200)).unwrap(),
            ));
            if random.percent(10) {
                customer.restart(options);
            }
            completions.retain(|(_, after)| bank.rows.contains(after));
            let unlisted = without(customer.ledger.values().cloned(), &bank);
            let (said, notices) = customer.poll(&bank);
            let what = format!("{life}, day {day}");
            decided += check(&customer, &mut completions, &unlisted, &missing, &what);
            if customer.full {
                missing = without(customer.ledger.values().cloned(), &bank);
            }
            for (row, relation, is_late) in said {
                let known = matches!(
                    relation,
                    EntryRelation::Returned { .. } | EntryRelation::TextChanged
                );
                assert!(!is_late || (row.day < day && !known), "{life}, day {day}");
            }
            for notice in notices {
                match notice {
                    AccountNotice::BalanceGap { difference } => gaps.push(difference),
                    AccountNotice::AllVanished { .. } => all_gone = true,
                    AccountNotice::Vanished { .. }
                    | AccountNotice::Reappeared { .. }
                    | AccountNotice::DayIncomplete { .. } => {}
                    other => panic!("{life}, day {day}: {other:?}"),
                }
            }
        }
        let expected = if hidden == 0 {
            vec![]
        } else {
            vec![Decimal::new(hidden, 2).normalize()]
        };
        assert_eq!(gaps, expected, "{life}, day {day}");
        // Each listed row is in the ledger once. All other rows were booked: today, with a notice
        // that they have vanished, or on an earlier day.
        let mut listed: BTreeMap<Row, usize> = BTreeMap::new();
        bank.rows
            .iter()
            .for_each(|row| *listed.entry(identity(row)).or_default() += 1);
        let mut kept: BTreeMap<Row, usize> = BTreeMap::new();
        customer
            .ledger
            .values()
            .for_each(|row| *kept.entry(identity(row)).or_default() += 1);
        let vanished: BTreeSet<Row> = customer
            .vanished
            .iter()
            .filter_map(|id| customer.ledger.get(id))
            .map(identity)
            .collect();
        for (row, count) in &listed {
            assert!(
                kept.get(row) >= Some(count),
                "{life}, day {day}: lost {row:?}"
            );
        }
        for (row, count) in &kept {
            let is_said = row.booked && (row.day < day || vanished.contains(row) || all_gone);
            assert!(
                listed.get(row) == Some(count) || is_said,
                "{life}, day {day}: too much {row:?}"
            );
        }
    }
    decided
}

/// Over 1,000 or `BANKRAIL_DAYS` invented days, no entry is lost, duplicated or falsely reported.
#[test]
fn over_many_invented_days_nothing_is_lost_twice_or_falsely_said() {
    let days: u64 = std::env::var("BANKRAIL_DAYS").map_or(1_000, |days| days.parse().unwrap());
    let live = |seed| live(Random::new(seed), &format!("seed {seed}"));
    let decided: usize = (0..days / 10).map(live).sum();
    println!("{decided} completed entries were replaced");
    assert!(decided > 0 || days < 100, "entries are completed");
}
