//! Statement entries that were imported, and the positions of the walks through statements.

use super::connection::{Fault, Outcome};
use super::statements::run;
use super::{SqliteStore, SqliteWork};
use bankrail_statement::{
    AccountId, EntryKey, PageRecord, PositionChange, Recorded, SeenEntries, SeenEntry,
    TransactionalSeenEntries, check_position,
};
use bankrail_values::{Date, StoreFuture};
use rusqlite::{Connection, OptionalExtension, params};

const COUNT: &str = "SELECT count FROM bankrail_seen WHERE account = ?1 AND key = ?2";

// Records an entry as `SeenEntry::recorded_over` does. The later day stays, and a key without a day
// stays without one, because SQLite's `max` with NULL is NULL.
const RECORD: &str = "INSERT INTO bankrail_seen (account, key, count, day) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (account, key) DO UPDATE SET count = excluded.count, day = max(day, excluded.day)
    WHERE excluded.count > count";

const MOVE: &str =
    "INSERT OR REPLACE INTO bankrail_seen_position (account, position) VALUES (?1, ?2)";

const POSITION: &str = "SELECT position FROM bankrail_seen_position WHERE account = ?1";

const FORGET: &str =
    "DELETE FROM bankrail_seen WHERE account = ?1 AND key IN (SELECT key FROM bankrail_seen
    WHERE account = ?1 AND day < ?2 LIMIT ?3)";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[COUNT, RECORD, MOVE, POSITION, FORGET];

impl SeenEntries for SqliteStore {
    fn counts<'a>(
        &'a self,
        account: &'a AccountId,
        keys: &'a [EntryKey],
    ) -> StoreFuture<'a, Vec<u32>> {
        let account = account.clone();
        let keys = keys.to_vec();
        self.database
            .read(move |connection| counts(connection, &account, &keys))
    }

    fn position<'a>(&'a self, account: &'a AccountId) -> StoreFuture<'a, Option<String>> {
        let account = account.clone();
        self.database
            .read(move |connection| position(connection, &account))
    }

    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64> {
        let account = account.clone();
        let day = day.to_string();
        Box::pin(self.database.forget_in_pieces(FORGET, move |most| {
            (account.as_str().to_owned(), day.clone(), most)
        }))
    }

    fn record<'a>(
        &'a self,
        account: &'a AccountId,
        entries: &'a [SeenEntry],
        position: Option<PositionChange<'a>>,
    ) -> StoreFuture<'a, Recorded> {
        let account = account.clone();
        let entries = entries.to_vec();
        let change = OwnedChange::of(position);
        self.database.write(move |connection| {
            let change = change.as_ref().map(OwnedChange::borrowed);
            record(connection, &account, &entries, change)
        })
    }
}

impl TransactionalSeenEntries for SqliteStore {
    type Work = SqliteWork;

    fn record_with<'a>(
        &'a self,
        account: &'a AccountId,
        page: PageRecord<'a>,
        work: SqliteWork,
    ) -> StoreFuture<'a, Recorded> {
        let account = account.clone();
        let entries = page.entries.to_vec();
        let new = page.new.to_vec();
        let change = OwnedChange::of(page.position);
        Box::pin(self.database.write_alone(move |connection| {
            let page = PageRecord::new(&entries, &new);
            if page.is_overtaken(&counts(connection, &account, &page.new_keys())?) {
                return Ok(Outcome::Undo(Recorded::Overtaken));
            }
            let change = change.as_ref().map(OwnedChange::borrowed);
            if let Recorded::Overtaken = record(connection, &account, &entries, change)? {
                return Ok(Outcome::Undo(Recorded::Overtaken));
            }
            Ok(work.run(connection, |done| {
                done.map_or_else(Recorded::Undone, |()| Recorded::Committed)
            }))
        }))
    }
}

fn counts(
    connection: &Connection,
    account: &AccountId,
    keys: &[EntryKey],
) -> Result<Vec<u32>, Fault> {
    let mut count = connection.prepare_cached(COUNT)?;
    let mut count = |key: &EntryKey| {
        let found = count
            .query_row(params![account.as_str(), key.as_bytes()], |row| row.get(0))
            .optional();
        found.map(Option::unwrap_or_default)
    };
    Ok(keys.iter().map(&mut count).collect::<Result<_, _>>()?)
}

/// A [`PositionChange`] for the thread of the database.
struct OwnedChange {
    before: Option<String>,
    after: Option<String>,
}

impl OwnedChange {
    fn of(change: Option<PositionChange<'_>>) -> Option<Self> {
        change.map(|change| Self {
            before: change.before.map(str::to_owned),
            after: change.after.map(str::to_owned),
        })
    }

    fn borrowed(&self) -> PositionChange<'_> {
        PositionChange::new(self.before.as_deref(), self.after.as_deref())
    }
}

/// Records entries in the caller's transaction, whose write lock keeps the position as it is read.
fn record(
    connection: &Connection,
    account: &AccountId,
    entries: &[SeenEntry],
    change: Option<PositionChange<'_>>,
) -> Result<Recorded, Fault> {
    check_position(change).map_err(Fault::Store)?;
    if let Some(change) = change
        && change.is_overtaken(position(connection, account)?.as_deref())
    {
        return Ok(Recorded::Overtaken);
    }
    let mut record = connection.prepare_cached(RECORD)?;
    for entry in entries.iter().filter(|entry| entry.occurrence > 0) {
        let day = entry.day.map(|day| day.to_string());
        record.execute(params![
            account.as_str(),
            entry.key.as_bytes(),
            entry.occurrence,
            day
        ])?;
    }
    if let Some(position) = change.and_then(|change| change.after) {
        run(connection, MOVE, params![account.as_str(), position])?;
    }
    Ok(Recorded::Committed)
}

fn position(connection: &Connection, account: &AccountId) -> Result<Option<String>, Fault> {
    let mut position = connection.prepare_cached(POSITION)?;
    Ok(position
        .query_row([account.as_str()], |row| row.get(0))
        .optional()?)
}
