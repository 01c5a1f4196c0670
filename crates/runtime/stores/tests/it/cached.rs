//! A customer's sealed tokens: every engine passes the suite of the trait.

use crate::engines::{at, memory};
use bankrail_client_assertion::testing::token_cache_suite;
use bankrail_client_assertion::token::{CachedToken, TokenCache, TokenCacheKey};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{EXPIRY_GRACE, StoreErrorKind};

fn key(number: u8) -> TokenCacheKey {
    TokenCacheKey::from([number; 32])
}

fn token(until: i64) -> CachedToken {
    CachedToken::new(vec![7; 60], at(until))
}

#[tokio::test]
async fn memory_passes_the_suite() {
    token_cache_suite(async || memory().store).await;
    too_long_is_refused(&memory().store).await;
}

async fn too_long_is_refused(cache: &impl TokenCache) {
    cache.put(&key(1), &token(100), at(0)).await.unwrap();
    let too_long = CachedToken::new(vec![7; CachedToken::MAX_SEALED_BYTES + 1], at(100));
    let refused = cache.put(&key(1), &too_long, at(0)).await.unwrap_err();
    assert_eq!(refused.kind(), StoreErrorKind::Full);
    assert_eq!(
        cache.get(&key(1), at(0)).await.unwrap(),
        Some(token(100)),
        "the one before stays"
    );
}

#[tokio::test]
async fn memory_refuses_when_full_of_what_is_still_needed() {
    let store = MemoryStore::with_capacity(1);
    store.put(&key(1), &token(100), at(0)).await.unwrap();
    let grace = i64::try_from(EXPIRY_GRACE.as_millis()).unwrap();
    let full = store
        .put(&key(2), &token(9 * grace), at(100 + grace))
        .await
        .unwrap_err();
    assert_eq!(full.kind(), StoreErrorKind::Full, "a clock may lag");
    store
        .put(&key(2), &token(9 * grace), at(101 + grace))
        .await
        .unwrap();
    assert_eq!(store.get(&key(1), at(0)).await.unwrap(), None);
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn sqlite_passes_the_suite() {
    use bankrail_stores::sqlite::{SqliteStore, rusqlite};
    token_cache_suite(async || SqliteStore::open_in_memory(Default::default()).unwrap()).await;
    let folder = tempfile::tempdir().unwrap();
    let mut files = 0..;
    token_cache_suite(async || {
        SqliteStore::open(
            folder.path().join(files.next().unwrap().to_string()),
            Default::default(),
        )
        .unwrap()
    })
    .await;

    // After a restart it is there, and goes in passing once it has long expired.
    let path = folder.path().join("bankrail.db");
    let store = SqliteStore::open(&path, Default::default()).unwrap();
    too_long_is_refused(&store).await;
    store.close().await;
    drop(store);
    let store = SqliteStore::open(&path, Default::default()).unwrap();
    assert_eq!(store.get(&key(1), at(0)).await.unwrap(), Some(token(100)));
    let grace = i64::try_from(EXPIRY_GRACE.as_millis()).unwrap();
    store
        .put(&key(2), &token(9 * grace), at(101 + grace))
        .await
        .unwrap();
    let rows = |connection: &rusqlite::Connection| {
        connection.query_row("SELECT count(*) FROM bankrail_cached_token", [], |row| {
            row.get::<_, u32>(0)
        })
    };
    assert_eq!(store.read(rows).await.unwrap(), 1);
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn postgres_passes_the_suite() {
    use bankrail_stores::postgres::PostgresStore;
    use bankrail_stores::postgres::tokio_postgres::{NoTls, connect};
    token_cache_suite(async || crate::engines::postgres().await.store).await;
    let config = crate::engines::postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    too_long_is_refused(&store).await;
    let grace = i64::try_from(EXPIRY_GRACE.as_millis()).unwrap();
    store
        .put(&key(2), &token(9 * grace), at(101 + grace))
        .await
        .unwrap();
    let (beside, connection) = connect(&config, NoTls).await.unwrap();
    tokio::spawn(connection);
    let rows: i64 = beside
        .query_one("SELECT count(*) FROM bankrail_cached_token", &[])
        .await
        .unwrap()
        .get(0);
    assert_eq!(rows, 1, "what has long expired goes in passing");
}
