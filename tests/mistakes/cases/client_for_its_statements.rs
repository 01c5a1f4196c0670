//! The poller is given the client, and not its statements.
//! says: pass `client.statements()` of a `Client`
use bankrail::client::{Client, NewEntries, PolledAccount, Poller, PollerOptions};
use bankrail::stores::sqlite::SqliteStore;
use std::error::Error;
use std::sync::Arc;

async fn import(_: NewEntries) -> Result<(), Box<dyn Error + Send + Sync>> {
    Ok(())
}

fn poll(client: &Client, store: Arc<SqliteStore>, accounts: Vec<PolledAccount>) {
    let _ = Poller::new(client, store, accounts, import, PollerOptions::new());
}

fn main() {}
