//! The dispatcher is given the store, and not its outbox.
//! says: pass `Arc::new(store.outbox())`
use bankrail::service::delivery::{Dispatcher, DispatcherOptions, Endpoints, Transport};
use bankrail::stores::sqlite::SqliteStore;
use std::sync::Arc;

fn deliver(store: Arc<SqliteStore>, transport: Arc<dyn Transport>) {
    let _ = Dispatcher::new(store, Endpoints::new(), transport, DispatcherOptions::new());
}

fn main() {}
