//! A minimal bank, and a customer whose ledger follows the entries that are handed over.

use crate::support::{document_xml, entry, entry_xml};
use bankrail_camt052::{
    Amount, Balance, BalanceCode, BalanceType, BalanceTypeCode, DateOrDateTime, Direction,
    Document, Entry, EntryReader, EntryStatus, IsoDate, Party, ReadError, ReadOptions, Report,
    Text, TransactionParties,
};
use bankrail_statement::{
    AccountNotice, AccountPoll, Cursor, EntryIdentity, EntryKey, EntryLinks, EntryRelation,
    PageDecision, PollCommit, PollOptions, PollStep, PolledPage, ReceivedNextPage, StatedAccount,
    StatementDay,
};
use bankrail_values::{Date, Decimal, Timestamp};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

pub(super) use bankrail_statement::SeenEntryId as Id;

/// A minimal entry of the bank.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Row {
    /// The amount in cents, which is below zero for a debit.
    pub(super) amount: i64,
    pub(super) booked: bool,
    pub(super) reference: Option<u32>,
    /// The payer's text.
    pub(super) text: Option<u32>,
    /// The booking day.
    pub(super) day: i64,
    /// True if the entry has a value date.
    pub(super) valued: bool,
    /// The payer's name.
    pub(super) name: Option<u32>,
    /// True if the entry's amount is divided into two transactions.
    pub(super) broken_down: bool,
}

pub(super) const fn booked(amount: i64) -> Row {
    Row {
        amount,
        booked: true,
        reference: None,
        text: None,
        day: 0,
        valued: false,
        name: None,
        broken_down: false,
    }
}

impl Row {
    pub(super) fn pending(mut self) -> Self {
        self.booked = false;
        self
    }

    pub(super) fn named(mut self, reference: u32) -> Self {
        self.reference = Some(reference);
        self
    }

    pub(super) fn saying(mut self, text: u32) -> Self {
        self.text = Some(text);
        self
    }

    pub(super) fn valued(mut self) -> Self {
        self.valued = true;
        self
    }

    pub(super) fn by(mut self, name: u32) -> Self {
        self.name = Some(name);
        self
    }

    pub(super) fn broken_down(mut self) -> Self {
        self.broken_down = true;
        self
    }

    /// Returns true if the bank may later list this row as `other`: with more parts, and without
    /// changed ones.
    pub(super) fn can_become(&self, other: &Self) -> bool {
        let agree =
            |own: Option<u32>, other: Option<u32>| own.is_none() || other.is_none() || own == other;
        self.reference.is_none()
            && (self.amount, self.booked, self.day) == (other.amount, other.booked, other.day)
            && agree(self.text, other.text)
            && agree(self.name, other.name)
            && self != other
    }

    pub(super) fn on(mut self, day: i64) -> Self {
        self.day = day;
        self
    }

    pub(super) fn entry(&self, template: &Entry) -> Entry {
        let mut entry = template.clone();
        (entry.amount, entry.direction) = money(self.amount);
        entry.status = if self.booked {
            EntryStatus::BOOKED
        } else {
            EntryStatus::PENDING
        };
        entry.servicer_reference = self
            .reference
            .map(|number| Text::new(&format!("R{number}")));
        let day = date(self.day).to_time();
        entry.booking_date =
            IsoDate::new(day.year(), day.month().into(), day.day()).map(DateOrDateTime::Date);
        entry.value_date = entry.booking_date.clone().filter(|_| self.valued);
        let transaction = &mut entry.details[0].transactions[0];
        transaction.amount = Some(entry.amount.clone());
        if let Some(name) = self.name {
            let mut party = Party::default();
            party.name = Some(Text::new(&format!("name {name}")));
            let mut parties = TransactionParties::default();
            parties.debtor = Some(Box::new(party.into()));
            transaction.parties = Some(Box::new(parties));
        }
        if self.broken_down {
            let mut half = transaction.clone();
            half.amount = Some(money(self.amount / 2).0);
            transaction.amount = Some(money(self.amount - self.amount / 2).0);
            half.parties = None;
            half.remittance = None;
            entry.details[0].transactions.push(half);
        }
        entry.details[0].transactions[0]
            .remittance
            .as_mut()
            .unwrap()
            .unstructured = self
            .text
            .iter()
            .map(|text| Text::new(&format!("text {text}")))
            .collect();
        entry
    }
}

pub(super) fn date(day: i64) -> Date {
    Date::from_time("2026-03-01".parse::<Date>().unwrap().to_time() + time::Duration::days(day))
        .unwrap()
}

/// Returns the midnight at the end of a day, eleven hours before that of UTC.
pub(super) fn end_of(day: i64) -> Timestamp {
    Timestamp::from_time((date(day).to_time().midnight() + time::Duration::hours(13)).assume_utc())
        .unwrap()
}

pub(super) fn money(cents: i64) -> (Amount, Direction) {
    let amount = Amount::new(Decimal::new(cents.abs(), 2), "AUD".parse().unwrap()).unwrap();
    (
        amount,
        if cents < 0 {
            Direction::Debit
        } else {
            Direction::Credit
        },
    )
}

pub(super) fn balance(kind: BalanceCode, cents: i64) -> Balance {
    let (amount, direction) = money(cents);
    Balance::new(
        BalanceType::new(BalanceTypeCode::Code(kind)),
        amount,
        direction,
    )
}

/// Returns the error of reading a row with an invalid amount.
fn unreadable(row: &Row) -> ReadError {
    let xml = document_xml(&[format!("<Ntry><Amt Ccy=\"AUD\">NaN</Amt>{row:?}</Ntry>")]);
    EntryReader::new(xml.as_bytes(), ReadOptions::default())
        .find_map(Result::err)
        .unwrap()
}

/// A bank: the statement of a day, page by page.
pub(super) struct Bank {
    pub(super) rows: Vec<Row>,
    pub(super) page_size: usize,
    /// The indexes of the rows that cannot be read.
    pub(super) unread: BTreeSet<usize>,
    pub(super) day: i64,
    /// The opening balance in cents, if the bank states one.
    pub(super) opening: Option<i64>,
    pub(super) closing: Option<i64>,
    pub(super) template: (Report, Entry),
    /// A cache of computed entries, because there are many days.
    pub(super) known: RefCell<HashMap<Row, (Entry, EntryIdentity, EntryLinks)>>,
}

impl Bank {
    pub(super) fn new(rows: &[Row]) -> Self {
        let report = Document::parse(document_xml(&[]))
            .unwrap()
            .document
            .reports
            .remove(0);
        let entry = entry(entry_xml(
            "1.00",
            "<Dt>2026-03-01</Dt>",
            "",
            "<RmtInf><Ustrd>x</Ustrd></RmtInf>",
            "",
        ));
        let template = (report, entry);
        Self {
            rows: rows.to_vec(),
            page_size: 1_000,
            unread: BTreeSet::new(),
            day: 0,
            opening: None,
            closing: None,
            template,
            known: RefCell::default(),
        }
    }

    pub(super) fn page(&self, cursor: Option<&Cursor>) -> PolledPage {
        let from: usize = cursor.map_or(0, |cursor| cursor.as_str().parse().unwrap());
        let end = (from + self.page_size).min(self.rows.len());
        let page = if end < self.rows.len() {
            ReceivedNextPage::At {
                cursor: Cursor::parse(&end.to_string()).unwrap(),
            }
        } else {
            ReceivedNextPage::None
        };
        let mut report = self.template.0.clone();
        let place = |index: &usize| self.rows.get(*index).map(|row| (*index, row));
        let (unread, listed): (Vec<_>, Vec<_>) = (from..end)
            .filter_map(|index| place(&index))
            .partition(|(index, _)| self.unread.contains(index));
        let unread: Vec<ReadError> = unread.iter().map(|(_, row)| unreadable(row)).collect();
        let mut known = self.known.borrow_mut();
        let of = |row: &Row| {
            let entry = row.entry(&self.template.1);
            let (identity, links) = (EntryIdentity::of(&entry), EntryLinks::of(&entry));
            (entry, identity, links)
        };
        let listed: Vec<_> = listed
            .iter()
            .map(|(_, row)| {
                known
                    .entry((*row).clone())
                    .or_insert_with(|| of(row))
                    .clone()
            })
            .collect();
        report.entries = listed.iter().map(|(entry, ..)| entry.clone()).collect();
        let balances = [
            (BalanceCode::OpeningBooked, self.opening),
            (BalanceCode::InterimBooked, self.closing),
            (BalanceCode::InterimAvailable, Some(7)),
        ];
        report.balances = balances
            .into_iter()
            .filter_map(|(kind, cents)| Some(balance(kind, cents?)))
            .collect();
        let day = StatementDay::new(date(self.day)).ends_at(end_of(self.day));
        PolledPage::new(
            page,
            listed
                .iter()
                .map(|(_, identity, _)| identity.clone())
                .collect(),
        )
        .links(listed.iter().map(|(.., links)| *links).collect())
        .day(Some(day))
        .stated(StatedAccount::of(&report))
        .unread(&unread)
    }

    /// Returns the rows that can be read, from an index on.
    fn readable(&self, from: usize) -> Vec<Row> {
        let rows = self.rows.iter().enumerate().skip(from);
        rows.filter(|(index, _)| !self.unread.contains(index))
            .map(|(_, row)| row.clone())
            .collect()
    }
}

/// A customer with a store, and a ledger that follows the entries that are handed over.
pub(super) struct Customer {
    pub(super) poll: AccountPoll,
    pub(super) position: Option<String>,
    pub(super) counts: HashMap<EntryKey, u32>,
    pub(super) ledger: BTreeMap<Id, Row>,
    pub(super) vanished: BTreeSet<Id>,
    pub(super) notices: Vec<AccountNotice>,
    /// The rows that were handed over, with their relations and the late mark.
    pub(super) said: Vec<(Row, EntryRelation, bool)>,
    /// The ids of `said`, and the rows that these have replaced.
    pub(super) ids: Vec<Id>,
    pub(super) replaced: BTreeMap<Id, Row>,
    /// True if the last poll ended with a full walk.
    pub(super) full: bool,
    pub(super) now: Timestamp,
}

impl Customer {
    pub(super) fn new(options: PollOptions) -> Self {
        Self {
            poll: AccountPoll::new(None, options),
            position: None,
            counts: HashMap::new(),
            ledger: BTreeMap::new(),
            vanished: BTreeSet::new(),
            notices: Vec::new(),
            said: Vec::new(),
            ids: Vec::new(),
            replaced: BTreeMap::new(),
            full: false,
            now: "2026-03-01T00:00:00.000Z".parse().unwrap(),
        }
    }

    /// Makes a customer with full walks only.
    pub(super) fn thorough() -> Self {
        Self::new(thorough())
    }

    pub(super) fn restart(&mut self, options: PollOptions) {
        self.poll = AccountPoll::new(self.position.as_deref(), options);
        assert!(!self.poll.is_position_unreadable());
    }

    /// Polls once, and returns the relations and notices.
    pub(super) fn poll(
        &mut self,
        bank: &Bank,
    ) -> (Vec<(Row, EntryRelation, bool)>, Vec<AccountNotice>) {
        (self.said, self.notices) = (Vec::new(), Vec::new());
        (self.ids, self.replaced) = (Vec::new(), BTreeMap::new());
        let mut steps = (0..200).map(|_| self.step(bank));
        let end = steps.find(|step| *step != PollStep::Fetch);
        self.full = end.expect("the poll ends") == PollStep::Complete { full: true };
        (self.said.clone(), self.notices.clone())
    }

    /// Fetches and commits the next page.
    pub(super) fn step(&mut self, bank: &Bank) -> PollStep {
        let from = self.poll.cursor(self.now).cloned();
        let page = bank.page(from.as_ref());
        let known: Vec<u32> = page
            .keys()
            .iter()
            .map(|key| self.counts.get(key).copied().unwrap_or(0))
            .collect();
        let PageDecision::Commit(commit) = self.poll.judge(&page, &known, self.now) else {
            return PollStep::Fetch;
        };
        let first: usize = from.map_or(0, |cursor| cursor.as_str().parse().unwrap());
        self.take(&commit, &bank.readable(first));
        self.poll.committed(commit).unwrap()
    }

    /// Commits the page in one transaction.
    pub(super) fn take(&mut self, commit: &PollCommit, listed: &[Row]) {
        for handed in commit.handed_over() {
            let (row, id) = (&listed[handed.index], handed.entry.id());
            match handed.relation {
                EntryRelation::Replaces(earlier)
                | EntryRelation::Returned {
                    replaces: Some(earlier),
                } => {
                    let gone = self.ledger.remove(earlier);
                    assert!(gone.is_some() || self.vanished.contains(earlier), "{row:?}");
                    self.replaced.extend(gone.map(|gone| (id, gone)));
                }
                EntryRelation::TextChanged => assert!(self.ledger.remove(&id).is_some(), "{row:?}"),
                _ => {}
            }
            assert_eq!(
                self.ledger.insert(id, row.clone()),
                None,
                "handed over twice: {row:?}"
            );
            self.ids.push(id);
            self.said
                .push((row.clone(), handed.relation.clone(), handed.late));
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
        if let Some(position) = commit.position().after {
            self.position = Some(position.to_owned());
            assert!(position.len() < 1 << 20);
        }
    }

    /// Polls once, and returns the relations.
    pub(super) fn relations(&mut self, bank: &Bank) -> Vec<EntryRelation> {
        self.poll(bank)
            .0
            .into_iter()
            .map(|(_, relation, _)| relation)
            .collect()
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.ledger.values().cloned().collect();
        rows.sort_unstable();
        rows
    }

    pub(super) fn id(&self, row: &Row) -> Id {
        *self
            .ledger
            .iter()
            .find(|(_, known)| *known == row)
            .unwrap()
            .0
    }
}

/// Returns options with full walks only, and without notices about the end of days.
pub(super) fn thorough() -> PollOptions {
    PollOptions::new()
        .full_walk_every(Duration::ZERO)
        .unseen(Duration::MAX)
}

pub(super) fn new() -> EntryRelation {
    EntryRelation::New {
        may_replace: Vec::new(),
    }
}
