use crate::engines::sqlite_file;
use bankrail_stores::sqlite::{SqliteStore, TransactionError, rusqlite};

async fn rows(store: &SqliteStore) -> i64 {
    let count = |sql: &'static str| store.transaction(move |t| t.connection().query_row(sql, [], |row| row.get(0)));
    count("SELECT count(*) FROM mine").await.unwrap()
}

#[tokio::test]
async fn the_callers_work_is_kept_or_undone_as_one() {
    let engine = sqlite_file();
    let store = &engine.store;
    store.transaction(|t| t.connection().execute_batch("CREATE TABLE mine (x INTEGER) STRICT")).await.unwrap();
    let kept = store.transaction(|t| t.connection().execute("INSERT INTO mine VALUES (1), (2)", [])).await;
    assert_eq!(kept.unwrap(), 2);

    let undone = store.transaction(|t| {
        t.connection().execute("INSERT INTO mine VALUES (3)", []).map_err(|e| e.to_string())?;
        Err::<(), _>("no funds".to_owned())
    });
    assert!(matches!(undone.await, Err(TransactionError::Undone(reason)) if reason == "no funds"));
    assert_eq!(rows(store).await, 2);

    let panicked = store.transaction(|t| -> Result<(), rusqlite::Error> {
        t.connection().execute("INSERT INTO mine VALUES (3)", [])?;
        panic!("as a test");
    });
    assert!(matches!(panicked.await, Err(TransactionError::Store(_))));
    assert_eq!(rows(store).await, 2, "and the store works on");
}
