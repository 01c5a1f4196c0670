//! The age of what waits, for monitoring.

use super::{PostgresStore, get, instant};
use bankrail_values::{StoreError, Timestamp};

// `+ 0` keeps PostgreSQL from walking the table in the order of `id` past all finished entries: it reads the index of
// the pending ones instead.
pub(super) const OUTBOX: &str = "SELECT enqueued AS at FROM bankrail_outbox WHERE id = (
    SELECT min(id + 0) FROM bankrail_outbox WHERE state = 'pending'
        AND NOT EXISTS (SELECT 1 FROM bankrail_stopped WHERE bankrail_stopped.endpoint = bankrail_outbox.endpoint))";

pub(super) const INBOX: &str = "SELECT received AS at FROM bankrail_inbox WHERE id = (
    SELECT min(id + 0) FROM bankrail_inbox WHERE state = 'pending')";

impl PostgresStore {
    /// Reads the column `at` of the only row, an instant.
    pub(super) async fn oldest(&self, sql: &str) -> Result<Option<Timestamp>, StoreError> {
        self.timed(async move {
            let rows = self.query(sql, &[]).await?;
            rows.first().map(|row| instant(get::<i64>(row, "at")?)).transpose()
        })
        .await
    }
}
