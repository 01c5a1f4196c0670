//! The bank's ledger.

use bankrail_camt052::Entry;
use bankrail_client_assertion::CustomerCode;
use bankrail_statement::{AccountId, EntryChannel, MaxEntries, PagePosition, SortOrder};
use bankrail_values::{Currency, Date, Decimal, StoreFuture};
use std::fmt;

/// The bank's ledger.
pub trait Ledger: fmt::Debug + Send + Sync {
    /// One page of an account's entries of [`StatementQuery::day`], with the balance.
    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer>;
}

/// What a [`Ledger`] has for a query.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LedgerAnswer {
    /// A page.
    Page(Box<LedgerPage>),
    /// There is no such account, or it is not registered for statements of this customer. Both are answered with
    /// EC20001.
    UnknownAccount,
    /// The position names no entry of that day any more: answered with EC42001, like a cursor of somebody else's.
    UnknownPosition,
}

impl From<LedgerPage> for LedgerAnswer {
    fn from(page: LedgerPage) -> Self {
        Self::Page(Box::new(page))
    }
}

/// What a [`Ledger`] is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatementQuery {
    /// Who asks.
    pub customer: CustomerCode,
    /// Which account.
    pub account: AccountId,
    /// The day whose entries are asked for: where reports are dated (Default: UTC;
    /// [`report_offset_minutes`](crate::ProviderOptions::report_offset_minutes)), the day on which the first page was
    /// asked for, so that a statement whose pages are fetched around midnight stays one.
    pub day: Date,
    /// Where the page before this one ended, as the ledger said with that page; `None` for the first page.
    pub position: Option<PagePosition>,
    /// The most entries of the page.
    pub max_entries: MaxEntries,
    /// The order of the entries.
    pub sort_order: SortOrder,
}

/// One page of an account's statement.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LedgerPage {
    /// The account.
    pub account: RegisteredAccount,
    /// The available balance, negative when overdrawn.
    pub balance: Decimal,
    /// The day of the balance.
    pub balance_date: Date,
    /// The entries in the order asked for, at most as many as asked for.
    pub entries: Vec<LedgerEntry>,
    /// Where the next page starts; `None` if there is none. It should name an entry, not count entries: then no page is
    /// changed by what is booked between two calls. The customer can read it.
    pub next: Option<PagePosition>,
}

impl LedgerPage {
    /// A page without entries, which is the last.
    #[must_use]
    pub fn new(account: RegisteredAccount, balance: Decimal, balance_date: Date) -> Self {
        Self { account, balance, balance_date, entries: Vec::new(), next: None }
    }

    /// The same page with these entries.
    #[must_use]
    pub fn with_entries(mut self, entries: impl IntoIterator<Item = LedgerEntry>) -> Self {
        self.entries = entries.into_iter().collect();
        self
    }

    /// The same page with another one behind it.
    #[must_use]
    pub fn with_next(mut self, next: PagePosition) -> Self {
        self.next = Some(next);
        self
    }
}

/// An account that is registered for statements.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegisteredAccount {
    /// Its currency.
    pub currency: Currency,
    /// Its name, 1 to 70 characters, if it is to be shown (Default: `Acct/Nm`).
    pub name: Option<String>,
    /// Whether it has virtual accounts: their statements say `sortOrder`.
    pub has_virtual_accounts: bool,
    /// `RptgSrc/Prtry`, 1 to 35 characters; `None` for the provider's own.
    pub reporting_source: Option<String>,
}

impl RegisteredAccount {
    /// An account without name and without virtual accounts.
    #[must_use]
    pub fn new(currency: Currency) -> Self {
        Self { currency, name: None, has_virtual_accounts: false, reporting_source: None }
    }

    /// The same account with a name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The same account with virtual accounts.
    #[must_use]
    pub fn with_virtual_accounts(mut self) -> Self {
        self.has_virtual_accounts = true;
        self
    }
}

/// An entry and how it came, with everything that is known of it: what the customer is not to see is left out by the
/// service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LedgerEntry {
    /// The entry.
    pub entry: Entry,
    /// How it came.
    pub channel: EntryChannel,
}

impl LedgerEntry {
    /// An entry that came this way.
    #[must_use]
    pub fn new(entry: Entry, channel: EntryChannel) -> Self {
        Self { entry, channel }
    }
}
