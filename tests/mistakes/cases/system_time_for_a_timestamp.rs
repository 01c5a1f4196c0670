//! The standard library's time is taken for a timestamp.
//! says: call `Into::into` on this expression to convert `SystemTime` into
use bankrail::client_assertion::ReplayStore;
use std::time::SystemTime;

async fn claim(store: &dyn ReplayStore) {
    let _ = store
        .claim([7; 32], SystemTime::now(), SystemTime::now())
        .await;
}

fn main() {}
