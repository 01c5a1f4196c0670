//! Statement entries that were imported.

use super::SqliteStore;
use super::connection::Fault;
use bankrail_statement::{AccountId, EntryKey, SeenEntries, SeenEntry};
use bankrail_values::{Date, StoreFuture};
use rusqlite::{Connection, OptionalExtension, params};

const COUNT: &str = "SELECT count FROM bankrail_seen WHERE account = ?1 AND key = ?2";

/// The later of two days is kept. An entry without a day stays without one: it is never forgotten.
const RECORD: &str = "INSERT INTO bankrail_seen (account, key, count, day) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (account, key) DO UPDATE SET count = excluded.count, day = max(day, excluded.day)
    WHERE excluded.count > count";

const FORGET: &str = "DELETE FROM bankrail_seen WHERE account = ?1 AND day < ?2";

#[cfg(test)]
pub(super) const DAILY: &[&str] = &[COUNT, RECORD, FORGET];

impl SeenEntries for SqliteStore {
    fn counts<'a>(&'a self, account: &'a AccountId, keys: &'a [EntryKey]) -> StoreFuture<'a, Vec<u32>> {
        let (account, keys) = (account.clone(), keys.to_vec());
        Box::pin(self.database.read(move |connection| counts(connection, &account, &keys)))
    }

    fn record<'a>(&'a self, account: &'a AccountId, entries: &'a [SeenEntry]) -> StoreFuture<'a, ()> {
        let (account, entries) = (account.clone(), entries.to_vec());
        Box::pin(self.database.write(move |connection| record(connection, &account, &entries)))
    }

    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64> {
        let account = account.clone();
        Box::pin(self.database.write(move |connection| {
            let mut forget = connection.prepare_cached(FORGET)?;
            let keys = forget.execute(params![account.as_str(), day.to_string()])?;
            Ok(u64::try_from(keys).unwrap_or(u64::MAX))
        }))
    }
}

fn counts(connection: &Connection, account: &AccountId, keys: &[EntryKey]) -> Result<Vec<u32>, Fault> {
    let mut count = connection.prepare_cached(COUNT)?;
    let mut count = |key: &EntryKey| {
        let found = count.query_row(params![account.as_str(), key.as_bytes()], |row| row.get(0)).optional();
        found.map(Option::unwrap_or_default)
    };
    Ok(keys.iter().map(&mut count).collect::<Result<_, _>>()?)
}

fn record(connection: &Connection, account: &AccountId, entries: &[SeenEntry]) -> Result<(), Fault> {
    let mut record = connection.prepare_cached(RECORD)?;
    for entry in entries.iter().filter(|entry| entry.occurrence > 0) {
        let day = entry.day.map(|day| day.to_string());
        record.execute(params![account.as_str(), entry.key.as_bytes(), entry.occurrence, day])?;
    }
    Ok(())
}
