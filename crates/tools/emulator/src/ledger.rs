//! The accounts of the fake bank.

use crate::booking::{FakeBooking, FakeEntryId};
use bankrail_client_assertion::CustomerCode;
use bankrail_service::{
    Ledger, LedgerAnswer, LedgerEntry, LedgerPage, RegisteredAccount, StatementQuery,
};
use bankrail_statement::{AccountId, PagePosition, SortOrder};
use bankrail_values::{Currency, Date, Decimal, StoreFuture};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Accounts in memory, which can be filled while statements are served: the [`Ledger`] of a
/// [`FakeBank`](crate::FakeBank).
///
/// Each account belongs to one customer. A page position names the entry before the page, so
/// entries that are booked between two pages do not shift the pages.
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
    /// The entries in the order in which they are listed.
    entries: Vec<BookedEntry>,
}

#[derive(Debug)]
struct BookedEntry {
    id: u64,
    day: Date,
    amount: Decimal,
    entry: LedgerEntry,
}

impl FakeLedger {
    /// Returns a ledger without accounts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens an account, or replaces the account with this identifier by an empty one.
    pub fn open(&self, customer: &CustomerCode, account: &AccountId, facts: RegisteredAccount) {
        let opened = Account {
            customer: customer.clone(),
            facts,
            opening: Decimal::ZERO,
            entries: Vec::new(),
        };
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

    /// Books an entry on an account; `today` is the day of a booking without one.
    ///
    /// # Panics
    /// If there is no such account, the booking is in another currency, or its amount does not fit
    /// an entry.
    #[track_caller]
    pub fn book(&self, account: &AccountId, booking: &FakeBooking, today: Date) -> FakeEntryId {
        let mut accounts = self.lock();
        accounts.booked += 1;
        let id = accounts.booked;
        let found = find(&mut accounts.by_id, account);
        let entry = booked_entry(
            id,
            found.facts.currency,
            booking,
            booking.day.unwrap_or(today),
        );
        let at = if booking.first {
            found.first_of(entry.day)
        } else {
            found.entries.len()
        };
        found.entries.insert(at, entry);
        FakeEntryId(id)
    }

    /// Books an entry that was built by a provider's ledger.
    #[track_caller]
    pub(crate) fn book_entry(&self, account: &AccountId, entry: LedgerEntry, day: Date) {
        let mut accounts = self.lock();
        accounts.booked += 1;
        let id = accounts.booked;
        let amount = entry
            .entry
            .signed_amount()
            .expect("a booking has a direction");
        find(&mut accounts.by_id, account)
            .entries
            .push(BookedEntry {
                id,
                day,
                amount,
                entry,
            });
    }

    /// Replaces the content of a booked entry, like a bank that corrects the entry. A correction
    /// keeps the entry's reference and day unless it names others.
    ///
    /// # Panics
    /// If there is no such entry, the correction is in another currency, or its amount does not fit
    /// an entry.
    #[track_caller]
    pub fn correct(&self, booked: FakeEntryId, correction: &FakeBooking) {
        let mut accounts = self.lock();
        let (account, at) = accounts.place(booked);
        let day = correction.day.unwrap_or(at.day);
        *at = booked_entry(booked.0, account, correction, day);
    }

    /// Removes a booked entry, like a bank that withdraws the entry.
    ///
    /// # Panics
    /// If there is no such entry.
    #[track_caller]
    pub fn remove(&self, booked: FakeEntryId) {
        let mut accounts = self.lock();
        accounts.place(booked);
        for account in accounts.by_id.values_mut() {
            account.entries.retain(|entry| entry.id != booked.0);
        }
    }

    /// Lists the entries of an account in the opposite order from now on.
    ///
    /// # Panics
    /// If there is no such account.
    #[track_caller]
    pub fn reverse(&self, account: &AccountId) {
        find(&mut self.lock().by_id, account).entries.reverse();
    }

    fn lock(&self) -> MutexGuard<'_, Accounts> {
        // A mistake in a test panics while it holds the lock, but before anything is changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[track_caller]
fn find<'a>(
    accounts: &'a mut BTreeMap<AccountId, Account>,
    account: &AccountId,
) -> &'a mut Account {
    accounts
        .get_mut(account)
        .unwrap_or_else(|| panic!("the fake bank has no account {account}"))
}

#[track_caller]
fn booked_entry(id: u64, currency: Currency, booking: &FakeBooking, day: Date) -> BookedEntry {
    let amount = booking.amount();
    assert!(
        amount.currency() == currency,
        "expected a booking in {currency}, found one in {}",
        amount.currency()
    );
    let entry = booking.entry(day, &format!("FB{id:08}"));
    let entry = entry
        .unwrap_or_else(|error| panic!("a booking of {} {currency}: {error}", amount.amount()));
    BookedEntry {
        id,
        day,
        amount: amount.amount(),
        entry: LedgerEntry::new(entry, booking.channel()),
    }
}

impl Accounts {
    /// Returns a booked entry, and its account's currency.
    #[track_caller]
    fn place(&mut self, booked: FakeEntryId) -> (Currency, &mut BookedEntry) {
        let found = self.by_id.values_mut().find_map(|account| {
            let currency = account.facts.currency;
            account
                .entries
                .iter_mut()
                .find(|entry| entry.id == booked.0)
                .map(|entry| (currency, entry))
        });
        found.expect("the fake bank has booked this entry and not removed it")
    }
}

impl Account {
    fn first_of(&self, day: Date) -> usize {
        self.entries
            .iter()
            .position(|entry| entry.day == day)
            .unwrap_or(self.entries.len())
    }

    fn page(&self, query: &StatementQuery) -> LedgerAnswer {
        let mut entries: Vec<&BookedEntry> = self
            .entries
            .iter()
            .filter(|entry| entry.day == query.day)
            .collect();
        if query.sort_order == SortOrder::Backward {
            entries.reverse();
        }
        let after = |position: &PagePosition| {
            let sent = position.as_number()?;
            entries
                .iter()
                .position(|entry| entry.id == sent)
                .map(|at| at + 1)
        };
        let from = match &query.position {
            None => 0,
            Some(position) => match after(position) {
                Some(from) => from,
                None => return LedgerAnswer::UnknownPosition,
            },
        };
        let rest = entries.get(from..).unwrap_or_default();
        let sent = rest
            .get(..usize::from(query.max_entries.get()))
            .unwrap_or(rest);
        let balance = self.opening
            + self
                .entries
                .iter()
                .map(|entry| entry.amount)
                .sum::<Decimal>();
        let page = LedgerPage::new(self.facts.clone(), balance, query.day)
            .with_entries(sent.iter().map(|booked| booked.entry.clone()));
        match sent.last().filter(|_| sent.len() < rest.len()) {
            Some(last) => page.with_next(PagePosition::from_number(last.id)).into(),
            None => page.into(),
        }
    }
}

impl Ledger for FakeLedger {
    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        Box::pin(async move {
            let accounts = self.lock();
            let known = accounts
                .by_id
                .get(&query.account)
                .filter(|account| account.customer == query.customer);
            Ok(known.map_or(LedgerAnswer::UnknownAccount, |account| account.page(query)))
        })
    }
}
