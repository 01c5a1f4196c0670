//! The wait for messages of other processes, which the write-ahead log shows.

use crate::sqlite::connection::Database;
use bankrail_values::StoreError;
use rusqlite::OptionalExtension as _;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

/// The interval at which the log is checked, with one call of the operating system. Nearly all of
/// the cost is the wake-up.
const POLL_INTERVAL: Duration = Duration::from_millis(25);

// Selects the number of the last message, which never falls (AUTOINCREMENT).
const LAST: &str = "SELECT seq FROM sqlite_sequence WHERE name = 'bankrail_outbox'";

#[expect(
    clippy::disallowed_methods,
    reason = "compared with the time that the file system wrote"
)]
pub(super) async fn changed(database: &Database) -> Result<(), StoreError> {
    let Some(log) = database.log() else {
        return std::future::pending().await;
    };
    let mut reading = Reading::default();
    loop {
        let log = std::fs::metadata(&log)
            .ok()
            .map(|log| (log.len(), log.modified().ok()));
        if reading.is_due(log, SystemTime::now()) {
            let last = |connection: &rusqlite::Connection| {
                Ok(connection
                    .prepare_cached(LAST)?
                    .query_row([], |row| row.get(0))
                    .optional()?)
            };
            let last = database.read(last).await?.unwrap_or(0);
            // Relaxed, because it guards nothing: the messages themselves are read from the
            // database.
            if database.last_announced.swap(last, Ordering::Relaxed) != last {
                return Ok(());
            }
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// The length of the log and the instant of its last write; `None` without a log.
type Log = Option<(u64, Option<SystemTime>)>;

/// The last reading of the outbox, with the state of the log before it.
///
/// A transaction becomes visible some time after the log was written: its commit waits for the
/// disk, which may be slow, and the writer may wait for a processor. So the outbox is read again
/// whenever the age of the log has doubled. So the message is found within at most twice the time
/// of its commit, with few readings.
#[derive(Default)]
struct Reading {
    log: Option<Log>,
    /// The age of the log at which the next reading is due.
    next: Duration,
}

impl Reading {
    /// Returns true if the outbox must be read again now.
    fn is_due(&mut self, log: Log, now: SystemTime) -> bool {
        let modified = log.and_then(|(_, modified)| modified);
        // `None` for a log from the future: the clock was set back, and its age is not known.
        let age = modified.and_then(|at| now.duration_since(at).ok());
        let is_due =
            self.log != Some(log) || (modified.is_some() && age.is_none_or(|age| age >= self.next));
        if is_due {
            (self.log, self.next) = (
                Some(log),
                age.map_or(POLL_INTERVAL, |age| {
                    age.saturating_mul(2).max(POLL_INTERVAL)
                }),
            );
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outbox_is_read_whenever_the_log_has_become_twice_as_old() {
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
        let log = |length| Some((length, Some(written)));
        let mut reading = Reading::default();
        let mut is_due = |log, millis| reading.is_due(log, written + Duration::from_millis(millis));
        for (millis, due) in [
            (1, true),
            (24, false),
            (25, true),
            (49, false),
            (50, true),
            (99, false),
            (1_000, true),
        ] {
            assert_eq!(is_due(log(1), millis), due, "{millis}");
        }
        assert!(is_due(log(2), 1_001));
        assert!(!is_due(log(2), 2_001));
        assert!(is_due(log(2), 2_002));
        assert!(is_due(None, 2_003));
        assert!(!is_due(None, 9_999));
        let mut early = Reading::default();
        for _ in 0..3 {
            assert!(
                early.is_due(log(1), SystemTime::UNIX_EPOCH),
                "the clock was set back"
            );
        }
        assert!(early.is_due(log(1), written + POLL_INTERVAL));
    }
}
