//! Errors of loading a file.

use crate::booking::BookingKindError;
use crate::ledger::BookError;
use bankrail_values::{StoreError, ValueError};

/// The reason why a CSV file was not loaded and no row of it was booked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The first line of a CSV file has an unknown or repeated column.
    #[error("line 1: expected the name of another column, found {found}")]
    Column {
        /// The name, cut and escaped.
        found: String,
    },
    /// The first line of a CSV file lacks a required column.
    #[error("line 1: expected the column {column}, found none")]
    NoColumn {
        /// The column.
        column: String,
    },
    /// A line of a CSV file has too few or too many columns.
    #[error("line {line}: expected {expected} columns, found {found}")]
    Columns {
        /// The line, from 1.
        line: u64,
        /// The columns of the first line.
        expected: u64,
        /// The columns of this line.
        found: u64,
    },
    /// A CSV file is not in UTF-8.
    #[error("line {line}: expected UTF-8, found other bytes")]
    Utf8 {
        /// The line, from 1.
        line: u64,
    },
    /// A row of a CSV file is too long. A quotation mark without an end makes the rest of the file
    /// one row.
    #[error("after line {line}: expected a row of at most {most} bytes, found a longer one")]
    TooLong {
        /// The first line of the row before.
        line: u64,
        /// The maximum number of bytes.
        most: usize,
    },
    /// A value of a CSV file is wrong.
    #[error("line {line}, column {column}")]
    Row {
        /// The line on which the row begins, from 1.
        line: u64,
        /// The column.
        column: &'static str,
        /// The error of the value.
        source: RowError,
    },
    /// The file cannot be read.
    #[error("the file cannot be read")]
    Io(#[source] std::io::Error),
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}

/// The error of a value of a CSV file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// A required column has no value.
    #[error("expected a value, found none")]
    Missing,
    /// The value is not an account identifier.
    #[error("not an account identifier")]
    AccountId(#[source] ValueError),
    /// The value is not a date.
    #[error("not a date")]
    Date(#[source] ValueError),
    /// The value is not the name of a kind.
    #[error("not the name of a kind")]
    Kind(#[source] BookingKindError),
    /// The value is not a decimal.
    #[error("not an amount")]
    Amount(#[source] ValueError),
    /// Not a currency.
    #[error("not a currency")]
    Currency(#[source] ValueError),
    /// The value is neither `true` nor `false`.
    #[error("expected true or false, found another text")]
    Reversal,
    /// The ledger refuses the booking.
    #[error("the booking is refused")]
    Book(#[source] Box<BookError>),
}
