//! Builders for a report of one account with one balance, a summary and entries.

mod creation_time;
mod entry;
mod report;
mod written;

pub use creation_time::CreationTime;
pub use entry::EntryBuilder;
pub use report::{ReportBuilder, ReportIds};
pub use written::{WrittenEntry, WrittenReport};

use bankrail_camt::{Finding, FindingKind, NumberError};
use bankrail_values::{Currency, MoneyError};
use std::convert::Infallible;

/// The reason why a report could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An amount has more digits than the schema allows.
    #[error("the amount does not fit the message: {0}")]
    Amount(#[source] NumberError),
    /// The amounts do not add up.
    #[error("the amounts do not add up: {0}")]
    Sum(#[source] MoneyError),
    /// An entry is in a currency other than its account's.
    #[error("expected an entry in {account}, found {found}")]
    Currency {
        /// The account's currency.
        account: Currency,
        /// The entry's currency; `none` if it has no currency.
        found: String,
    },
    /// ISO 4217 does not list the account's currency.
    #[error("expected a currency that ISO 4217 lists, found {found}")]
    UnlistedCurrency {
        /// The currency.
        found: Currency,
    },
    /// A text is too short, too long, not of the required form, or holds a character that XML
    /// cannot carry.
    #[error("unusable value for {path}: {kind}")]
    Invalid {
        /// The path of the element.
        path: String,
        /// The reason.
        #[source]
        kind: FindingKind,
    },
    /// The entry would change when it is written and read again.
    #[error("expected an entry that can be written and read again, found another")]
    Unfaithful,
}

impl From<Infallible> for BuildError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl From<Finding> for BuildError {
    fn from(finding: Finding) -> Self {
        Self::Invalid {
            path: finding.path,
            kind: finding.kind,
        }
    }
}
