use super::*;
use std::time::Duration;

fn memory() -> Database {
    let database = Database::open(None, &SqliteOptions::new()).unwrap();
    futures(
        database.write(|c| Ok(c.execute_batch("CREATE TABLE t (x INTEGER PRIMARY KEY) STRICT")?)),
    )
    .unwrap();
    database
}

fn futures<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

fn insert(x: i64) -> impl Fn(&Connection) -> Result<(), Fault> + Send + 'static {
    move |connection| {
        Ok(connection
            .execute("INSERT INTO t VALUES (?1)", [x])
            .map(drop)?)
    }
}

fn rows(database: &Database) -> Vec<i64> {
    let rows = database.read(|connection| {
        let mut statement = connection.prepare("SELECT x FROM t ORDER BY x")?;
        Ok(statement
            .query_map([], |row| row.get(0))?
            .collect::<Result<Vec<i64>, _>>()?)
    });
    futures(rows).unwrap()
}

#[test]
fn in_one_transaction_each_operation_stands_or_falls_alone() {
    let database = memory();
    let (go, wait) = std::sync::mpsc::channel();
    let (first, kept, doubled, panicked, refused, last, ()) = futures(async {
        tokio::join!(
            // Holds the writer until the others have queued up behind it.
            database.write_alone(move |_| Ok(Outcome::Keep(wait.recv().is_ok()))),
            database.write(insert(1)),
            database.write(insert(1)),
            database.write(|c| -> Result<(), Fault> {
                insert(2)(c)?;
                panic!("as a test")
            }),
            database.write(|c| -> Result<(), Fault> {
                insert(3)(c)?;
                Err(Fault::corrupt("as a test"))
            }),
            database.write(insert(4)),
            async { go.send(()).unwrap() },
        )
    });
    assert!(first.unwrap() && kept.is_ok() && last.is_ok());
    assert_eq!(doubled.unwrap_err().kind(), StoreErrorKind::Unavailable);
    assert_eq!(panicked.unwrap_err().kind(), StoreErrorKind::Unavailable);
    assert_eq!(refused.unwrap_err().kind(), StoreErrorKind::Corrupt);
    assert_eq!(rows(&database), [1, 4]);
}

#[test]
fn work_that_ends_the_transaction_by_itself_harms_nobody_else() {
    let database = memory();
    let (ended, kept) = futures(async {
        tokio::join!(
            database.write_alone(|c| Ok(Outcome::Keep(c.execute_batch("ROLLBACK")?))),
            database.write(insert(5))
        )
    });
    assert_eq!(ended.unwrap_err().kind(), StoreErrorKind::Unavailable);
    assert!(kept.is_ok());
    assert_eq!(rows(&database), [5]);
}

#[test]
fn what_nobody_waits_for_any_more_is_not_begun() {
    let database = memory();
    let (go, wait) = std::sync::mpsc::channel();
    futures(async {
        let held = database.write(move |_| Ok(wait.recv().is_ok()));
        let given_up = async {
            tokio::select! {
                biased;
                _ = database.write(insert(1)) => panic!("the writer is held"),
                () = async {} => go.send(()).unwrap(),
            }
        };
        let (held, ()) = tokio::join!(held, given_up);
        held.unwrap();
    });
    assert_eq!(rows(&database), Vec::<i64>::new());
}

#[test]
fn an_error_keeps_its_cause() {
    let error = StoreError::from(Fault::from(rusqlite::Error::InvalidQuery));
    assert_eq!(error.to_string(), "the store is unavailable");
    assert!(
        std::error::Error::source(&error)
            .unwrap()
            .is::<rusqlite::Error>()
    );
}

#[test]
fn writes_that_wait_for_company_are_all_answered() {
    for gather in [
        Duration::ZERO,
        Duration::from_micros(100),
        Duration::from_millis(3),
    ] {
        let database =
            Arc::new(Database::open(None, &SqliteOptions::new().gather(gather)).unwrap());
        futures(
            database
                .write(|c| Ok(c.execute_batch("CREATE TABLE t (x INTEGER PRIMARY KEY) STRICT")?)),
        )
        .unwrap();
        futures(async {
            let writers = (0..32_i64).map(|writer| {
                let database = database.clone();
                tokio::spawn(async move {
                    for x in writer * 5..writer * 5 + 4 {
                        database.write(insert(x)).await.unwrap();
                    }
                    // In between, one that must not share its transaction.
                    let last = move |c: &Connection| insert(writer * 5 + 4)(c).map(Outcome::Keep);
                    database.write_alone(last).await.unwrap();
                })
            });
            for writer in writers.collect::<Vec<_>>() {
                writer.await.unwrap();
            }
        });
        assert_eq!(rows(&database), (0..160).collect::<Vec<_>>());
    }
}
