//! The import writes by itself, where work for the store's transaction is expected.
//! says: with `Ok(work)` where its effect is part of the store's transaction
use bankrail::client::{Client, NewEntries, PolledAccount, Poller, PollerOptions};
use bankrail::stores::sqlite::{SqliteStore, rusqlite};
use std::sync::Arc;

async fn import(_: NewEntries) -> Result<(), rusqlite::Error> {
    Ok(())
}

fn poll(client: &Client, store: Arc<SqliteStore>, accounts: Vec<PolledAccount>) {
    let _ = Poller::transactional(
        client.statements(),
        store,
        accounts,
        import,
        PollerOptions::new(),
    );
}

fn main() {}
