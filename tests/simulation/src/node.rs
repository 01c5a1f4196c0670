//! Processes: each with a clock, and with a life that a crash ends. The stores stay.

use crate::world::{Fault, World, lock};
use axum::Router;
use axum::body::Body;
use bankrail_values::{Clock, StoreError, StoreErrorKind, Timestamp};
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use std::fmt;
use std::future::{Future, pending};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;
use tower::ServiceExt as _;

/// A machine with a clock, on which one process runs at a time.
pub(crate) struct Node {
    pub(crate) name: &'static str,
    pub(crate) world: Arc<World>,
    /// The lead of its clock in milliseconds.
    lead: AtomicI64,
    /// The channel on which the process takes requests, while there is a process.
    door: Mutex<Option<mpsc::UnboundedSender<Visit>>>,
    stop: Mutex<Option<Stop>>,
    /// All its processes, of which two may overlap.
    lives: Mutex<Vec<Weak<Life>>>,
    /// The times, in milliseconds from the beginning, until which troubles last.
    troubles: [AtomicU64; 3],
}

/// A condition that a machine is in for a while.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    /// The process stands still.
    Pause,
    /// The process reaches no store.
    Away,
    /// The store refuses to write.
    Full,
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
            lives: Mutex::default(),
            troubles: Default::default(),
        })
    }

    /// Begins a trouble that lasts this long.
    pub(crate) fn trouble(&self, kind: Trouble, lasts: Duration) {
        let until = self.world.elapsed().saturating_add(lasts).as_millis();
        let until = u64::try_from(until).unwrap_or(u64::MAX);
        self.troubles[kind as usize].store(until, Ordering::Relaxed);
        self.world.mark(format_args!("trouble: {kind:?}"));
        self.world
            .note(format_args!("{self:?} {kind:?} for {lasts:?}"));
    }

    /// Returns the time that a trouble still lasts.
    fn troubled(&self, kind: Trouble) -> Duration {
        let until = self.troubles[kind as usize].load(Ordering::Relaxed);
        Duration::from_millis(until).saturating_sub(self.world.elapsed())
    }

    /// Sets the clock, and returns true if that changes it.
    pub(crate) fn set_lead(&self, millis: i64) -> bool {
        let before = self.lead.swap(millis, Ordering::Relaxed);
        self.world
            .note(format_args!("{self:?} clock leads by {millis} ms"));
        before != millis
    }

    /// Ends all troubles, and sets the clock right. Returns true if it was wrong.
    pub(crate) fn recover(&self) -> bool {
        self.troubles
            .iter()
            .for_each(|until| until.store(0, Ordering::Relaxed));
        self.set_lead(0)
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
            stop.0.0.store(true, Ordering::Relaxed);
            stop.0.1.notify_waiters();
        }
    }

    /// Ends all its processes now.
    pub(crate) fn kill(&self) {
        self.world.note(format_args!("{self:?} is killed"));
        for life in lock(&self.lives)
            .drain(..)
            .filter_map(|life| life.upgrade())
        {
            life.dead.store(true, Ordering::Relaxed);
            life.died.notify_one();
        }
    }

    /// Runs a process, and starts another one after each crash or stop, without end.
    pub(crate) async fn run(
        self: Arc<Self>,
        boot: impl Fn(Arc<Life>, Stop) -> BoxFuture<'static, Process>,
    ) {
        loop {
            let life = Arc::new(Life {
                node: Arc::clone(&self),
                dead: AtomicBool::new(false),
                died: Notify::new(),
            });
            lock(&self.lives).push(Arc::downgrade(&life));
            let stop = Stop::default();
            *lock(&self.stop) = Some(stop.clone());
            let booted = tokio::select! {
                biased;
                () = life.died.notified() => None,
                process = boot(Arc::clone(&life), stop.clone()) => Some(process),
            };
            let Some(process) = booted else {
                self.pause().await;
                continue;
            };
            let Process {
                router,
                mut tasks,
                seen,
            } = process;
            let (door, visits) = mpsc::unbounded_channel();
            *lock(&self.door) = Some(door);
            self.world.note(format_args!("{self:?} starts"));
            let mut serving = JoinSet::new();
            serving.spawn(serve(Arc::clone(&life), visits, router, seen));
            let overlaps = self.world.below(2) == 0;
            let in_order = async {
                stop.wait().await;
                // The next one starts while this one ends, as in a rolling update.
                while !overlaps && tasks.join_next().await.is_some() {}
            };
            tokio::select! {
                biased;
                () = life.died.notified() => {}
                () = in_order => self.world.note(format_args!("{self:?} stopped")),
            }
            if overlaps && !life.dead.load(Ordering::Relaxed) {
                self.world.mark(format_args!("overlap of two processes"));
                tokio::spawn(async move {
                    tokio::select! {
                        biased;
                        () = life.died.notified() => {}
                        () = async { while tasks.join_next().await.is_some() {} } => {}
                    }
                    life.dead.store(true, Ordering::Relaxed);
                    drop((tasks, serving));
                });
                continue;
            }
            // The process ends. Tasks that product code has spawned cannot be dropped from here, so
            // each blocks at its next operation.
            life.dead.store(true, Ordering::Relaxed);
            *lock(&self.door) = None;
            drop((tasks, serving));
            self.pause().await;
        }
    }

    /// Waits as long as it takes until the next process starts.
    async fn pause(&self) {
        let pause = match self.world.is_quiet() {
            true => Duration::from_millis(10),
            false => self.world.millis(20_000),
        };
        tokio::time::sleep(pause).await;
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

/// The time at which a request arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// The time by the node's clock.
    pub(crate) clock: Timestamp,
    /// From the beginning of the run.
    pub(crate) at: Duration,
}

/// The order to end.
///
/// No `watch` of tokio, which wakes in an order by chance.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<(AtomicBool, Notify)>);

impl Stop {
    pub(crate) async fn wait(self) {
        let (stopped, told) = &*self.0;
        while !stopped.load(Ordering::Relaxed) {
            told.notified().await;
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

    /// Waits while the process is paused, and without end if the process has ended.
    pub(crate) async fn go_on(&self) {
        loop {
            let still = self.node.troubled(Trouble::Pause);
            if still.is_zero() {
                break;
            }
            // In parts, because the pause ends with all faults.
            tokio::time::sleep(still.min(Duration::from_secs(5))).await;
        }
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
            // Mostly within the time that is waited for a store, and longer now and then.
            true if world.below(8) == 0 => world.millis(40_000),
            true => world.millis(8_000),
            false => world.millis(3),
        };
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
            self.go_on().await;
        }
        // A rare operation is often the last one of its process, so that 500 seeds reach it.
        let times = match name {
            "outbox.stop_endpoint" => 10_000,
            "ledger.statement" => 5,
            "outbox.release_all" | "inbox.release_all" => 60,
            // At each start, so that not every one ends there.
            "inbox.forget" | "outbox.forget" => 8,
            "seen.forget_before"
            | "outbox.hold_endpoint"
            | "outbox.retry_endpoint"
            | "inbox.update"
            | "cache.put"
            | "inbox.complete_with"
            | "inbox.receive"
            | "tokens.grant_once"
            | "seen.counts"
            | "seen.position"
            | "seen.record_with" => 25,
            _ => 3,
        };
        let crash = world.happens_often(Fault::Crash, times);
        let crash = crash.then(|| world.below(2));
        if crash == Some(0) {
            self.crash("before", name).await;
        }
        let full = !self.node.troubled(Trouble::Full).is_zero();
        if writes && (full || world.happens(Fault::Full)) {
            world.mark(format_args!("disk full"));
            world.note(format_args!("{self:?} disk full at {name}"));
            return Err(StoreErrorKind::Full.into());
        }
        if !self.node.troubled(Trouble::Away).is_zero() {
            world.note(format_args!("{self:?} reaches no store for {name}"));
            return Err(StoreErrorKind::Unavailable.into());
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
        world.note(format_args!("{self:?} {name}"));
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
