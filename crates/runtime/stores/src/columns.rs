//! The columns of the fields of records, in the engines that store fields by name. A value that
//! cannot be read back is a corrupt record.

use bankrail_values::{StoreError, StoreErrorKind, Timestamp};
use std::error::Error;
use std::str::FromStr;

#[cfg(feature = "mailbox")]
mod mailbox;

#[cfg(feature = "mailbox")]
pub(crate) use mailbox::{entry_number, readable, row_number};

type Cause = Box<dyn Error + Send + Sync>;

/// A record that this version cannot read.
#[doc(hidden)]
pub fn corrupt(cause: impl Into<Cause>) -> StoreError {
    StoreError::new(StoreErrorKind::Corrupt, cause)
}

/// A value that an engine reads from a row.
pub(crate) trait FromRow: Sized {
    fn read(row: &impl Columns) -> Result<Self, StoreError>;
}

/// A row of SQLite or PostgreSQL, with its columns by name, for statements that both engines run. A
/// value of an unexpected kind counts as a corrupt record.
#[doc(hidden)]
pub trait Cells {
    /// Returns a number, or a Boolean as 0 or 1.
    ///
    /// # Errors
    /// [`StoreError`] for a value of another kind, or no such column.
    fn integer(&self, column: &str) -> Result<Option<i64>, StoreError>;

    /// Returns a text.
    ///
    /// # Errors
    /// [`StoreError`] for a value of another kind, or no such column.
    fn text(&self, column: &str) -> Result<Option<&str>, StoreError>;

    /// Returns bytes.
    ///
    /// # Errors
    /// [`StoreError`] for a value of another kind, or no such column.
    fn blob(&self, column: &str) -> Result<Option<&[u8]>, StoreError>;
}

/// A row with columns by name, from which the fields of records are read.
#[doc(hidden)]
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "for the two databases"
)]
pub trait Columns: Cells {
    fn number<T: TryFrom<i64, Error: Into<Cause>>>(&self, column: &str) -> Result<T, StoreError> {
        there(column, self.integer(column)?)?
            .try_into()
            .map_err(corrupt)
    }

    fn optional<T: TryFrom<i64, Error: Into<Cause>>>(
        &self,
        column: &str,
    ) -> Result<Option<T>, StoreError> {
        self.integer(column)?
            .map(T::try_from)
            .transpose()
            .map_err(corrupt)
    }

    fn instant(&self, column: &str) -> Result<Timestamp, StoreError> {
        instant(there(column, self.integer(column)?)?)
    }

    fn optional_instant(&self, column: &str) -> Result<Option<Timestamp>, StoreError> {
        self.integer(column)?.map(instant).transpose()
    }

    fn str(&self, column: &str) -> Result<&str, StoreError> {
        there(column, self.text(column)?)
    }

    fn parsed<T: FromStr<Err: Into<Cause>>>(&self, column: &str) -> Result<T, StoreError> {
        self.str(column)?.parse().map_err(corrupt)
    }

    /// Reads a text with a function.
    fn named<T>(
        &self,
        column: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, StoreError> {
        let name = self.str(column)?;
        read(name).ok_or_else(|| corrupt(format!("expected a known name, found {name:?}")))
    }

    fn bytes(&self, column: &str) -> Result<Vec<u8>, StoreError> {
        Ok(there(column, self.blob(column)?)?.to_vec())
    }

    fn array<const N: usize>(&self, column: &str) -> Result<[u8; N], StoreError> {
        there(column, self.blob(column)?)?
            .try_into()
            .map_err(corrupt)
    }
}

impl<R: Cells + ?Sized> Columns for R {}

fn there<T>(column: &str, value: Option<T>) -> Result<T, StoreError> {
    value.ok_or_else(|| {
        corrupt(format!(
            "expected a value in the column {column}, found none"
        ))
    })
}

fn instant(millis: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_unix_millis(millis).ok_or_else(|| {
        corrupt(format!(
            "expected an instant in milliseconds, found {millis}"
        ))
    })
}

/// Reads the instant in the column `at`.
impl FromRow for Timestamp {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        row.instant("at")
    }
}

#[cfg(feature = "client-assertion")]
impl FromRow for bankrail_client_assertion::token::CachedToken {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        Ok(Self::new(row.bytes("sealed")?, row.instant("expires")?))
    }
}

#[cfg(feature = "client-assertion")]
impl FromRow for bankrail_client_assertion::token::TokenGrant {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        Ok(Self::new(
            row.parsed("customer")?,
            row.parsed("scopes")?,
            row.instant("issued")?,
            row.instant("expires")?,
        ))
    }
}

/// Reads a counter; `None` if the row has none yet.
#[cfg(feature = "rate-limit")]
impl FromRow for Option<bankrail_rate_limit::State> {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        let Some(high_water) = row.optional_instant("high_water")? else {
            return Ok(None);
        };
        row.named("counts", |text| crate::counts::read(high_water, text))
            .map(Some)
    }
}

/// Reads a history without its names, which are in another table.
#[cfg(feature = "webhook")]
impl FromRow for bankrail_webhook::history::KeptHistory {
    fn read(row: &impl Columns) -> Result<Self, StoreError> {
        let history = row
            .blob("history")?
            .and_then(bankrail_webhook::history::History::from_json);
        let history = history.ok_or_else(|| corrupt("expected a history"))?;
        let (number, changed) = (row.number("id")?, row.instant("changed")?);
        let mut kept = Self::new(number, Vec::new(), history, changed);
        kept.scope = row.parsed("scope")?;
        kept.change = row.number("change")?;
        Ok(kept)
    }
}
