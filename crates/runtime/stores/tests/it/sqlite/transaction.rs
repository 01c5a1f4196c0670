use crate::engines::{at, incoming, lease, outgoing, owner, query, sqlite_file};
use bankrail_mailbox::{
    Completion, Enqueued, Inbox, InboxState, OutboxOperator, ReceiveOutcome, TransactionalInbox,
};
use bankrail_stores::sqlite::{SqliteStore, SqliteWork, Transaction, TransactionError, rusqlite};

async fn rows(store: &SqliteStore) -> i64 {
    let count = |sql: &'static str| {
        store.transaction(move |t| t.connection().query_row(sql, [], |row| row.get(0)))
    };
    count("SELECT count(*) FROM mine").await.unwrap()
}

#[tokio::test]
async fn the_callers_work_is_kept_or_undone_as_one() {
    let engine = sqlite_file();
    let store = &engine.store;
    store
        .transaction(|t| {
            t.connection()
                .execute_batch("CREATE TABLE mine (x INTEGER) STRICT")
        })
        .await
        .unwrap();
    let kept = store
        .transaction(|t| {
            t.connection()
                .execute("INSERT INTO mine VALUES (1), (2)", [])
        })
        .await;
    assert_eq!(kept.unwrap(), 2);

    let undone = store.transaction(|t| {
        t.connection()
            .execute("INSERT INTO mine VALUES (3)", [])
            .map_err(|e| e.to_string())?;
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

/// Work that shares a transaction is committed or undone separately.
#[tokio::test]
async fn work_that_shares_a_transaction_is_kept_or_undone_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.db");
    let store = SqliteStore::open(&path, Default::default()).unwrap();
    store
        .transaction(|t| {
            t.connection()
                .execute_batch("CREATE TABLE mine (x INTEGER) STRICT")
        })
        .await
        .unwrap();
    let count = |sql: &rusqlite::Connection| {
        sql.query_row("SELECT count(*) FROM mine", [], |row| row.get::<_, i64>(0))
    };
    let mut running = tokio::task::JoinSet::new();
    for number in 0..40 {
        let (store, path) = (store.clone(), path.clone());
        running.spawn(async move {
            let work = move |t: &Transaction<'_>| {
                t.connection()
                    .execute("INSERT INTO mine VALUES (?1)", [number])
                    .unwrap();
                assert_ne!(number, 17, "as a test");
                // What others of the transaction have written, and another connection does not see.
                let committed = count(&rusqlite::Connection::open(&path).unwrap()).unwrap();
                let shared = count(t.connection()).unwrap() - committed > 1;
                if number % 4 == 3 {
                    Err("no funds")
                } else {
                    Ok(shared)
                }
            };
            (number, store.shared_transaction(work).await)
        });
    }
    let mut shared = 0;
    for (number, outcome) in running.join_all().await {
        match outcome {
            Ok(with_others) => {
                shared += u32::from(with_others);
                assert_ne!(number % 4, 3);
            }
            Err(TransactionError::Undone(reason)) => {
                assert_eq!((number % 4, reason), (3, "no funds"))
            }
            Err(error) => assert_eq!(number, 17, "{error}"),
        }
    }
    assert!(shared > 0);
    assert_eq!(rows(&store).await, 29);
}

/// All calls that share a failed transaction get its error, including those that were refused
/// because of other calls' writes in it.
#[tokio::test]
async fn a_refusal_does_not_outlive_what_it_was_for() {
    let engine = sqlite_file();
    let store = &engine.store;
    let tables = "CREATE TABLE mine (x INTEGER PRIMARY KEY) STRICT;
        CREATE TABLE other (x INTEGER REFERENCES mine DEFERRABLE INITIALLY DEFERRED) STRICT";
    store
        .transaction(|t| t.connection().execute_batch(tables))
        .await
        .unwrap();
    let insert = |t: &Transaction<'_>| {
        t.connection()
            .execute("INSERT INTO mine VALUES (1)", [])
            .map(drop)
    };
    for breaks in ["INSERT INTO other VALUES (9)", "ROLLBACK; BEGIN"] {
        // While it runs, the others come together.
        let busy = store.transaction(|_| {
            std::thread::sleep(std::time::Duration::from_millis(200));
            Ok::<_, rusqlite::Error>(())
        });
        let first = store.shared_transaction(insert);
        let second = store.shared_transaction(insert);
        let third = store.shared_transaction(move |t| t.connection().execute_batch(breaks));
        let (busy, first, second, third) = tokio::join!(busy, first, second, third);
        busy.unwrap();
        assert!(
            matches!(first, Err(TransactionError::Store(_))),
            "{breaks}: {first:?}"
        );
        assert!(
            matches!(second, Err(TransactionError::Store(_))),
            "{breaks}: {second:?}"
        );
        assert!(
            matches!(third, Err(TransactionError::Store(_))),
            "{breaks}: {third:?}"
        );
        assert_eq!(rows(store).await, 0);
    }
}

#[tokio::test]
async fn an_effect_is_committed_with_its_message_and_only_once() {
    let engine = sqlite_file();
    let store = &engine.store;
    store
        .transaction(|t| {
            t.connection()
                .execute_batch("CREATE TABLE mine (x INTEGER) STRICT")
        })
        .await
        .unwrap();
    let id = store
        .inbox()
        .receive(&incoming(&query(1, "Why?"), 1), at(0))
        .await
        .unwrap()
        .id();
    store
        .inbox()
        .lease(&[], 1, lease(1, 10), at(0))
        .await
        .unwrap();
    let effect = |t: &Transaction<'_>| {
        t.connection()
            .execute("INSERT INTO mine VALUES (1)", [])
            .map(drop)
    };
    let inbox = store.inbox();
    let pay = |number: u8| inbox.complete_with(id, owner(number), SqliteWork::new(effect), at(1));
    assert!(
        matches!(pay(2).await, Ok(Completion::LeaseLost)),
        "not the owner"
    );
    let closed = SqliteWork::new(move |t| {
        effect(t).map_err(|error| error.to_string())?;
        Err("the ledger is closed".to_owned())
    });
    let undone = store
        .inbox()
        .complete_with(id, owner(1), closed, at(1))
        .await
        .unwrap();
    assert!(
        matches!(undone, Completion::Undone(error) if error.to_string() == "the ledger is closed")
    );
    let broken = SqliteWork::new(move |t| -> Result<(), rusqlite::Error> {
        effect(t)?;
        panic!("as a test");
    });
    store
        .inbox()
        .complete_with(id, owner(1), broken, at(1))
        .await
        .unwrap_err();
    assert_eq!(
        store.inbox().find(id).await.unwrap().unwrap().state,
        InboxState::Pending,
        "and still the owner's"
    );
    assert_eq!(rows(store).await, 0);
    assert!(matches!(pay(1).await, Ok(Completion::Committed)));
    assert!(matches!(pay(1).await, Ok(Completion::LeaseLost)), "once");
    assert_eq!(rows(store).await, 1);
    assert_eq!(
        store.inbox().find(id).await.unwrap().unwrap().state,
        InboxState::Completed
    );
}

/// After its transaction was rolled back, no later write of the work stays, because the work runs
/// again.
#[tokio::test]
async fn work_that_goes_on_without_its_transaction_leaves_nothing() {
    let engine = sqlite_file();
    let store = &engine.store;
    let table = "CREATE TABLE mine (x INTEGER PRIMARY KEY) STRICT; INSERT INTO mine VALUES (1)";
    store
        .transaction(|t| t.connection().execute_batch(table))
        .await
        .unwrap();
    let id = store
        .inbox()
        .receive(&incoming(&query(1, "Why?"), 1), at(0))
        .await
        .unwrap()
        .id();
    store
        .inbox()
        .lease(&[], 1, lease(1, 10), at(0))
        .await
        .unwrap();
    for sql in [
        "INSERT OR ROLLBACK INTO mine VALUES (1)",
        "ROLLBACK",
        "COMMIT",
    ] {
        let careless = SqliteWork::new(move |t| {
            let _ = t.connection().execute(sql, []);
            t.connection()
                .execute("INSERT INTO mine VALUES (7)", [])
                .map(drop)
        });
        let swallowing = SqliteWork::new(move |t| {
            let _ = t.connection().execute(sql, []);
            let _ = t.connection().execute("INSERT INTO mine VALUES (8)", []);
            Ok::<_, rusqlite::Error>(())
        });
        for work in [careless, swallowing] {
            let answer = store.inbox().complete_with(id, owner(1), work, at(1)).await;
            assert!(
                !matches!(answer, Ok(Completion::Committed)),
                "{sql}: {answer:?}"
            );
        }
        assert_eq!(rows(store).await, 1, "{sql}");
        assert_eq!(
            store.inbox().find(id).await.unwrap().unwrap().state,
            InboxState::Pending,
            "{sql}"
        );
    }
    let proper = SqliteWork::new(|t| {
        t.connection()
            .execute("INSERT INTO mine VALUES (2)", [])
            .map(drop)
    });
    assert!(matches!(
        store
            .inbox()
            .complete_with(id, owner(1), proper, at(1))
            .await,
        Ok(Completion::Committed)
    ));
    assert_eq!(rows(store).await, 2);
}

#[tokio::test]
async fn messages_are_stored_with_the_callers_work_or_not_at_all() {
    let engine = sqlite_file();
    let store = &engine.store;
    let message = outgoing("biller", 1);
    let undone = store.transaction(move |t| {
        t.enqueue(&message, at(0)).map_err(|e| e.to_string())?;
        t.receive(&incoming(&query(1, "Why?"), 1), at(0))
            .map_err(|e| e.to_string())?;
        Err::<(), _>("no funds".to_owned())
    });
    assert!(matches!(undone.await, Err(TransactionError::Undone(_))));
    assert_eq!(
        (
            store.outbox().counts(None).await.unwrap().pending,
            store.inbox().counts().await.unwrap().pending
        ),
        (0, 0)
    );
    let kept = store.transaction(|t| {
        let sent = t.enqueue(&outgoing("biller", 1), at(0))?;
        let received = t.receive(&incoming(&query(1, "Why?"), 1), at(0))?;
        Ok::<_, bankrail_values::StoreError>((sent, received))
    });
    assert!(matches!(
        kept.await,
        Ok((Enqueued::New(_), ReceiveOutcome::New { .. }))
    ));
    assert_eq!(
        (
            store.outbox().counts(None).await.unwrap().pending,
            store.inbox().counts().await.unwrap().pending
        ),
        (1, 1)
    );
}

#[tokio::test]
async fn a_read_sees_what_was_answered_and_changes_nothing() {
    for engine in [sqlite_file(), crate::engines::sqlite_memory()] {
        let store = &engine.store;
        store
            .transaction(|t| {
                t.connection()
                    .execute_batch("CREATE TABLE mine (x INTEGER) STRICT")
            })
            .await
            .unwrap();
        store
            .transaction(|t| t.connection().execute("INSERT INTO mine VALUES (1)", []))
            .await
            .unwrap();
        let count = |c: &rusqlite::Connection| {
            c.query_row("SELECT count(*) FROM mine", [], |row| row.get::<_, i64>(0))
        };
        assert_eq!(store.read(count).await.unwrap(), 1);
        // The reader of a file refuses the write; a database in memory undoes it.
        let _ = store
            .read(|c| c.execute("INSERT INTO mine VALUES (2)", []))
            .await;
        assert_eq!(rows(store).await, 1);
        let failed = store.read(|_| Err::<(), _>("no such row")).await;
        assert!(matches!(
            failed,
            Err(TransactionError::Undone("no such row"))
        ));
    }
}

/// Three long reads, such as an operator's list of a million messages, delay no other call.
#[tokio::test(flavor = "multi_thread")]
async fn three_long_reads_delay_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("bankrail.db"), Default::default()).unwrap();
    let long = (0..3).map(|_| {
        let ((begun, begins), (end, ended)) = (
            tokio::sync::oneshot::channel(),
            std::sync::mpsc::channel::<()>(),
        );
        let reading = tokio::spawn({
            let store = store.clone();
            async move {
                let work = move |_: &rusqlite::Connection| {
                    begun.send(()).unwrap();
                    ended.recv()
                };
                store.read(work).await
            }
        });
        (begins, end, reading)
    });
    let mut held = Vec::new();
    for (begins, end, reading) in long.collect::<Vec<_>>() {
        begins.await.unwrap();
        held.push((end, reading));
    }
    let one = store
        .read(|connection| connection.query_row("SELECT 1", [], |row| row.get::<_, u32>(0)))
        .await;
    assert_eq!(one.unwrap(), 1);
    for (end, reading) in held {
        end.send(()).unwrap();
        reading.await.unwrap().unwrap();
    }
}
