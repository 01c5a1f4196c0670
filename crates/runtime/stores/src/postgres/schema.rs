//! The tables, version by version. A released version is never edited; changes are added as the
//! next one.

use super::ConnectError;
use super::pool::{PLAN_FREELY, Pooled};

/// The statements that bring the tables from each version to the next.
const STEPS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
    include_str!("schema/8.sql"),
    include_str!("schema/9.sql"),
    include_str!("schema/10.sql"),
];

/// Held while the tables are brought up to date: several workers may start at once. The wait for
/// another one, which may change millions of rows, is not bounded as that for other locks is.
const LOCK: &str =
    "SELECT set_config('bankrail.lock_timeout', current_setting('lock_timeout'), true);
    SET LOCAL lock_timeout = 0;
    SELECT pg_advisory_xact_lock(hashtextextended('bankrail_schema', 0));
    SELECT set_config('lock_timeout', current_setting('bankrail.lock_timeout'), true)";

/// Brings the tables up to date in one transaction.
pub(super) async fn migrate(client: &mut Pooled<'_>) -> Result<(), ConnectError> {
    let known = u32::try_from(STEPS.len()).unwrap_or(u32::MAX);
    let (transaction, _) = client.begin().await.map_err(ConnectError::database)?;
    transaction
        .batch_execute(LOCK)
        .await
        .map_err(ConnectError::database)?;
    let table = "CREATE TABLE IF NOT EXISTS bankrail_schema (version INTEGER NOT NULL)";
    transaction
        .batch_execute(table)
        .await
        .map_err(ConnectError::database)?;
    let sql = "SELECT coalesce(max(version), 0) FROM bankrail_schema";
    let found: i32 = transaction
        .query_typed_one(sql, &[])
        .await
        .map_err(ConnectError::database)?
        .get(0);
    let found = u32::try_from(found).map_err(ConnectError::failed)?;
    if found > known {
        return Err(ConnectError::NewerSchema { found, known });
    }
    if found < known {
        transaction
            .batch_execute(PLAN_FREELY)
            .await
            .map_err(ConnectError::database)?;
        for step in STEPS
            .iter()
            .skip(usize::try_from(found).unwrap_or(usize::MAX))
        {
            transaction
                .batch_execute(step)
                .await
                .map_err(ConnectError::database)?;
        }
        let sql = format!(
            "DELETE FROM bankrail_schema; INSERT INTO bankrail_schema (version) VALUES ({known})"
        );
        transaction
            .batch_execute(&sql)
            .await
            .map_err(ConnectError::database)?;
    }
    transaction.commit().await.map_err(ConnectError::database)
}
