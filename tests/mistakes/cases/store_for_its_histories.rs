//! Changes are followed in the store, and not in its histories.
//! says: pass `store.histories()`
use bankrail::stores::sqlite::SqliteStore;
use bankrail::webhook::history::follow_changes;

async fn follow(store: &SqliteStore) {
    let _ = follow_changes(store, 0, |_| ()).await;
}

fn main() {}
