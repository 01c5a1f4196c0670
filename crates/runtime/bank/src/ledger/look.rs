//! Views of accounts for the bank itself.

use super::account::{self, Account};
use crate::sql::{self, Sql, corrupt, maybe};
use bankrail_statement::AccountId;
use bankrail_stores::Cells;
use bankrail_values::{Date, Money, StoreError};

const LIST: &str = "SELECT id, account, currency, balance, last_entry, forgotten_before
    FROM bankrail_account WHERE account > $1 ORDER BY account LIMIT $2";

const LAST_DAY: &str =
    "SELECT max(day) AS day FROM bankrail_account_entry WHERE account = $1 AND day < $2";

/// A text that sorts after every stored day.
const END_OF_DAYS: &str = "~";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[LIST, LAST_DAY];

/// An account of a ledger, with its balance.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LedgerAccount {
    /// The account.
    pub id: AccountId,
    /// The balance, negative if the account is overdrawn.
    pub balance: Money,
    /// The number of entries that have been booked on it.
    pub entries: u64,
}

impl TryFrom<Account> for LedgerAccount {
    type Error = StoreError;

    fn try_from(found: Account) -> Result<Self, StoreError> {
        Ok(Self {
            id: AccountId::parse(&found.id).map_err(corrupt)?,
            balance: Money::new(found.balance, found.currency),
            entries: u64::try_from(found.last_entry).map_err(corrupt)?,
        })
    }
}

/// Returns at most `most` accounts after the one with this identifier.
pub(super) async fn list(
    connection: &impl Sql,
    after: &str,
    most: u32,
) -> Result<Vec<LedgerAccount>, StoreError> {
    sql::rows(connection, LIST, &[after.into(), most.into()], |row| {
        account::account(row)?.try_into()
    })
    .await
}

/// Returns the last day before `before` with an entry.
pub(super) async fn last_day(
    connection: &impl Sql,
    id: &AccountId,
    before: Option<Date>,
) -> Result<Option<Date>, StoreError> {
    let Some(found) = account::find(connection, id).await? else {
        return Ok(None);
    };
    let before = before.map_or_else(|| END_OF_DAYS.to_owned(), |day| day.to_string());
    let day = |row: &dyn Cells| {
        maybe(row, "day")?
            .map(Date::parse)
            .transpose()
            .map_err(corrupt)
    };
    let last = sql::row(
        connection,
        LAST_DAY,
        &[found.row.into(), before.as_str().into()],
        day,
    )
    .await?
    .flatten();
    Ok(last.filter(|day| !found.has_forgotten(*day)))
}
