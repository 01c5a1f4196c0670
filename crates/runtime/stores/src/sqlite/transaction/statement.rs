//! Seen entries in one transaction with the caller's work.

use super::{SqliteWork, Transaction};
use crate::sqlite::connection::Outcome;
use crate::sqlite::seen::OwnedChange;
use crate::sqlite::{SqliteStore, seen};
use bankrail_statement::{
    AccountId, EntryKey, PageRecord, PositionChange, Recorded, SeenEntry, TransactionalSeenEntries,
};
use bankrail_values::{StoreError, StoreFuture};

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
            if page.is_overtaken(&seen::counts(connection, &account, &page.new_keys())?) {
                return Ok(Outcome::Undo(Recorded::Overtaken));
            }
            let change = change.as_ref().map(OwnedChange::borrowed);
            if let Recorded::Overtaken = seen::record(connection, &account, &entries, change)? {
                return Ok(Outcome::Undo(Recorded::Overtaken));
            }
            Ok(work.run(connection, |done| {
                done.map_or_else(Recorded::Undone, |()| Recorded::Committed)
            }))
        }))
    }
}

impl Transaction<'_> {
    /// The highest recorded occurrence of each key, as
    /// [`SeenEntries::counts`](bankrail_statement::SeenEntries::counts) answers.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction's work must then return an error.
    pub fn seen_counts(
        &self,
        account: &AccountId,
        keys: &[EntryKey],
    ) -> Result<Vec<u32>, StoreError> {
        Ok(seen::counts(self.connection, account, keys)?)
    }

    /// Records entries and a position, as
    /// [`SeenEntries::record`](bankrail_statement::SeenEntries::record) does.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction's work must then return an error.
    pub fn record_seen(
        &self,
        account: &AccountId,
        entries: &[SeenEntry],
        position: Option<PositionChange<'_>>,
    ) -> Result<Recorded, StoreError> {
        Ok(seen::record(self.connection, account, entries, position)?)
    }

    /// The account's position, as
    /// [`SeenEntries::position`](bankrail_statement::SeenEntries::position) answers.
    ///
    /// # Errors
    /// [`StoreError`]; the transaction's work must then return an error.
    pub fn seen_position(&self, account: &AccountId) -> Result<Option<String>, StoreError> {
        Ok(seen::position(self.connection, account)?)
    }
}
