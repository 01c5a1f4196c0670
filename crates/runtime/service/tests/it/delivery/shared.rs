//! Two dispatchers over one SQLite store, as two processes would be.

use super::world::{Reply, World, fresh_headers, paused};
use bankrail_mailbox::{Circuit, EntryId, Outbox, OutboxOperator, OutboxState, OutboxStore};
use bankrail_service::delivery::{BreakerPolicy, Dispatcher, DispatcherOptions};
use bankrail_stores::sqlite::{SqliteOutbox, SqliteStore};
use bankrail_values::{Clock as _, Timestamp};
use bankrail_webhook::samples;
use std::sync::Arc;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

struct Two {
    world: World,
    folder: tempfile::TempDir,
    options: DispatcherOptions,
    outbox: Arc<SqliteOutbox>,
    one: Dispatcher,
    other: Dispatcher,
}

impl Two {
    fn new(options: DispatcherOptions) -> Self {
        let (world, folder) = (World::new(), tempfile::tempdir().unwrap());
        let outbox = open(&folder);
        let dispatcher =
            || world.dispatcher_over(Arc::clone(&outbox) as Arc<dyn OutboxStore>, options.clone());
        let (one, other) = (dispatcher(), dispatcher());
        Self {
            world,
            folder,
            options,
            outbox,
            one,
            other,
        }
    }

    /// Ends both processes, and starts new ones over the file.
    fn restart(&mut self) {
        self.outbox = open(&self.folder);
        let over = || Arc::clone(&self.outbox) as Arc<dyn OutboxStore>;
        self.one = self.world.dispatcher_over(over(), self.options.clone());
        self.other = self.world.dispatcher_over(over(), self.options.clone());
    }

    async fn enqueue(&self, messages: usize) -> Vec<EntryId> {
        let mut ids = Vec::new();
        for _ in 0..messages {
            let message = samples::all().remove(0);
            let stored = self
                .one
                .enqueue(&self.world.acme, &message, fresh_headers(message.kind()))
                .await;
            ids.push(stored.unwrap().id());
        }
        ids
    }

    fn now(&self) -> Timestamp {
        self.world.clock.now()
    }

    fn wait(&self, seconds: u64) {
        self.world.clock.advance(Duration::from_secs(seconds));
    }

    async fn made(&self) -> [usize; 2] {
        [
            self.one.run_once().await.unwrap(),
            self.other.run_once().await.unwrap(),
        ]
    }
}

fn open(folder: &tempfile::TempDir) -> Arc<SqliteOutbox> {
    Arc::new(
        SqliteStore::open(folder.path().join("outbox.db"), Default::default())
            .unwrap()
            .outbox(),
    )
}

fn failing_after(failures: u32) -> DispatcherOptions {
    DispatcherOptions::new()
        .per_endpoint(1)
        .breaker(BreakerPolicy::new().failures(failures))
}

#[tokio::test]
async fn an_endpoint_that_one_has_stopped_gets_nothing_from_the_other() {
    let mut two = Two::new(DispatcherOptions::new());
    two.world.receiver.script([Reply::Status(410)]);
    two.enqueue(1).await;
    assert_eq!(two.made().await, [1, 0]);
    two.enqueue(1).await;
    two.restart();
    two.wait(100_000);
    assert_eq!(two.made().await, [0, 0], "nor after a restart");
    assert!(
        two.other.resume(&two.world.acme).await.unwrap(),
        "whoever resumes it"
    );
    assert_eq!(two.made().await, [2, 0]);
}

#[tokio::test]
async fn a_circuit_that_one_has_opened_holds_back_the_other_also_after_a_restart() {
    let mut two = Two::new(failing_after(2));
    two.world.receiver.always(Reply::Status(500));
    let ids = two.enqueue(8).await;
    assert_eq!(
        [
            two.one.run_once().await.unwrap(),
            two.one.run_once().await.unwrap()
        ],
        [1, 1]
    );
    assert_eq!(two.made().await, [0, 0]);
    let opened = Circuit {
        openings: 1,
        open_until: Some(two.now().saturating_add(Duration::from_secs(30))),
        rests_until: None,
    };
    assert_eq!(
        two.outbox.circuits().await.unwrap().pop().unwrap().circuit,
        opened
    );
    two.restart();
    two.wait(29);
    assert_eq!(two.made().await, [0, 0]);
    assert_eq!(
        two.outbox.next_due().await.unwrap(),
        opened.open_until,
        "nobody asks for it in between"
    );
    two.wait(1);
    assert_eq!(
        two.other.run_once().await.unwrap(),
        1,
        "the trial, which fails"
    );
    assert_eq!(two.made().await, [0, 0]);
    two.wait(59);
    assert_eq!(two.made().await, [0, 0], "for twice as long");
    two.wait(1);
    two.world.receiver.always(Reply::Good);
    assert_eq!(two.one.run_once().await.unwrap(), 1);
    assert!(
        paused(&*two.outbox, two.now()).await.is_empty(),
        "it has answered"
    );
    two.wait(3600);
    while two.made().await != [0, 0] {}
    for id in ids {
        assert_eq!(
            two.outbox.find(id).await.unwrap().unwrap().state,
            OutboxState::Delivered
        );
    }
}

#[tokio::test]
async fn of_two_dispatchers_one_makes_the_trial() {
    let two = Two::new(failing_after(1).per_endpoint(4));
    two.world
        .receiver
        .script((0..4).map(|_| Reply::Status(500)));
    two.enqueue(8).await;
    assert_eq!(two.made().await, [4, 0]);
    two.wait(30);
    let permits = two.world.receiver.gate.available_permits();
    two.world.receiver.gate.forget_permits(permits);
    let one = two.one.clone();
    let trial = tokio::spawn(async move { one.run_once().await.unwrap() });
    while two.world.receiver.count() == 4 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        two.other.run_once().await.unwrap(),
        0,
        "while it is under way"
    );
    two.world.receiver.gate.add_permits(100);
    assert_eq!(trial.await.unwrap(), 1);
    assert_eq!(two.other.run_once().await.unwrap(), 4, "it has answered");
}

#[tokio::test]
async fn a_success_under_way_closes_a_circuit_that_another_has_opened() {
    let two = Two::new(failing_after(1).per_endpoint(2));
    two.world.receiver.script([Reply::Good]);
    let permits = two.world.receiver.gate.available_permits();
    two.world.receiver.gate.forget_permits(permits);
    two.enqueue(1).await;
    let one = two.one.clone();
    let under_way = tokio::spawn(async move { one.run_once().await.unwrap() });
    while two.world.receiver.count() == 0 {
        tokio::task::yield_now().await;
    }
    let ill = Circuit {
        openings: 3,
        open_until: Some(two.now().saturating_add(HOUR)),
        rests_until: None,
    };
    two.outbox
        .hold_endpoint(&two.world.acme, ill)
        .await
        .unwrap();
    two.enqueue(2).await;
    assert_eq!(two.other.run_once().await.unwrap(), 0);
    two.world.receiver.gate.add_permits(100);
    assert_eq!(under_way.await.unwrap(), 1);
    assert!(
        two.outbox.circuits().await.unwrap().is_empty(),
        "it has answered"
    );
    assert_eq!(two.other.run_once().await.unwrap(), 2);
}

#[tokio::test]
async fn what_one_is_told_to_send_now_the_other_delivers() {
    let two = Two::new(failing_after(2));
    two.world.receiver.always(Reply::Status(500));
    let ids = two.enqueue(2).await;
    assert_eq!(
        [
            two.one.run_once().await.unwrap(),
            two.one.run_once().await.unwrap()
        ],
        [1, 1]
    );
    assert_eq!(two.made().await, [0, 0]);
    two.world.receiver.always(Reply::Good);
    two.other.resume(&two.world.acme).await.unwrap();
    assert_eq!(two.outbox.next_due().await.unwrap(), Some(two.now()));
    assert_eq!(
        [
            two.one.run_once().await.unwrap(),
            two.one.run_once().await.unwrap()
        ],
        [1, 1]
    );
    for id in ids {
        assert_eq!(
            two.outbox.find(id).await.unwrap().unwrap().state,
            OutboxState::Delivered
        );
    }
}

#[tokio::test]
async fn a_retry_after_is_for_all_dispatchers_and_outlives_a_restart() {
    let mut two = Two::new(DispatcherOptions::new());
    two.world
        .receiver
        .script([Reply::Asking(429, "600".to_owned())]);
    two.enqueue(1).await;
    assert_eq!(two.made().await, [1, 0]);
    two.enqueue(3).await;
    two.restart();
    two.wait(599);
    assert_eq!(two.made().await, [0, 0]);
    two.wait(1);
    assert_eq!(two.made().await, [4, 0], "all at once: it was not ill");
    assert!(two.outbox.circuits().await.unwrap().is_empty());
}

/// Two dispatchers over a receiver that fails at random are compared with a model.
#[tokio::test]
async fn two_dispatchers_leave_an_ill_endpoint_alone_as_one_would() {
    let two = Two::new(failing_after(3).per_endpoint(1));
    two.enqueue(400).await;
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let (mut failures, mut openings, mut held_until) = ([0, 0], 0_u32, Timestamp::UNIX_EPOCH);
    let mut tried = [0, 0];
    for step in 0..300 {
        let good = random(3) == 0;
        let turn = usize::try_from(random(2)).unwrap();
        two.world.receiver.always(if good {
            Reply::Good
        } else {
            Reply::Status(500)
        });
        let dispatcher = if turn == 0 { &two.one } else { &two.other };
        let may = two.now() >= held_until;
        assert_eq!(
            dispatcher.run_once().await.unwrap(),
            usize::from(may),
            "step {step}"
        );
        if may {
            tried[usize::from(openings > 0)] += 1;
            failures[turn] = if good { 0 } else { failures[turn] + 1 };
            if good {
                openings = 0;
            } else if openings > 0 || failures[turn] == 3 {
                failures[turn] = 0;
                let pause = 30 * 2_u64.pow(openings.min(5));
                held_until = two
                    .now()
                    .saturating_add(Duration::from_secs(pause.min(600)));
                openings += 1;
            }
        }
        two.wait(random(200));
    }
    assert!(tried.iter().all(|tried| *tried > 20), "{tried:?}");
}
