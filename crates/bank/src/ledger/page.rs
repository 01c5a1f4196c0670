//! Pages of a statement.

use super::account::{self, Account};
use super::{book, corrupt, stored};
use bankrail_service::{LedgerAnswer, LedgerEntry, LedgerPage, StatementQuery};
use bankrail_statement::{EntryChannel, PagePosition, SortOrder};
use bankrail_stores::sqlite::rusqlite::{Connection, OptionalExtension as _, params};
use bankrail_stores::sqlite::store_error;
use bankrail_values::{Decimal, StoreError, parse_decimal};

const IS_THERE: &str = "SELECT 1 FROM bankrail_account_entry WHERE account = ?1 AND day = ?2 AND number = ?3";

const FORWARD: &str = "SELECT number, amount, channel, entry FROM bankrail_account_entry
    WHERE account = ?1 AND day = ?2 AND number > ?3 ORDER BY number LIMIT ?4";

const BACKWARD: &str = "SELECT number, amount, channel, entry FROM bankrail_account_entry
    WHERE account = ?1 AND day = ?2 AND number < ?3 ORDER BY number DESC LIMIT ?4";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[IS_THERE, FORWARD, BACKWARD];

/// One more than the largest sum that 18 digits can carry, in units of its last decimal.
const SUM_END: i128 = 1_000_000_000_000_000_000;

pub(super) fn page(connection: &Connection, query: &StatementQuery) -> Result<LedgerAnswer, StoreError> {
    let Some((found, facts)) = account::registered(connection, &query.customer, &query.account)? else {
        return Ok(LedgerAnswer::UnknownAccount);
    };
    let after = match &query.position {
        None => None,
        Some(position) => match number(connection, &found, query, position)? {
            Some(number) => Some(number),
            None => return Ok(LedgerAnswer::UnknownPosition),
        },
    };
    let entries = entries(connection, &found, query, after)?;
    let page = LedgerPage::new(facts, found.balance, query.day);
    let read = stored::read(&entries.stored, entries.channels.len())?;
    let page = page.with_entries(read.into_iter().zip(entries.channels).map(|(e, c)| LedgerEntry::new(e, c)));
    match entries.last.filter(|_| entries.more) {
        Some(last) => Ok(page.with_next(PagePosition::from_number(u64::try_from(last).map_err(corrupt)?)).into()),
        None => Ok(page.into()),
    }
}

/// The number of the entry that a position names; `None` if it names no entry of the day.
fn number(
    connection: &Connection,
    account: &Account,
    query: &StatementQuery,
    position: &PagePosition,
) -> Result<Option<i64>, StoreError> {
    let Some(number) = position.as_number().and_then(|number| i64::try_from(number).ok()) else { return Ok(None) };
    let mut there = connection.prepare_cached(IS_THERE).map_err(store_error)?;
    let row = there.query_row(params![account.row, query.day.to_string(), number], |_| Ok(number));
    row.optional().map_err(store_error)
}

/// The entries of a page, in their order.
#[derive(Default)]
struct Entries {
    /// Their stored forms, one after the other.
    stored: String,
    channels: Vec<EntryChannel>,
    last: Option<i64>,
    /// Whether there are more.
    more: bool,
    /// Of all amounts without their signs, so that no sum or net of the page is larger.
    sum: Decimal,
}

impl Entries {
    /// Adds an entry, unless the page has no room for it. A first entry always has room.
    fn add(&mut self, amount: &str, channel: &str, entry: &str) -> Result<bool, StoreError> {
        let sum = self.sum.checked_add(parse_decimal(amount).map_err(corrupt)?.abs());
        let fits = sum.filter(|sum| sum.mantissa() < SUM_END && self.stored.len() + entry.len() <= stored::MOST_BYTES);
        match fits {
            None if !self.channels.is_empty() => return Ok(false),
            fits => self.sum = fits.unwrap_or(Decimal::MAX),
        }
        self.stored.push_str(entry);
        self.channels.push(book::channel(channel)?);
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
        let text = |column: &str| -> Result<&str, StoreError> {
            row.get_ref(column).map_err(store_error)?.as_str().map_err(corrupt)
        };
        let has_room = entries.channels.len() < most;
        if !has_room || !entries.add(text("amount")?, text("channel")?, text("entry")?)? {
            entries.more = true;
            break;
        }
        entries.last = Some(row.get("number").map_err(store_error)?);
    }
    Ok(entries)
}
