//! The bank's ledger.

use crate::ReportDay;
use bankrail_camt052::{Entry, WrittenEntry};
use bankrail_client_assertion::CustomerCode;
use bankrail_statement::{
    AccountId, AccountKind, EntryChannel, MaxEntries, PagePosition, SortOrder,
};
use bankrail_values::{Currency, Date, Decimal, StoreError, StoreErrorKind, StoreFuture};
use std::fmt;

/// The bank's ledger. The suite of the feature `testing` checks the rules of this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no ledger",
    label = "not a `Ledger`",
    note = "pass `Arc::new(SqliteLedger::new(store))` of `bankrail_bank`, or implement `Ledger` over yours",
    note = "`ledger_suite` of the feature `testing` checks an implementation"
)]
pub trait Ledger: fmt::Debug + Send + Sync {
    /// Returns one page of an account's entries on [`StatementQuery::day`], with the balance. A
    /// ledger's own error is the cause of [`StoreError::retryable`] or [`StoreError::permanent`].
    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer>;

    /// Receives the source of the report day. [`Provider::new`](crate::Provider::new) calls this
    /// once, so that a ledger that also books can check the days of its bookings
    /// ([`ReportDay::check`]). The default does nothing.
    fn follow_report_day(&self, _day: &ReportDay) {}
}

/// The answer of a [`Ledger`] to a query.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LedgerAnswer {
    /// A page.
    Page(Box<LedgerPage>),
    /// The account does not exist, or is not registered for this customer's statements. Both cases
    /// are answered EC20001.
    UnknownAccount,
    /// The position does not name an entry of that day any more. The answer is EC42001, as for
    /// another customer's cursor.
    UnknownPosition,
}

impl From<LedgerPage> for LedgerAnswer {
    fn from(page: LedgerPage) -> Self {
        Self::Page(Box::new(page))
    }
}

/// A query of a [`Ledger`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatementQuery {
    /// The customer who requests the statement.
    pub customer: CustomerCode,
    /// The account.
    pub account: AccountId,
    /// The day of the entries: the day on which the first page was requested, so that all pages of
    /// a statement are of one day even if they are fetched around midnight. The day is one in the
    /// reports' time zone (Default: UTC;
    /// [`report_time_zone`](crate::ProviderOptions::report_time_zone)).
    pub day: Date,
    /// The position that the ledger returned as [`LedgerPage::next`] of the previous page; `None`
    /// for the first page.
    pub position: Option<PagePosition>,
    /// The maximum number of entries of the page.
    pub max_entries: MaxEntries,
    /// The order of the entries.
    pub sort_order: SortOrder,
}

impl StatementQuery {
    /// Creates the query of a first page of at most 1000 entries, least recent first.
    #[must_use]
    pub fn new(customer: CustomerCode, account: AccountId, day: Date) -> Self {
        let (max_entries, sort_order) = (MaxEntries::default(), SortOrder::default());
        Self {
            customer,
            account,
            day,
            position: None,
            max_entries,
            sort_order,
        }
    }
}

/// One page of an account's statement.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LedgerPage {
    /// The account.
    pub account: RegisteredAccount,
    /// The available balance, negative if the account is overdrawn.
    pub balance: Decimal,
    /// The day of the balance.
    pub balance_date: Date,
    /// The entries in the order of the query, at most as many as the query allows.
    pub entries: Vec<PageEntry>,
    /// The position after this page; `None` if there is no next page. A position should name an
    /// entry and not count entries, so that entries booked between two calls do not change the next
    /// page. The customer can read the position.
    pub next: Option<PagePosition>,
}

impl LedgerPage {
    /// Creates a last page without entries.
    #[must_use]
    pub fn new(account: RegisteredAccount, balance: Decimal, balance_date: Date) -> Self {
        Self {
            account,
            balance,
            balance_date,
            entries: Vec::new(),
            next: None,
        }
    }

    /// Returns the same page with these entries.
    #[must_use]
    pub fn with_entries<E: Into<PageEntry>>(
        mut self,
        entries: impl IntoIterator<Item = E>,
    ) -> Self {
        self.entries = entries.into_iter().map(E::into).collect();
        self
    }

    /// Reads each entry that is not a model yet, and returns all models.
    ///
    /// # Errors
    /// [`StoreError`] if the ledger returned a text that is no entry.
    pub fn read_entries(self) -> Result<Vec<LedgerEntry>, StoreError> {
        self.entries.into_iter().map(PageEntry::read).collect()
    }

    /// Returns the same page with a next page after this position.
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
    /// The currency.
    pub currency: Currency,
    /// The name, 1 to 70 characters, if statements show it (Default: `Acct/Nm`).
    pub name: Option<String>,
    /// The kind: with or without virtual accounts. With them, the statements have `sortOrder`, and
    /// `includeNarrative` decides on the creditor accounts of its credits.
    pub kind: AccountKind,
    /// `RptgSrc/Prtry`, 1 to 35 characters; `None` for
    /// [`ProviderOptions::reporting_source`](crate::ProviderOptions::reporting_source).
    pub reporting_source: Option<String>,
}

impl RegisteredAccount {
    /// Creates an account without name and without virtual accounts.
    #[must_use]
    pub fn new(currency: Currency) -> Self {
        Self {
            currency,
            name: None,
            kind: AccountKind::Ordinary,
            reporting_source: None,
        }
    }

    /// Returns the same account with a name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Returns the same account with its own reporting source.
    #[must_use]
    pub fn with_reporting_source(mut self, source: impl Into<String>) -> Self {
        self.reporting_source = Some(source.into());
        self
    }

    /// Returns the same account with virtual accounts.
    #[must_use]
    pub fn with_virtual_accounts(mut self) -> Self {
        self.kind = AccountKind::WithVirtualAccounts;
        self
    }
}

/// An entry with all its details and its channel. The service leaves out details that the customer
/// may not see.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LedgerEntry {
    /// The entry.
    pub entry: Entry,
    /// The channel of the entry's payment.
    pub channel: EntryChannel,
}

impl LedgerEntry {
    /// Creates an entry of this channel.
    #[must_use]
    pub fn new(entry: Entry, channel: EntryChannel) -> Self {
        Self { entry, channel }
    }
}

/// An entry of a page: its model, or the XML element that was written at its booking. Written
/// elements are sent without being read, as long as nothing in them is hidden from the customer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
#[allow(
    clippy::large_enum_variant,
    reason = "all entries of a page are alike, so that a box would save no memory"
)]
pub enum PageEntry {
    /// The entry as a model.
    Model(LedgerEntry),
    /// The entry as the XML that was written at its booking.
    Written {
        /// The XML element of the entry.
        entry: WrittenEntry,
        /// The channel of the entry's payment.
        channel: EntryChannel,
    },
}

impl PageEntry {
    /// Returns the model.
    ///
    /// # Errors
    /// [`StoreError`] if a written element is not an entry.
    pub fn read(self) -> Result<LedgerEntry, StoreError> {
        let broken = || {
            StoreError::new(
                StoreErrorKind::Corrupt,
                "expected the element Ntry, found another text",
            )
        };
        match self {
            Self::Model(entry) => Ok(entry),
            Self::Written { entry, channel } => {
                Ok(LedgerEntry::new(entry.read().ok_or_else(broken)?, channel))
            }
        }
    }

    /// Returns the element, if it was written.
    pub(crate) fn written(&self) -> Option<&WrittenEntry> {
        match self {
            Self::Model(_) => None,
            Self::Written { entry, .. } => Some(entry),
        }
    }
}

impl From<LedgerEntry> for PageEntry {
    fn from(entry: LedgerEntry) -> Self {
        Self::Model(entry)
    }
}
