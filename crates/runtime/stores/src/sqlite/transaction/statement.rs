//! Seen entries in the caller's transaction.

use super::Transaction;
use crate::sqlite::seen;
use bankrail_statement::{AccountId, EntryKey, SeenEntry};
use bankrail_values::StoreError;

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
        position: Option<&str>,
    ) -> Result<(), StoreError> {
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
