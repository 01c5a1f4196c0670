//! The age of what waits, for monitoring.

use super::{PostgresStore, get, instant};
use bankrail_values::{StoreError, Timestamp};

pub(super) const OUTBOX: &str = "SELECT enqueued AS at FROM bankrail_outbox WHERE id = (
    SELECT entry FROM bankrail_outbox_queue WHERE endpoint NOT IN (SELECT endpoint FROM bankrail_stopped)
    ORDER BY entry LIMIT 1)";

pub(super) const INBOX: &str =
    "SELECT received AS at FROM bankrail_inbox WHERE id = (SELECT min(entry) FROM bankrail_inbox_queue)";

impl PostgresStore {
    /// Reads the column `at` of the only row, an instant.
    pub(super) async fn oldest(&self, sql: &'static str) -> Result<Option<Timestamp>, StoreError> {
        self.timed(async move {
            let rows = self.query(sql, &[]).await?;
            rows.first().map(|row| instant(get::<i64>(row, "at")?)).transpose()
        })
        .await
    }
}
