//! Tests for PostgreSQL only: the caller's transactions, many workers, a server that goes away.

use crate::engines::{at, incoming, lease, outgoing, owner, postgres_schema, query};
use bankrail_mailbox::{
    Completion, Enqueued, Inbox, InboxState, LeaseRequest, Outbox, OutboxOperator, ReceiveOutcome,
    TransactionalInbox,
};
use bankrail_stores::postgres::tokio_postgres::{Client, NoTls, connect};
use bankrail_stores::postgres::{
    ConnectError, DatabaseError, InTransaction, PostgresOptions, PostgresStore, PostgresWork,
};
use bankrail_values::StoreErrorKind;
use std::error::Error;
use std::time::Duration;

mod callers;
mod changed;
mod load;
mod migration;
mod operators;
mod pooler;
mod positions;
#[cfg(feature = "webhook")]
mod statements;

async fn client(config: &str) -> Client {
    let (client, connection) = connect(config, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn an_effect_is_committed_with_its_message_and_only_once() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let client = client(&config).await;
    client
        .batch_execute("CREATE TABLE effect (x INTEGER)")
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

    let inbox = store.inbox();
    let pay = |number: u8, fail: bool| {
        let work = PostgresWork::new(move |transaction| {
            Box::pin(async move {
                transaction
                    .execute("INSERT INTO effect VALUES (1)", &[])
                    .await?;
                if fail {
                    Err("the ledger is closed".into())
                } else {
                    Ok(())
                }
            })
        });
        inbox.complete_with(id, owner(number), work, at(1))
    };
    assert!(
        matches!(pay(2, false).await, Ok(Completion::LeaseLost)),
        "not the owner"
    );
    let undone = pay(1, true).await.unwrap();
    assert!(
        matches!(undone, Completion::Undone(error) if error.to_string() == "the ledger is closed")
    );

    // The worker is cut off between its effect and the commit.
    let (reached, mut effect) = tokio::sync::mpsc::unbounded_channel();
    let hanging = PostgresWork::new(move |transaction| {
        Box::pin(async move {
            transaction
                .execute("INSERT INTO effect VALUES (1)", &[])
                .await?;
            reached.send(())?;
            std::future::pending().await
        })
    });
    let gone = store.inbox();
    let gone = tokio::spawn(async move { gone.complete_with(id, owner(1), hanging, at(1)).await });
    effect.recv().await.unwrap();
    gone.abort();
    gone.await.unwrap_err();
    assert_eq!(
        store.inbox().find(id).await.unwrap().unwrap().state,
        InboxState::Pending,
        "and still the owner's"
    );

    assert!(matches!(pay(1, false).await, Ok(Completion::Committed)));
    assert!(
        matches!(pay(1, false).await, Ok(Completion::LeaseLost)),
        "once"
    );
    assert_eq!(
        store.inbox().find(id).await.unwrap().unwrap().state,
        InboxState::Completed
    );
    assert_eq!(
        client
            .query_one("SELECT count(*) FROM effect", &[])
            .await
            .unwrap()
            .get::<_, i64>(0),
        1
    );
}

/// Work that ignores an error does not count as committed: after an error the server accepts a
/// commit and rolls back.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn work_that_swallows_an_error_of_the_database_is_undone() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let client = client(&config).await;
    client
        .batch_execute("CREATE TABLE effect (x INTEGER PRIMARY KEY)")
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
    let careless = PostgresWork::new(|transaction| {
        Box::pin(async move {
            transaction
                .execute("INSERT INTO effect VALUES (1)", &[])
                .await?;
            let _ = transaction
                .execute("INSERT INTO effect VALUES (1)", &[])
                .await;
            Ok(())
        })
    });
    let undone = store
        .inbox()
        .complete_with(id, owner(1), careless, at(1))
        .await
        .unwrap();
    assert!(matches!(undone, Completion::Undone(_)), "{undone:?}");
    assert_eq!(
        store.inbox().find(id).await.unwrap().unwrap().state,
        InboxState::Pending,
        "and still the owner's"
    );
    let honest = PostgresWork::new(|transaction| {
        Box::pin(async move {
            transaction
                .execute("INSERT INTO effect VALUES (4711), (4711)", &[])
                .await?;
            Ok(())
        })
    });
    let Completion::Undone(told) = store
        .inbox()
        .complete_with(id, owner(1), honest, at(1))
        .await
        .unwrap()
    else {
        panic!()
    };
    assert_eq!(
        told.to_string(),
        "the database answered 23505 (constraint effect_pkey of table effect)"
    );
    assert!(
        !everything_shown(&*told).contains("4711"),
        "what, and no value"
    );
    let told = told.downcast::<DatabaseError>().unwrap();
    assert_eq!(
        (told.code(), told.constraint(), told.table()),
        (Some("23505"), Some("effect_pkey"), Some("effect"))
    );
    let careful = PostgresWork::new(|transaction| {
        Box::pin(async move {
            transaction
                .batch_execute("INSERT INTO effect VALUES (1); SAVEPOINT here")
                .await?;
            if transaction
                .execute("INSERT INTO effect VALUES (1)", &[])
                .await
                .is_err()
            {
                transaction.batch_execute("ROLLBACK TO here").await?;
            }
            Ok(())
        })
    });
    let done = store
        .inbox()
        .complete_with(id, owner(1), careful, at(1))
        .await
        .unwrap();
    assert!(matches!(done, Completion::Committed), "{done:?}");
    assert_eq!(
        store.inbox().find(id).await.unwrap().unwrap().state,
        InboxState::Completed
    );
}

/// Returns an error with its causes, as a program may show or log it.
fn everything_shown(error: &dyn Error) -> String {
    let mut shown = format!("{error} {error:?} {error:#?}");
    let mut cause = error.source();
    while let Some(inner) = cause {
        shown += &format!(" {inner} {inner:?}");
        cause = inner.source();
    }
    shown
}

/// An error shows no value, although the server's detail quotes the failing row.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn an_error_shows_code_constraint_and_table_and_no_value() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let client = client(&config).await;
    let refuse =
        "ALTER TABLE bankrail_outbox ADD CONSTRAINT refuses CHECK (endpoint <> 'jane-doe');
        ALTER TABLE bankrail_inbox ADD CONSTRAINT refuses CHECK (received < 0)";
    client.batch_execute(refuse).await.unwrap();
    let enqueued = store
        .outbox()
        .enqueue(&outgoing("jane-doe", 1), at(0))
        .await
        .unwrap_err();
    let received = store
        .inbox()
        .receive(&incoming(&query(1, "jane-doe"), 1), at(0))
        .await
        .unwrap_err();
    let body = incoming(&query(1, "jane-doe"), 1).body;
    let body: String = body.iter().map(|byte| format!("{byte:02x}")).collect();
    for (error, table) in [(enqueued, "bankrail_outbox"), (received, "bankrail_inbox")] {
        assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        let cause = error.source().unwrap().to_string();
        assert_eq!(
            cause,
            format!("the database answered 23514 (constraint refuses of table {table})")
        );
        let shown = everything_shown(&error);
        assert!(
            !shown.contains("jane-doe") && !shown.contains(&body) && !shown.contains("row"),
            "{shown}"
        );
    }
    let refused = PostgresStore::connect(
        &format!("{config} dbname=jane-doe"),
        NoTls,
        Default::default(),
    )
    .await
    .unwrap_err();
    let shown = everything_shown(&refused);
    assert!(
        shown.contains("3D000") && !shown.contains("jane-doe"),
        "{shown}"
    );
}

/// The isolation level does not depend on the database's defaults.
#[tokio::test]
#[ignore = "needs postgresql"]
async fn sessions_are_set_up_as_the_rules_need() {
    let config = postgres_schema().await.replace(
        "-c search",
        "-c default_transaction_isolation=serializable -c search",
    );
    let options = PostgresOptions::new().operation_timeout(Duration::from_secs(7));
    let store = PostgresStore::connect(&config, NoTls, options)
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
    let (tell, told) = std::sync::mpsc::channel();
    let work = PostgresWork::new(move |transaction| {
        Box::pin(async move {
            for name in [
                "transaction_isolation",
                "idle_in_transaction_session_timeout",
                "lock_timeout",
            ] {
                let row = transaction.query_one(&format!("SHOW {name}"), &[]).await?;
                tell.send(row.get::<_, String>(0))?;
            }
            Ok(())
        })
    });
    assert!(matches!(
        store.inbox().complete_with(id, owner(1), work, at(1)).await,
        Ok(Completion::Committed)
    ));
    assert_eq!(
        told.iter().collect::<Vec<_>>(),
        ["read committed", "14s", "14s"]
    );
    store.check().await.unwrap();
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_duplicate_is_answered_while_the_first_is_being_handled() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let first = store
        .inbox()
        .receive(&incoming(&query(1, "Why?"), 1), at(0))
        .await
        .unwrap();
    store
        .inbox()
        .lease(&[], 1, lease(1, 10), at(0))
        .await
        .unwrap();
    let (reached, mut effect) = tokio::sync::mpsc::unbounded_channel();
    let (finish, finished) = tokio::sync::oneshot::channel();
    let long = PostgresWork::new(move |_| {
        Box::pin(async move {
            reached.send(())?;
            Ok(finished.await?)
        })
    });
    let (handling, id) = (store.inbox(), first.id());
    let handling =
        tokio::spawn(async move { handling.complete_with(id, owner(1), long, at(1)).await });
    effect.recv().await.unwrap();
    let acknowledgement = first.acknowledgement().clone();
    let second = store
        .inbox()
        .receive(&incoming(&query(1, "Why?"), 2), at(1))
        .await
        .unwrap();
    assert_eq!(
        second,
        ReceiveOutcome::InProgress {
            id,
            acknowledgement
        }
    );
    let conflict = store
        .inbox()
        .receive(&incoming(&query(1, "How?"), 3), at(1))
        .await
        .unwrap();
    assert!(
        matches!(conflict, ReceiveOutcome::Conflict { with, .. } if with == id),
        "{conflict:?}"
    );
    finish.send(()).unwrap();
    assert!(matches!(handling.await.unwrap(), Ok(Completion::Committed)));
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn messages_are_stored_with_the_callers_rows_or_not_at_all() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let mut client = client(&config).await;
    for (commit, stored) in [(false, 0), (true, 1)] {
        let transaction = client.transaction().await.unwrap();
        let ours = InTransaction::of(&transaction);
        let enqueued = ours.enqueue(&outgoing("biller", 1), at(0)).await.unwrap();
        assert!(matches!(enqueued, Enqueued::New(_)));
        assert_eq!(
            ours.enqueue(&outgoing("biller", 1), at(0)).await.unwrap(),
            Enqueued::AlreadyStored(enqueued.id())
        );
        let received = ours
            .receive(&incoming(&query(1, "Why?"), 1), at(0))
            .await
            .unwrap();
        assert!(matches!(received, ReceiveOutcome::New { .. }));
        let other = ours
            .receive(&incoming(&query(2, "Why?"), 2), at(0))
            .await
            .unwrap();
        assert!(other.is_stored() && other.id() != received.id());
        if commit {
            transaction.commit().await.unwrap();
        } else {
            transaction.rollback().await.unwrap();
        }
        assert_eq!(store.outbox().counts(None).await.unwrap().pending, stored);
        assert_eq!(store.inbox().counts().await.unwrap().pending, 2 * stored);
    }
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_message_that_is_being_stored_makes_its_duplicate_wait() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let mut client = client(&config).await;
    let transaction = client.transaction().await.unwrap();
    let message = incoming(&query(1, "Why?"), 1);
    let first = InTransaction::of(&transaction)
        .receive(&message, at(0))
        .await
        .unwrap();
    let duplicate = incoming(&query(1, "Why?"), 2);
    // The transaction ends only after the duplicate was received.
    let inbox = store.inbox();
    let (second, ()) = tokio::join!(inbox.receive(&duplicate, at(1)), async {
        tokio::task::yield_now().await;
        transaction.commit().await.unwrap();
    });
    let second = second.unwrap();
    assert!(
        matches!(second, ReceiveOutcome::InProgress { .. }),
        "{second:?}"
    );
    assert_eq!(
        (second.id(), second.acknowledgement()),
        (first.id(), first.acknowledgement())
    );
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn what_another_transaction_holds_is_skipped() {
    let config = postgres_schema().await;
    let store = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let mut client = client(&config).await;
    for number in 1..=2 {
        store
            .inbox()
            .receive(&incoming(&query(number, "Why?"), number), at(0))
            .await
            .unwrap();
        store
            .outbox()
            .enqueue(&outgoing("biller", number), at(0))
            .await
            .unwrap();
    }
    let transaction = client.transaction().await.unwrap();
    let held = "SELECT (SELECT entry FROM bankrail_inbox_queue ORDER BY entry LIMIT 1 FOR UPDATE),
        (SELECT entry FROM bankrail_outbox_queue ORDER BY entry LIMIT 1 FOR UPDATE)";
    transaction.query_one(held, &[]).await.unwrap();
    assert_eq!(
        store
            .inbox()
            .lease(&[], 9, lease(1, 10), at(1))
            .await
            .unwrap()
            .len(),
        1
    );
    let request = LeaseRequest::new(lease(1, 10), 9);
    assert_eq!(store.outbox().lease(request, at(1)).await.unwrap().len(), 1);
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn a_lost_connection_is_made_again_and_a_late_answer_is_a_timeout() {
    let config = postgres_schema().await;
    // Makes the tables, which may take longer than the operations below.
    PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap();
    let options = PostgresOptions::new()
        .connections(1)
        .operation_timeout(Duration::from_millis(300));
    let store = PostgresStore::connect(&config, NoTls, options.clone())
        .await
        .unwrap();
    let mut client = client(&config).await;
    store
        .inbox()
        .receive(&incoming(&query(1, "Why?"), 1), at(0))
        .await
        .unwrap();

    // A table lock keeps the operation from ending in time.
    let transaction = client.transaction().await.unwrap();
    transaction
        .batch_execute("LOCK TABLE bankrail_inbox")
        .await
        .unwrap();
    let late = store
        .inbox()
        .receive(&incoming(&query(2, "Why?"), 2), at(0))
        .await
        .unwrap_err();
    assert_eq!(late.kind(), StoreErrorKind::Timeout);
    drop(transaction);
    assert!(
        store
            .inbox()
            .receive(&incoming(&query(2, "Why?"), 2), at(0))
            .await
            .unwrap()
            .is_stored(),
        "and nothing was stored"
    );

    // The server ends the only connection.
    let name = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'to be lost'";
    let store = PostgresStore::connect(
        &format!("{config} application_name='to be lost'"),
        NoTls,
        options,
    )
    .await
    .unwrap();
    assert_eq!(store.inbox().counts().await.unwrap().pending, 2);
    assert_eq!(
        client.query_one(name, &[]).await.unwrap().get::<_, i64>(0),
        1
    );
    // At most one operation meets the broken connection.
    let mut answers = vec![store.inbox().counts().await, store.inbox().counts().await];
    assert_eq!(answers.pop().unwrap().unwrap().pending, 2);
}

#[tokio::test]
#[ignore = "needs postgresql"]
async fn several_workers_may_start_at_once_and_later_tables_are_refused() {
    let config = postgres_schema().await;
    let start = || PostgresStore::connect(&config, NoTls, Default::default());
    let (a, b, c) = tokio::join!(start(), start(), start());
    assert!(a.is_ok() && b.is_ok() && c.is_ok(), "{a:?} {b:?} {c:?}");
    let client = client(&config).await;
    client
        .batch_execute("UPDATE bankrail_schema SET version = 9999")
        .await
        .unwrap();
    let error = PostgresStore::connect(&config, NoTls, Default::default())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            ConnectError::NewerSchema {
                found: 9999,
                known: 1..
            }
        ),
        "{error:?}"
    );
    let nowhere =
        PostgresStore::connect("host=/nonexistent user=nobody", NoTls, Default::default())
            .await
            .unwrap_err();
    let ConnectError::Failed { source } = nowhere else {
        panic!("{nowhere:?}")
    };
    assert!(source.is::<DatabaseError>(), "{source:?}");
}
