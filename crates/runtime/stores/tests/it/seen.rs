//! Seen entries and positions: every engine passes the suites of the traits.

use crate::engines::memory;
use bankrail_statement::testing::seen_entries_suite;
use bankrail_statement::{AccountId, EntryKey, PositionChange, SeenEntries, SeenEntry};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::StoreErrorKind;

#[tokio::test]
async fn memory_passes_the_suite() {
    seen_entries_suite(async || memory().store).await;
}

fn account(id: &str) -> AccountId {
    id.parse().unwrap()
}

#[tokio::test]
async fn memory_takes_all_of_a_page_or_nothing() {
    let store = MemoryStore::with_capacity(2);
    let key = |n| EntryKey::from([n; 32]);
    let entry = |n| SeenEntry::new(key(n), 1, None);
    let change = |before, after| Some(PositionChange::new(before, Some(after)));
    let _ = store
        .record(&account("A"), &[entry(1)], change(None, "one"))
        .await
        .unwrap();
    let full = store
        .record(
            &account("A"),
            &[entry(1), entry(2), entry(3)],
            change(Some("one"), "two"),
        )
        .await
        .unwrap_err();
    assert_eq!(full.kind(), StoreErrorKind::Full);
    assert_eq!(
        store
            .counts(&account("A"), &[key(1), key(2), key(3)])
            .await
            .unwrap(),
        [1, 0, 0]
    );
    assert_eq!(
        store.position(&account("A")).await.unwrap().as_deref(),
        Some("one")
    );
    let _ = store
        .record(&account("B"), &[], change(None, "two"))
        .await
        .unwrap();
    let full = store
        .record(&account("C"), &[entry(2)], change(None, "three"))
        .await
        .unwrap_err();
    assert_eq!(full.kind(), StoreErrorKind::Full, "a third position");
    assert_eq!(store.counts(&account("C"), &[key(2)]).await.unwrap(), [0]);
    let _ = store
        .record(
            &account("A"),
            &[entry(1), entry(2), entry(2)],
            change(Some("one"), "three"),
        )
        .await
        .unwrap();
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::{account, seen_entries_suite};
    use crate::engines::sqlite_file;
    use bankrail_statement::testing::transactional_seen_entries_suite;
    use bankrail_statement::{
        EntryKey, PageRecord, PositionChange, Recorded, SeenEntries, SeenEntry,
        TransactionalSeenEntries,
    };
    use bankrail_stores::sqlite::{Durability, SqliteOptions, SqliteStore, SqliteWork, rusqlite};

    fn entry(number: u8) -> SeenEntry {
        SeenEntry::new(EntryKey::from([number; 32]), 1, None)
    }

    #[tokio::test]
    async fn passes_the_suite() {
        seen_entries_suite(async || SqliteStore::open_in_memory(Default::default()).unwrap()).await;
        let folder = tempfile::tempdir().unwrap();
        // The suite does not test a loss of power.
        let options = SqliteOptions::new().durability(Durability::ProcessEnd);
        let mut files = 0..;
        let mut path = || folder.path().join(files.next().unwrap().to_string());
        seen_entries_suite(async || SqliteStore::open(path(), options.clone()).unwrap()).await;
    }

    fn work(number: u32, fails: bool) -> SqliteWork {
        SqliteWork::new(move |transaction| {
            transaction
                .connection()
                .execute("INSERT INTO mine VALUES (?1)", [number])?;
            if fails {
                Err("as a test".into())
            } else {
                Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
            }
        })
    }

    async fn effects(store: &SqliteStore) -> Vec<u32> {
        let all = |connection: &rusqlite::Connection| {
            let mut all = connection.prepare("SELECT x FROM mine")?;
            all.query_map([], |row| row.get(0))?
                .collect::<Result<Vec<u32>, rusqlite::Error>>()
        };
        store.read(all).await.unwrap()
    }

    async fn with_table(store: SqliteStore) -> SqliteStore {
        store
            .transaction(|t| {
                t.connection()
                    .execute_batch("CREATE TABLE mine (x INTEGER) STRICT")
            })
            .await
            .unwrap();
        store
    }

    #[tokio::test]
    async fn passes_the_transactional_suite() {
        let store = with_table(SqliteStore::open_in_memory(Default::default()).unwrap()).await;
        transactional_seen_entries_suite(&store, &store, work, async || effects(&store).await)
            .await;
        // Two handles of one file, as two processes have them.
        let folder = tempfile::tempdir().unwrap();
        let open =
            || SqliteStore::open(folder.path().join("bankrail.db"), Default::default()).unwrap();
        let (one, other) = (with_table(open()).await, open());
        transactional_seen_entries_suite(&one, &other, work, async || effects(&other).await).await;
    }

    #[tokio::test]
    async fn work_that_panics_or_ends_its_transaction_leaves_nothing() {
        let engine = sqlite_file();
        let store = with_table(engine.store.clone()).await;
        let (own, entries) = (account("A"), [entry(1)]);
        let page =
            PageRecord::new(&entries, &[true]).position(PositionChange::new(None, Some("after")));
        let panicking = SqliteWork::new(|t| -> Result<(), rusqlite::Error> {
            t.connection().execute("INSERT INTO mine VALUES (1)", [])?;
            panic!("as a test");
        });
        store.record_with(&own, page, panicking).await.unwrap_err();
        for sql in ["ROLLBACK", "COMMIT"] {
            let careless = SqliteWork::new(move |t| {
                let _ = t.connection().execute(sql, []);
                let _ = t.connection().execute("INSERT INTO mine VALUES (2)", []);
                Ok::<_, rusqlite::Error>(())
            });
            let answer = store.record_with(&own, page, careless).await;
            assert!(
                !matches!(answer, Ok(Recorded::Committed)),
                "{sql}: {answer:?}"
            );
        }
        assert!(effects(&store).await.is_empty());
        assert_eq!(store.counts(&own, &[entry(1).key]).await.unwrap(), [0]);
        assert_eq!(store.position(&own).await.unwrap(), None);
        assert!(matches!(
            store.record_with(&own, page, work(3, false)).await,
            Ok(Recorded::Committed)
        ));
        assert_eq!(effects(&store).await, [3]);
    }

    const FILE: &str = "BANKRAIL_SEEN_FILE";

    /// A process that dies after its work has written and before the commit leaves no effect.
    #[tokio::test]
    async fn a_process_that_dies_in_its_work_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bankrail.db");
        let store = with_table(SqliteStore::open(&path, Default::default()).unwrap()).await;
        let died = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["seen::sqlite::dies_in_its_work", "--exact", "--ignored"])
            .env(FILE, &path)
            .output()
            .unwrap();
        assert_eq!(died.status.code(), Some(77), "{died:?}");
        let (own, entries) = (account("A"), [entry(1)]);
        assert!(effects(&store).await.is_empty());
        assert_eq!(store.counts(&own, &[entry(1).key]).await.unwrap(), [0]);
        assert_eq!(store.position(&own).await.unwrap(), None);
        let page =
            PageRecord::new(&entries, &[true]).position(PositionChange::new(None, Some("after")));
        assert!(matches!(
            store.record_with(&own, page, work(1, false)).await,
            Ok(Recorded::Committed)
        ));
        assert_eq!(effects(&store).await, [1]);
    }

    #[tokio::test]
    #[ignore = "started by a_process_that_dies_in_its_work_leaves_nothing"]
    async fn dies_in_its_work() {
        let Ok(path) = std::env::var(FILE) else {
            return;
        };
        let store = SqliteStore::open(path, Default::default()).unwrap();
        let entries = [entry(1)];
        let deadly = SqliteWork::new(|t| -> Result<(), rusqlite::Error> {
            t.connection().execute("INSERT INTO mine VALUES (1)", [])?;
            std::process::exit(77)
        });
        let page =
            PageRecord::new(&entries, &[true]).position(PositionChange::new(None, Some("after")));
        let _ = store.record_with(&account("A"), page, deadly).await;
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::{account, seen_entries_suite};
    use crate::engines::{postgres, postgres_schema};
    use bankrail_statement::testing::transactional_seen_entries_suite;
    use bankrail_statement::{
        EntryKey, PageRecord, PositionChange, Recorded, SeenEntries, SeenEntry,
        TransactionalSeenEntries,
    };
    use bankrail_stores::postgres::tokio_postgres::{Client, NoTls, connect};
    use bankrail_stores::postgres::{PostgresStore, PostgresWork};

    fn entry(number: u8) -> SeenEntry {
        SeenEntry::new(EntryKey::from([number; 32]), 1, None)
    }

    async fn client(config: &str) -> Client {
        let (client, connection) = connect(config, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    async fn effects(client: &Client) -> Vec<u32> {
        let rows = client.query("SELECT x FROM mine", &[]).await.unwrap();
        rows.iter()
            .map(|row| row.get::<_, i64>(0).try_into().unwrap())
            .collect()
    }

    fn work(number: u32, fails: bool) -> PostgresWork {
        PostgresWork::new(move |transaction| {
            Box::pin(async move {
                transaction
                    .execute("INSERT INTO mine VALUES ($1)", &[&i64::from(number)])
                    .await?;
                if fails {
                    Err("as a test".into())
                } else {
                    Ok(())
                }
            })
        })
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs postgresql"]
    async fn passes_the_suite() {
        seen_entries_suite(async || postgres().await.store).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "needs postgresql"]
    async fn passes_the_transactional_suite() {
        let config = postgres_schema().await;
        let one = PostgresStore::connect(&config, NoTls, Default::default())
            .await
            .unwrap();
        let other = PostgresStore::connect(&config, NoTls, Default::default())
            .await
            .unwrap();
        let client = client(&config).await;
        client
            .batch_execute("CREATE TABLE mine (x BIGINT)")
            .await
            .unwrap();
        transactional_seen_entries_suite(&one, &other, work, async || effects(&client).await).await;
    }

    /// Work that is cut off before the commit, or that ignores an error, leaves no effect.
    #[tokio::test]
    #[ignore = "needs postgresql"]
    async fn work_that_is_cut_off_or_fails_in_silence_leaves_nothing() {
        let config = postgres_schema().await;
        let store = PostgresStore::connect(&config, NoTls, Default::default())
            .await
            .unwrap();
        let client = client(&config).await;
        client
            .batch_execute("CREATE TABLE mine (x BIGINT PRIMARY KEY)")
            .await
            .unwrap();
        let (reached, mut effect) = tokio::sync::mpsc::unbounded_channel();
        let hanging = PostgresWork::new(move |transaction| {
            Box::pin(async move {
                transaction
                    .execute("INSERT INTO mine VALUES (1)", &[])
                    .await?;
                reached.send(())?;
                std::future::pending().await
            })
        });
        let gone = store.clone();
        let gone = tokio::spawn(async move {
            let entries = [entry(1)];
            let page = PageRecord::new(&entries, &[true])
                .position(PositionChange::new(None, Some("after")));
            gone.record_with(&account("A"), page, hanging).await
        });
        effect.recv().await.unwrap();
        gone.abort();
        gone.await.unwrap_err();
        let (own, entries) = (account("A"), [entry(1)]);
        let page =
            PageRecord::new(&entries, &[true]).position(PositionChange::new(None, Some("after")));
        let careless = PostgresWork::new(|transaction| {
            Box::pin(async move {
                transaction
                    .execute("INSERT INTO mine VALUES (1)", &[])
                    .await?;
                let _ = transaction
                    .execute("INSERT INTO mine VALUES (1)", &[])
                    .await;
                Ok(())
            })
        });
        let undone = store.record_with(&own, page, careless).await.unwrap();
        assert!(matches!(undone, Recorded::Undone(_)), "{undone:?}");
        assert_eq!(store.counts(&own, &[entry(1).key]).await.unwrap(), [0]);
        assert_eq!(store.position(&own).await.unwrap(), None);
        assert!(effects(&client).await.is_empty());
        assert!(matches!(
            store.record_with(&own, page, work(1, false)).await,
            Ok(Recorded::Committed)
        ));
        assert_eq!(effects(&client).await, [1]);
    }
}
