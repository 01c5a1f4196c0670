use crate::log::Log;
use crate::provider::start;
use crate::receivers::{deliver, delivery, message, options, receivers_with, seal};
use bankrail_client::receivers::{
    Delivery, HandlerError, Handlers, Receivers, Worker, WorkerOptions,
};
use bankrail_mailbox::{EntryId, Inbox, InboxState, Schedule};
use bankrail_stores::memory::{MemoryInbox, MemoryStore};
use bankrail_values::{HyphenatedUuid, ManualClock, StoreError, StoreErrorKind};
use bankrail_webhook::{
    Acknowledgement, DeliveryHeaders, Message, MessageKind, MessageReadOptions, PaymentOutcome,
    QueryNotification,
};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::ServiceExt;

const KIND: MessageKind = MessageKind::PaymentOutcome;

fn setup() -> (Arc<MemoryInbox>, Receivers, Arc<ManualClock>) {
    let inbox = Arc::new(MemoryStore::new().inbox());
    let clock = Arc::new(ManualClock::new(start()));
    let receivers = receivers_with(inbox.clone(), options().clock(clock.clone()));
    (inbox, receivers, clock)
}

async fn state(inbox: &MemoryInbox, number: u64) -> InboxState {
    inbox
        .find(EntryId::new(number))
        .await
        .unwrap()
        .unwrap()
        .state
}

#[tokio::test]
async fn each_handler_gets_its_messages_once() {
    let (inbox, receivers, _) = setup();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let (payments, queries) = (seen.clone(), seen.clone());
    let handlers = Handlers::new()
        .on(move |received: Delivery<PaymentOutcome>| {
            let payments = payments.clone();
            async move {
                payments
                    .lock()
                    .unwrap()
                    .push(received.message.transaction_status.to_string());
                Ok(())
            }
        })
        .on(move |received: Delivery<QueryNotification>| {
            let queries = queries.clone();
            async move {
                queries
                    .lock()
                    .unwrap()
                    .push(received.message.case_id.to_string());
                Ok(())
            }
        });
    let worker = receivers.worker(handlers, one_by_one());
    for kind in MessageKind::ALL {
        deliver(&receivers, kind, &message(kind)).await;
    }
    deliver(&receivers, KIND, &message(KIND)).await;
    assert_eq!(worker.run_due().await.unwrap(), 2);
    assert_eq!(worker.run_due().await.unwrap(), 0);
    assert_eq!(*seen.lock().unwrap(), ["ACSC", "C-1"]);
    let counts = inbox.counts().await.unwrap();
    assert_eq!(
        (counts.pending, counts.completed),
        (2, 2),
        "two kinds have no handler"
    );
}

#[tokio::test]
async fn a_worker_is_not_well_when_a_message_waits_too_long() {
    let (_, receivers, clock) = setup();
    let worker = receivers.worker(
        Handlers::new().on(|_: Delivery<PaymentOutcome>| std::future::ready(Ok(()))),
        WorkerOptions::new(),
    );
    worker.check().await.unwrap();
    deliver(&receivers, KIND, &message(KIND)).await;
    clock.advance(Duration::from_secs(1800));
    worker.check().await.unwrap();
    clock.advance(Duration::from_millis(1));
    let error = worker.check().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "a message waits to be handled for 1800 s"
    );
    worker.run_due().await.unwrap();
    worker.check().await.unwrap();
}

#[tokio::test]
async fn a_handler_of_any_message_gets_those_that_no_other_handler_is_for() {
    let (inbox, receivers, _) = setup();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let (any, payments) = (seen.clone(), seen.clone());
    let own = move |received: Delivery<PaymentOutcome>| {
        payments
            .lock()
            .unwrap()
            .push(received.message.transaction_status.to_string());
        std::future::ready(Ok(()))
    };
    let other = move |received: Delivery<Message>| {
        any.lock()
            .unwrap()
            .push(received.message.kind().to_string());
        std::future::ready(Ok(()))
    };
    let handlers = Handlers::new().on(own).on_any(other);
    assert_eq!(handlers.kinds(), MessageKind::ALL);
    for kind in MessageKind::ALL {
        deliver(&receivers, kind, &message(kind)).await;
    }
    let worker = receivers.worker(handlers, one_by_one());
    assert_eq!(worker.run_due().await.unwrap(), MessageKind::ALL.len());
    assert_eq!(
        *seen.lock().unwrap(),
        ["mandate_outcome", "mandate_notification", "ACSC", "query"]
    );
    assert_eq!(inbox.counts().await.unwrap().pending, 0);
}

fn one_by_one() -> WorkerOptions {
    WorkerOptions::new().concurrency(1)
}

/// Returns a worker whose handler counts and then does `what`.
fn failing<F>(receivers: &Receivers, calls: &Arc<AtomicU32>, what: fn() -> F) -> Worker
where
    F: Future<Output = Result<(), HandlerError>> + Send + 'static,
{
    failing_with(WorkerOptions::new(), receivers, calls, what)
}

fn failing_with<F>(
    options: WorkerOptions,
    receivers: &Receivers,
    calls: &Arc<AtomicU32>,
    what: fn() -> F,
) -> Worker
where
    F: Future<Output = Result<(), HandlerError>> + Send + 'static,
{
    let calls = calls.clone();
    let handler = move |_: Delivery<PaymentOutcome>| {
        calls.fetch_add(1, Ordering::SeqCst);
        what()
    };
    receivers.worker(Handlers::new().on(handler), options)
}

#[tokio::test]
async fn a_failure_is_repeated_on_the_schedule_and_becomes_a_dead_letter() {
    let (inbox, receivers, clock) = setup();
    let calls = Arc::default();
    let options = one_by_one().schedule(Schedule::new([0, 1, 2].map(Duration::from_secs), 0));
    let worker = failing_with(options, &receivers, &calls, || async {
        Err(std::io::Error::other("no luck").into())
    });
    deliver(&receivers, KIND, &message(KIND)).await;
    for (pause, expected) in [(0, 1), (999, 0), (1, 1), (1_999, 0), (1, 1), (1_000_000, 0)] {
        clock.advance(Duration::from_millis(pause));
        assert_eq!(
            worker.run_due().await.unwrap(),
            expected,
            "after {pause} ms"
        );
    }
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    let dead = &inbox.dead_letters(None, 10).await.unwrap()[0];
    assert_eq!(dead.last_error.as_deref(), Some("no luck"));
    // The dead letter is resent.
    assert!(inbox.resend(dead.id, start()).await.unwrap());
    assert_eq!(worker.run_due().await.unwrap(), 1);
}

#[tokio::test]
async fn a_permanent_error_is_a_dead_letter_at_once_and_does_not_block_others() {
    let (inbox, receivers, _) = setup();
    let calls = Arc::default();
    let worker = failing(&receivers, &calls, || async {
        Err(HandlerError::permanent("never"))
    });
    deliver(&receivers, KIND, &message(KIND)).await;
    deliver(&receivers, KIND, &message(KIND).replace("I-1", "I-2")).await;
    assert_eq!(worker.run_due().await.unwrap(), 2);
    assert_eq!(
        (state(&inbox, 1).await, state(&inbox, 2).await),
        (InboxState::DeadLetter, InboxState::DeadLetter)
    );
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_ledgers_permanent_error_is_permanent_through_a_question_mark_too() {
    async fn closed() -> Result<(), HandlerError> {
        Ok(Err(StoreError::permanent("the month is closed"))?)
    }
    async fn down() -> Result<(), HandlerError> {
        Ok(Err(StoreError::retryable("the ledger is down"))?)
    }
    let calls = Arc::default();
    for is_closed in [true, false] {
        let (inbox, receivers, _) = setup();
        let (worker, expected) = if is_closed {
            (failing(&receivers, &calls, closed), InboxState::DeadLetter)
        } else {
            (failing(&receivers, &calls, down), InboxState::Pending)
        };
        deliver(&receivers, KIND, &message(KIND)).await;
        assert_eq!(worker.run_due().await.unwrap(), 1);
        assert_eq!(state(&inbox, 1).await, expected);
    }
}

#[tokio::test]
async fn a_panic_is_a_failure_of_one_message() {
    let (inbox, receivers, _) = setup();
    let calls = Arc::default();
    let worker = failing(&receivers, &calls, || async { panic!("handlers do that") });
    deliver(&receivers, KIND, &message(KIND)).await;
    assert_eq!(worker.run_due().await.unwrap(), 1);
    let entry = inbox.find(EntryId::new(1)).await.unwrap().unwrap();
    assert_eq!(
        (entry.state, entry.last_error.as_deref()),
        (InboxState::Pending, Some("the handler panicked"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_takes_too_long_is_dropped() {
    let (inbox, receivers, _) = setup();
    let calls = Arc::default();
    let worker = failing(&receivers, &calls, std::future::pending);
    deliver(&receivers, KIND, &message(KIND)).await;
    assert_eq!(worker.run_due().await.unwrap(), 1);
    let entry = inbox.find(EntryId::new(1)).await.unwrap().unwrap();
    assert_eq!(
        entry.last_error.as_deref(),
        Some("the handler took too long")
    );
}

#[tokio::test]
async fn a_message_of_a_dead_worker_is_handled_when_its_lease_runs_out() {
    let (inbox, receivers, clock) = setup();
    deliver(&receivers, KIND, &message(KIND)).await;
    let calls = Arc::default();
    // The worker leases, and dies before the handler ends.
    let dead = failing(&receivers, &calls, std::future::pending);
    let dead = tokio::spawn(async move { dead.run_due().await });
    while calls.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    dead.abort();
    let _ = dead.await;
    let worker = failing(&receivers, &calls, || async { Ok(()) });
    assert_eq!(worker.run_due().await.unwrap(), 0);
    clock.advance(Duration::from_secs(60));
    assert_eq!(worker.run_due().await.unwrap(), 1);
    assert_eq!(state(&inbox, 1).await, InboxState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_works_for_long_keeps_its_lease() {
    let (inbox, receivers, clock) = setup();
    deliver(&receivers, KIND, &message(KIND)).await;
    let calls = Arc::default();
    let options = one_by_one().handler_timeout(Duration::from_secs(3600));
    let worker = failing_with(options, &receivers, &calls, || async {
        tokio::time::sleep(Duration::from_secs(600)).await;
        Ok(())
    });
    let working = tokio::spawn(async move { worker.run_due().await });
    let other = failing(&receivers, &calls, || async { Ok(()) });
    while !working.is_finished() {
        tokio::time::sleep(Duration::from_secs(21)).await;
        clock.advance(Duration::from_secs(21));
        assert_eq!(other.run_due().await.unwrap(), 0);
    }
    assert_eq!(working.await.unwrap().unwrap(), 1);
    assert_eq!(
        (state(&inbox, 1).await, calls.load(Ordering::SeqCst)),
        (InboxState::Completed, 1)
    );
}

#[tokio::test]
async fn findings_in_the_headers_reach_the_handler() {
    let (_, receivers, _) = setup();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let findings = seen.clone();
    let handlers = Handlers::new().on(move |received: Delivery<PaymentOutcome>| {
        let odd = received
            .findings
            .iter()
            .map(|finding| format!("{} {}", finding.rule, finding.pointer));
        findings.lock().unwrap().extend(odd);
        async { Ok(()) }
    });
    let json = message(KIND).replace('}', r#","new_member":1}"#);
    let mut request = delivery(KIND, seal(&json));
    request
        .headers_mut()
        .insert("x-correlation-id", "none".parse().unwrap());
    request
        .headers_mut()
        .insert("priority", "URGENT".parse().unwrap());
    assert_eq!(
        receivers.router().oneshot(request).await.unwrap().status(),
        200
    );
    assert_eq!(
        receivers
            .worker(handlers, WorkerOptions::new())
            .run_due()
            .await
            .unwrap(),
        1
    );
    let expected = [
        "optional_header X-Correlation-Id",
        "optional_header priority",
        "unknown_member /new_member",
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_running_worker_is_woken_and_finishes_what_it_began() {
    let (inbox, receivers, _) = setup();
    let (begun, mut handling) = tokio::sync::mpsc::unbounded_channel::<()>();
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let pass = gate.clone();
    let handlers = Handlers::new().on(move |_: Delivery<PaymentOutcome>| {
        let (begun, pass) = (begun.clone(), pass.clone());
        async move {
            begun.send(()).unwrap();
            pass.acquire().await?.forget();
            Ok(())
        }
    });
    let options = WorkerOptions::new().poll(Duration::from_secs(3600)); // so that only the arrival can wake it
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let worker = receivers.worker(handlers, options);
    let running = tokio::spawn(worker.run(async move {
        let _ = stopped.await;
    }));
    for _ in 0..10 {
        tokio::task::yield_now().await; // it looks, finds nothing, and waits
    }
    deliver(&receivers, KIND, &message(KIND)).await;
    handling.recv().await.unwrap();
    stop.send(()).unwrap();
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert!(!running.is_finished(), "the handler is under way");
    gate.add_permits(1);
    running.await.unwrap();
    assert_eq!(state(&inbox, 1).await, InboxState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_outlives_the_grace_is_dropped_and_its_message_handled_again() {
    let (inbox, receivers, clock) = setup();
    deliver(&receivers, KIND, &message(KIND)).await;
    let calls = Arc::default();
    let options = one_by_one().handler_timeout(Duration::from_secs(3600));
    let worker = failing_with(options, &receivers, &calls, std::future::pending);
    let seen = Arc::clone(&calls);
    let until_it_is_handled = async move {
        while seen.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    };
    worker.run(until_it_is_handled).await;
    assert_eq!(state(&inbox, 1).await, InboxState::Pending);
    clock.advance(Duration::from_secs(60));
    assert_eq!(
        failing(&receivers, &calls, || async { Ok(()) })
            .run_due()
            .await
            .unwrap(),
        1
    );
    assert_eq!(
        (calls.load(Ordering::SeqCst), state(&inbox, 1).await),
        (2, InboxState::Completed)
    );
}

#[tokio::test]
async fn a_worker_that_may_handle_none_at_once_handles_one() {
    let (inbox, receivers, _) = setup();
    let handlers = Handlers::new().on(|_: Delivery<PaymentOutcome>| async { Ok(()) });
    let options = WorkerOptions::new()
        .concurrency(0)
        .poll(Duration::from_secs(3600));
    let running = tokio::spawn(
        receivers
            .worker(handlers, options)
            .run(std::future::pending()),
    );
    for _ in 0..10 {
        tokio::task::yield_now().await; // it looks, finds nothing, and waits
    }
    deliver(&receivers, KIND, &message(KIND)).await;
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
        if state(&inbox, 1).await == InboxState::Completed {
            return running.abort();
        }
    }
    panic!("an arrival did not wake it");
}

#[tokio::test]
async fn a_message_that_was_taken_under_raised_bounds_reaches_its_handler() {
    let (inbox, receivers, _) = setup();
    let calls = Arc::default();
    let worker = failing(&receivers, &calls, || async { Ok(()) });
    let mut body = message(KIND).into_bytes();
    body.resize(2 << 20, b' ');
    let raised = MessageReadOptions::default().max_message_bytes(4 << 20);
    let read = Message::from_json_with(KIND, &body, &raised)
        .unwrap()
        .message;
    let headers = DeliveryHeaders::new(HyphenatedUuid::from_random_bytes([1; 16]));
    let incoming = read.incoming(
        "",
        &headers,
        &[],
        body,
        &Acknowledgement::from_random_bytes([2; 16]),
    );
    inbox.receive(&incoming, start()).await.unwrap();
    assert_eq!(worker.run_due().await.unwrap(), 1);
    assert_eq!(state(&inbox, 1).await, InboxState::Completed);
}

#[tokio::test]
async fn the_kept_text_of_a_store_error_has_its_cause() {
    let (inbox, receivers, _) = setup();
    deliver(&receivers, KIND, &message(KIND)).await;
    let calls = Arc::default();
    let full =
        || async { Err(StoreError::new(StoreErrorKind::Full, "no room in the ledger").into()) };
    assert_eq!(
        failing(&receivers, &calls, full).run_due().await.unwrap(),
        1
    );
    let entry = inbox.find(EntryId::new(1)).await.unwrap().unwrap();
    assert_eq!(
        entry.last_error.unwrap(),
        "the store is full: no room in the ledger"
    );
}

#[tokio::test]
async fn a_delivery_prints_nothing_of_its_message() {
    let (_, receivers, _) = setup();
    deliver(
        &receivers,
        KIND,
        &message(KIND).replace('}', r#","mps_user_id":"SECRET"}"#),
    )
    .await;
    let shown: Arc<Mutex<String>> = Arc::default();
    let seen = shown.clone();
    let handlers = Handlers::new().on(move |received: Delivery<PaymentOutcome>| {
        let seen = seen.clone();
        async move {
            *seen.lock().unwrap() = format!("{received:?}");
            Ok(())
        }
    });
    assert_eq!(
        receivers
            .worker(handlers, WorkerOptions::new())
            .run_due()
            .await
            .unwrap(),
        1
    );
    let shown = shown.lock().unwrap();
    assert!(
        shown.contains("attempt: 1") && !shown.contains("SECRET") && !shown.contains("ACSC"),
        "{shown}"
    );
}

#[tokio::test]
async fn old_handled_messages_are_forgotten() {
    let (inbox, _, clock) = setup();
    let retention = Duration::from_secs(30 * 86_400);
    let receivers = receivers_with(
        inbox.clone(),
        options().clock(clock.clone()).retention(retention),
    );
    deliver(&receivers, KIND, &message(KIND)).await;
    let calls = Arc::default();
    let worker = failing(&receivers, &calls, || async { Ok(()) });
    assert_eq!(worker.run_due().await.unwrap(), 1);
    // An hour more, because the sender's clock may be ahead.
    for (more, left) in [
        (retention + Duration::from_secs(3600), 1),
        (Duration::from_millis(1), 0),
    ] {
        clock.advance(more);
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let running = tokio::spawn(worker.clone().run(async move { drop(stopped.await) }));
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(
            inbox.counts().await.unwrap().completed,
            left,
            "after {more:?} more"
        );
        stop.send(()).unwrap();
        running.await.unwrap();
    }
}

#[tokio::test]
async fn findings_in_the_headers_are_refused_if_findings_are() {
    let (inbox, _, _) = setup();
    let strict = MessageReadOptions::default().deny_findings(true);
    let receivers = receivers_with(inbox.clone(), options().read_options(strict));
    let mut request = delivery(KIND, seal(&message(KIND)));
    request
        .headers_mut()
        .insert("priority", "URGENT".parse().unwrap());
    assert_eq!(
        receivers.router().oneshot(request).await.unwrap().status(),
        400
    );
    let request = delivery(KIND, seal(&message(KIND)));
    assert_eq!(
        receivers.router().oneshot(request).await.unwrap().status(),
        200
    );
    assert_eq!(inbox.counts().await.unwrap().pending, 1);
}

#[tokio::test(flavor = "current_thread")]
async fn why_a_handler_failed_is_logged_where_that_is_wanted() {
    for (wanted, poison) in [(false, false), (true, false), (true, true)] {
        let log = Log::start();
        let (_, receivers, _) = setup();
        let calls = Arc::default();
        let options = match wanted {
            true => one_by_one().log_handler_errors(true),
            false => one_by_one(),
        };
        let worker = match poison {
            true => failing_with(options, &receivers, &calls, || async {
                Err(HandlerError::permanent("the month is closed"))
            }),
            false => failing_with(options, &receivers, &calls, || async {
                let cause = std::io::Error::other("no such column: amont");
                Err(StoreError::new(StoreErrorKind::Unavailable, cause).into())
            }),
        };
        deliver(&receivers, KIND, &message(KIND)).await;
        assert_eq!(worker.run_due().await.unwrap(), 1);
        let text = log.text();
        let line = text
            .lines()
            .find(|line| line.contains("not handled"))
            .unwrap();
        let reason = match poison {
            true => r#"reason="the month is closed""#,
            false => r#"reason="the store is unavailable: no such column: amont""#,
        };
        assert_eq!(line.contains(reason), wanted, "{line}");
        assert_eq!(line.contains("reason"), wanted, "{line}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn the_text_of_a_retry_is_in_the_line_and_cut() {
    let log = Log::start();
    let (_, receivers, _) = setup();
    let calls = Arc::default();
    let options = one_by_one().log_handler_errors(true);
    let worker = failing_with(options, &receivers, &calls, || async {
        Err(HandlerError::retryable(format!(
            "the ledger is locked{}",
            "!".repeat(10_000)
        )))
    });
    deliver(&receivers, KIND, &message(KIND)).await;
    assert_eq!(worker.run_due().await.unwrap(), 1);
    let text = log.text();
    let line = text
        .lines()
        .find(|line| line.contains("not handled"))
        .unwrap();
    assert!(
        line.contains("the ledger is locked!!!") && line.len() < 1_000,
        "{line}"
    );
}

/// Messages of a time when the clock was ahead are handled now: one that arrived, one whose handler
/// failed, and one whose worker died.
#[tokio::test]
async fn messages_of_a_clock_that_was_ahead_are_handled_now() {
    for ahead in [3_600, 86_400, 365 * 86_400].map(Duration::from_secs) {
        let (inbox, receivers, clock) = setup();
        let calls = Arc::default();
        clock.advance(ahead);
        deliver(&receivers, KIND, &message(KIND)).await;
        let dead = failing(&receivers, &calls, std::future::pending);
        let dead = tokio::spawn(async move { dead.run_due().await });
        while calls.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        dead.abort();
        let _ = dead.await;
        deliver(&receivers, MessageKind::Query, &message(MessageKind::Query)).await;
        clock.set(start());
        let worker = failing(&receivers, &calls, || async { Ok(()) });
        assert_eq!(worker.run_due().await.unwrap(), 1, "{ahead:?}");
        assert_eq!(state(&inbox, 1).await, InboxState::Completed);
        let query = Handlers::new().on(|_: Delivery<QueryNotification>| std::future::ready(Ok(())));
        assert_eq!(
            receivers
                .worker(query, WorkerOptions::new())
                .run_due()
                .await
                .unwrap(),
            1
        );
        assert_eq!(state(&inbox, 2).await, InboxState::Completed);
    }
}
