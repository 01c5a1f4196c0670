//! The write-ahead log during a transaction that is held open.

use crate::engines::{at, outgoing};
use crate::load::{Side, keeps_its_rate};
use bankrail_mailbox::{Outbox, Outgoing};
use bankrail_stores::sqlite::SqliteStore;
use bankrail_stores::sqlite::rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const MIB: u64 = 1 << 20;

fn length(log: &Path) -> u64 {
    std::fs::metadata(log).map_or(0, |log| log.len())
}

#[tokio::test]
async fn the_log_is_cut_back_once_a_reader_has_ended_without_another_write() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (
        folder.path().join("bankrail.db"),
        folder.path().join("bankrail.db-wal"),
    );
    let store = SqliteStore::open(&file, Default::default()).unwrap();
    let reader = Connection::open(&file).unwrap();
    let count = |reader: &Connection| -> i64 {
        reader
            .query_row("SELECT count(*) FROM bankrail_outbox", [], |row| row.get(0))
            .unwrap()
    };
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(count(&reader), 0);
    let body = || vec![b' '; usize::try_from(MIB).unwrap()].into();
    for number in 0..20 {
        let message = Outgoing {
            body: body(),
            ..outgoing("biller", number)
        };
        store.outbox().enqueue(&message, at(0)).await.unwrap();
    }
    assert!(length(&log) > 20 * MIB, "the reader needs the old pages");
    assert_eq!(count(&reader), 0);
    reader.execute_batch("COMMIT").unwrap();
    while length(&log) > 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(count(&reader), 20);
}

#[tokio::test]
async fn a_closed_store_leaves_everything_in_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (
        folder.path().join("bankrail.db"),
        folder.path().join("bankrail.db-wal"),
    );
    let store = SqliteStore::open(&file, Default::default()).unwrap();
    let other = store.outbox();
    other.enqueue(&outgoing("biller", 1), at(0)).await.unwrap();
    assert!(length(&log) > 0);
    store.close().await;
    assert_eq!(length(&log), 0, "although another handle is open");
    let copy = folder.path().join("copy.db");
    std::fs::copy(&file, &copy).unwrap();
    let stored = "SELECT count(*) FROM bankrail_outbox";
    let stored: i64 = Connection::open(copy)
        .unwrap()
        .query_row(stored, [], |row| row.get(0))
        .unwrap();
    assert_eq!(stored, 1);
}

/// Stores and finishes messages while a reader sees an old state of the file; afterwards the log is
/// cut back.
async fn beside_an_open_reader(of: fn(&SqliteStore) -> Side) {
    let folder = tempfile::tempdir().unwrap();
    let (file, log) = (
        folder.path().join("bankrail.db"),
        folder.path().join("bankrail.db-wal"),
    );
    let store = SqliteStore::open(&file, Default::default()).unwrap();
    keeps_its_rate(of(&store), async || {
        let reader = Connection::open(&file).unwrap();
        reader
            .execute_batch("BEGIN; SELECT count(*) FROM bankrail_outbox")
            .unwrap();
        reader
    })
    .await;
    assert!(length(&log) <= 16 * MIB, "{} bytes", length(&log));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a machine of its own"]
async fn the_outbox_keeps_its_rate_beside_an_open_reader() {
    beside_an_open_reader(|store| Side::Outbox(Arc::new(store.outbox()))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a machine of its own"]
async fn the_inbox_keeps_its_rate_beside_an_open_reader() {
    beside_an_open_reader(|store| Side::Inbox(Arc::new(store.inbox()))).await;
}
