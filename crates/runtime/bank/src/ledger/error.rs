//! Errors of the ledger's operations, without any text, amount or account of the ledger.

use crate::booking::BookingError;
use bankrail_camt052::BuildError;
use bankrail_service::BookingDayError;
use bankrail_values::{Currency, Date, StoreError};

/// The error of opening or registering an account.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// The ledger has the account in another currency.
    #[error("currency: expected {expected}, found {found}")]
    Currency {
        /// The currency of the account in the ledger.
        expected: Currency,
        /// The currency found.
        found: Currency,
    },
    /// ISO 4217 does not list the currency, so that no statement can be sent.
    #[error("currency: expected one that ISO 4217 lists, found {found}")]
    UnlistedCurrency {
        /// The currency.
        found: Currency,
    },
    /// The opening balance has more digits than a statement can carry: 18, of them 5 after the
    /// point.
    #[error("balance: expected at most 18 digits, 5 of them decimals, found more")]
    Balance,
    /// The name cannot stand in a statement.
    #[error("name: expected 1 to 70 characters that XML 1.0 can carry, found others")]
    Name,
    /// The reporting source cannot stand in a statement.
    #[error("reporting source: expected 1 to 35 characters that XML 1.0 can carry, found others")]
    ReportingSource,
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}

/// The error of registering a customer's accounts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// An account cannot be registered.
    #[error("account {number} of the list")]
    Account {
        /// The number in the list, from 1.
        number: usize,
        /// The error of the account.
        source: AccountError,
    },
    /// An account is in the list twice.
    #[error("account {number} of the list: expected another one, found an earlier one again")]
    Twice {
        /// The number in the list, from 1.
        number: usize,
    },
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}

/// The error of forgetting old days.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForgetError {
    /// The day is later than tomorrow (UTC), for example because of a wrong year.
    #[error("expected a day until {latest}, found {found}")]
    Future {
        /// The latest day.
        latest: Date,
        /// The day that was given.
        found: Date,
    },
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}

/// The error of a booking.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BookError {
    /// The ledger has no such account.
    #[error("account: expected an account of the ledger, found another")]
    UnknownAccount,
    /// No entry can be made from the booking, or its key is invalid.
    #[error("the booking is not well formed")]
    Booking(#[from] BookingError),
    /// The entry is in a currency other than its account's.
    #[error("currency: expected {expected}, found {found}")]
    Currency {
        /// The currency of the account.
        expected: Currency,
        /// The currency of the entry; `none` without one.
        found: String,
    },
    /// The entry is not booked: it is pending or for information.
    #[error("Ntry/Sts: expected BOOK, found another status")]
    Status,
    /// The entry has no booking day.
    #[error("Ntry/BookgDt: expected a day of the years 0 to 9999, found none")]
    BookingDay,
    /// The booking day is not that of a report made now, and the provider refuses such bookings
    /// ([`BookingDayPolicy::Refuse`](bankrail_service::BookingDayPolicy::Refuse)).
    #[error("Ntry/BookgDt is another day than that of the reports")]
    OtherDay(#[from] BookingDayError),
    /// The entries of the booking day were forgotten
    /// ([`SqlLedger::forget_before`](crate::SqlLedger::forget_before)).
    #[error("Ntry/BookgDt: expected a day whose entries are kept, found one that was forgotten")]
    Forgotten,
    /// The entry is neither a credit nor a debit.
    #[error("Ntry/CdtDbtInd: expected CRDT or DBIT, found another code")]
    Direction,
    /// A statement cannot carry the entry, or the balance after it.
    #[error("no statement can carry the entry")]
    Entry(#[source] BuildError),
    /// The entry would change if it were written and read again.
    #[error("expected an entry that can be written and read again, found another")]
    Unfaithful,
    /// The entry is too large.
    #[error("expected an entry of at most {most} bytes as XML, found a larger one")]
    TooLarge {
        /// The maximum number of bytes.
        most: usize,
    },
    /// The balance would have more digits than can be computed exactly.
    #[error("the balance does not fit")]
    Balance,
    /// The account has another entry under this key.
    #[error("key: expected the entry that the account already has under this key, found another")]
    Conflict,
    /// The store failed.
    #[error("the store failed")]
    Store(#[from] StoreError),
}
