//! Cached tokens are sealed, and the secret for that is missing.
//! says: expected `(Arc<dyn TokenCache>, SealingSecret)`
use bankrail::client::ClientOptions;
use bankrail::stores::sqlite::SqliteStore;
use std::sync::Arc;

fn options(store: Arc<SqliteStore>) -> ClientOptions {
    ClientOptions::new().token_cache(store)
}

fn main() {}
