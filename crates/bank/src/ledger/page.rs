//! Pages of a statement.

use super::account::{self, Account};
use super::stored::{self, Stored};
use crate::sql::{self, corrupt};
use bankrail_service::{LedgerAnswer, LedgerPage, PageEntry, StatementQuery};
use bankrail_statement::{PagePosition, SortOrder};
use bankrail_stores::sqlite::rusqlite::{Connection, Row, params};
use bankrail_stores::sqlite::store_error;
use bankrail_values::{Decimal, StoreError};

const IS_THERE: &str = "SELECT 1 FROM bankrail_account_entry WHERE account = ?1 AND day = ?2 AND number = ?3";

const FORWARD: &str = "SELECT number, day, amount, channel, entry, checksum FROM bankrail_account_entry
    WHERE account = ?1 AND day = ?2 AND number > ?3 ORDER BY number LIMIT ?4";

const BACKWARD: &str = "SELECT number, day, amount, channel, entry, checksum FROM bankrail_account_entry
    WHERE account = ?1 AND day = ?2 AND number < ?3 ORDER BY number DESC LIMIT ?4";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[IS_THERE, FORWARD, BACKWARD];

/// One more than the largest sum that 18 digits can carry, in units of its last decimal.
const SUM_END: i128 = 1_000_000_000_000_000_000;

/// The answer, and whether its entries must be read before they are shown.
pub(super) fn page(connection: &Connection, query: &StatementQuery) -> Result<(LedgerAnswer, bool), StoreError> {
    let Some((found, facts)) = account::registered(connection, &query.customer, &query.account)? else {
        return Ok((LedgerAnswer::UnknownAccount, false));
    };
    let after = match &query.position {
        None => None,
        Some(position) => match number(connection, &found, query, position)? {
            Some(number) => Some(number),
            None => return Ok((LedgerAnswer::UnknownPosition, false)),
        },
    };
    let entries = entries(connection, &found, query, after)?;
    let mut page = LedgerPage::new(facts, found.balance, query.day).with_entries(entries.list);
    if let Some(last) = entries.last.filter(|_| entries.more) {
        page = page.with_next(PagePosition::from_number(u64::try_from(last).map_err(corrupt)?));
    }
    Ok((page.into(), entries.unproven))
}

/// The number of the entry that a position names; `None` if it names no entry of the day.
fn number(
    connection: &Connection,
    account: &Account,
    query: &StatementQuery,
    position: &PagePosition,
) -> Result<Option<i64>, StoreError> {
    let Some(number) = position.as_number().and_then(|number| i64::try_from(number).ok()) else { return Ok(None) };
    sql::row(connection, IS_THERE, params![account.row, query.day.to_string(), number], |_| Ok(number))
}

/// The entries of a page, in their order.
#[derive(Default)]
struct Entries {
    list: Vec<PageEntry>,
    /// The bytes of all of them.
    bytes: usize,
    last: Option<i64>,
    /// Whether there are more.
    more: bool,
    /// Whether one of them has no checksum.
    unproven: bool,
    /// Of all amounts without their signs, so that no sum or net of the page is larger.
    sum: Decimal,
}

impl Entries {
    /// Adds an entry, unless the page has no room for it. A first entry always has room.
    fn add(&mut self, account: &Account, row: &Row<'_>) -> Result<bool, StoreError> {
        let stored = Stored::of(row)?;
        let bytes = self.bytes + stored.entry.len();
        let sum = self.sum.checked_add(stored.value()?);
        match sum.filter(|sum| sum.mantissa() < SUM_END && bytes <= stored::MOST_BYTES) {
            None if !self.list.is_empty() => return Ok(false),
            fits => self.sum = fits.unwrap_or(Decimal::MAX),
        }
        let (entry, proven) = stored.entry(account)?;
        self.list.push(entry);
        (self.bytes, self.last) = (bytes, Some(stored.number));
        self.unproven |= !proven;
        Ok(true)
    }
}

fn entries(
    connection: &Connection,
    account: &Account,
    query: &StatementQuery,
    after: Option<i64>,
) -> Result<Entries, StoreError> {
    let (sql, start) = match query.sort_order {
        SortOrder::Backward => (BACKWARD, i64::MAX),
        _ => (FORWARD, 0),
    };
    let most = usize::from(query.max_entries.get());
    let mut list = connection.prepare_cached(sql).map_err(store_error)?;
    let limit = i64::from(query.max_entries.get()) + 1;
    let values = params![account.row, query.day.to_string(), after.unwrap_or(start), limit];
    let mut rows = list.query(values).map_err(store_error)?;
    let mut entries = Entries::default();
    while let Some(row) = rows.next().map_err(store_error)? {
        if entries.list.len() == most || !entries.add(account, row)? {
            entries.more = true;
            break;
        }
    }
    Ok(entries)
}
