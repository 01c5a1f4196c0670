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
    let mut reading = Reading::default();
    loop {
        let log = std::fs::metadata(&log).ok().map(|log| (log.len(), log.modified().ok()));
        if reading.is_due(log, SystemTime::now()) {
            let last = |connection: &rusqlite::Connection| {
                Ok(connection.prepare_cached(LAST)?.query_row([], |row| row.get(0)).optional()?)
            };
            let last = store.database.read(last).await?.unwrap_or(0);
            if store.database.told.swap(last, Ordering::Relaxed) != last {
                return Ok(());
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// The length of the log and when it was written last; `None` without a log.
type Log = Option<(u64, Option<SystemTime>)>;

/// The last reading of the outbox.
#[derive(Default)]
struct Reading {
    /// The log before it.
    log: Option<Log>,
    /// The log had settled, so that a later write is seen in it. One that came soon after the reading need not be.
    settled: bool,
}

impl Reading {
    /// Whether the outbox is read again now.
    fn is_due(&mut self, log: Log, now: SystemTime) -> bool {
        let is_due = self.log != Some(log) || !self.settled;
        let age = |modified: SystemTime| now.duration_since(modified).ok();
        self.settled =
            log.and_then(|(_, modified)| modified).is_none_or(|at| age(at).is_some_and(|age| age >= SETTLES_AFTER));
        self.log = Some(log);
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outbox_is_read_until_the_log_had_settled_before() {
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
        let log = |length| Some((length, Some(written)));
        let mut reading = Reading::default();
        let mut is_due = |log, millis| reading.is_due(log, written + Duration::from_millis(millis));
        assert!(is_due(log(1), 1));
        // However late it is looked at next: the reading before came too early.
        assert!(is_due(log(1), 1_000));
        assert!(!is_due(log(1), 1_001));
        assert!(is_due(log(2), 1_002));
        assert!(!is_due(log(2), 1_003));
        assert!(is_due(None, 1_004));
        assert!(!is_due(None, 1_005));
    }
}
