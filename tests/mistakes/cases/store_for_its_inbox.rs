//! The receivers are given the store, and not its inbox.
//! says: pass `Arc::new(store.inbox())`
use bankrail::client::connection::Connection;
use bankrail::client::receivers::ReceiversOptions;
use bankrail::stores::sqlite::SqliteStore;
use std::sync::Arc;

fn receive(bank: &Connection, store: Arc<SqliteStore>) {
    let _ = bank.receivers(store, ReceiversOptions::new());
}

fn main() {}
