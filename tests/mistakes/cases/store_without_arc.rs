//! The client's counters are given by value, and not in an `Arc`.
//! says: expected `Arc<dyn CounterStore>`, found `SqliteStore`
use bankrail::client::ClientOptions;
use bankrail::stores::sqlite::SqliteStore;

fn options(store: SqliteStore) -> ClientOptions {
    ClientOptions::new().counters(store)
}

fn main() {}
