//! Seen entries in one transaction with the caller's work.

use super::{InTransaction, PostgresWork};
use crate::postgres::session::Session;
use crate::postgres::values::params;
use crate::postgres::{PostgresStore, seen};
use bankrail_statement::{
    AccountId, EntryKey, PageRecord, PositionChange, Recorded, SeenEntry, TransactionalSeenEntries,
};
use bankrail_values::{StoreError, StoreFuture};

impl TransactionalSeenEntries for PostgresStore {
    type Work = PostgresWork;

    /// The work and the wait for a connection and for other transactions on the account share the
    /// maximum duration of one operation. When it is over, the work is undone unless its commit has
    /// begun.
    fn record_with<'a>(
        &'a self,
        account: &'a AccountId,
        page: PageRecord<'a>,
        work: PostgresWork,
    ) -> StoreFuture<'a, Recorded> {
        let own = async move |session: Session<'_>| {
            session.query(seen::LOCK, params![account.as_str()]).await?;
            if page.is_overtaken(&seen::counts(session, account, &page.new_keys()).await?) {
                return Ok(Some(Recorded::Overtaken));
            }
            Ok(
                match seen::record(session, account, page.entries, page.position).await? {
                    Recorded::Committed => None,
                    instead => Some(instead),
                },
            )
        };
        let outcome =
            |done: Result<(), _>| done.map_or_else(Recorded::Undone, |()| Recorded::Committed);
        Box::pin(self.timed(self.run_work(own, work, outcome)))
    }
}

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
        self.bounded(seen::counts(self.session, account, keys))
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
        position: Option<PositionChange<'_>>,
    ) -> Result<Recorded, StoreError> {
        self.bounded(seen::record(self.session, account, entries, position))
            .await
    }

    /// The account's position, as
    /// [`SeenEntries::position`](bankrail_statement::SeenEntries::position) answers.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn seen_position(&self, account: &AccountId) -> Result<Option<String>, StoreError> {
        self.bounded(seen::position(self.session, account)).await
    }
}
