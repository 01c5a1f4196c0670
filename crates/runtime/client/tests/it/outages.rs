//! An inbox that fails for a while: no message waits longer than needed, and only real starts are
//! counted.

use crate::faulty::Faulty;
use crate::provider::start;
use crate::receivers::{deliver, message, options, receivers_with};
use bankrail_client::receivers::{Delivery, Handlers, Receivers, Worker, WorkerOptions};
use bankrail_mailbox::{EntryId, Inbox, InboxState, Kind, Lease, LeaseOwner};
use bankrail_values::ManualClock;
use bankrail_webhook::{MessageKind, PaymentOutcome};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

const KIND: MessageKind = MessageKind::PaymentOutcome;

struct Outage {
    inbox: Arc<Faulty>,
    receivers: Receivers,
    /// Permits of which each handler takes one.
    gate: Arc<Semaphore>,
}

impl Outage {
    fn new() -> Self {
        let (inbox, clock) = (Arc::new(Faulty::new()), Arc::new(ManualClock::new(start())));
        let receivers = receivers_with(inbox.clone(), options().clock(clock));
        Self {
            inbox,
            receivers,
            gate: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
        }
    }

    fn worker(&self) -> Worker {
        self.worker_with(WorkerOptions::new())
    }

    fn worker_with(&self, options: WorkerOptions) -> Worker {
        let gate = self.gate.clone();
        let handlers = Handlers::new().on(move |_: Delivery<PaymentOutcome>| {
            let gate = gate.clone();
            async move {
                gate.acquire().await?.forget();
                Ok(())
            }
        });
        self.receivers.worker(handlers, options)
    }

    async fn deliver(&self, number: u32) {
        deliver(
            &self.receivers,
            KIND,
            &message(KIND).replace("I-1", &format!("I-{number}")),
        )
        .await;
    }

    fn lose_answers(&self, loses: bool) {
        self.inbox.loses_answers.store(loses, Ordering::SeqCst);
    }

    /// Returns the state of a message, and the number of times that its handling was started.
    async fn stands(&self, number: u64) -> (InboxState, u32) {
        let entry = self
            .inbox
            .inner
            .find(EntryId::new(number))
            .await
            .unwrap()
            .unwrap();
        (entry.state, entry.attempts)
    }

    /// Returns the time from now until this many messages are handled. The clock of the leases
    /// stands still.
    async fn until_handled(&self, messages: u64) -> Duration {
        let begun = Instant::now();
        while self.inbox.inner.counts().await.unwrap().completed < messages {
            assert!(
                begun.elapsed() < Duration::from_secs(600),
                "it is never handled"
            );
            sleep(Duration::from_millis(10)).await;
        }
        begun.elapsed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_whose_answer_was_lost_is_given_back_and_is_no_start() {
    let outage = Outage::new();
    // One handler is under way, and stays so for a while.
    outage.gate.forget_permits(Semaphore::MAX_PERMITS);
    outage.deliver(1).await;
    let script = async {
        sleep(Duration::from_secs(1)).await;
        outage.lose_answers(true);
        outage.deliver(2).await;
        sleep(Duration::from_secs(20)).await;
        assert_eq!(
            outage.stands(2).await.0,
            InboxState::Pending,
            "no answer, no handler"
        );
        outage.lose_answers(false);
        outage.gate.add_permits(2);
        let resumed = outage.until_handled(2).await;
        assert!(
            resumed < Duration::from_secs(3),
            "it does not wait for the end of the lease: {resumed:?}"
        );
    };
    outage.worker().run(script).await;
    for number in [1, 2] {
        assert_eq!(
            outage.stands(number).await,
            (InboxState::Completed, 1),
            "message {number} was started once"
        );
    }
}

#[tokio::test]
async fn the_next_look_for_due_messages_gives_back_too() {
    let outage = Outage::new();
    outage.deliver(1).await;
    let worker = outage.worker();
    outage.lose_answers(true);
    worker.run_due().await.unwrap_err();
    // The whole inbox is away: nothing can be given back yet.
    outage.inbox.fails.store(true, Ordering::SeqCst);
    worker.run_due().await.unwrap_err();
    outage.inbox.fails.store(false, Ordering::SeqCst);
    outage.lose_answers(false);
    assert_eq!(
        worker.clone().run_due().await.unwrap(),
        1,
        "a clone knows what was lost"
    );
    assert_eq!(outage.stands(1).await, (InboxState::Completed, 1));
}

#[tokio::test(start_paused = true)]
async fn what_came_of_a_message_is_noted_when_the_inbox_is_back() {
    let outage = Outage::new();
    outage.gate.forget_permits(Semaphore::MAX_PERMITS);
    outage.deliver(1).await;
    let script = async {
        sleep(Duration::from_secs(1)).await;
        outage.inbox.fails.store(true, Ordering::SeqCst);
        // For one handling; another would wait for ever.
        outage.gate.add_permits(1);
        sleep(Duration::from_secs(20)).await;
        assert_eq!(outage.stands(1).await, (InboxState::Pending, 1));
        outage.inbox.fails.store(false, Ordering::SeqCst);
        let noted = outage.until_handled(1).await;
        assert!(noted < Duration::from_secs(2), "{noted:?}");
    };
    outage.worker().run(script).await;
    assert_eq!(outage.stands(1).await, (InboxState::Completed, 1));
}

#[tokio::test(start_paused = true)]
async fn what_came_of_a_message_is_counted_once_although_the_answer_was_lost() {
    for fails in [false, true] {
        let outage = Outage::new();
        outage.gate.forget_permits(Semaphore::MAX_PERMITS);
        outage.deliver(1).await;
        let worker = outage.worker();
        let script = async {
            sleep(Duration::from_secs(1)).await;
            outage.lose_answers(true);
            if fails {
                outage.gate.close();
            } else {
                outage.gate.add_permits(1);
            }
            sleep(Duration::from_millis(500)).await;
            outage.lose_answers(false);
            sleep(Duration::from_millis(400)).await;
        };
        worker.clone().run(script).await;
        let (counts, stands) = (worker.counts(), outage.stands(1).await);
        let expected = if fails {
            (InboxState::Pending, 0, 1)
        } else {
            (InboxState::Completed, 1, 0)
        };
        assert_eq!((stands.0, counts.handled, counts.failed), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_lasts_for_ever_ends_with_its_message() {
    let outage = Outage::new();
    outage.deliver(1).await;
    let worker = outage.worker_with(WorkerOptions::new().lease(Duration::MAX));
    assert_eq!(worker.run_due().await.unwrap(), 1);
    assert_eq!(outage.stands(1).await, (InboxState::Completed, 1));
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_made_late_is_given_back_too() {
    let outage = Outage::new();
    outage.inbox.fails.store(true, Ordering::SeqCst);
    let script = async {
        sleep(Duration::from_secs(5)).await;
        let asked = outage.inbox.asked.lock().unwrap().unwrap();
        outage.inbox.fails.store(false, Ordering::SeqCst);
        sleep(Duration::from_secs(3)).await;
        // Stored, and leased before the worker looks again.
        outage.deliver(1).await;
        let made = outage
            .inbox
            .inner
            .lease(&[Kind::from(KIND)], 9, asked, start())
            .await
            .unwrap();
        assert_eq!(
            made.len(),
            1,
            "the database gets late what was sent to it before"
        );
        let resumed = outage.until_handled(1).await;
        assert!(resumed < Duration::from_secs(3), "{resumed:?}");
    };
    outage.worker().run(script).await;
    assert_eq!(outage.stands(1).await, (InboxState::Completed, 1));
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_is_stopped_gives_back_what_was_not_answered() {
    for fails in [false, true] {
        let outage = Outage::new();
        outage.deliver(1).await;
        outage.lose_answers(true);
        let script = async {
            sleep(Duration::from_millis(10)).await;
            outage.inbox.fails.store(fails, Ordering::SeqCst);
        };
        let begun = Instant::now();
        outage.worker().run(script).await;
        assert!(
            begun.elapsed() < Duration::from_secs(1),
            "a stop does not wait for the inbox"
        );
        let lease = Lease {
            owner: LeaseOwner::from_random_bytes([1; 16]),
            until: start(),
        };
        let other = outage
            .inbox
            .inner
            .lease(&[], 9, lease, start())
            .await
            .unwrap();
        let free: Vec<u32> = other.iter().map(|entry| entry.attempts).collect();
        let expected: &[u32] = if fails { &[] } else { &[1] };
        assert_eq!(
            free, expected,
            "another worker takes it at once, for the first time"
        );
    }
}
