//! The suite of archives.

use bankrail_mailbox::testing::archive_suite;
use bankrail_stores::sqlite::SqliteStore;

#[tokio::test]
async fn the_archive_keeps_the_rules() {
    archive_suite(async || SqliteStore::open_in_memory(Default::default()).unwrap()).await;
}
