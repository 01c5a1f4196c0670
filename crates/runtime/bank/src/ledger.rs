//! The ledger in a store: SQLite or PostgreSQL.

mod account;
mod book;
mod error;
mod forget;
mod load;
mod page;
mod stored;

pub use book::Booked;
pub use error::{AccountError, BookError, ForgetError, RegisterError};
pub use load::{LoadError, Loaded, RowError};

use super::Booking;
use crate::customers::{AccountRegistrar, AccountsOfCustomer};
use crate::sql::Engine;
#[cfg(feature = "sqlite")]
use crate::sql::whole;
use bankrail_client_assertion::CustomerCode;
use bankrail_service::{
    Ledger, LedgerAnswer, LedgerEntry, PageEntry, RegisteredAccount, ReportDay, StatementQuery,
};
use bankrail_statement::AccountId;
use bankrail_stores::corrupt;
#[cfg(feature = "postgres")]
use bankrail_stores::postgres::{InTransaction, PostgresStore};
#[cfg(feature = "sqlite")]
use bankrail_stores::sqlite::{SqliteStore, Transaction};
use bankrail_values::{
    Clock as _, Date, Money, StoreError, StoreErrorKind, StoreFuture, SystemClock,
};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A [`Ledger`] in an SQLite file, with the other records of a [`SqliteStore`].
#[cfg(feature = "sqlite")]
pub type SqliteLedger = SqlLedger<SqliteStore>;

/// A [`Ledger`] in PostgreSQL, with the other records of a [`PostgresStore`], for instances on
/// several machines.
#[cfg(feature = "postgres")]
pub type PostgresLedger = SqlLedger<PostgresStore>;

/// A [`Ledger`] in a store, as [`SqliteLedger`] and `PostgresLedger`: accounts, the customers that
/// may request their statements, balances and booked entries.
///
/// - An account has one balance. Each entry changes the balance in the step that books the entry.
///   A balance may fall below zero. Amounts are exact decimals.
/// - An entry is stored in the message's form, with all its details, so that statements show it
///   unchanged.
/// - The entries of a day are listed in the order in which they were booked. A page position is the
///   number of an entry in its account, so that entries that are booked between two pages neither
///   repeat nor hide others.
/// - The cost of a page does not depend on the size of the account. A page ends after 4 MiB of
///   entries, or where its sums would have more digits than the message can carry; the next page
///   begins there.
/// - A statement shows the entries of one day, in the time zone of the provider's reports. Book
///   on [`Provider::today`](bankrail_service::Provider::today): in the time zone `Australia/Sydney`
///   the UTC day differs for ten or eleven hours a day. Once a provider is made over the ledger or
///   a clone of it, a booking of another day causes a warning, or is refused
///   ([`booking_day_policy`](bankrail_service::ProviderOptions::booking_day_policy)).
/// - [`SqlLedger::register`] sets the accounts whose statements a customer may request.
/// - In PostgreSQL a booking waits for other transactions that book on the same account. So
///   entries become visible in the order of their numbers, and a page shows one state of the
///   database. Book on several accounts in the order of their identifiers: of two transactions that
///   wait for each other, the server ends one with an error.
///
#[cfg_attr(feature = "sqlite", doc = "```")]
#[cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use bankrail_bank::{Booked, Booking, BookingKind, SqliteLedger};
/// use bankrail_service::RegisteredAccount;
/// use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
/// use bankrail_values::{Currency, Date};
///
/// let ledger = SqliteLedger::new(SqliteStore::open_in_memory(SqliteOptions::new())?);
/// let account = "999001400100101".parse()?;
/// ledger.open_account(&account, "12000.00 AUD".parse()?).await?;
/// let registered = (account.clone(), RegisteredAccount::new(Currency::AUD));
/// ledger.register(&"ACME".parse()?, vec![registered]).await?;
///
/// let today = Date::parse("2021-07-29")?;
/// let paid = Booking::new(BookingKind::FastPaymentIn, "1250.00 AUD".parse()?, today)
///     .reference("FP0001");
/// assert_eq!(ledger.book(&account, &paid).await?, Booked::New(1));
/// assert_eq!(ledger.book(&account, &paid).await?, Booked::Known(1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SqlLedger<S> {
    store: S,
    /// The day of the reports of the first provider over this ledger.
    report_day: Arc<OnceLock<ReportDay>>,
}

impl<S> SqlLedger<S> {
    /// Creates the ledger in this store.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self {
            store,
            report_day: Arc::default(),
        }
    }

    fn follow(&self, day: &ReportDay) {
        // The day of the first provider stays.
        let _ = self.report_day.set(day.clone());
    }
}

impl<S: Engine> SqlLedger<S> {
    /// Opens an account with its opening balance, which may be negative. Returns false if the
    /// account exists already; its balance then stays.
    ///
    /// # Errors
    /// [`AccountError`]: another currency than the account has, a currency that ISO 4217 does not
    /// list, a balance with more digits than a statement can carry, or a failure of the store.
    pub async fn open_account(
        &self,
        account: &AccountId,
        opening: Money,
    ) -> Result<bool, AccountError> {
        let account = account.clone();
        self.store
            .write(async move |connection| account::open(connection, &account, opening).await)
            .await
    }

    /// Returns the balance of an account; `None` without such an account.
    ///
    /// # Errors
    /// [`StoreError`] if the store fails.
    pub async fn balance(&self, account: &AccountId) -> Result<Option<Money>, StoreError> {
        let account = account.clone();
        let find = async move |connection: &S::Connection<'_>| {
            let found = account::find(connection, &account).await?;
            Ok(found.map(|found| Money::new(found.balance, found.currency)))
        };
        self.store.read(find).await
    }

    /// Deletes the entries of days before `day`, and returns their number. Balances and the numbers
    /// of entries stay.
    ///
    /// - Keep a day as long as a statement of it is read page by page, and as long as one of its
    ///   bookings may be repeated, because the key is deleted with the entry. A page position of a
    ///   deleted day names no entry any more ([`LedgerAnswer::UnknownPosition`], which is answered
    ///   EC42001). A booking on one of these days is refused if the account had entries that were
    ///   deleted ([`BookError::Forgotten`]).
    /// - The days of an account vanish at once; then its entries are deleted, 500 in each
    ///   transaction, so that other transactions do not wait for long. The next call deletes
    ///   entries that a failure has left.
    ///
    /// # Errors
    /// [`ForgetError`]; for a future day nothing is changed.
    pub async fn forget_before(&self, day: Date) -> Result<u64, ForgetError> {
        // Tomorrow by UTC is already today in time zones of the east.
        let latest = SystemClock
            .now()
            .saturating_add(Duration::from_secs(86_400))
            .date();
        if day > latest {
            return Err(ForgetError::Future { latest, found: day });
        }
        Ok(forget::before(&self.store, day).await?)
    }

    /// Replaces the accounts whose statements a customer may request. An account that the ledger
    /// does not have is opened with a balance of zero. An account that is no longer registered
    /// keeps its balance and its entries.
    ///
    /// # Errors
    /// [`RegisterError`], after which nothing is changed.
    pub async fn register(
        &self,
        customer: &CustomerCode,
        accounts: Vec<(AccountId, RegisteredAccount)>,
    ) -> Result<(), RegisterError> {
        let customer = customer.clone();
        let register = async move |connection: &S::Connection<'_>| {
            account::register(connection, &customer, &accounts).await
        };
        self.store.write_long(register).await
    }

    /// Books an event on an account: adds the entry and changes the balance.
    ///
    /// A booking whose [key](Booking::idempotency_key) the account has already changes nothing, even
    /// on another day, and returns [`Booked::Known`]. A booking without a key is always new.
    ///
    /// # Errors
    /// [`BookError`], after which nothing is changed.
    pub async fn book(&self, account: &AccountId, booking: &Booking) -> Result<Booked, BookError> {
        self.book_entry(account, &booking.to_entry()?, booking.idempotency_key())
            .await
    }

    /// Books an entry with all its details. The entry must be booked (`Sts`), have a booking day,
    /// and be one that a statement can carry.
    ///
    /// `key` has 1 to 128 characters and is unique in the account; an entry without one is always
    /// new.
    ///
    /// # Errors
    /// [`BookError`], after which nothing is changed.
    pub async fn book_entry(
        &self,
        account: &AccountId,
        entry: &LedgerEntry,
        key: Option<&str>,
    ) -> Result<Booked, BookError> {
        let (account, entry, key) = (account.clone(), entry.clone(), key.map(str::to_owned));
        let report_day = Arc::clone(&self.report_day);
        let book = async move |connection: &S::Connection<'_>| {
            book::book(
                connection,
                &account,
                &entry,
                key.as_deref(),
                report_day.get(),
            )
            .await
        };
        self.store.write(book).await
    }
}

impl<S: Engine> SqlLedger<S> {
    async fn register_customers(
        &self,
        customers: Vec<AccountsOfCustomer>,
    ) -> Result<(), StoreError> {
        let register = async move |connection: &S::Connection<'_>| {
            for (customer, accounts) in &customers {
                account::register(connection, customer, accounts).await?;
            }
            Ok(())
        };
        let registered = self.store.write_long(register).await;
        registered.map_err(|error| match error {
            RegisterError::Store(error) => error,
            // A wrong list stays wrong, and a conflict is not tried again.
            wrong => StoreError::new(StoreErrorKind::Conflict, wrong),
        })
    }

    async fn page(&self, query: StatementQuery) -> Result<LedgerAnswer, StoreError> {
        match self
            .store
            .read(async move |connection| page::page(connection, &query).await)
            .await?
        {
            // An earlier version stored no checksum with an entry of the page, so that only reading
            // shows if it is whole. Reading takes long for a thread of the store or of the runtime.
            (LedgerAnswer::Page(mut page), true) => {
                let entries = std::mem::take(&mut page.entries).into_iter();
                let read = move || {
                    entries
                        .map(|entry| entry.read().map(PageEntry::Model))
                        .collect::<Result<Vec<_>, _>>()
                };
                page.entries = tokio::task::spawn_blocking(read).await.map_err(corrupt)??;
                Ok(LedgerAnswer::Page(page))
            }
            (answer, _) => Ok(answer),
        }
    }
}

#[cfg(feature = "sqlite")]
impl SqlLedger<SqliteStore> {
    /// Like [`SqlLedger::book`], within the caller's transaction: the entry is booked if the
    /// transaction commits.
    ///
    /// # Errors
    /// [`BookError`], after which nothing is changed.
    pub fn book_within(
        &self,
        transaction: &Transaction<'_>,
        account: &AccountId,
        booking: &Booking,
    ) -> Result<Booked, BookError> {
        let (entry, key) = (booking.to_entry()?, booking.idempotency_key());
        let connection = transaction.connection();
        let report_day = self.report_day.get();
        whole(
            connection,
            book::book(connection, account, &entry, key, report_day),
        )
    }
}

#[cfg(feature = "postgres")]
impl SqlLedger<PostgresStore> {
    /// Like [`SqlLedger::book`], within the caller's transaction: the entry is booked if the
    /// transaction commits. Others that book on the account wait for its end.
    ///
    /// # Errors
    /// [`BookError`], after which nothing is changed. After [`StoreError`] the transaction is void.
    pub async fn book_within(
        &self,
        transaction: InTransaction<'_>,
        account: &AccountId,
        booking: &Booking,
    ) -> Result<Booked, BookError> {
        let (entry, key) = (booking.to_entry()?, booking.idempotency_key());
        // After the first change only a query can fail, and then the transaction is void.
        book::book(&transaction, account, &entry, key, self.report_day.get()).await
    }
}

// Each engine has its own implementations, although they are alike, because the compiler proves
// that the futures are `Send` only for a known engine.

#[cfg(feature = "sqlite")]
impl Ledger for SqliteLedger {
    fn follow_report_day(&self, day: &ReportDay) {
        self.follow(day);
    }

    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        Box::pin(self.page(query.clone()))
    }
}

#[cfg(feature = "postgres")]
impl Ledger for PostgresLedger {
    fn follow_report_day(&self, day: &ReportDay) {
        self.follow(day);
    }

    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        Box::pin(self.page(query.clone()))
    }
}

/// Registers all accounts in one transaction. An account that the ledger refuses, for example
/// because its currency has changed, is a [conflict](StoreErrorKind::Conflict).
#[cfg(feature = "sqlite")]
impl AccountRegistrar for SqliteLedger {
    fn register(&self, customers: Vec<AccountsOfCustomer>) -> StoreFuture<'_, ()> {
        Box::pin(self.register_customers(customers))
    }
}

/// Registers all accounts in one transaction. An account that the ledger refuses, for example
/// because its currency has changed, is a [conflict](StoreErrorKind::Conflict).
#[cfg(feature = "postgres")]
impl AccountRegistrar for PostgresLedger {
    fn register(&self, customers: Vec<AccountsOfCustomer>) -> StoreFuture<'_, ()> {
        Box::pin(self.register_customers(customers))
    }
}

#[cfg(all(test, feature = "sqlite"))]
mod tests;
