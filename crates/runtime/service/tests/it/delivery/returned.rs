//! A receiver that is back gets a message within two seconds. The clock is tokio's, paused: it
//! moves on when everything waits, so that no test depends on the machine's speed.

use super::world::{Receiver, Reply, VirtualClock, World, fresh_headers, sealed_by};
use bankrail_http::CpuPool;
use bankrail_mailbox::OutboxStore;
use bankrail_service::delivery::{
    Dispatcher, DispatcherOptions, Endpoints, SealFuture, SealPayload, Transport,
    TransportErrorKind,
};
use bankrail_stores::memory::MemoryStore;
use bankrail_stores::sqlite::SqliteStore;
use bankrail_values::{Clock as _, Timestamp};
use bankrail_webhook::samples;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

const SECOND: Duration = Duration::from_secs(1);

const WAITING: usize = 2040;

/// A sealer that takes no time, which a paused clock would turn into minutes.
#[derive(Debug)]
struct Sealed;

impl SealPayload for Sealed {
    fn seal<'a>(&'a self, _: &'a [u8], _: &'a CpuPool) -> SealFuture<'a> {
        Box::pin(std::future::ready(Ok("sealed".to_owned())))
    }
}

struct Line {
    world: World,
    outbox: Arc<dyn OutboxStore>,
    clock: Arc<VirtualClock>,
}

/// A dispatcher that runs until it is stopped.
struct Running(oneshot::Sender<()>, JoinHandle<()>);

impl Running {
    async fn stop(self) {
        self.0.send(()).unwrap();
        self.1.await.unwrap();
    }
}

impl Line {
    fn new() -> Self {
        Self::over(Arc::new(MemoryStore::new().outbox()))
    }

    fn over(outbox: Arc<dyn OutboxStore>) -> Self {
        let clock = Arc::new(VirtualClock::start());
        Self {
            world: World::new(),
            outbox,
            clock,
        }
    }

    fn receiver(&self) -> &Receiver {
        &self.world.receiver
    }

    /// Makes a dispatcher like that of a new process, which knows the outbox only.
    fn dispatcher(&self) -> Dispatcher {
        let endpoints = Endpoints::new();
        endpoints.insert(sealed_by(&self.world.acme, Arc::new(Sealed)));
        let transport = Arc::clone(&self.world.receiver) as Arc<dyn Transport>;
        let (outbox, clock) = (Arc::clone(&self.outbox), Arc::clone(&self.clock));
        Dispatcher::new(
            outbox,
            endpoints,
            transport,
            DispatcherOptions::new().clock(clock),
        )
        .unwrap()
    }

    fn start(&self) -> Running {
        let (stop, stopped) = oneshot::channel::<()>();
        let dispatcher = self.dispatcher();
        let run = async move { dispatcher.run(async move { drop(stopped.await) }).await };
        Running(stop, tokio::spawn(run))
    }

    async fn enqueue(&self, messages: usize) {
        let (dispatcher, message) = (self.dispatcher(), samples::all().remove(0));
        for _ in 0..messages {
            let headers = fresh_headers(message.kind());
            let stored = dispatcher.enqueue(&self.world.acme, &message, headers);
            stored.await.unwrap();
        }
    }

    fn goes_down(&self, reply: Reply) {
        self.receiver().always(reply);
        self.receiver().up.store(false, Ordering::SeqCst);
    }

    fn is_back(&self) {
        self.receiver().always(Reply::Good);
        self.receiver().up.store(true, Ordering::SeqCst);
    }

    async fn delivered(&self) -> usize {
        let counts = self.outbox.counts(None).await.unwrap();
        usize::try_from(counts.delivered).unwrap()
    }

    /// Returns the time from now until this many messages are recorded as delivered.
    async fn until_delivered(&self, messages: usize) -> Duration {
        let begun = Instant::now();
        while self.delivered().await < messages {
            sleep(Duration::from_millis(10)).await;
            assert!(begun.elapsed() < 1000 * SECOND, "it never comes");
        }
        begun.elapsed()
    }

    /// Returns the number of requests of each message.
    fn sent(&self) -> HashMap<String, usize> {
        let mut sent = HashMap::new();
        for request in self.receiver().all() {
            let id = request.headers["x-message-id"].to_str().unwrap().to_owned();
            *sent.entry(id).or_default() += 1;
        }
        sent
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

const DOWN: Reply = Reply::Fails(TransportErrorKind::Connect);

#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_back_gets_a_message_within_two_seconds() {
    for (reply, minutes, waiting) in [
        (DOWN, 5, WAITING),
        (DOWN, 180, 100),
        (Reply::Status(503), 5, 100),
        (Reply::Status(503), 60, 100),
        (Reply::Fails(TransportErrorKind::Timeout), 60, 100),
    ] {
        let line = Line::new();
        line.goes_down(reply.clone());
        line.enqueue(waiting).await;
        let running = line.start();
        sleep(60 * minutes * SECOND).await;
        let before = line.receiver().count();
        assert!(before < 100, "the circuit spares it: {before} requests");
        line.is_back();
        let first = line.until_delivered(1).await;
        assert!(
            first <= 2 * SECOND,
            "{first:?}, {minutes} minutes of {reply:?}"
        );
        let all = line.until_delivered(waiting).await;
        assert!(all <= 10 * SECOND, "also what failed before: {all:?}");
        running.stop().await;
        assert_eq!(line.receiver().count(), before + waiting, "each once");
    }
}

/// Too few messages for the circuit, which opens after five failures, wait by the schedule alone.
#[tokio::test(start_paused = true)]
async fn a_single_message_does_not_wait_for_the_schedule_when_its_receiver_is_back() {
    let line = Line::new();
    line.goes_down(DOWN);
    line.enqueue(1).await;
    let running = line.start();
    sleep(3 * 3600 * SECOND).await;
    line.is_back();
    let first = line.until_delivered(1).await;
    assert!(first <= 2 * SECOND, "{first:?}");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_back_before_the_dispatcher_gets_a_message_within_two_seconds() {
    for messages in [1, WAITING] {
        let line = Line::new();
        line.goes_down(DOWN);
        line.enqueue(messages).await;
        let running = line.start();
        sleep(1000 * SECOND).await;
        running.stop().await;
        let before = line.receiver().count();
        line.is_back();
        // Two that start at once.
        let both = [line.start(), line.start()];
        let first = line.until_delivered(1).await;
        assert!(first <= 2 * SECOND, "{messages} messages: {first:?}");
        let all = line.until_delivered(messages).await;
        assert!(all <= 10 * SECOND, "{messages} messages: {all:?}");
        for running in both {
            running.stop().await;
        }
        assert_eq!(line.receiver().count(), before + messages, "each once");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dispatcher_that_starts_before_the_receiver_is_back_burns_no_delivery() {
    let line = Line::new();
    line.goes_down(DOWN);
    line.enqueue(WAITING).await;
    let running = line.start();
    sleep(1000 * SECOND).await;
    running.stop().await;
    let before = line.receiver().count();
    let held = line.outbox.circuits().await.unwrap().remove(0).circuit;
    for _ in 0..20 {
        let running = line.start();
        sleep(10 * SECOND).await;
        running.stop().await;
    }
    assert!(held.is_held(line.now()), "the circuit is open all along");
    assert_eq!(line.receiver().count(), before, "nothing is sent");
    line.is_back();
    let running = line.start();
    let first = line.until_delivered(1).await;
    assert!(first <= 2 * SECOND, "{first:?}");
    running.stop().await;
}

/// A receiver that is up and fails is not helped by more requests.
#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_up_and_fails_gets_one_trial_at_each_start() {
    let line = Line::new();
    line.receiver().always(Reply::Status(500));
    line.enqueue(WAITING).await;
    let running = line.start();
    sleep(1000 * SECOND).await;
    running.stop().await;
    for _ in 0..5 {
        let before = line.receiver().count();
        let running = line.start();
        sleep(10 * SECOND).await;
        running.stop().await;
        assert_eq!(line.receiver().count(), before + 1, "one trial");
    }
    let most = line.sent().into_values().max();
    assert_eq!(most, Some(1), "the messages take turns");
}

/// Trials at each of ten starts would use up the deliveries that the schedule spreads over three
/// days.
#[tokio::test(start_paused = true)]
async fn messages_that_are_refused_are_not_tried_at_each_start() {
    let line = Line::new();
    line.receiver().always(Reply::Status(400));
    line.enqueue(20).await;
    let running = line.start();
    sleep(1000 * SECOND).await;
    running.stop().await;
    let before = line.receiver().count();
    for _ in 0..5 {
        let running = line.start();
        sleep(10 * SECOND).await;
        running.stop().await;
    }
    assert_eq!(line.receiver().count(), before);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_answers_deliveries_and_no_looks_is_not_looked_at_for_ever() {
    let line = Line::new();
    line.goes_down(DOWN);
    line.enqueue(1).await;
    let running = line.start();
    sleep(SECOND).await;
    line.receiver().always(Reply::Good);
    line.until_delivered(1).await;
    sleep(SECOND).await;
    let looks = line.receiver().looks();
    assert!(looks > 1);
    sleep(60 * SECOND).await;
    running.stop().await;
    assert_eq!(line.receiver().looks(), looks);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_asked_for_a_pause_gets_nothing_before_its_end() {
    let line = Line::new();
    line.goes_down(Reply::Asking(503, "3600".to_owned()));
    line.enqueue(1).await;
    let running = line.start();
    sleep(60 * SECOND).await;
    running.stop().await;
    line.is_back();
    let running = line.start();
    sleep(3000 * SECOND).await;
    assert_eq!(line.delivered().await, 0);
    line.until_delivered(1).await;
    running.stop().await;
    assert_eq!(line.receiver().count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_stopped_endpoint_gets_nothing_when_its_receiver_is_back() {
    let line = Line::new();
    line.goes_down(DOWN);
    line.enqueue(9).await;
    let running = line.start();
    sleep(60 * SECOND).await;
    let stop = bankrail_mailbox::Intervention {
        by: "operator".parse().unwrap(),
        reason: "maintenance".parse().unwrap(),
    };
    let acme = &line.world.acme;
    line.dispatcher().stop(acme, &stop).await.unwrap();
    line.is_back();
    sleep(3600 * SECOND).await;
    assert_eq!(line.delivered().await, 0);
    running.stop().await;
}

/// Requests are counted and not timed, because a paused clock does not see the time that a file
/// takes.
#[tokio::test]
async fn over_a_file_a_receiver_that_is_back_gets_one_trial_of_two_dispatchers() {
    let folder = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(folder.path().join("outbox.db"), Default::default());
    let mut line = Line::over(Arc::new(open().unwrap().outbox()));
    line.goes_down(DOWN);
    line.enqueue(8).await;
    let dispatcher = line.dispatcher();
    while dispatcher.run_once().await.unwrap() > 0 {}
    let circuit = line.outbox.circuits().await.unwrap().remove(0).circuit;
    assert!(circuit.is_held(line.now()), "the circuit is open");
    let before = line.receiver().count();
    drop(dispatcher);
    line.outbox = Arc::new(open().unwrap().outbox());
    line.is_back();
    let gate = &line.receiver().gate;
    gate.forget_permits(gate.available_permits());
    let both = [line.start(), line.start()];
    while line.receiver().count() == before {
        tokio::task::yield_now().await;
    }
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(line.receiver().count(), before + 1, "one trial");
    gate.add_permits(100);
    while line.delivered().await < 8 {
        tokio::task::yield_now().await;
    }
    for running in both {
        running.stop().await;
    }
    assert_eq!(line.receiver().count(), before + 8, "each once");
}
