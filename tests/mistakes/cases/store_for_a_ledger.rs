//! The provider's ledger is in the store's file, and the store itself is no ledger.
//! says: pass `Arc::new(SqliteLedger::new(store))`
use bankrail::client_assertion::Verifier;
use bankrail::service::{Directory, Provider, ProviderOptions};
use bankrail::stores::sqlite::SqliteStore;
use std::sync::Arc;

fn serve(directory: Arc<dyn Directory>, store: Arc<SqliteStore>, verifier: Verifier) {
    let _ = Provider::new(
        directory,
        store.clone(),
        store,
        verifier,
        ProviderOptions::new(),
    );
}

fn main() {}
