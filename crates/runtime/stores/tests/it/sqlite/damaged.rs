//! Tests of a file in which pages are overwritten.

use crate::engines::{at, outgoing};
use bankrail_mailbox::{Outbox, OutboxOperator};
use bankrail_stores::sqlite::SqliteStore;
use bankrail_stores::sqlite::rusqlite::Connection;
use bankrail_values::StoreErrorKind;
use std::error::Error;
use std::os::unix::fs::FileExt;

const PAGE: usize = 4096;

#[tokio::test]
async fn damage_is_named_with_its_file_and_the_rest_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bankrail.db");
    let store = SqliteStore::open(&file, Default::default()).unwrap();
    let mut stored = Vec::new();
    for number in 0..200 {
        stored.push(
            store
                .outbox()
                .enqueue(&outgoing("biller", number), at(0))
                .await
                .unwrap()
                .id(),
        );
    }
    store.close().await;
    drop(store);

    let leaves = leaves(&Connection::open(&file).unwrap());
    assert!(leaves.len() > 2);
    let bytes = std::fs::File::options().write(true).open(&file).unwrap();
    bytes
        .write_all_at(&[0xA5; PAGE], u64::from(leaves[1] - 1) * PAGE as u64)
        .unwrap();

    let store = SqliteStore::open(&file, Default::default()).unwrap();
    let mut damaged = 0;
    for id in &stored {
        let Err(error) = store.outbox().find(*id).await else {
            continue;
        };
        assert_eq!(error.kind(), StoreErrorKind::Corrupt);
        let cause = error.source().unwrap().to_string();
        assert!(
            cause.starts_with(&format!("{} is damaged", file.display()))
                && cause.contains(".recover"),
            "{cause}"
        );
        damaged += 1;
    }
    assert!(
        (1..50).contains(&damaged),
        "{damaged} of {} messages lay on one page",
        stored.len()
    );
    store
        .outbox()
        .enqueue(&outgoing("biller", 200), at(1))
        .await
        .unwrap();
}

/// Returns the numbers of the pages with rows of the outbox.
fn leaves(connection: &Connection) -> Vec<u32> {
    let pages = "SELECT pageno FROM dbstat WHERE name = 'bankrail_outbox' AND pagetype = 'leaf'";
    let mut pages = connection.prepare(pages).unwrap();
    pages
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}
