//! Effects in the inbox's own transaction, over the engines that have one.

use crate::provider::start;
use crate::receivers::{deliver, message, options, over};
use bankrail_client::receivers::{Delivery, Handlers, Worker, WorkerOptions};
use bankrail_mailbox::{EntryId, InboxState, Schedule, TransactionalInbox};
use bankrail_stores::{postgres, sqlite};
use bankrail_values::ManualClock;
use bankrail_webhook::history::{
    Histories, HistoryState, MandateState, PaymentState, follow_changes,
};
use bankrail_webhook::{
    MandateActionOutcome, MandateNotification, Message, MessageKind, PaymentOutcome,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;

const KIND: MessageKind = MessageKind::PaymentOutcome;
const TABLE: &str = "CREATE TABLE paid (attempt INTEGER NOT NULL)";
const COUNT: &str = "SELECT count(*) FROM paid";

/// The end of a work after its effect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    End,
    Fail,
    /// The work reports that it hangs, and continues only after the worker has ended.
    Hang,
}

/// A gate that reports when a work hangs, and lets it continue.
struct Gate {
    reached: mpsc::UnboundedSender<()>,
    open: std::sync::Mutex<std::sync::mpsc::Receiver<()>>,
}

/// Makes a worker over a store with one message that was delivered twice. The first handling ends
/// as `first`.
async fn worker<I, W>(inbox: &Arc<I>, clock: &Arc<ManualClock>, first: Then, work: W) -> Worker<I>
where
    I: TransactionalInbox + 'static,
    W: Fn(Then) -> I::Work + Send + Sync + 'static,
{
    let receivers = over(inbox.clone(), options().clock(clock.clone()));
    deliver(&receivers, KIND, &message(KIND)).await;
    deliver(&receivers, KIND, &message(KIND)).await;
    let options =
        WorkerOptions::new().schedule(Schedule::new([0, 1, 1].map(Duration::from_secs), 0));
    let handlers = Handlers::new().on_transactional(move |received: Delivery<PaymentOutcome>| {
        let work = work(if received.attempt == 1 {
            first
        } else {
            Then::End
        });
        async move { Ok(work) }
    });
    receivers.worker(handlers, options)
}

/// Checks that a work that fails after its effect is undone and handled again, with one effect. A
/// work that is cut off after its effect is either undone and handled by another worker, or
/// committed.
async fn happens_once<I, S, M>(
    make: M,
    work: fn(Then, Arc<Gate>) -> I::Work,
    count: impl AsyncFn(&S) -> i64,
) where
    I: TransactionalInbox + 'static,
    M: AsyncFn() -> (Arc<I>, S),
{
    let (reached, mut hangs) = mpsc::unbounded_channel();
    let (go_on, open) = std::sync::mpsc::channel();
    let gate = Arc::new(Gate {
        reached,
        open: open.into(),
    });
    let clock = Arc::new(ManualClock::new(start()));

    let (inbox, store) = make().await;
    let own = gate.clone();
    let fails = worker(&inbox, &clock, Then::Fail, move |then| {
        work(then, own.clone())
    })
    .await;
    let mut handled = 0;
    for _ in 0..4 {
        handled += fails.run_due().await.unwrap();
        clock.advance(Duration::from_secs(1));
    }
    let entry = inbox.find(EntryId::new(1)).await.unwrap().unwrap();
    assert_eq!(
        (handled, entry.state, count(&store).await),
        (2, InboxState::Completed, 1)
    );
    assert_eq!(entry.last_error.as_deref(), Some("the ledger is closed"));

    let (inbox, store) = make().await;
    let own = gate.clone();
    let hanging = worker(&inbox, &clock, Then::Hang, move |then| {
        work(then, own.clone())
    })
    .await;
    let dying = hanging.clone();
    let dying = tokio::spawn(async move { dying.run_due().await });
    hangs.recv().await.unwrap();
    dying.abort();
    dying.await.unwrap_err();
    go_on.send(()).unwrap();
    clock.advance(Duration::from_secs(60));
    hanging.run_due().await.unwrap();
    let entry = inbox.find(EntryId::new(1)).await.unwrap().unwrap();
    assert_eq!(
        (entry.state, count(&store).await),
        (InboxState::Completed, 1)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn happens_once_on_sqlite() {
    use sqlite::{SqliteStore, SqliteWork, rusqlite};
    let make = async || {
        let store = SqliteStore::open_in_memory(Default::default()).unwrap();
        store
            .transaction(|transaction| transaction.connection().execute_batch(TABLE))
            .await
            .unwrap();
        (Arc::new(store.inbox()), store)
    };
    let work = |then: Then, gate: Arc<Gate>| {
        SqliteWork::new(move |transaction| {
            transaction
                .connection()
                .execute("INSERT INTO paid VALUES (1)", [])?;
            match then {
                Then::End => {}
                Then::Fail => return Err("the ledger is closed".into()),
                Then::Hang => {
                    gate.reached.send(())?;
                    gate.open.lock().unwrap().recv()?;
                }
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
        })
    };
    let count = async |store: &SqliteStore| {
        let count = |transaction: &sqlite::Transaction<'_>| -> rusqlite::Result<i64> {
            transaction
                .connection()
                .query_row(COUNT, [], |row| row.get(0))
        };
        store.transaction(count).await.unwrap()
    };
    happens_once(make, work, count).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn happens_once_on_postgres() {
    use postgres::tokio_postgres::{Client, NoTls, connect};
    use postgres::{PostgresStore, PostgresWork};
    static SCHEMA: AtomicU32 = AtomicU32::new(0);
    let client = async |options: &str| -> Client {
        let config = std::env::var("BANKRAIL_POSTGRES")
            .expect("BANKRAIL_POSTGRES names a database to write to");
        let (client, connection) = connect(&format!("{config} {options}"), NoTls)
            .await
            .unwrap();
        tokio::spawn(connection);
        client
    };
    let current = || {
        format!(
            "within_{}_{}",
            std::process::id(),
            SCHEMA.load(Ordering::SeqCst)
        )
    };
    let options = |schema: &str| format!("options='-c search_path={schema}'");
    let make = async || {
        SCHEMA.fetch_add(1, Ordering::SeqCst);
        let schema = current();
        client("")
            .await
            .batch_execute(&format!("CREATE SCHEMA {schema}"))
            .await
            .unwrap();
        client(&options(&schema))
            .await
            .batch_execute(TABLE)
            .await
            .unwrap();
        let config = std::env::var("BANKRAIL_POSTGRES").unwrap();
        let store = PostgresStore::connect(
            &format!("{config} {}", options(&schema)),
            NoTls,
            Default::default(),
        )
        .await
        .unwrap();
        (Arc::new(store.inbox()), store)
    };
    let work = |then: Then, gate: Arc<Gate>| {
        PostgresWork::new(move |transaction| {
            Box::pin(async move {
                transaction
                    .execute("INSERT INTO paid VALUES (1)", &[])
                    .await?;
                match then {
                    Then::End => Ok(()),
                    Then::Fail => Err("the ledger is closed".into()),
                    Then::Hang => {
                        gate.reached.send(())?;
                        std::future::pending().await
                    }
                }
            })
        })
    };
    let count = async |_: &PostgresStore| {
        client(&options(&current()))
            .await
            .query_one(COUNT, &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
    };
    happens_once(make, work, count).await;
}

/// The messages of a mandate's life, out of order and with a contradiction, change the stored
/// history.
#[tokio::test]
async fn a_history_changes_with_the_messages_that_are_handled() {
    use sqlite::{SqliteStore, SqliteWork};
    let store = SqliteStore::open_in_memory(Default::default()).unwrap();
    let receivers = over(Arc::new(store.inbox()), options());
    let handlers = Handlers::new()
        .on_transactional(|received: Delivery<MandateActionOutcome>| async move {
            let (message, at) = (received.message.into(), received.received_at);
            Ok(SqliteWork::new(move |transaction| {
                transaction.apply_history("", &message, at).map(|_| ())
            }))
        })
        .on_transactional(|received: Delivery<MandateNotification>| async move {
            let (message, at) = (received.message.into(), received.received_at);
            Ok(SqliteWork::new(move |transaction| {
                transaction.apply_history("", &message, at).map(|_| ())
            }))
        });
    let worker = receivers.worker(handlers, WorkerOptions::new().concurrency(1));
    let (outcomes, notifications) = (
        MessageKind::MandateOutcome,
        MessageKind::MandateNotification,
    );
    let mandate =
        r#","mandate_identification":"0b7c2f6e8a1d11eb8dcd0242ac130003","action_type":"CREA""#;
    let outcome = |status: &str| {
        message(outcomes).replace('}', &format!(r#"{mandate},"action_status":"{status}"}}"#))
    };
    let confirmed = message(notifications)
        .replace("MAMN", "MCRC")
        .replace("AMND", "CREA");
    let histories = store.histories();
    let mut states = Vec::new();
    let mut change = 0;
    for (kind, json) in [
        (outcomes, outcome("PEND")),
        (notifications, confirmed.clone()),
        (outcomes, outcome("CMPL")),
        // Contradicts the outcome before, and waits for a person.
        (outcomes, outcome("DECL")),
    ] {
        deliver(&receivers, kind, &json).await;
        worker.run_due().await.unwrap();
        for kept in histories.changes_after(change, 9).await.unwrap() {
            change = kept.change;
            states.push(kept.state());
        }
    }
    let expected = [MandateState::Created, MandateState::Active].map(HistoryState::Mandate);
    assert_eq!(states, expected);
    assert_eq!(worker.counts().unhandled_conflicts, 1);
    assert_eq!(
        histories
            .list("", expected[1], None, 9)
            .await
            .unwrap()
            .len(),
        1
    );
}

/// The handler of a kind has precedence, whether its effect or the other's is in the inbox's
/// transaction.
#[tokio::test]
async fn the_handler_of_a_kind_comes_before_that_of_any_message() {
    use sqlite::{SqliteInbox, SqliteStore, SqliteWork, rusqlite};
    type Seen = Arc<std::sync::Mutex<Vec<String>>>;
    let noted = |seen: &Seen, what: &str| {
        let (seen, what) = (seen.clone(), what.to_owned());
        SqliteWork::new(move |_| {
            seen.lock().unwrap().push(what.clone());
            Ok::<_, rusqlite::Error>(())
        })
    };
    for (own_is_transactional, any_is_transactional) in [(true, true), (true, false), (false, true)]
    {
        let seen = Seen::default();
        let (own, any) = (seen.clone(), seen.clone());
        let mut handlers = Handlers::<SqliteInbox>::new();
        handlers = if any_is_transactional {
            handlers.on_any_transactional(move |received: Delivery<Message>| {
                std::future::ready(Ok(noted(&any, received.message.kind().as_str())))
            })
        } else {
            handlers.on_any(move |received: Delivery<Message>| {
                any.lock()
                    .unwrap()
                    .push(received.message.kind().to_string());
                std::future::ready(Ok(()))
            })
        };
        handlers = if own_is_transactional {
            handlers.on_transactional(move |_: Delivery<PaymentOutcome>| {
                std::future::ready(Ok(noted(&own, "own")))
            })
        } else {
            handlers.on(move |_: Delivery<PaymentOutcome>| {
                own.lock().unwrap().push("own".to_owned());
                std::future::ready(Ok(()))
            })
        };
        assert_eq!(handlers.kinds(), MessageKind::ALL);
        let store = SqliteStore::open_in_memory(Default::default()).unwrap();
        let receivers = over(Arc::new(store.inbox()), options());
        for kind in MessageKind::ALL {
            deliver(&receivers, kind, &message(kind)).await;
        }
        let worker = receivers.worker(handlers, WorkerOptions::new().concurrency(1));
        assert_eq!(worker.run_due().await.unwrap(), MessageKind::ALL.len());
        assert_eq!(
            *seen.lock().unwrap(),
            ["mandate_outcome", "mandate_notification", "own", "query"]
        );
    }
}

#[tokio::test]
async fn changes_are_followed_from_the_first_to_those_to_come() {
    use sqlite::{SqliteStore, SqliteWork};
    let store = SqliteStore::open_in_memory(Default::default()).unwrap();
    let receivers = over(Arc::new(store.inbox()), options());
    let handlers = Handlers::new().on_any_transactional(|received: Delivery<Message>| async move {
        let (message, at) = (received.message, received.received_at);
        Ok(SqliteWork::new(move |transaction| {
            transaction.apply_history("", &message, at).map(drop)
        }))
    });
    let worker = receivers.worker(handlers, WorkerOptions::new());
    let (send, mut told) = mpsc::unbounded_channel();
    let histories = store.histories();
    let following = tokio::spawn(async move {
        follow_changes(&histories, 0, move |kept| {
            send.send((kept.change, kept.state())).unwrap()
        })
        .await
    });
    let payment = message(KIND);
    let mut last = 0;
    for (json, expected) in [
        (payment.replace("ACSC", "PDNG"), PaymentState::Warehoused),
        (payment.replace("05:59", "06:00"), PaymentState::Settled),
    ] {
        deliver(&receivers, KIND, &json).await;
        worker.run_due().await.unwrap();
        let (change, state) = told.recv().await.unwrap();
        assert_eq!(state, HistoryState::Payment(expected));
        assert!(change > last);
        last = change;
    }
    following.abort();
}
