//! A store in SQLite without the feature for it.
//! says: the item is gated behind the `sqlite` feature
//! features: stores
use bankrail::stores::sqlite::SqliteStore;

fn main() {
    let _: Option<SqliteStore> = None;
}
