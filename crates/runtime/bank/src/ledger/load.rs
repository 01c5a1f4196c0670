//! Loading bookings from files.

mod csv;
mod error;

pub use error::{LoadError, RowError};

use super::SqlLedger;
use crate::sql::Engine;
use std::io::Read;
use std::sync::Arc;

/// The counts of rows that a loader has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loaded {
    /// The number of rows that were booked.
    pub booked: u64,
    /// The number of rows that the ledger had already.
    pub already: u64,
}

/// The source of rows, without a lifetime in its type: with one, the compiler does not see that a
/// load is [`Send`].
struct Rows(Box<dyn Read + Send>);

impl<S: Engine> SqlLedger<S> {
    /// Loads bookings from CSV (RFC 4180) in UTF-8, all of them or none. The first line names the
    /// columns, in any order; a column without a value counts as absent.
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
    /// row without key and reference is always new. The texts of a row have at most 64 KiB
    /// together. The days of new rows are checked as those of [`SqlLedger::book`].
    ///
    /// The rows are read one by one. On SQLite all other writes of the store wait, on PostgreSQL
    /// those to the same accounts, up to the time-out of an operation, so read from a file and not
    /// from a peer. On PostgreSQL a load continues when its future is dropped.
    ///
    /// A load is one transaction. On SQLite, the log grows by about 600 bytes for each new row
    /// until the load ends, and is then cut back within a second. Load in several parts if the disk
    /// does not have room for all rows twice.
    ///
    #[cfg_attr(feature = "sqlite", doc = "```")]
    #[cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use bankrail_bank::SqliteLedger;
    /// # use bankrail_stores::sqlite::{SqliteOptions, SqliteStore};
    /// # let ledger = SqliteLedger::new(SqliteStore::open_in_memory(SqliteOptions::new())?);
    /// let account = "999001400100101".parse()?;
    /// ledger.open_account(&account, "12000.00 AUD".parse()?).await?;
    /// let rows = "account,date,kind,amount,currency,reference,counterparty,narrative\n\
    ///     999001400100101,2021-07-29,fast_payment_in,1250.00,AUD,FP0001,Jarrah Joinery,Invoice 2041\n\
    ///     999001400100101,2021-07-29,fee,15.00,AUD,CH0003,,Account keeping fee\n";
    /// let loaded = ledger.load_csv(rows.as_bytes()).await?;
    /// assert_eq!(loaded.booked, 2);
    /// assert_eq!(ledger.balance(&account).await?.unwrap().to_string(), "13235.00 AUD");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`LoadError`], which names line and column, and then nothing is changed.
    pub async fn load_csv(&self, rows: impl Read + Send + 'static) -> Result<Loaded, LoadError> {
        let rows = Rows(Box::new(rows));
        let report_day = Arc::clone(&self.report_day);
        let load = async move |connection: &S::Connection<'_>| {
            csv::load(connection, rows, report_day.get()).await
        };
        self.store.write_long(load).await
    }
}
