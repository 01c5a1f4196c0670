//! A thread that cuts the write-ahead log back when nothing reads from it any more.
//!
//! SQLite cuts the log back with a write, and only while no transaction reads from it. After a long
//! read, such as that of a backup, a log of any size would stay until the next write. So a thread
//! tries again until it succeeds.

use super::spawn;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The maximum size, in bytes, of a log that is not cut back.
pub(super) const LOG_BYTES: u32 = 16 << 20;

/// The number of pages in the log, of 4,096 bytes each, from which on they are moved into the file.
/// A page that was written several times is moved once, so three times SQLite's default moves a
/// quarter fewer pages for a delivery. The log stays within [`LOG_BYTES`].
pub(super) const LOG_PAGES: u32 = 3000;

/// The pause between two attempts of the thread.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// The maximum time for which one attempt waits for a writer.
const WRITER_TIMEOUT: Duration = Duration::from_millis(100);

/// The log of a file.
pub(super) struct Log {
    file: PathBuf,
    log: PathBuf,
    /// True while the thread runs. The thread has a weak reference, and ends with the last handle.
    cutting: Arc<AtomicBool>,
}

impl Log {
    /// Returns the log of a connection; `None` if the database has no file.
    pub(super) fn of(connection: &Connection) -> Option<Self> {
        let file = connection.path().filter(|file| !file.is_empty())?;
        Some(Self {
            file: file.into(),
            log: format!("{file}-wal").into(),
            cutting: Arc::default(),
        })
    }

    /// Cuts the log back in the background if it is too long.
    pub(super) fn keep_short(&self) {
        let is_long = || std::fs::metadata(&self.log).is_ok_and(|log| log.len() > LOG_BYTES.into());
        if !self.cutting.load(Ordering::Relaxed)
            && is_long()
            && !self.cutting.swap(true, Ordering::Relaxed)
        {
            let file = self.file.clone();
            let cutting = Arc::downgrade(&self.cutting);
            // Without a thread, the next write retries.
            if spawn(&self.file, "bankrail-checkpoint", move || {
                cut_back(&file, &cutting)
            })
            .is_err()
            {
                self.cutting.store(false, Ordering::Relaxed);
            }
        }
    }
}

/// Moves the log into the file, unless something reads from it.
pub(super) fn fold(file: &Path) {
    match connect(file).and_then(|connection| try_to_cut(&connection)) {
        Ok(true) => {}
        Ok(false) => tracing::info!(
            "the write-ahead log stays beside its file: another program reads from it"
        ),
        Err(error) => {
            tracing::warn!(%error, "the write-ahead log could not be moved into its file")
        }
    }
}

fn cut_back(file: &Path, cutting: &Weak<AtomicBool>) {
    if let Err(error) = cut(file, cutting) {
        tracing::warn!(%error, "the write-ahead log could not be cut back");
    }
    if let Some(cutting) = cutting.upgrade() {
        cutting.store(false, Ordering::Relaxed);
    }
}

#[expect(clippy::disallowed_methods, reason = "its own thread")]
fn cut(file: &Path, cutting: &Weak<AtomicBool>) -> rusqlite::Result<()> {
    let connection = connect(file)?;
    // Until it is done, or the store is closed.
    while cutting.strong_count() > 0 {
        std::thread::sleep(RETRY_INTERVAL);
        if try_to_cut(&connection)? {
            break;
        }
    }
    Ok(())
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(WRITER_TIMEOUT)?;
    Ok(connection)
}

/// Cuts the log back. Returns false while something reads from it.
fn try_to_cut(connection: &Connection) -> rusqlite::Result<bool> {
    let checkpoint = |mode: &str| {
        connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, i64>(2)?,
            ))
        })
    };
    // First without a lock, so that the writer waits only for the cut itself.
    let (busy, frames, moved) = checkpoint("PASSIVE")?;
    Ok(busy == 0 && frames == moved && checkpoint("TRUNCATE")?.0 == 0)
}
