//! The accounts of the fake bank.

use crate::booking::{Booked, Booking};
use bankrail_camt052::Entry;
use bankrail_client_assertion::CustomerCode;
use bankrail_service::{Ledger, LedgerAnswer, LedgerEntry, LedgerPage, RegisteredAccount, StatementQuery};
use bankrail_statement::{AccountId, EntryChannel, PagePosition, SortOrder, strip_narrative};
use bankrail_values::{Currency, Date, Decimal, StoreFuture};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

tokio::task_local! {
    /// The narrative that the call in progress shows against what it asks for.
    pub(crate) static WRONG_NARRATIVE: WrongNarrative;
}

/// How the narrative of a call is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrongNarrative {
    Hidden,
    Shown,
}

/// Accounts in memory, to be filled while they are asked for: the [`Ledger`] of a [`FakeBank`](crate::FakeBank).
///
/// Each account belongs to one customer. A page position names the entry before it, so entries that are booked between
/// two pages move nothing.
#[derive(Debug, Default)]
pub struct FakeLedger(Mutex<Accounts>);

#[derive(Debug, Default)]
struct Accounts {
    by_id: BTreeMap<AccountId, Account>,
    booked: u64,
}

#[derive(Debug)]
struct Account {
    customer: CustomerCode,
    facts: RegisteredAccount,
    opening: Decimal,
    /// In the order in which they are listed.
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    id: u64,
    day: Date,
    amount: Decimal,
    entry: Entry,
    channel: EntryChannel,
}

impl FakeLedger {
    /// No accounts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens an account, or replaces the one with this identifier by an empty one.
    pub fn open(&self, customer: &CustomerCode, account: &AccountId, facts: RegisteredAccount) {
        let opened = Account { customer: customer.clone(), facts, opening: Decimal::ZERO, lines: Vec::new() };
        self.lock().by_id.insert(account.clone(), opened);
    }

    /// Sets the balance that an account had before its first entry. Default: zero.
    ///
    /// # Panics
    /// If there is no such account.
    #[track_caller]
    pub fn set_opening_balance(&self, account: &AccountId, balance: Decimal) {
        find(&mut self.lock().by_id, account).opening = balance;
    }

    /// Books an entry on an account; `today` is the day of a booking that names none.
    ///
    /// # Panics
    /// If there is no such account, the booking is in another currency, or its amount does not fit an entry.
    #[track_caller]
    pub fn book(&self, account: &AccountId, booking: &Booking, today: Date) -> Booked {
        let mut accounts = self.lock();
        accounts.booked += 1;
        let id = accounts.booked;
        let found = find(&mut accounts.by_id, account);
        let line = line(id, found.facts.currency, booking, booking.day.unwrap_or(today));
        let at = if booking.first { found.first_of(line.day) } else { found.lines.len() };
        found.lines.insert(at, line);
        Booked(id)
    }

    /// Books an entry as a provider's own ledger makes it.
    #[track_caller]
    pub(crate) fn book_entry(&self, account: &AccountId, entry: LedgerEntry, day: Date) {
        let mut accounts = self.lock();
        accounts.booked += 1;
        let id = accounts.booked;
        let amount = entry.entry.signed_amount().expect("a booking has a direction");
        let LedgerEntry { entry, channel, .. } = entry;
        find(&mut accounts.by_id, account).lines.push(Line { id, day, amount, entry, channel });
    }

    /// Puts another content in the place of a booked entry, as a bank does that corrects it. A correction that names no
    /// reference keeps the entry's own, and it keeps its day unless it names another one.
    ///
    /// # Panics
    /// If there is no such entry, the correction is in another currency, or its amount does not fit an entry.
    #[track_caller]
    pub fn correct(&self, booked: Booked, correction: &Booking) {
        let mut accounts = self.lock();
        let (account, at) = accounts.place(booked);
        let day = correction.day.unwrap_or(at.day);
        *at = line(booked.0, account, correction, day);
    }

    /// Removes a booked entry, as a bank does that withdraws it.
    ///
    /// # Panics
    /// If there is no such entry.
    #[track_caller]
    pub fn remove(&self, booked: Booked) {
        let mut accounts = self.lock();
        accounts.place(booked);
        for account in accounts.by_id.values_mut() {
            account.lines.retain(|line| line.id != booked.0);
        }
    }

    /// Lists the entries of an account in the opposite order from now on.
    ///
    /// # Panics
    /// If there is no such account.
    #[track_caller]
    pub fn reverse(&self, account: &AccountId) {
        find(&mut self.lock().by_id, account).lines.reverse();
    }

    fn lock(&self) -> MutexGuard<'_, Accounts> {
        // A mistake of a test panics while it holds the lock, before anything is changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[track_caller]
fn find<'a>(accounts: &'a mut BTreeMap<AccountId, Account>, account: &AccountId) -> &'a mut Account {
    accounts.get_mut(account).unwrap_or_else(|| panic!("the fake bank has no account {account}"))
}

#[track_caller]
fn line(id: u64, currency: Currency, booking: &Booking, day: Date) -> Line {
    let amount = booking.amount();
    assert!(amount.currency() == currency, "expected a booking in {currency}, found one in {}", amount.currency());
    let entry = booking.entry(day, &format!("FB{id:08}"));
    let entry = entry.unwrap_or_else(|error| panic!("a booking of {} {currency}: {error}", amount.amount()));
    Line { id, day, amount: amount.amount(), entry, channel: booking.channel() }
}

impl Accounts {
    /// The line of a booked entry, and its account's currency.
    #[track_caller]
    fn place(&mut self, booked: Booked) -> (Currency, &mut Line) {
        let found = self.by_id.values_mut().find_map(|account| {
            let currency = account.facts.currency;
            account.lines.iter_mut().find(|line| line.id == booked.0).map(|line| (currency, line))
        });
        found.expect("the fake bank has booked this entry and not removed it")
    }
}

impl Account {
    fn first_of(&self, day: Date) -> usize {
        self.lines.iter().position(|line| line.day == day).unwrap_or(self.lines.len())
    }

    fn page(&self, query: &StatementQuery) -> LedgerAnswer {
        let mut lines: Vec<&Line> = self.lines.iter().filter(|line| line.day == query.day).collect();
        if query.sort_order == SortOrder::Backward {
            lines.reverse();
        }
        let after = |position: &PagePosition| {
            let sent = position.as_number()?;
            lines.iter().position(|line| line.id == sent).map(|at| at + 1)
        };
        let from = match &query.position {
            None => 0,
            Some(position) => match after(position) {
                Some(from) => from,
                None => return LedgerAnswer::UnknownPosition,
            },
        };
        let rest = lines.get(from..).unwrap_or_default();
        let sent = rest.get(..usize::from(query.max_entries.get())).unwrap_or(rest);
        let balance = self.opening + self.lines.iter().map(|line| line.amount).sum::<Decimal>();
        let page = LedgerPage::new(self.facts.clone(), balance, query.day).with_entries(sent.iter().map(|l| l.shown()));
        match sent.last().filter(|_| sent.len() < rest.len()) {
            Some(last) => page.with_next(PagePosition::from_number(last.id)).into(),
            None => page.into(),
        }
    }
}

impl Line {
    /// The entry for the provider, which hides what the customer may not see; after a fault, it hides the opposite.
    fn shown(&self) -> LedgerEntry {
        let mut entry = self.entry.clone();
        let mut channel = self.channel;
        match WRONG_NARRATIVE.try_with(|wrong| *wrong) {
            // What the provider takes for an ordinary entry keeps its narrative.
            Ok(WrongNarrative::Shown) => channel = EntryChannel::Ordinary,
            Ok(WrongNarrative::Hidden) if channel == EntryChannel::FastPayment => strip_narrative(&mut entry),
            Ok(WrongNarrative::Hidden) | Err(_) => {}
        }
        LedgerEntry::new(entry, channel)
    }
}

impl Ledger for FakeLedger {
    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        Box::pin(async move {
            let accounts = self.lock();
            let known = accounts.by_id.get(&query.account).filter(|account| account.customer == query.customer);
            Ok(known.map_or(LedgerAnswer::UnknownAccount, |account| account.page(query)))
        })
    }
}
