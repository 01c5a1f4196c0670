//! An outbox that fails for a while: no message is lost, waits longer than needed, or is sent twice
//! without need.

use super::faulty::Faulty;
use super::world::{Reply, World, fresh_headers};
use bankrail_mailbox::{EndpointId, LeaseRequest, Outbox as _, OutboxOperator as _};
use bankrail_service::delivery::{Dispatcher, DispatcherOptions};
use bankrail_values::Timestamp;
use bankrail_webhook::samples;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, sleep};

struct Outage {
    world: World,
    outbox: Arc<Faulty>,
    dispatcher: Dispatcher,
}

impl Outage {
    fn new() -> Self {
        let (world, outbox) = (World::new(), Arc::new(Faulty::new()));
        let dispatcher =
            world.dispatcher_over(outbox.clone(), DispatcherOptions::new().per_endpoint(2));
        Self {
            world,
            outbox,
            dispatcher,
        }
    }

    async fn enqueue(&self, to: &EndpointId, messages: usize) {
        let message = samples::all().remove(0);
        for _ in 0..messages {
            self.dispatcher
                .enqueue(to, &message, fresh_headers(message.kind()))
                .await
                .unwrap();
        }
    }

    /// Enqueues messages to a receiver that does not answer yet.
    async fn hold(&self, messages: usize) {
        let gate = &self.world.receiver.gate;
        gate.forget_permits(gate.available_permits());
        self.enqueue(&self.world.acme, messages).await;
    }

    async fn until_posted(&self, messages: usize) {
        while self.world.receiver.count() < messages {
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn delivered(&self) -> u64 {
        self.outbox.inner.counts(None).await.unwrap().delivered
    }

    /// Returns the time from now until this many messages are recorded as delivered.
    async fn until_delivered(&self, messages: u64) -> Duration {
        let begun = Instant::now();
        while self.delivered().await < messages {
            sleep(Duration::from_millis(10)).await;
        }
        begun.elapsed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_delivery_is_recorded_when_the_outbox_is_back() {
    let outage = Outage::new();
    outage.hold(4).await;
    let script = async {
        outage.until_posted(2).await;
        outage.outbox.fails.store(true, Ordering::SeqCst);
        outage.world.receiver.gate.add_permits(10);
        sleep(Duration::from_secs(20)).await;
        assert_eq!(
            (outage.delivered().await, outage.world.receiver.count()),
            (0, 2),
            "nothing can be recorded"
        );
        outage.outbox.fails.store(false, Ordering::SeqCst);
        let resumed = outage.until_delivered(4).await;
        assert!(
            resumed < Duration::from_secs(3),
            "both places are free soon after: {resumed:?}"
        );
    };
    outage.dispatcher.run(script).await;
    assert_eq!(outage.world.receiver.count(), 4, "each was sent once");
}

#[tokio::test(start_paused = true)]
async fn a_lease_whose_answer_was_lost_is_given_back() {
    let outage = Outage::new();
    let (acme, beta) = (outage.world.acme.clone(), outage.world.beta.clone());
    outage.enqueue(&acme, 2).await;
    // One delivery to another endpoint is under way, and stays so.
    outage.world.receiver.script_for(&beta, [Reply::Never]);
    outage.outbox.loses_answers.store(true, Ordering::SeqCst);
    let script = async {
        sleep(Duration::from_secs(5)).await;
        assert_eq!(outage.world.receiver.count(), 0, "no answer, no delivery");
        outage.outbox.loses_answers.store(false, Ordering::SeqCst);
        outage.enqueue(&beta, 1).await;
        let resumed = outage.until_delivered(2).await;
        assert!(
            resumed < Duration::from_secs(3),
            "they do not wait for the end of the lease: {resumed:?}"
        );
        outage.outbox.loses_answers.store(true, Ordering::SeqCst);
        outage.enqueue(&acme, 1).await;
        sleep(Duration::from_secs(2)).await;
        outage.outbox.loses_answers.store(false, Ordering::SeqCst);
        outage.until_delivered(3).await;
        assert_eq!(
            outage.world.receiver.count(),
            4,
            "the delivery under way kept its lease"
        );
    };
    outage.dispatcher.run(script).await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_made_late_is_given_back_too() {
    let outage = Outage::new();
    let acme = outage.world.acme.clone();
    outage.outbox.fails.store(true, Ordering::SeqCst);
    let script = async {
        sleep(Duration::from_secs(5)).await;
        let asked = outage.outbox.asked.lock().unwrap().unwrap();
        outage.outbox.fails.store(false, Ordering::SeqCst);
        sleep(Duration::from_secs(3)).await;
        outage.enqueue(&acme, 1).await;
        let made = outage
            .outbox
            .inner
            .lease(LeaseRequest::new(asked, 9), Timestamp::MAX)
            .await
            .unwrap();
        assert_eq!(
            made.len(),
            1,
            "the database gets late what was sent to it before"
        );
        let resumed = outage.until_delivered(1).await;
        assert!(resumed < Duration::from_secs(3), "{resumed:?}");
    };
    outage.dispatcher.run(script).await;
}

#[tokio::test(start_paused = true)]
async fn a_delivery_whose_record_was_not_answered_is_not_made_again() {
    let outage = Outage::new();
    outage.hold(2).await;
    let script = async {
        outage.until_posted(2).await;
        outage.outbox.loses_answers.store(true, Ordering::SeqCst);
        outage.world.receiver.gate.add_permits(10);
        sleep(Duration::from_secs(90)).await;
        outage.outbox.loses_answers.store(false, Ordering::SeqCst);
        sleep(Duration::from_secs(90)).await;
    };
    outage.dispatcher.run(script).await;
    assert_eq!(
        (outage.delivered().await, outage.world.receiver.count()),
        (2, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn a_stop_during_an_outage_waits_for_the_lease_and_no_longer() {
    let outage = Outage::new();
    let acme = outage.world.acme.clone();
    outage.enqueue(&acme, 1).await;
    let stop = async {
        outage.until_posted(1).await;
        outage.outbox.fails.store(true, Ordering::SeqCst);
    };
    let permits = outage.outbox.records.available_permits();
    outage.outbox.records.forget_permits(permits);
    let begun = Instant::now();
    let give_permits = async {
        sleep(Duration::from_secs(1)).await;
        outage.outbox.records.add_permits(permits / 2);
    };
    tokio::join!(outage.dispatcher.run(stop), give_permits);
    let took = begun.elapsed();
    assert!(
        (Duration::from_secs(30)..Duration::from_secs(41)).contains(&took),
        "{took:?}"
    );
}
