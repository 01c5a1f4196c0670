//! Loading entries from documents.

mod camt;
mod csv;
mod error;

pub use error::{LoadError, ReportError, RowError};

use super::SqlLedger;
use crate::sql::Engine;
use bankrail_camt052::Entry;
use bankrail_statement::EntryChannel;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

/// What a loader did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// Entries that were booked.
    pub booked: u64,
    /// Entries that the ledger had already.
    pub already: u64,
    /// Entries of a document that are not booked (`Sts`), which a ledger does not have.
    pub not_booked: u64,
    /// Reports whose balance is another one than the ledger's after their entries.
    pub other_balances: u64,
}

bankrail_values::options! {
    /// Options of the loaders of camt documents.
    #[derive(Clone, Copy, Debug)]
    pub struct LoadOptions {
        /// How the channel of an entry is told, which a document does not say. Default: domestic
        /// credit transfers (`PMNT`, `RCDT` or `ICDT`, `DMCT`) are of the fast-payment channel, so
        /// that `includeNarrative` can hide their parties and texts; all others are not.
        channel: fn(&Entry) -> EntryChannel = channel_by_code,
    }
}

/// A document whose type names no lifetime. With one, the compiler does not see that a load is
/// [`Send`].
struct Document(Box<dyn BufRead + Send>);

impl Document {
    fn new(document: impl BufRead + Send + 'static) -> Self {
        Self(Box::new(document))
    }

    fn open(self) -> Box<dyn BufRead + Send> {
        self.0
    }
}

fn channel_by_code(entry: &Entry) -> EntryChannel {
    // Not by the direction: a reversal has the family of what it reverses.
    let is_fast = entry
        .bank_transaction_code
        .domain
        .as_ref()
        .is_some_and(|domain| {
            let codes = [&domain.code, &domain.family.code, &domain.family.sub_family]
                .map(|code| code.as_str());
            matches!(codes, ["PMNT", "RCDT" | "ICDT", "DMCT"])
        });
    if is_fast {
        EntryChannel::FastPayment
    } else {
        EntryChannel::Ordinary
    }
}

impl<S: Engine> SqlLedger<S> {
    /// Loads the booked entries of a camt.052.001.06 document, all of them or none.
    ///
    /// - The accounts are those of its reports (`Acct/Id`). One that the ledger does not have is
    ///   opened.
    /// - An account that has had no entry and no balance has the balance of the report after it.
    ///   Otherwise each entry changes the balance that is there, and [`Loaded::other_balances`]
    ///   counts the reports that state another.
    /// - The balance of a report is its interim available one (`ITAV`), or else `ITBD`, `CLAV` or
    ///   `CLBD`.
    /// - An entry is known by the identifications of message and report, the number of the report
    ///   in the document, and its own in the report. The same document again changes nothing.
    ///   Another document with the same entries books them again.
    /// - The schema is applied strictly. Entries that are not booked are counted and left out.
    ///
    /// The document is read entry by entry. On SQLite all other writes of the store wait, on
    /// PostgreSQL those to the same accounts, up to the time-out of an operation: read from a file,
    /// not from a peer. On PostgreSQL a load goes on when its future is dropped.
    ///
    /// # Errors
    /// [`LoadError`], which names report and entry, and then nothing is changed.
    pub async fn load_camt052(
        &self,
        document: impl BufRead + Send + 'static,
        options: &LoadOptions,
    ) -> Result<Loaded, LoadError> {
        let (options, document) = (*options, Document::new(document));
        let load = async move |connection: &S::Connection<'_>| {
            camt::load(
                connection,
                &mut camt::Reports::new(document.open()),
                options,
            )
            .await
        };
        self.store.write_long(load).await
    }

    /// Loads the booked entries of a camt.053.001.06 document, as [`SqlLedger::load_camt052`] does.
    ///
    /// # Errors
    /// [`LoadError`], which names statement and entry, and then nothing is changed.
    pub async fn load_camt053(
        &self,
        document: impl BufRead + Send + 'static,
        options: &LoadOptions,
    ) -> Result<Loaded, LoadError> {
        let (options, document) = (*options, Document::new(document));
        let load = async move |connection: &S::Connection<'_>| {
            camt::load(
                connection,
                &mut camt::Statements::new(document.open()),
                options,
            )
            .await
        };
        self.store.write_long(load).await
    }

    /// Loads bookings from CSV (RFC 4180) in UTF-8, all of them or none. The first line names the
    /// columns, in any order; a column without a value is as if it were not there.
    ///
    /// | column | |
    /// |---|---|
    /// | `account` | required: an account of the ledger |
    /// | `date` | required: booking day, `YYYY-MM-DD` |
    /// | `kind` | required: the name of a [`BookingKind`](crate::BookingKind), such as `fee` |
    /// | `amount` | required: more than zero, such as `15.00` |
    /// | `currency` | required: that of the account |
    /// | `value_date` | value date, `YYYY-MM-DD` |
    /// | `reversal` | `true` or `false` |
    /// | `key` | [`Booking::key`](crate::Booking::key) |
    /// | `reference` | [`Booking::reference`](crate::Booking::reference) |
    /// | `end_to_end_id` | [`Booking::end_to_end_id`](crate::Booking::end_to_end_id) |
    /// | `counterparty` | [`Booking::counterparty`](crate::Booking::counterparty) |
    /// | `narrative` | [`Booking::narrative`](crate::Booking::narrative) |
    /// | `virtual_account` | [`Booking::virtual_account`](crate::Booking::virtual_account) |
    /// | `virtual_account_issuer` | [`Booking::virtual_account_issuer`](crate::Booking::virtual_account_issuer) |
    /// | `mandate` | [`Booking::mandate`](crate::Booking::mandate) |
    /// | `cheque` | [`Booking::cheque`](crate::Booking::cheque) |
    ///
    /// A row whose key (or reference, if it has no key) the account has already changes nothing. A
    /// row with neither is always new. The texts of a row have at most 64 KiB together. The days of
    /// new rows are checked as those of [`SqlLedger::book`].
    ///
    /// The rows are read one by one. On SQLite all other writes of the store wait, on PostgreSQL
    /// those to the same accounts, up to the time-out of an operation: read from a file, not from a
    /// peer. On PostgreSQL a load goes on when its future is dropped.
    ///
    /// A load is one transaction. On SQLite, its log beside the file grows by some 600 bytes for
    /// each new row until it ends, and is cut back within a second: a disk without room for all
    /// rows twice takes them in several loads.
    ///
    #[cfg_attr(feature = "sqlite", doc = "```")]
    #[cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use bankrail_bank::SqliteLedger;
    /// # use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
    /// # let ledger = SqliteLedger::new(SqliteStore::open_in_memory(SqliteOptions::new())?);
    /// let account = "999001400100101".parse()?; ledger.open_account(&account, "12000.00
    /// AUD".parse()?).await?; let rows =
    /// "account,date,kind,amount,currency,reference,counterparty,narrative\n\
    /// 999001400100101,2021-07-29,fast_payment_in,1250.00,AUD,FP0001,Jarrah Joinery,Invoice 2041\n\
    /// 999001400100101,2021-07-29,fee,15.00,AUD,CH0003,,Account keeping fee\n"; let loaded =
    /// ledger.load_csv(rows.as_bytes()).await?; assert_eq!(loaded.booked, 2);
    /// assert_eq!(ledger.balance(&account).await?.unwrap().to_string(), "13235.00 AUD");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`LoadError`], which names line and column, and then nothing is changed.
    pub async fn load_csv(&self, rows: impl Read + Send + 'static) -> Result<Loaded, LoadError> {
        let (report_day, rows) = (
            Arc::clone(&self.report_day),
            Document::new(BufReader::new(rows)),
        );
        let load = async move |connection: &S::Connection<'_>| {
            csv::load(connection, rows.open(), report_day.get()).await
        };
        self.store.write_long(load).await
    }
}
