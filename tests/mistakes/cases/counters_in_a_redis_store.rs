//! Counters on Valkey are a type of their own.
//! says: pass an `Arc` of a `MemoryCounters`, `SqliteStore` or `RedisCounters`
use bankrail::rate_limit::{Limiter, Limits};
use bankrail::stores::redis::RedisStore;
use std::sync::Arc;

fn limit(store: RedisStore) -> Limiter {
    Limiter::new(Limits::new(), Arc::new(store))
}

fn main() {}
