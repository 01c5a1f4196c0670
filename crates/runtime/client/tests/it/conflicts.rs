//! Messages that contradict earlier ones, and outcomes that move on from pending.

use crate::log::Log;
use crate::provider::start;
use crate::receivers::{deliver, message, options, over};
use bankrail_client::receivers::{
    Conflict, Delivery, HandlerError, Handlers, Receivers, WorkerOptions,
};
use bankrail_mailbox::{EntryId, Inbox, InboxState, Schedule};
use bankrail_stores::memory::MemoryStore;
use bankrail_stores::sqlite::{SqliteInbox, SqliteStore, SqliteWork, rusqlite};
use bankrail_values::ManualClock;
use bankrail_webhook::{ActionStatus, MandateActionOutcome, MessageKind, PaymentOutcome};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const KIND: MessageKind = MessageKind::PaymentOutcome;

type Seen = Arc<Mutex<Vec<String>>>;

fn push(seen: &Seen, line: String) {
    seen.lock().unwrap().push(line);
}

fn take(seen: &Seen) -> Vec<String> {
    std::mem::take(&mut seen.lock().unwrap())
}

/// Returns the message of `message(KIND)` with other content.
fn changed() -> String {
    message(KIND).replace('}', r#","mps_user_id":"SECRET"}"#)
}

fn memory() -> (Arc<dyn Inbox>, Receivers) {
    let inbox: Arc<dyn Inbox> = Arc::new(MemoryStore::new().inbox());
    (inbox.clone(), over(inbox, options()))
}

fn ordinary(seen: &Seen) -> Handlers {
    let seen = seen.clone();
    Handlers::new().on(move |received: Delivery<PaymentOutcome>| {
        push(
            &seen,
            format!("{} of {}", received.message.transaction_status, received.id),
        );
        async { Ok(()) }
    })
}

#[tokio::test]
async fn a_conflict_goes_to_its_handler_and_never_to_the_ordinary_one() {
    let (inbox, receivers) = memory();
    let seen = Seen::default();
    let conflicts = seen.clone();
    let handlers = ordinary(&seen).on_conflict(move |received: Delivery<Conflict>| {
        let shown = format!("{received:?} {:?}", received.message);
        assert!(
            !shown.contains("SECRET") && !shown.contains("ACSC"),
            "{shown}"
        );
        assert!(
            shown.contains("Conflict { kind: PaymentOutcome, with: EntryId("),
            "{shown}"
        );
        let Conflict { message, with, .. } = received.message;
        push(
            &conflicts,
            format!("{} {} against {with}", message.kind().as_str(), received.id),
        );
        async { Ok(()) }
    });
    let worker = receivers.worker(handlers, WorkerOptions::new().concurrency(1));
    deliver(&receivers, KIND, &message(KIND)).await;
    deliver(&receivers, KIND, &changed()).await;
    deliver(&receivers, KIND, &changed()).await;
    assert_eq!(worker.run_due().await.unwrap(), 2);
    assert_eq!(take(&seen), ["ACSC of 1", "payment_outcome 2 against 1"]);
    assert_eq!(inbox.counts().await.unwrap().completed, 2);
    assert_eq!(
        (worker.counts().handled, worker.counts().unhandled_conflicts),
        (2, 0)
    );
}

#[tokio::test]
async fn a_conflict_without_a_handler_is_a_dead_letter_that_is_counted_and_logged() {
    let log = Log::start();
    let (inbox, receivers) = memory();
    let seen = Seen::default();
    let worker = receivers.worker(ordinary(&seen), WorkerOptions::new().concurrency(1));
    deliver(&receivers, KIND, &message(KIND)).await;
    deliver(&receivers, KIND, &changed()).await;
    assert_eq!(worker.run_due().await.unwrap(), 2);
    assert_eq!(take(&seen), ["ACSC of 1"]);
    let counts = worker.clone().counts();
    assert_eq!(
        (
            counts.handled,
            counts.failed,
            counts.dead_letters,
            counts.unhandled_conflicts
        ),
        (1, 0, 1, 1)
    );
    let dead = inbox.dead_letters(None, 9).await.unwrap();
    let text = "it conflicts with message 1, and there is no handler for conflicts";
    assert_eq!(
        (dead[0].id, dead[0].last_error.as_deref()),
        (EntryId::new(2), Some(text))
    );
    assert!(
        log.text()
            .contains("there is no handler for a message in conflict"),
        "{}",
        log.text()
    );
    assert!(!log.text().contains("SECRET"));
    // Resent, it goes to the handler that there is now.
    let conflicts = seen.clone();
    let handlers = ordinary(&seen).on_conflict(move |received: Delivery<Conflict>| {
        push(&conflicts, format!("conflict {}", received.id));
        async { Ok(()) }
    });
    assert!(inbox.resend(dead[0].id, start()).await.unwrap());
    assert_eq!(
        receivers
            .worker(handlers, WorkerOptions::new())
            .run_due()
            .await
            .unwrap(),
        1
    );
    assert_eq!(take(&seen), ["conflict 2"]);
}

#[tokio::test]
async fn a_handler_of_conflicts_can_share_the_inboxs_transaction() {
    let store = SqliteStore::open_in_memory(Default::default()).unwrap();
    let table = "CREATE TABLE doubtful (later TEXT NOT NULL, earlier TEXT NOT NULL) STRICT";
    store
        .transaction(move |transaction| transaction.connection().execute_batch(table))
        .await
        .unwrap();
    let receivers = over(Arc::new(store.inbox()), options());
    let handlers = Handlers::new()
        .on_transactional(|_: Delivery<PaymentOutcome>| async {
            Ok(SqliteWork::new(|_| Ok::<_, rusqlite::Error>(())))
        })
        .on_conflict_transactional(|received: Delivery<Conflict>| async move {
            let pair = [received.id.to_string(), received.message.with.to_string()];
            Ok(SqliteWork::new(move |transaction| {
                transaction
                    .connection()
                    .execute("INSERT INTO doubtful VALUES (?1, ?2)", pair)
                    .map(|_| ())
            }))
        });
    deliver(&receivers, KIND, &message(KIND)).await;
    deliver(&receivers, KIND, &changed()).await;
    assert_eq!(
        receivers
            .worker(handlers, WorkerOptions::new())
            .run_due()
            .await
            .unwrap(),
        2
    );
    let read = |connection: &rusqlite::Connection| {
        connection.query_row("SELECT later, earlier FROM doubtful", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
    };
    let pair: (String, String) = store.read(read).await.unwrap();
    assert_eq!(pair, ("2".to_owned(), "1".to_owned()));
}

const MANDATE: MessageKind = MessageKind::MandateOutcome;

fn outcome(status: &str) -> String {
    message(MANDATE).replace('}', &format!(r#","action_status":"{status}"}}"#))
}

/// Makes a worker whose handler records status and mark, and fails on its first pending outcome.
fn noting(
    receivers: &Receivers<SqliteInbox>,
    seen: &Seen,
) -> bankrail_client::receivers::Worker<SqliteInbox> {
    let seen = seen.clone();
    let handlers = Handlers::new().on(move |received: Delivery<MandateActionOutcome>| {
        let status = received.message.action_status.clone();
        let fails = received.attempt == 1 && status == Some(ActionStatus::Pending);
        let status = status.map(|status| status.to_string()).unwrap_or_default();
        push(
            &seen,
            format!("{status} follows {:?}", received.follows.map(EntryId::get)),
        );
        async move {
            if fails {
                Err(HandlerError::retryable("the ledger is closed"))
            } else {
                Ok(())
            }
        }
    });
    let schedule = Schedule::new([0, 1, 1].map(Duration::from_secs), 0);
    receivers.worker(handlers, WorkerOptions::new().schedule(schedule))
}

/// A mandate outcome that follows a pending one under the same `request_id` is not a conflict with
/// it.
#[tokio::test]
async fn an_outcome_that_moves_on_from_pending_is_news() {
    for (order, follows) in [(["PEND", "CMPL"], [2, 1]), (["CMPL", "PEND"], [1, 2])] {
        let clock = Arc::new(ManualClock::new(start()));
        let inbox = Arc::new(
            SqliteStore::open_in_memory(Default::default())
                .unwrap()
                .inbox(),
        );
        let receivers = over(inbox.clone(), options().clock(clock.clone()));
        let seen = Seen::default();
        let worker = noting(&receivers, &seen);
        let first = deliver(&receivers, MANDATE, &outcome(order[0])).await;
        let second = deliver(&receivers, MANDATE, &outcome(order[1])).await;
        assert_ne!(first, second);
        for (status, known) in [(order[0], &first), (order[1], &second)] {
            assert_eq!(
                deliver(&receivers, MANDATE, &outcome(status)).await,
                *known,
                "{status} again"
            );
        }
        // The result waits until the pending outcome is handled, also while that is being retried.
        worker.run_due().await.unwrap();
        assert_eq!(take(&seen), ["PEND follows None"], "{order:?}");
        clock.advance(Duration::from_secs(1));
        worker.run_due().await.unwrap();
        let [result, pending] = follows;
        assert_eq!(
            take(&seen),
            [
                "PEND follows None".to_owned(),
                format!("CMPL follows Some({pending})")
            ],
            "{order:?}"
        );
        let entry = inbox.find(EntryId::new(result)).await.unwrap().unwrap();
        let expected = (InboxState::Completed, Some(EntryId::new(pending)), None);
        assert_eq!((entry.state, entry.follows, entry.conflicts_with), expected);
        // A second result contradicts the first, not the pending outcome.
        deliver(&receivers, MANDATE, &outcome("DECL")).await;
        let entry = inbox.find(EntryId::new(3)).await.unwrap().unwrap();
        assert_eq!(
            (entry.conflicts_with, entry.follows),
            (Some(EntryId::new(result)), None)
        );
    }
}

#[tokio::test]
async fn a_pending_outcome_that_arrives_after_its_result_was_handled_is_handled_too() {
    let inbox = Arc::new(
        SqliteStore::open_in_memory(Default::default())
            .unwrap()
            .inbox(),
    );
    let receivers = over(inbox.clone(), options());
    let seen = Seen::default();
    let worker = noting(&receivers, &seen);
    deliver(&receivers, MANDATE, &outcome("TIMO")).await;
    worker.run_due().await.unwrap();
    deliver(&receivers, MANDATE, &outcome("PEND")).await;
    worker.run_due().await.unwrap();
    assert_eq!(take(&seen), ["TIMO follows None", "PEND follows None"]);
}
