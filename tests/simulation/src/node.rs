//! Processes: each with a clock, and with a life that a crash ends. The stores stay.

use crate::world::{Fault, World, lock};
use axum::Router;
use axum::body::Body;
use bankrail_values::{Clock, StoreError, StoreErrorKind, Timestamp};
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{Request, Response};
use std::fmt;
use std::future::{Future, pending};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tower::ServiceExt as _;

/// A machine with a clock, on which one process runs at a time.
pub(crate) struct Node {
    pub(crate) name: &'static str,
    pub(crate) world: Arc<World>,
    /// The lead of its clock in milliseconds.
    lead: AtomicI64,
    /// Where the process takes requests, while there is one.
    door: Mutex<Option<mpsc::UnboundedSender<Visit>>>,
    stop: Mutex<Option<watch::Sender<bool>>>,
}

/// A request, and where its answer goes.
pub(crate) struct Visit {
    pub(crate) request: Request<Bytes>,
    pub(crate) answer: oneshot::Sender<Response<Bytes>>,
}

impl fmt::Debug for Node {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

impl Clock for Node {
    fn now(&self) -> Timestamp {
        let now = self.world.now().unix_millis();
        Timestamp::saturating_from_unix_millis(now + self.lead.load(Ordering::Relaxed))
    }
}

impl Node {
    pub(crate) fn new(name: &'static str, world: &Arc<World>) -> Arc<Self> {
        Arc::new(Self {
            name,
            world: Arc::clone(world),
            lead: AtomicI64::new(0),
            door: Mutex::default(),
            stop: Mutex::default(),
        })
    }

    pub(crate) fn set_lead(&self, millis: i64) {
        self.lead.store(millis, Ordering::Relaxed);
        self.world
            .note(format_args!("{self:?} clock leads by {millis} ms"));
    }

    /// Hands a request to the process; `None` if there is none.
    pub(crate) fn visit(
        &self,
        request: Request<Bytes>,
    ) -> Option<oneshot::Receiver<Response<Bytes>>> {
        let (answer, answered) = oneshot::channel();
        let door = lock(&self.door);
        door.as_ref()?.send(Visit { request, answer }).ok()?;
        Some(answered)
    }

    /// Returns true if there is a process.
    pub(crate) fn is_up(&self) -> bool {
        lock(&self.door).is_some()
    }

    /// Asks the process to end in order.
    pub(crate) fn stop(&self) {
        if let Some(stop) = &*lock(&self.stop) {
            stop.send_replace(true);
        }
    }

    /// Runs a process, and another one after each crash or stop, for ever.
    pub(crate) async fn run(self: Arc<Self>, boot: impl Fn(&Arc<Life>, &Stop) -> Process) {
        loop {
            let life = Arc::new(Life {
                node: Arc::clone(&self),
                dead: AtomicBool::new(false),
                died: Notify::new(),
            });
            let (stop, stopped) = watch::channel(false);
            *lock(&self.stop) = Some(stop);
            let Process {
                router,
                mut tasks,
                seen,
            } = boot(&life, &Stop(stopped.clone()));
            let (door, visits) = mpsc::unbounded_channel();
            *lock(&self.door) = Some(door);
            self.world.note(format_args!("{self:?} starts"));
            let mut serving = JoinSet::new();
            serving.spawn(serve(Arc::clone(&life), visits, router, seen));
            let in_order = async {
                Stop(stopped).wait().await;
                while tasks.join_next().await.is_some() {}
            };
            tokio::select! {
                biased;
                () = life.died.notified() => {}
                () = in_order => self.world.note(format_args!("{self:?} stopped")),
            }
            // The process ends. Tasks that product code has spawned cannot be dropped from here, so
            // each waits for ever at its next operation.
            life.dead.store(true, Ordering::Relaxed);
            *lock(&self.door) = None;
            drop((tasks, serving));
            let pause = match self.world.is_quiet() {
                true => Duration::from_millis(10),
                false => self.world.millis(20_000),
            };
            tokio::time::sleep(pause).await;
        }
    }
}

/// The parts of a process.
pub(crate) struct Process {
    pub(crate) router: Router,
    pub(crate) tasks: JoinSet<()>,
    /// Sees each answer before it is sent.
    pub(crate) seen: Seen,
}

/// Sees a request, its arrival, and its answer.
pub(crate) type Seen = Arc<dyn Fn(&Node, &Request<Bytes>, Arrival, &Response<Bytes>) + Send + Sync>;

/// When a request arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// By the node's clock.
    pub(crate) clock: Timestamp,
    /// From the beginning of the run.
    pub(crate) at: Duration,
}

/// The order to end.
#[derive(Clone)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    pub(crate) async fn wait(mut self) {
        if self.0.wait_for(|stop| *stop).await.is_err() {
            pending::<()>().await;
        }
    }
}

async fn serve(
    life: Arc<Life>,
    mut visits: mpsc::UnboundedReceiver<Visit>,
    router: Router,
    seen: Seen,
) {
    let mut under_way = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            Some(_) = under_way.join_next() => {}
            visit = visits.recv() => {
                let Some(Visit { request, answer }) = visit else { return };
                let (router, seen, life) = (router.clone(), Arc::clone(&seen), Arc::clone(&life));
                under_way.spawn(async move {
                    let arrived = Arrival { clock: life.node.now(), at: life.node.world.elapsed() };
                    let answered = router.oneshot(request.clone().map(Body::from)).await;
                    let (head, body) = answered.unwrap_or_else(|never| match never {}).into_parts();
                    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
                    let response = Response::from_parts(head, body);
                    seen(&life.node, &request, arrived, &response);
                    // The sender may have hung up.
                    let _ = answer.send(response);
                });
            }
        }
    }
}

/// One process from its start to its end.
pub(crate) struct Life {
    pub(crate) node: Arc<Node>,
    dead: AtomicBool,
    died: Notify,
}

impl fmt::Debug for Life {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.node, out)
    }
}

impl Life {
    fn world(&self) -> &World {
        &self.node.world
    }

    /// Ends the process now, and never returns.
    async fn crash(&self, when: &'static str, name: &'static str) {
        self.world().mark(format_args!("crash {when} {name}"));
        self.world()
            .note(format_args!("{self:?} crash {when} {name}"));
        self.dead.store(true, Ordering::Relaxed);
        self.died.notify_one();
        pending::<()>().await;
    }

    /// Waits for ever if the process has ended.
    pub(crate) async fn go_on(&self) {
        if self.dead.load(Ordering::Relaxed) {
            pending::<()>().await;
        }
    }

    /// An operation that reads.
    pub(crate) async fn read<T>(
        &self,
        name: &'static str,
        effect: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.operate(name, false, effect).await
    }

    /// An operation that writes.
    pub(crate) async fn write<T>(
        &self,
        name: &'static str,
        effect: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.operate(name, true, effect).await
    }

    /// One operation of a store, which the process may not survive. `effect` happens at once.
    async fn operate<T>(
        &self,
        name: &'static str,
        writes: bool,
        effect: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.go_on().await;
        let world = self.world();
        let delay = match world.happens(Fault::SlowStore) {
            true => world.millis(8_000),
            false => world.millis(3),
        };
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
            self.go_on().await;
        }
        // What happens seldom is often the last operation of its process.
        let times = match name {
            "outbox.stop_endpoint" => 400,
            "outbox.hold_endpoint"
            | "outbox.retry_endpoint"
            | "outbox.release_all"
            | "inbox.release_all"
            | "inbox.update"
            | "cache.put"
            | "tokens.grant_once" => 25,
            _ => 1,
        };
        let crash = world.happens_often(Fault::Crash, times);
        let crash = crash.then(|| world.below(2));
        if crash == Some(0) {
            self.crash("before", name).await;
        }
        if writes && world.happens(Fault::Full) {
            world.mark(format_args!("disk full"));
            world.note(format_args!("{self:?} disk full at {name}"));
            return Err(StoreErrorKind::Full.into());
        }
        let fails = world.happens(Fault::Store).then(|| world.below(3));
        if fails == Some(0) {
            world.mark(format_args!("store away"));
            world.note(format_args!("{self:?} no store at {name}"));
            return Err(StoreErrorKind::Unavailable.into());
        }
        if fails == Some(1) {
            world.mark(format_args!("store late, nothing done"));
            world.note(format_args!(
                "{self:?} no answer to {name}, which was not done"
            ));
            return Err(StoreErrorKind::Timeout.into());
        }
        let done = effect.now_or_never();
        world.detail(format_args!("{self:?} {name}"));
        let Some(done) = done else {
            world.violated(format_args!("the engine in memory waits in {name}"));
            return pending().await;
        };
        if crash.is_some() {
            self.crash("after", name).await;
        }
        if fails.is_some() && done.is_ok() {
            world.mark(format_args!("store late, done"));
            world.note(format_args!("{self:?} no answer to {name}, which was done"));
            return Err(StoreErrorKind::Timeout.into());
        }
        done
    }
}
