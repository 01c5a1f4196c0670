//! The import prepares work, and the poller has no transaction to do it in.
//! says: one that returns work goes to `Poller::transactional`
use bankrail::client::{Client, NewEntries, PolledAccount, Poller, PollerOptions};
use bankrail::stores::sqlite::{SqliteStore, SqliteWork, rusqlite};
use std::error::Error;
use std::sync::Arc;

async fn import(_: NewEntries) -> Result<SqliteWork, Box<dyn Error + Send + Sync>> {
    Ok(SqliteWork::new(|_| Ok::<(), rusqlite::Error>(())))
}

fn poll(client: &Client, store: Arc<SqliteStore>, accounts: Vec<PolledAccount>) {
    let _ = Poller::new(
        client.statements(),
        store,
        accounts,
        import,
        PollerOptions::new(),
    );
}

fn main() {}
