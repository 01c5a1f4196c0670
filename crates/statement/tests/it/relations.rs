//! What an entry is to those before it: cases, and a naive bank over many invented days.

use crate::support::{document_xml, entry, entry_xml};
use bankrail_camt052::{
    AccountType, Amount, Balance, BalanceCode, BalanceType, BalanceTypeCode, CurrencyCode, Date as IsoDate,
    DateOrDateTime, Direction, Document, Entry, EntryStatus, Report, Text,
};
use bankrail_statement::{
    AccountNotice, AccountPoll, Cursor, EntryIdentity, EntryKey, EntryLinks, EntryRelation, PageDecision, PollCommit,
    PollOptions, PollPosition, PollStep, PolledPage, ReceivedPage, StatedAccount, StatementDay,
};
use bankrail_values::{Date, Decimal, Timestamp};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

type Id = [u8; 32];

/// An entry of the bank, in as few words as possible.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Row {
    /// In cents; below zero for a debit.
    amount: i64,
    booked: bool,
    reference: Option<u32>,
    /// What the payer said.
    text: Option<u32>,
    /// The booking day.
    day: i64,
}

const fn booked(amount: i64) -> Row {
    Row { amount, booked: true, reference: None, text: None, day: 0 }
}

impl Row {
    fn pending(mut self) -> Self {
        self.booked = false;
        self
    }

    fn named(mut self, reference: u32) -> Self {
        self.reference = Some(reference);
        self
    }

    fn saying(mut self, text: u32) -> Self {
        self.text = Some(text);
        self
    }

    fn on(mut self, day: i64) -> Self {
        self.day = day;
        self
    }

    fn entry(&self, template: &Entry) -> Entry {
        let mut entry = template.clone();
        (entry.amount, entry.direction) = money(self.amount);
        entry.status = if self.booked { EntryStatus::Booked } else { EntryStatus::Pending };
        entry.servicer_reference = self.reference.map(|number| Text::new(&format!("R{number}")));
        let day = date(self.day).to_time();
        entry.booking_date = IsoDate::new(day.year(), day.month().into(), day.day()).map(DateOrDateTime::Date);
        entry.details[0].transactions[0].remittance.as_mut().unwrap().unstructured =
            self.text.iter().map(|text| Text::new(&format!("text {text}"))).collect();
        entry
    }
}

fn date(day: i64) -> Date {
    Date::from_time("2026-03-01".parse::<Date>().unwrap().to_time() + time::Duration::days(day)).unwrap()
}

/// The midnight at the end of a day, eleven hours before that of UTC.
fn end_of(day: i64) -> Timestamp {
    Timestamp::from_time((date(day).to_time().midnight() + time::Duration::hours(13)).assume_utc()).unwrap()
}

fn money(cents: i64) -> (Amount, Direction) {
    let amount = Amount::new(Decimal::new(cents.abs(), 2), "AUD".parse().unwrap()).unwrap();
    (amount, if cents < 0 { Direction::Debit } else { Direction::Credit })
}

fn balance(kind: BalanceCode, cents: i64) -> Balance {
    let (amount, direction) = money(cents);
    Balance::new(BalanceType::new(BalanceTypeCode::Code(kind)), amount, direction)
}

/// The statement of a day, page by page.
struct Bank {
    rows: Vec<Row>,
    page_size: usize,
    day: i64,
    /// Balances in cents, if the bank states them.
    opening: Option<i64>,
    closing: Option<i64>,
    template: (Report, Entry),
    /// Computed once, because these days are many.
    known: RefCell<HashMap<Row, (Entry, EntryIdentity, EntryLinks)>>,
}

impl Bank {
    fn new(rows: &[Row]) -> Self {
        let report = Document::parse(document_xml(&[])).unwrap().document.reports.remove(0);
        let entry = entry(entry_xml("1.00", "<Dt>2026-03-01</Dt>", "", "<RmtInf><Ustrd>x</Ustrd></RmtInf>", ""));
        let template = (report, entry);
        Self {
            rows: rows.to_vec(),
            page_size: 1_000,
            day: 0,
            opening: None,
            closing: None,
            template,
            known: RefCell::default(),
        }
    }

    fn page(&self, cursor: Option<&Cursor>) -> PolledPage {
        let from: usize = cursor.map_or(0, |cursor| cursor.as_str().parse().unwrap());
        let end = (from + self.page_size).min(self.rows.len());
        let page = if end < self.rows.len() {
            ReceivedPage::More { cursor: Cursor::parse(&end.to_string()).unwrap() }
        } else {
            ReceivedPage::Last
        };
        let mut report = self.template.0.clone();
        let listed = &self.rows[from.min(end)..end];
        let mut known = self.known.borrow_mut();
        let of = |row: &Row| {
            let entry = row.entry(&self.template.1);
            let (identity, links) = (EntryIdentity::of(&entry), EntryLinks::of(&entry));
            (entry, identity, links)
        };
        let listed: Vec<_> =
            listed.iter().map(|row| known.entry(row.clone()).or_insert_with(|| of(row)).clone()).collect();
        report.entries = listed.iter().map(|(entry, ..)| entry.clone()).collect();
        let balances = [
            (BalanceCode::OpeningBooked, self.opening),
            (BalanceCode::InterimBooked, self.closing),
            (BalanceCode::InterimAvailable, Some(7)),
        ];
        report.balances = balances.into_iter().filter_map(|(kind, cents)| Some(balance(kind, cents?))).collect();
        let day = StatementDay::new(date(self.day)).ends_at(end_of(self.day));
        PolledPage::new(page, listed.iter().map(|(_, identity, _)| identity.clone()).collect())
            .links(listed.iter().map(|(.., links)| *links).collect())
            .day(Some(day))
            .stated(StatedAccount::of(&report))
    }
}

/// A customer with a store, and a ledger that follows what is handed over.
struct Customer {
    poll: AccountPoll,
    position: Option<String>,
    counts: HashMap<EntryKey, u32>,
    ledger: BTreeMap<Id, Row>,
    vanished: BTreeSet<Id>,
    notices: Vec<AccountNotice>,
    /// The rows that were handed over, with what was said of them.
    said: Vec<(Row, EntryRelation, bool)>,
    now: Timestamp,
}

impl Customer {
    fn new(options: PollOptions) -> Self {
        Self {
            poll: AccountPoll::new(PollPosition::start(), options),
            position: None,
            counts: HashMap::new(),
            ledger: BTreeMap::new(),
            vanished: BTreeSet::new(),
            notices: Vec::new(),
            said: Vec::new(),
            now: "2026-03-01T00:00:00.000Z".parse().unwrap(),
        }
    }

    /// Only full walks.
    fn thorough() -> Self {
        Self::new(thorough())
    }

    fn restart(&mut self, options: PollOptions) {
        let position =
            self.position.as_deref().map_or(PollPosition::start(), |text| PollPosition::from_json(text).unwrap());
        self.poll = AccountPoll::new(position, options);
    }

    /// Polls once, and returns what was said.
    fn poll(&mut self, bank: &Bank) -> (Vec<(Row, EntryRelation, bool)>, Vec<AccountNotice>) {
        (self.said, self.notices) = (Vec::new(), Vec::new());
        while self.step(bank) == PollStep::Fetch {}
        (self.said.clone(), self.notices.clone())
    }

    /// Takes the next page.
    fn step(&mut self, bank: &Bank) -> PollStep {
        let from = self.poll.cursor(self.now).cloned();
        let page = bank.page(from.as_ref());
        let known: Vec<u32> = page.keys().iter().map(|key| self.counts.get(key).copied().unwrap_or(0)).collect();
        let PageDecision::Commit(commit) = self.poll.judge(&page, &known, self.now) else { return PollStep::Fetch };
        let first: usize = from.map_or(0, |cursor| cursor.as_str().parse().unwrap());
        self.take(&commit, &bank.rows[first.min(bank.rows.len())..]);
        self.poll.committed(commit).unwrap()
    }

    /// One transaction.
    fn take(&mut self, commit: &PollCommit, listed: &[Row]) {
        for handed in commit.handed_over() {
            let (row, id) = (&listed[handed.index], handed.entry.id());
            match handed.relation {
                EntryRelation::Replaces(earlier) | EntryRelation::Returned { replaces: Some(earlier) } => {
                    assert!(self.ledger.remove(earlier).is_some() || self.vanished.contains(earlier), "{row:?}");
                }
                EntryRelation::TextChanged => assert!(self.ledger.remove(&id).is_some(), "{row:?}"),
                _ => {}
            }
            assert_eq!(self.ledger.insert(id, row.clone()), None, "handed over twice: {row:?}");
            self.said.push((row.clone(), handed.relation.clone(), handed.late));
        }
        for notice in commit.notices() {
            match notice {
                AccountNotice::Vanished { id, booked: false } => {
                    assert_eq!(self.ledger.remove(id).map(|row| row.booked), Some(false));
                    self.vanished.insert(*id);
                }
                // A person decides, so the row stays.
                AccountNotice::Vanished { id, booked: true } => {
                    assert!(self.ledger[id].booked);
                    self.vanished.insert(*id);
                }
                AccountNotice::Reappeared { id } => {
                    self.vanished.remove(id);
                    assert!(self.ledger[id].booked);
                }
                _ => {}
            }
            self.notices.push(notice.clone());
        }
        for entry in commit.entries() {
            let count = self.counts.entry(entry.key).or_default();
            *count = (*count).max(entry.occurrence);
        }
        if let Some(position) = commit.position() {
            self.position = Some(position.to_owned());
            assert!(position.len() < 1 << 20);
        }
    }

    /// The relations of the next poll.
    fn relations(&mut self, bank: &Bank) -> Vec<EntryRelation> {
        self.poll(bank).0.into_iter().map(|(_, relation, _)| relation).collect()
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.ledger.values().cloned().collect();
        rows.sort_unstable();
        rows
    }

    fn id(&self, row: &Row) -> Id {
        *self.ledger.iter().find(|(_, known)| *known == row).unwrap().0
    }
}

/// Full walks only, and days of which the end is of no interest.
fn thorough() -> PollOptions {
    PollOptions::new().full_walk_every(Duration::ZERO).unseen(Duration::MAX)
}

fn new() -> EntryRelation {
    EntryRelation::New { may_replace: Vec::new() }
}

#[test]
fn a_pending_entry_that_is_booked_under_its_reference_or_as_the_same_payment_is_replaced() {
    let cases = [
        ("its reference", booked(100).named(1).pending(), booked(100).named(1)),
        (
            "another reference, the same payment",
            booked(100).named(1).saying(5).pending(),
            booked(100).named(2).saying(5),
        ),
        ("no reference", booked(100).named(1).saying(5).pending(), booked(100).saying(5)),
        ("another amount under the reference", booked(100).named(1).pending(), booked(90).named(1)),
    ];
    for (what, before, after) in cases {
        let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(-3), before.clone()]));
        assert_eq!(customer.relations(&bank), [new(), new()], "{what}");
        let earlier = customer.id(&before);
        bank.rows[1] = after.clone();
        assert_eq!(customer.relations(&bank), [EntryRelation::Replaces(earlier)], "{what}");
        assert_eq!(customer.rows(), [booked(-3), after], "{what}");
        assert_eq!(customer.poll(&bank), (vec![], vec![]), "{what}: said once");
    }
}

#[test]
fn what_the_bank_changes_under_one_reference_replaces_what_it_was() {
    let changes = [booked(101).named(1), booked(100).named(1).on(1), booked(100).named(1).pending()];
    for after in changes {
        let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(100).named(1)]));
        assert_eq!(customer.relations(&bank), [new()]);
        let earlier = customer.id(&bank.rows[0]);
        bank.rows[0] = after.clone();
        assert_eq!(customer.relations(&bank), [EntryRelation::Replaces(earlier)], "{after:?}");
    }
    // A charge beside the payment and a reversal have the reference too, and replace nothing.
    for other in [booked(2).named(1), booked(-100).named(1)] {
        let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(100).named(1)]));
        assert_eq!(customer.relations(&bank), [new()]);
        bank.rows.push(other);
        assert_eq!(customer.relations(&bank), [new()]);
    }
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(100).named(1)]));
    assert_eq!(customer.relations(&bank), [new()]);
    bank.rows[0] = booked(-100).named(1);
    assert_eq!(customer.relations(&bank), [new()], "the reversal of an entry that is gone is no correction");
}

#[test]
fn a_text_that_changes_under_its_reference_is_said_under_its_id() {
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(100).named(1).saying(1)]));
    assert_eq!(customer.relations(&bank), [new()]);
    let id = customer.id(&bank.rows[0]);
    bank.rows[0].text = Some(2);
    assert_eq!(customer.relations(&bank), [EntryRelation::TextChanged]);
    assert_eq!(customer.id(&bank.rows[0]), id);
    assert_eq!(customer.relations(&bank), []);
    // Without a reference nothing tells it from another entry.
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(100).saying(1)]));
    assert_eq!(customer.relations(&bank), [new()]);
    let id = customer.id(&bank.rows[0]);
    bank.rows[0].text = Some(2);
    assert_eq!(customer.relations(&bank), [EntryRelation::New { may_replace: vec![id] }]);
}

#[test]
fn of_twins_each_is_replaced_once_and_what_nothing_tells_apart_is_marked() {
    let pending = booked(100).saying(5).pending();
    // One of two equal ones is booked: which of them makes no difference.
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[pending.clone(), pending.clone()]));
    assert_eq!(customer.relations(&bank), [new(), new()]);
    bank.rows[1] = booked(100).saying(5);
    assert!(matches!(customer.relations(&bank)[..], [EntryRelation::Replaces(_)]));
    bank.rows[0] = booked(100).saying(5);
    assert!(matches!(customer.relations(&bank)[..], [EntryRelation::Replaces(_)]));
    assert_eq!(customer.rows(), bank.rows);
    // Both are gone and one is booked: it makes no difference either.
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[pending.clone(), pending.clone()]));
    assert_eq!(customer.relations(&bank), [new(), new()]);
    bank.rows = vec![booked(100).saying(5)];
    assert!(matches!(customer.relations(&bank)[..], [EntryRelation::Replaces(_)]));
    // Two that differ in their reference, of which one is booked without: it may be either.
    let twins = [pending.clone().named(1), pending.clone().named(2)];
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&twins));
    assert_eq!(customer.relations(&bank), [new(), new()]);
    let may_replace = twins.iter().map(|row| customer.id(row)).collect();
    bank.rows = vec![booked(100).saying(5)];
    assert_eq!(customer.relations(&bank), [EntryRelation::New { may_replace }]);
    // Both are booked: each replaces one.
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&twins));
    assert_eq!(customer.relations(&bank), [new(), new()]);
    let ids = twins.map(|row| EntryRelation::Replaces(customer.id(&row)));
    bank.rows = vec![booked(100).saying(5), booked(100).saying(5)];
    assert_eq!(customer.relations(&bank), ids);
    // Of three, only two are booked, or all.
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
    // One is booked under its reference and one without: the latter may be any of the other two.
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&three));
    assert_eq!(customer.relations(&bank), [new(), new(), new()]);
    let [first, second, third] = three.map(|row| customer.id(&row));
    bank.rows = vec![booked(100).named(1).saying(5), booked(100).saying(5)];
    let may_replace = vec![second, third];
    assert_eq!(customer.relations(&bank), [EntryRelation::Replaces(first), EntryRelation::New { may_replace }]);
    // At most eight are named.
    let nine: Vec<Row> = (1..10).map(|reference| pending.clone().named(reference)).collect();
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&nine));
    assert_eq!(customer.relations(&bank).len(), 9);
    let may_replace = nine[..8].iter().map(|row| customer.id(row)).collect();
    bank.rows = vec![booked(100).saying(5)];
    assert_eq!(customer.relations(&bank), [EntryRelation::New { may_replace }]);
    // More than 63 are not told apart.
    for (count, are_replaced) in [(63, true), (64, false)] {
        let many: Vec<Row> = (0..count).map(|reference| pending.clone().named(reference)).collect();
        let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&many));
        assert_eq!(customer.relations(&bank), vec![new(); many.len()]);
        bank.rows = vec![booked(100).saying(5); many.len()];
        let replaced = |relation: &EntryRelation| matches!(relation, EntryRelation::Replaces(_));
        assert!(customer.relations(&bank).iter().all(|relation| replaced(relation) == are_replaced), "{count}");
    }
    // Nothing but the amount is no evidence, and a pending entry that is still listed was not booked.
    for (before, after) in [
        (vec![booked(100).pending()], vec![booked(100)]),
        (vec![booked(100).pending().saying(1)], vec![booked(100).saying(2)]),
    ] {
        let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&before));
        assert_eq!(customer.relations(&bank), [new()]);
        let id = customer.id(&before[0]);
        bank.rows = after;
        assert_eq!(customer.relations(&bank), [EntryRelation::New { may_replace: vec![id] }]);
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
        (booked(100).named(1).saying(1).pending(), booked(100).saying(1), false),
        (booked(100).named(1).pending(), booked(101).named(1), false),
    ];
    for (before, after, certain) in cases {
        let (mut customer, mut bank) = (Customer::new(PollOptions::new()), Bank::new(&rows(before.clone())));
        bank.page_size = 3;
        assert_eq!(customer.relations(&bank).len(), 4);
        let id = customer.id(&before);
        bank.rows[3] = after.clone();
        let expected = if certain { EntryRelation::Replaces(id) } else { EntryRelation::New { may_replace: vec![id] } };
        assert_eq!(customer.relations(&bank), [expected], "{after:?}");
        // The next two full walks do not list it, so it has vanished.
        let mut vanished = Vec::new();
        for _ in 0..2 {
            customer.now = customer.now.saturating_add(Duration::from_secs(3_600));
            vanished.extend(customer.poll(&bank).1);
        }
        let expected = if certain { vec![] } else { vec![AccountNotice::Vanished { id, booked: false }] };
        assert_eq!(vanished, expected, "{after:?}");
        assert_eq!(customer.rows().len(), 4);
    }
    // A booked entry that the page does not list may stand on another one.
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
    assert_eq!(customer.poll(&bank), (vec![], vec![]), "one walk is no evidence");
    customer.restart(thorough());
    let vanished = customer.poll(&bank).1;
    assert_eq!(vanished.len(), 2);
    assert!(vanished.iter().all(|notice| matches!(notice, AccountNotice::Vanished { booked: true, .. })));
    assert_eq!(customer.poll(&bank).1, [], "said once");
    bank.rows = rows.to_vec();
    let (said, notices) = customer.poll(&bank);
    assert_eq!((said, notices.len()), (vec![], 2), "{notices:?}");
    assert_eq!(notices[0].kind(), "reappeared");
    assert_eq!(customer.poll(&bank), (vec![], vec![]));
    // What has vanished is replaced all the same, and returns if the bank takes that back.
    bank.rows = vec![booked(2)];
    assert_eq!((customer.poll(&bank).1.len(), customer.poll(&bank).1.len()), (0, 2));
    bank.rows.push(booked(5).named(1));
    assert!(matches!(customer.relations(&bank)[..], [EntryRelation::Replaces(_)]));
    bank.rows = rows.to_vec();
    let (said, notices) = customer.poll(&bank);
    assert!(matches!(said[..], [(_, EntryRelation::Returned { replaces: Some(_) }, false)]), "{said:?}");
    assert_eq!((notices.len(), customer.poll(&bank).1), (1, vec![]));
    // One walk without it in between is forgotten.
    bank.rows = vec![booked(2)];
    assert_eq!(customer.poll(&bank).1, []);
    bank.rows = rows.to_vec();
    assert_eq!(customer.poll(&bank), (vec![], vec![]));
    bank.rows = vec![booked(2)];
    assert_eq!(customer.poll(&bank).1, []);
    bank.rows = rows.to_vec();
    assert_eq!(customer.poll(&bank).1, []);
    // All at once are one notice.
    bank.rows = vec![];
    assert_eq!(customer.poll(&bank).1, []);
    assert_eq!(customer.poll(&bank).1, [AccountNotice::AllVanished { count: 3 }]);
    bank.rows = rows.to_vec();
    assert_eq!(customer.poll(&bank).1.len(), 3);
    // One that was the only one is named, and two are all.
    for count in [1, 2] {
        let (mut another, mut its_bank) = (Customer::thorough(), Bank::new(&vec![booked(2); count]));
        assert_eq!(another.relations(&its_bank).len(), count);
        let id = another.id(&booked(2));
        its_bank.rows.clear();
        let expected = match count {
            1 => AccountNotice::Vanished { id, booked: true },
            _ => AccountNotice::AllVanished { count },
        };
        assert_eq!((another.poll(&its_bank).1, another.poll(&its_bank).1), (vec![], vec![expected]));
    }
    // A walk that holds back an entry is no evidence.
    let (mut another, mut its_bank) = (Customer::thorough(), Bank::new(&[booked(1).named(1), booked(2), booked(3)]));
    its_bank.page_size = 2;
    assert_eq!(another.relations(&its_bank).len(), 3);
    its_bank.rows = vec![booked(2), booked(3), booked(2)];
    assert_eq!(another.poll(&its_bank).1, [], "of two walks, the second one only");
    assert_eq!(another.poll(&its_bank).1.len(), 1);
    // With the day its entries leave the statement, and have not vanished.
    (bank.day, bank.rows) = (1, vec![]);
    assert_eq!(customer.poll(&bank).1, []);
    assert_eq!(customer.poll(&bank).1, []);
}

#[test]
fn a_pending_entry_is_replaced_for_seven_days() {
    for (days, expected) in [(7, true), (8, false)] {
        let pending = booked(100).named(1).pending();
        let (mut customer, mut bank) = (Customer::thorough(), Bank::new(std::slice::from_ref(&pending)));
        assert_eq!(customer.relations(&bank), [new()]);
        let id = customer.id(&pending);
        (bank.day, bank.rows) = (days, vec![]);
        assert_eq!(customer.poll(&bank), (vec![], vec![]));
        let vanished = AccountNotice::Vanished { id, booked: false };
        assert_eq!(customer.poll(&bank), (vec![], vec![vanished]), "also after {days} days");
        bank.rows = vec![booked(100).named(1).on(days)];
        let relation = if expected { EntryRelation::Replaces(id) } else { new() };
        assert_eq!(customer.relations(&bank), [relation], "after {days} days");
    }
    // A booked one of yesterday is not: it left the statement with its day, and is forgotten.
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(100).named(1)]));
    let remembers = |customer: &Customer| customer.position.as_ref().unwrap().contains("\"entries\"");
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
        customer.poll(bank).0.into_iter().map(|(_, _, late)| late).collect()
    };
    assert_eq!(late(&mut customer, &bank), [false], "no day was complete before");
    bank.rows.push(booked(2));
    assert_eq!(late(&mut customer, &bank), [false]);
    (bank.day, bank.rows) = (1, vec![booked(3), booked(4).on(1)]);
    assert_eq!(late(&mut customer, &bank), [false, false], "booked after the last poll of its day");
    bank.rows.extend([booked(5), booked(6).on(1), booked(7).on(2)]);
    assert_eq!(late(&mut customer, &bank), [true, false, false]);
    customer.poll.cursor_refused().unwrap();
    assert!(late(&mut customer, &bank).is_empty(), "what is known is not late");
    let vanished = bank.rows.remove(2);
    assert!(late(&mut customer, &bank).is_empty() && late(&mut customer, &bank).is_empty());
    bank.rows.push(vanished);
    assert!(late(&mut customer, &bank).is_empty(), "nor is what has reappeared");
    bank.rows.push(booked(8).pending());
    assert_eq!(late(&mut customer, &bank), [false], "nor is what is not booked");
    // At the last second of a day, the statement of the day after the next is one of a wrong clock.
    customer.now =
        date(0).to_time().with_hms(23, 59, 59).map(|at| Timestamp::from_time(at.assume_utc())).unwrap().unwrap();
    for day in [1, 2] {
        bank.day = day;
        assert!(late(&mut customer, &bank).is_empty());
        bank.rows.push(booked(10 + day));
        assert_eq!(late(&mut customer, &bank), [day == 1]);
    }
}

#[test]
fn a_day_that_was_not_seen_to_its_end_is_said_once() {
    for (unseen, is_said) in [(300, false), (301, true)] {
        let (mut customer, mut bank) = (Customer::new(PollOptions::new()), Bank::new(&[booked(1), booked(2)]));
        bank.page_size = 1;
        let seen_until = end_of(0).saturating_sub(Duration::from_secs(unseen));
        customer.now = seen_until;
        assert_eq!(customer.poll(&bank).1, []);
        assert_eq!(customer.poll.day_ends_at(), Some(end_of(0)));
        customer.restart(PollOptions::new());
        (customer.now, bank.day) = (end_of(2).saturating_sub(Duration::from_secs(60)), 2);
        bank.rows = vec![booked(1).on(2), booked(2).on(2)];
        let notice = AccountNotice::DayIncomplete { day: date(0), seen_until, next: date(2) };
        assert_eq!(customer.poll(&bank).1, if is_said { vec![notice] } else { vec![] });
        assert_eq!(customer.poll.day_ends_at(), Some(end_of(2)));
        assert_eq!(customer.poll(&bank).1, []);
    }
}

#[test]
fn after_the_end_of_a_day_its_cursor_is_asked_for_once_more() {
    let (mut customer, mut bank) = (Customer::new(PollOptions::new()), Bank::new(&[booked(1), booked(2)]));
    bank.page_size = 1;
    customer.now = end_of(0).saturating_sub(Duration::from_secs(2 * 3_600));
    assert_eq!(customer.poll(&bank).0.len(), 2);
    bank.rows.push(booked(3));
    customer.now = end_of(0);
    assert_eq!(customer.poll.cursor(customer.now).map(Cursor::as_str), Some("1"), "though a full walk is due");
    let (said, notices) = customer.poll(&bank);
    assert_eq!((said.len(), notices), (1, vec![]), "the day was seen to its end after all");
    assert_eq!(customer.poll.cursor(customer.now), None, "the full walk follows");
}

#[test]
fn in_the_last_five_minutes_of_a_day_no_full_walk_begins() {
    let (mut customer, mut bank) = (Customer::new(PollOptions::new()), Bank::new(&[booked(1), booked(2)]));
    bank.page_size = 1;
    customer.now = end_of(0).saturating_sub(Duration::from_secs(2 * 3_600));
    assert_eq!(customer.poll(&bank).0.len(), 2);
    for (before_the_end, full) in [(301, true), (300, false), (0, false)] {
        customer.restart(PollOptions::new());
        let now = end_of(0).saturating_sub(Duration::from_secs(before_the_end));
        assert_eq!(customer.poll.cursor(now).is_none(), full, "{before_the_end}");
    }
}

#[test]
fn the_day_of_a_report_ends_in_its_own_offset() {
    let day = |made: &str| {
        let xml = document_xml(&[]).replace("<CreDtTm>2021-07-29T17:10:05+10:00", &format!("<CreDtTm>{made}"));
        StatementDay::of(&Document::parse(xml).unwrap().document.reports[0])
    };
    let ends = |date: &str, at: &str| Some(StatementDay::new(date.parse().unwrap()).ends_at(at.parse().unwrap()));
    assert_eq!(day("2026-10-04T01:59:59+10:00"), ends("2026-10-04", "2026-10-04T14:00:00.000Z"));
    assert_eq!(day("2026-10-04T03:00:00+11:00"), ends("2026-10-04", "2026-10-04T13:00:00.000Z"));
    assert_eq!(day("2026-12-31T23:00:00-03:30"), ends("2026-12-31", "2027-01-01T03:30:00.000Z"));
    assert_eq!(day("2026-10-04T03:00:00"), Some(StatementDay::new("2026-10-04".parse().unwrap())), "no offset, no end");
}

#[test]
fn balances_and_entries_that_do_not_add_up_are_said_once_for_each_difference() {
    let gap = |cents: i64| vec![AccountNotice::BalanceGap { difference: Decimal::new(cents, 2).normalize() }];
    for opening in [Some(1_000), None] {
        let (mut customer, mut bank) =
            (Customer::thorough(), Bank::new(&[booked(50), booked(-20), booked(7).pending()]));
        (bank.opening, bank.closing) = (opening, Some(1_030));
        assert_eq!(customer.poll(&bank).1, []);
        bank.rows.push(booked(5));
        bank.closing = Some(1_035);
        assert_eq!(customer.poll(&bank).1, []);
        // A row of another account.
        bank.rows.push(booked(900));
        assert_eq!(customer.poll(&bank).1, [], "one walk is no evidence");
        customer.restart(thorough());
        assert_eq!(customer.poll(&bank).1, gap(-900));
        customer.restart(thorough());
        assert_eq!(customer.poll(&bank).1, [], "said once");
        bank.closing = Some(1_036);
        assert_eq!(customer.poll(&bank).1, []);
        assert_eq!(customer.poll(&bank).1, gap(-899));
        bank.closing = Some(1_935);
        assert_eq!(customer.poll(&bank).1, []);
        assert_eq!(customer.poll(&bank).1, [], "it adds up again");
        bank.closing = Some(1_036);
        assert_eq!(customer.poll(&bank).1, []);
        assert_eq!(customer.poll(&bank).1, gap(-899), "a second time");
        // Another day has its own balances.
        bank.rows.retain(|row| !row.booked);
        (bank.day, bank.opening, bank.closing) = (1, opening.map(|_| 5), Some(5));
        assert_eq!(customer.poll(&bank).1, []);
        assert_eq!(customer.poll(&bank).1, []);
    }
    // A balance that moves while the pages are fetched says nothing.
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(1), booked(2)]));
    (bank.opening, bank.page_size) = (Some(0), 1);
    let mut moving = bank;
    for _ in 0..3 {
        assert_eq!(customer.poll.cursor(customer.now), None);
        moving.closing = Some(900);
        let first = moving.page(None);
        let PageDecision::Commit(commit) = customer.poll.judge(&first, &[1], customer.now) else { panic!() };
        assert_eq!(customer.poll.committed(commit).unwrap(), PollStep::Fetch);
        moving.closing = Some(901);
        assert_eq!(customer.poll(&moving).1, []);
    }
    // Nor does one without booked balances.
    moving.closing = None;
    assert_eq!((customer.poll(&moving).1, customer.poll(&moving).1), (vec![], vec![]));
    // Nor do balances beside an entry in another currency.
    for (currency, said) in [("AUD", gap(895)), ("USD", vec![])] {
        let (mut report, mut entry) = (moving.template.0.clone(), booked(5).entry(&moving.template.1));
        entry.amount = Amount::new(entry.amount.value(), currency.parse().unwrap()).unwrap();
        report.entries = vec![entry];
        report.balances = vec![balance(BalanceCode::OpeningBooked, 0), balance(BalanceCode::InterimBooked, 900)];
        let page = Bank::new(&[]).page(None).stated(StatedAccount::of(&report));
        let mut poll = Customer::thorough().poll;
        let mut notices = Vec::new();
        for _ in 0..2 {
            let PageDecision::Commit(commit) = poll.judge(&page, &[], customer.now) else { panic!() };
            notices.extend(commit.notices().to_vec());
            assert_eq!(poll.committed(commit), Ok(PollStep::Complete { full: true }));
        }
        assert_eq!(notices, said, "{currency}");
    }
}

#[test]
fn another_currency_or_kind_of_account_is_said() {
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[]));
    let kind = |code: &str| Some(AccountType::Code(Text::new(code)));
    bank.template.0.account.kind = kind("CACC");
    assert_eq!(customer.poll(&bank).1, []);
    (bank.template.0.account.currency, bank.template.0.account.kind) = (None, None);
    assert_eq!(customer.poll(&bank).1, [], "what is left out did not change");
    let longest = "x".repeat(35);
    let mut long_customer = Customer::thorough();
    for (text, is_said) in [(format!("{longest}1"), false), (format!("{longest}2"), false), ("x".repeat(34), true)] {
        bank.template.0.account.kind = kind(&text);
        let changed = AccountNotice::KindChanged { from: longest.clone(), to: text };
        assert_eq!(long_customer.poll(&bank).1, if is_said { vec![changed] } else { vec![] });
    }
    bank.template.0.account.kind = kind("SVGS");
    let changed = AccountNotice::KindChanged { from: "CACC".to_owned(), to: "SVGS".to_owned() };
    assert_eq!(customer.poll(&bank).1, [changed]);
    bank.template.0.account.currency = Some(CurrencyCode::new("USD"));
    let changed = AccountNotice::CurrencyChanged { from: "AUD".to_owned(), to: "USD".to_owned() };
    customer.restart(PollOptions::new());
    assert_eq!(customer.poll(&bank).1, [changed]);
    assert_eq!(customer.poll(&bank).1, [], "said once");
}

#[test]
fn what_a_page_has_said_is_not_said_again_if_the_process_ends_within_a_full_walk() {
    let options = PollOptions::new().full_walk_every(Duration::ZERO);
    let pending = booked(100).named(1).pending();
    let (mut customer, mut bank) = (Customer::new(options), Bank::new(&[booked(1), pending]));
    assert_eq!(customer.poll(&bank).1, []);
    let seen_until = customer.now;
    customer.now = end_of(1);
    bank.template.0.account.currency = Some(CurrencyCode::new("USD"));
    (bank.day, bank.page_size, bank.rows) = (1, 1, vec![booked(100).named(1).on(1), booked(3).on(1)]);
    assert_eq!(customer.step(&bank), PollStep::Fetch);
    assert!(matches!(customer.said.last(), Some((_, EntryRelation::Replaces(_), _))));
    let changed = AccountNotice::CurrencyChanged { from: "AUD".to_owned(), to: "USD".to_owned() };
    let incomplete = AccountNotice::DayIncomplete { day: date(0), seen_until, next: date(1) };
    assert_eq!(customer.notices, [changed, incomplete]);
    customer.restart(options);
    for _ in 0..3 {
        assert_eq!(customer.poll(&bank).1, [], "nor has what was replaced vanished");
    }
}

#[test]
fn each_notice_and_relation_has_a_kind() {
    let (from, to) = (String::new(), String::new());
    let notices = [
        (AccountNotice::Vanished { id: [0; 32], booked: true }, "vanished"),
        (AccountNotice::AllVanished { count: 2 }, "all_vanished"),
        (AccountNotice::Reappeared { id: [0; 32] }, "reappeared"),
        (AccountNotice::BalanceGap { difference: Decimal::ONE }, "balance_gap"),
        (AccountNotice::DayIncomplete { day: date(0), seen_until: end_of(0), next: date(1) }, "day_incomplete"),
        (AccountNotice::CurrencyChanged { from: from.clone(), to: to.clone() }, "currency_changed"),
        (AccountNotice::KindChanged { from, to }, "kind_changed"),
    ];
    for (notice, kind) in &notices {
        assert_eq!(notice.kind(), *kind);
    }
    assert_eq!(AccountNotice::KINDS, notices.map(|(_, kind)| kind));
    for (relation, kind) in [
        (new(), "new"),
        (EntryRelation::New { may_replace: vec![[0; 32]] }, "may_replace"),
        (EntryRelation::Replaces([0; 32]), "replaced"),
        (EntryRelation::Returned { replaces: None }, "returned"),
        (EntryRelation::TextChanged, "text_changed"),
    ] {
        assert_eq!(relation.kind(), kind);
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
    let pending = AccountNotice::Vanished { id: pending, booked: false };
    assert_eq!((said, notices), (vec![], vec![pending, AccountNotice::AllVanished { count: 1_999 }]));
    // Vanished ones are kept in place of new ones.
    bank.rows = (0..50).map(|number| booked(9_000 + number)).collect();
    assert_eq!(customer.poll(&bank).0.len(), 50);
    bank.rows = rows[1..].to_vec();
    let reappeared = customer.poll(&bank).1;
    assert_eq!((reappeared.len(), reappeared[0].kind()), (1_999, "reappeared"));
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
fn of_several_pages_a_booked_entry_may_have_moved_to_one_that_was_fetched_before() {
    let booked_before = booked(100).named(1);
    let cases = [
        ("pending", booked_before.clone().pending(), 1_000, false, true),
        ("pending, two pages", booked_before.clone().pending(), 2, false, true),
        ("booked", booked_before.clone(), 1_000, false, true),
        ("booked, two pages", booked_before.clone(), 2, false, false),
        ("booked, two pages, and missing before", booked_before, 2, true, true),
    ];
    for (what, before, page_size, is_missing, is_replaced) in cases {
        let (mut customer, mut bank) = (Customer::thorough(), Bank::new(&[booked(1), booked(2), before.clone()]));
        bank.page_size = page_size;
        assert_eq!(customer.relations(&bank).len(), 3, "{what}");
        let id = customer.id(&before);
        bank.rows.pop();
        if is_missing {
            assert_eq!(customer.poll(&bank), (vec![], vec![]), "{what}");
        }
        bank.rows.push(booked(101).named(1));
        let may_replace = vec![id];
        let expected = if is_replaced { EntryRelation::Replaces(id) } else { EntryRelation::New { may_replace } };
        assert_eq!(customer.relations(&bank), [expected], "{what}");
    }
}

/// SplitMix64: small, evenly distributed and the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(bound).unwrap()).unwrap()
    }

    fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }
}

fn alone(bank: &Bank, at: usize) -> bool {
    let reference = bank.rows[at].reference;
    reference.is_none() || bank.rows.iter().filter(|row| row.reference == reference).count() == 1
}

/// Changes the statement as banks do: what is booked moves the balance along.
fn change(bank: &mut Bank, gone: &mut Vec<Row>, serial: &mut u32, random: &mut Random) {
    let some = (!bank.rows.is_empty()).then(|| random.below(bank.rows.len().max(1)));
    let invented = |serial: &mut u32, random: &mut Random| {
        *serial += 1;
        let mut row = booked([100, 100, -40, 7][random.below(4)]).on(bank.day);
        row.booked = random.percent(50);
        row.reference = random.percent(50).then_some(*serial);
        row.text = random.percent(70).then(|| u32::try_from(random.below(3)).unwrap());
        row
    };
    match (random.below(14), some) {
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
        // Of parts under one reference nothing says which has another text.
        (10, Some(at)) if alone(bank, at) => bank.rows[at].text = Some(3),
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
        _ => {}
    }
}

/// Ten days of an account. At the end of each the ledger is what the bank lists, with nothing twice and nothing lost.
fn live(seed: u64) {
    let mut random = Random(seed);
    let mut bank = Bank::new(&[]);
    let options = PollOptions::new();
    let mut customer = Customer::new(options);
    let (mut gone, mut serial) = (Vec::new(), 0);
    bank.page_size = [1_000, 1_000, 3, 5][random.below(4)];
    let states_opening = random.percent(50);
    for day in 0..10 {
        bank.day = day;
        // Pending entries stay, and entries that are not booked yet are known on the next day.
        bank.rows.retain(|row| !row.booked);
        gone.clear();
        let foreign = random.percent(20).then(|| random.below(8));
        let opening = i64::try_from(random.below(5_000)).unwrap();
        bank.opening = states_opening.then_some(opening);
        let (mut gaps, mut hidden, mut all_gone) = (Vec::new(), 0, false);
        for round in 0..8 + 3 {
            if round < 8 {
                for _ in 0..random.below(4) {
                    change(&mut bank, &mut gone, &mut serial, &mut random);
                }
                if random.percent(2) && day > 0 {
                    bank.rows.push(booked(5).on(day - 1).saying(u32::try_from(round).unwrap() + 10));
                }
            } else {
                customer.now = customer.now.saturating_add(Duration::from_secs(3_600));
            }
            if foreign == Some(round) && round > 0 {
                hidden = 13;
            }
            let sum: i64 = bank.rows.iter().filter(|row| row.booked).map(|row| row.amount).sum();
            bank.closing = Some(opening + sum + hidden);
            customer.now =
                customer.now.saturating_add(Duration::from_secs(u64::try_from(random.below(1_200)).unwrap()));
            if random.percent(10) {
                customer.restart(options);
            }
            let (said, notices) = customer.poll(&bank);
            for (row, relation, is_late) in said {
                let known = matches!(relation, EntryRelation::Returned { .. } | EntryRelation::TextChanged);
                assert!(!is_late || (row.day < day && !known), "seed {seed}, day {day}");
            }
            for notice in notices {
                match notice {
                    AccountNotice::BalanceGap { difference } => gaps.push(difference),
                    AccountNotice::AllVanished { .. } => all_gone = true,
                    AccountNotice::Vanished { .. }
                    | AccountNotice::Reappeared { .. }
                    | AccountNotice::DayIncomplete { .. } => {}
                    other => panic!("seed {seed}, day {day}: {other:?}"),
                }
            }
        }
        let expected = if hidden == 0 { vec![] } else { vec![Decimal::new(hidden, 2).normalize()] };
        assert_eq!(gaps, expected, "seed {seed}, day {day}");
        // What is listed is in the ledger, each once. What is there besides was booked: today and said to have vanished,
        // or on an earlier day.
        let mut listed: BTreeMap<&Row, usize> = BTreeMap::new();
        bank.rows.iter().for_each(|row| *listed.entry(row).or_default() += 1);
        let left = |of: &Row| customer.ledger.values().filter(|row| *row == of).count();
        for (row, count) in &listed {
            assert!(left(row) >= *count, "seed {seed}, day {day}: lost {row:?}");
        }
        for (id, row) in &customer.ledger {
            let is_listed = left(row) == listed.get(row).copied().unwrap_or(0);
            let is_said = row.booked && (row.day < day || customer.vanished.contains(id) || all_gone);
            let twin_is_said = || {
                customer.ledger.iter().any(|(other, its)| its == row && customer.vanished.contains(other)) && row.booked
            };
            assert!(is_listed || is_said || twin_is_said(), "seed {seed}, day {day}: too much {row:?}");
        }
    }
}

/// 1,000 days, or as many as `BANKRAIL_DAYS` says.
#[test]
fn over_many_invented_days_nothing_is_lost_twice_or_falsely_said() {
    let days: u64 = std::env::var("BANKRAIL_DAYS").map_or(1_000, |days| days.parse().unwrap());
    (0..days / 10).for_each(live);
}

#[test]
fn rows_of_yesterday_that_a_cursor_led_to_after_midnight_have_not_vanished() {
    let (mut customer, mut bank) = (Customer::new(PollOptions::new()), Bank::new(&[booked(1), booked(2)]));
    bank.page_size = 1;
    customer.now = end_of(0).saturating_sub(Duration::from_secs(3_600));
    assert_eq!(customer.poll(&bank).0.len(), 2);
    // The reports are of the next day, and the cursor's are still the entries of the old one.
    (bank.day, customer.now) = (1, end_of(0));
    bank.rows.push(booked(3));
    assert_eq!(customer.poll.cursor(customer.now).map(Cursor::as_str), Some("1"));
    let page = bank.page(Some(&Cursor::parse("1").unwrap()));
    let PageDecision::Commit(commit) = customer.poll.judge(&page, &[1], customer.now) else { panic!("a page") };
    assert_eq!(commit.notices(), [], "the day was seen to its end after all");
    customer.take(&commit, &bank.rows[1..]);
    assert_eq!(customer.poll.committed(commit).unwrap(), PollStep::Fetch);
    assert_eq!(customer.poll(&bank).0.len(), 1);
    bank.rows.clear();
    for _ in 0..3 {
        customer.now = customer.now.saturating_add(Duration::from_secs(3_600));
        assert_eq!(customer.poll(&bank).1, []);
    }
    assert_eq!(customer.ledger.len(), 3);
}

#[test]
fn parts_under_one_reference_that_come_to_stand_on_two_pages_have_not_vanished() {
    let part = booked(-250).named(1);
    let (mut customer, mut bank) =
        (Customer::thorough(), Bank::new(&[booked(1), part.clone(), part.clone().saying(1)]));
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
    let (mut customer, mut bank) = (Customer::thorough(), Bank::new(std::slice::from_ref(&pending)));
    assert_eq!(customer.relations(&bank), [new()]);
    let id = customer.id(&pending);
    // As a version that remembered nothing, or another process, left it.
    customer.position = None;
    customer.restart(thorough());
    assert_eq!(customer.relations(&bank), []);
    bank.rows = vec![booked(100).named(2).saying(1)];
    assert_eq!(customer.relations(&bank), [EntryRelation::Replaces(id)]);
}

#[test]
fn a_placeholder_is_no_reference() {
    let of = |reference: &str| {
        let xml = entry_xml("1.00", "<Dt>2026-03-01</Dt>", "", "", &format!("<AcctSvcrRef>{reference}</AcctSvcrRef>"));
        let entry = entry(xml);
        (EntryIdentity::of(&entry).has_reference, EntryLinks::of(&entry).reference.is_some())
    };
    for none in ["NONREF", "NotProvided", " nonref "] {
        assert_eq!(of(none), (false, false), "{none}");
    }
    assert_eq!(of("NONREF1"), (true, true));
}
