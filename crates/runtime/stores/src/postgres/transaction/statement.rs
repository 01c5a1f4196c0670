//! Seen entries in the caller's transaction.

use super::InTransaction;
use crate::postgres::seen;
use bankrail_statement::{AccountId, EntryKey, SeenEntry};
use bankrail_values::StoreError;

impl InTransaction<'_> {
    /// The highest recorded occurrence of each key, as
    /// [`SeenEntries::counts`](bankrail_statement::SeenEntries::counts) answers.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn seen_counts(
        &self,
        account: &AccountId,
        keys: &[EntryKey],
    ) -> Result<Vec<u32>, StoreError> {
        self.bounded(seen::counts(self.session(), account, keys))
            .await
    }

    /// Records entries and a position, as
    /// [`SeenEntries::record`](bankrail_statement::SeenEntries::record) does. Another transaction
    /// that records entries of the same account waits for the end of this one. Record several
    /// accounts in the order of their identifiers, so that two transactions do not wait for each
    /// other.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn record_seen(
        &self,
        account: &AccountId,
        entries: &[SeenEntry],
        position: Option<&str>,
    ) -> Result<(), StoreError> {
        self.bounded(seen::record(self.session(), account, entries, position))
            .await
    }

    /// The account's position, as
    /// [`SeenEntries::position`](bankrail_statement::SeenEntries::position) answers.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn seen_position(&self, account: &AccountId) -> Result<Option<String>, StoreError> {
        self.bounded(seen::position(self.session(), account)).await
    }
}
