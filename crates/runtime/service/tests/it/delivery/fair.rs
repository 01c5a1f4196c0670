//! Endpoints that hang or answer late do not delay the others. The clock is tokio's, paused: it
//! moves on when everything waits, so that no test depends on the machine's speed.

use super::world::{VirtualClock, fresh_headers};
use bankrail_http::CpuPool;
use bankrail_mailbox::{
    DeliveryNote, EndpointId, EntryId, OutboxOperator, OutboxState, OutboxStore,
};
use bankrail_service::delivery::{
    Dispatcher, DispatcherOptions, Endpoint, EndpointUrl, Endpoints, SealFuture, SealPayload,
    Transport, TransportFuture, TransportRequest, TransportResponse,
};
use bankrail_stores::memory::{MemoryOutbox, MemoryStore};
use bankrail_values::Clock;
use bankrail_webhook::{Acknowledgement, samples};
use http::{HeaderMap, StatusCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::oneshot;

const PROMPT: Duration = Duration::from_millis(5);

/// The behaviour of the other endpoints.
#[derive(Clone, Copy, Debug)]
enum Others {
    Hang,
    Answer(Duration),
    AreNotSealedFor,
}

#[derive(Debug)]
struct Sealer {
    hangs: bool,
}

impl SealPayload for Sealer {
    fn seal<'a>(&'a self, _: &'a [u8], _: &'a CpuPool) -> SealFuture<'a> {
        let hangs = self.hangs;
        Box::pin(async move {
            if hangs {
                std::future::pending().await
            } else {
                Ok("sealed".to_owned())
            }
        })
    }
}

/// The receivers of all endpoints; the healthy one answers after [`PROMPT`].
#[derive(Debug)]
struct Receivers {
    others: Others,
    waiting: AtomicUsize,
    most: Mutex<usize>,
}

impl Transport for Receivers {
    fn post(&self, request: TransportRequest) -> TransportFuture<'_> {
        Box::pin(async move {
            if request.url.host_str() == Some("healthy.example") {
                tokio::time::sleep(PROMPT).await;
            } else {
                let counted = Counted::new(self);
                match self.others {
                    Others::Answer(after) => tokio::time::sleep(after).await,
                    _ => std::future::pending().await,
                }
                drop(counted);
            }
            let body = Acknowledgement::from_random_bytes([7; 16]).to_json();
            Ok(TransportResponse::new(
                StatusCode::OK,
                HeaderMap::new(),
                body,
            ))
        })
    }
}

/// A request that waits for its answer.
struct Counted<'a>(&'a Receivers);

impl<'a> Counted<'a> {
    fn new(receivers: &'a Receivers) -> Self {
        let waiting = receivers.waiting.fetch_add(1, Ordering::Relaxed) + 1;
        let mut most = receivers.most.lock().unwrap();
        *most = waiting.max(*most);
        Self(receivers)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

struct World {
    dispatcher: Dispatcher,
    outbox: Arc<MemoryOutbox>,
    receivers: Arc<Receivers>,
    clock: Arc<VirtualClock>,
}

impl World {
    fn new(others: Others, number: usize, options: DispatcherOptions) -> Self {
        let endpoints = Endpoints::new();
        let hangs = matches!(others, Others::AreNotSealedFor);
        endpoints.insert(endpoint("healthy", false));
        for other in 0..number {
            endpoints.insert(endpoint(&other_name(other), hangs));
        }
        let outbox = Arc::new(MemoryStore::new().outbox());
        let receivers = Arc::new(Receivers {
            others,
            waiting: AtomicUsize::new(0),
            most: Mutex::new(0),
        });
        let clock = Arc::new(VirtualClock::start());
        let dispatcher = Dispatcher::new(
            Arc::clone(&outbox) as Arc<dyn OutboxStore>,
            endpoints,
            Arc::clone(&receivers) as Arc<dyn Transport>,
            options.clock(Arc::clone(&clock) as Arc<dyn Clock>),
        );
        Self {
            dispatcher: dispatcher.unwrap(),
            outbox,
            receivers,
            clock,
        }
    }

    async fn enqueue(&self, to: &str) -> EntryId {
        let message = samples::all().remove(0);
        self.dispatcher
            .enqueue(&name(to), &message, fresh_headers(message.kind()))
            .await
            .unwrap()
            .id()
    }

    async fn paused(&self) -> Vec<EndpointId> {
        super::world::paused(&*self.outbox, self.clock.now()).await
    }

    /// Returns the maximum number of requests to the other endpoints at once since the last call.
    fn most_waiting(&self) -> usize {
        let now = self.receivers.waiting.load(Ordering::Relaxed);
        std::mem::replace(&mut *self.receivers.most.lock().unwrap(), now)
    }
}

fn name(text: &str) -> EndpointId {
    text.parse().unwrap()
}

fn other_name(number: usize) -> String {
    format!("other{number}")
}

fn endpoint(id: &str, hangs: bool) -> Endpoint {
    let base = EndpointUrl::parse(&format!("https://{id}.example/")).unwrap();
    Endpoint::new(name(id), base, Arc::new(Sealer { hangs }))
}

/// Runs for forty seconds with a message, or several at once, to the healthy endpoint ten times a
/// second, while others have older backlogs. Returns the longest time from enqueueing to the
/// answer.
async fn longest_wait(world: World, others: usize, at_once: usize) -> Duration {
    for other in 0..others {
        for _ in 0..12 {
            world.enqueue(&other_name(other)).await;
        }
    }
    let world = Arc::new(world);
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn({
        let world = Arc::clone(&world);
        async move {
            world
                .dispatcher
                .run(async move { drop(stopped.await) })
                .await
        }
    });
    let mut sent = Vec::new();
    for _ in 0..40 * 10 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        for _ in 0..at_once {
            sent.push(world.enqueue("healthy").await);
        }
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut longest = Duration::ZERO;
    for id in sent {
        let entry = world.outbox.find(id).await.unwrap().unwrap();
        assert_eq!(entry.state, OutboxState::Delivered);
        let [delivery] = world
            .outbox
            .deliveries(id)
            .await
            .unwrap()
            .try_into()
            .unwrap();
        longest = longest
            .max(delivery.started_at.saturating_since(entry.enqueued_at) + delivery.duration);
    }
    stop.send(()).unwrap();
    running.await.unwrap();
    longest
}

async fn undisturbed(at_once: usize) -> Duration {
    longest_wait(
        World::new(Others::Hang, 0, DispatcherOptions::new()),
        0,
        at_once,
    )
    .await
}

#[tokio::test(start_paused = true)]
async fn sixteen_of_seventeen_endpoints_that_hang_keep_no_message_to_the_healthy_one_waiting() {
    let alone = undisturbed(2).await;
    assert!(alone < 2 * PROMPT, "{alone:?}");
    for others in [
        Others::Hang,
        Others::Answer(Duration::from_millis(14_900)),
        Others::AreNotSealedFor,
    ] {
        let world = World::new(others, 16, DispatcherOptions::new());
        assert_eq!(longest_wait(world, 16, 2).await, alone, "{others:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn sixty_endpoints_that_hang_keep_no_message_to_the_healthy_one_waiting() {
    let world = World::new(Others::Hang, 60, DispatcherOptions::new());
    assert_eq!(longest_wait(world, 60, 1).await, undisturbed(1).await);
}

#[tokio::test(start_paused = true)]
async fn slow_endpoints_hold_no_more_than_their_places() {
    let options = DispatcherOptions::new()
        .concurrency(40)
        .slow_concurrency(10)
        .per_endpoint(2);
    // Slow from the first answer on, and never ill.
    let world = Arc::new(World::new(
        Others::Answer(Duration::from_secs(2)),
        20,
        options,
    ));
    for other in 0..20 {
        for _ in 0..30 {
            world.enqueue(&other_name(other)).await;
        }
    }
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn({
        let world = Arc::clone(&world);
        async move {
            world
                .dispatcher
                .run(async move { drop(stopped.await) })
                .await
        }
    });
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(world.most_waiting() > 10, "nothing was known of them");
    tokio::time::sleep(Duration::from_secs(2)).await;
    world.most_waiting();
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(world.most_waiting(), 10);
    // The slow ones take turns too.
    let mut fewest = usize::MAX;
    for other in 0..20 {
        let counts = world
            .outbox
            .counts(Some(&name(&other_name(other))))
            .await
            .unwrap();
        fewest = fewest.min(usize::try_from(counts.delivered).unwrap());
    }
    assert!(fewest >= 7, "{fewest}");
    assert!(world.paused().await.is_empty());
    stop.send(()).unwrap();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_slow_endpoint_alone_reaches_its_bound_within_few_slow_places() {
    let options = DispatcherOptions::new().slow_concurrency(4);
    let world = Arc::new(World::new(
        Others::Answer(Duration::from_secs(2)),
        1,
        options,
    ));
    for _ in 0..20 {
        world.enqueue(&other_name(0)).await;
    }
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn({
        let world = Arc::clone(&world);
        async move {
            world
                .dispatcher
                .run(async move { drop(stopped.await) })
                .await
        }
    });
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(
        world.receivers.waiting.load(Ordering::Relaxed),
        4,
        "in slow places"
    );
    stop.send(()).unwrap();
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn late_answers_and_sealers_that_hang_open_the_circuit() {
    for (others, note) in [
        (Others::Answer(Duration::from_millis(14_900)), None),
        (Others::AreNotSealedFor, Some(DeliveryNote::NotSealed)),
    ] {
        let world = World::new(others, 1, DispatcherOptions::new().per_endpoint(1));
        let mut ids = Vec::new();
        for _ in 0..6 {
            ids.push(world.enqueue(&other_name(0)).await);
        }
        for _ in 0..5 {
            assert!(world.paused().await.is_empty());
            assert_eq!(world.dispatcher.run_once().await.unwrap(), 1);
        }
        assert_eq!(world.paused().await, [name(&other_name(0))], "{others:?}");
        let delivery = world.outbox.deliveries(ids[0]).await.unwrap().remove(0);
        assert_eq!(delivery.note, note);
    }
}
