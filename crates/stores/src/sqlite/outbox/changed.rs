//! A message that another process has stored is noticed by the log, which each transaction writes to.

use crate::sqlite::SqliteStore;
use bankrail_values::StoreError;
use rusqlite::OptionalExtension as _;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// How often the log is looked at, which is one call of the operating system. Nearly all that it costs is waking up.
const EVERY: Duration = Duration::from_millis(25);

/// What was written less than this before may be written again without another time of modification.
const SETTLES_AFTER: Duration = Duration::from_millis(50);

/// No number is used twice (AUTOINCREMENT).
const LAST: &str = "SELECT seq FROM sqlite_sequence WHERE name = 'bankrail_outbox'";

pub(super) async fn changed(store: &SqliteStore) -> Result<(), StoreError> {
    let Some(log) = store.database.log() else { return std::future::pending().await };
    let mut seen = None;
    loop {
        let now = std::fs::metadata(&log).ok().map(|log| (log.len(), log.modified().ok()));
        let settled = |modified: SystemTime| modified.elapsed().is_ok_and(|age| age >= SETTLES_AFTER);
        if seen != Some(now) || !now.and_then(|(_, modified)| modified).is_none_or(settled) {
            let last = |connection: &rusqlite::Connection| {
                Ok(connection.prepare_cached(LAST)?.query_row([], |row| row.get(0)).optional()?)
            };
            let last = store.database.read(last).await?.unwrap_or(0);
            if store.database.told.swap(last, Ordering::Relaxed) != last {
                return Ok(());
            }
            seen = Some(now);
        }
        tokio::time::sleep(EVERY).await;
    }
}
