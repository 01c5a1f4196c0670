//! Valkey has no transaction for the work of an import.
//! says: `SqliteStore` and `PostgresStore` of `bankrail_stores` have one
//! says: use `Poller::new`
use bankrail::client::{Client, NewEntries, PolledAccount, Poller, PollerOptions};
use bankrail::stores::redis::RedisStore;
use std::error::Error;
use std::sync::Arc;

async fn import(_: NewEntries) -> Result<(), Box<dyn Error + Send + Sync>> {
    Ok(())
}

fn poll(client: &Client, store: Arc<RedisStore>, accounts: Vec<PolledAccount>) {
    let _ = Poller::transactional(
        client.statements(),
        store,
        accounts,
        import,
        PollerOptions::new(),
    );
}

fn main() {}
