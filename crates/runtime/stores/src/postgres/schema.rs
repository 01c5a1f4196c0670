//! The tables of each version. A released version is never edited; changes are added as the next
//! one.

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

/// Takes the lock that is held while the tables are brought up to date, because several workers may
/// start at once. The wait for this lock is not bounded like others, because its holder may change
/// millions of rows.
const LOCK: &str =
    "SELECT set_config('bankrail.lock_timeout', current_setting('lock_timeout'), true);
    SET LOCAL lock_timeout = 0;
    SELECT pg_advisory_xact_lock(hashtextextended('bankrail_schema', 0));
    SELECT set_config('lock_timeout', current_setting('bankrail.lock_timeout'), true)";

/// Brings the tables up to date in one transaction.
pub(super) async fn migrate(client: &mut Pooled<'_>) -> Result<(), ConnectError> {
    let known = u32::try_from(STEPS.len()).unwrap_or(u32::MAX);
    let found = run_steps(client, known).await;
    let found = u32::try_from(found.map_err(ConnectError::database)?);
    match found.map_err(ConnectError::failed)? {
        found if found > known => Err(ConnectError::NewerSchema { found, known }),
        _ => Ok(()),
    }
}

/// Returns the version that was found. Tables of a later version stay as they are.
async fn run_steps(client: &mut Pooled<'_>, known: u32) -> Result<i32, tokio_postgres::Error> {
    let (transaction, _) = client.begin().await?;
    transaction.batch_execute(LOCK).await?;
    let table = "CREATE TABLE IF NOT EXISTS bankrail_schema (version INTEGER NOT NULL)";
    transaction.batch_execute(table).await?;
    let sql = "SELECT coalesce(max(version), 0) FROM bankrail_schema";
    let found: i32 = transaction.query_typed_one(sql, &[]).await?.get(0);
    let missing = usize::try_from(found)
        .ok()
        .and_then(|found| STEPS.get(found..));
    if let Some(missing @ [_, ..]) = missing {
        transaction.batch_execute(PLAN_FREELY).await?;
        for step in missing {
            transaction.batch_execute(step).await?;
        }
        let sql = format!(
            "DELETE FROM bankrail_schema; INSERT INTO bankrail_schema (version) VALUES ({known})"
        );
        transaction.batch_execute(&sql).await?;
    }
    transaction.commit().await?;
    Ok(found)
}
