//! The standard library's time is taken for a clock.
//! says: pass `Arc::new(SystemClock)`
use bankrail::service::ProviderOptions;
use std::sync::Arc;
use std::time::SystemTime;

fn options() -> ProviderOptions {
    ProviderOptions::new().clock(Arc::new(SystemTime::now()))
}

fn main() {}
