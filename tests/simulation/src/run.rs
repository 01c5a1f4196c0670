//! One run: the processes, the faults that come from outside, the quiet at the end, and the checks.

use crate::biller::{Company, INBOX_RETENTION};
use crate::messages::{Target, plan};
use crate::model::Model;
use crate::node::{Node, Trouble};
use crate::provider::{Bank, OUTBOX_RETENTION};
use crate::random::Random;
use crate::world::{Fault, Kind, World, lock};
use bankrail_client_assertion::token::{AccessToken, TokenStore as _};
use bankrail_mailbox::{Inbox as _, OutboxOperator as _, OutboxQuery, OutboxState};
use bankrail_values::{EXPIRY_GRACE, Timestamp, simulation};
use futures_util::FutureExt as _;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

/// The time within which everything arrives after the faults have ended: an hour for which a
/// `Retry-After` may hold calls back, two hours until a limit that is used up has room again, and
/// an hour for the schedules' pauses, an endpoint's circuit, leases and the calls themselves.
const PATIENCE: Duration = Duration::from_secs(4 * 3600);
/// The time after that, in which nothing may happen again.
const AFTERWARDS: Duration = Duration::from_secs(180);

/// The result of a run.
pub(crate) struct Outcome {
    pub(crate) trace: String,
    pub(crate) marks: BTreeMap<String, u64>,
    pub(crate) violation: Option<String>,
    /// The time that everything took to arrive after the faults had ended.
    pub(crate) settled: Duration,
}

pub(crate) fn run(seed: u64, full: bool, print: bool) -> Outcome {
    let mut random = Random::new(seed, 2);
    let simulated = simulation::begin(move |buffer| random.fill(buffer));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime of one thread");
    let outcome = runtime.block_on(live(seed, full, print));
    drop(runtime);
    drop(simulated);
    outcome
}

async fn live(seed: u64, full: bool, print: bool) -> Outcome {
    let world = Arc::new(World::new(seed, full, print));
    let lasts = Duration::from_secs(60 + world.below(300));
    let made = (world.kind == Kind::Retention).then(|| world.begin());
    let planned = plan(&mut Random::new(seed, 3), lasts, made);
    world.note(format_args!(
        "seed {seed}, {} messages, {lasts:?}, {:?}, {}",
        planned.len(),
        world.kind,
        world.rates()
    ));
    let model = Model::new(&world, planned);
    let bank = Bank::new(&world, &model);
    bank.books.begin();
    let company = Company::new(&world, &model, &bank);
    let providers = ["provider-1", "provider-2"].map(|name| Node::new(name, &world));
    let billers = ["biller-1", "biller-2"].map(|name| Node::new(name, &world));
    let mut nodes = JoinSet::new();
    for (number, node) in providers.iter().enumerate() {
        let (bank, billers) = (Arc::clone(&bank), billers.clone());
        nodes.spawn(Arc::clone(node).run(move |life, stop| {
            let (bank, billers) = (Arc::clone(&bank), billers.clone());
            Box::pin(async move { bank.boot(number, &life, &stop, &billers) })
        }));
    }
    for (number, node) in billers.iter().enumerate() {
        let (company, providers) = (Arc::clone(&company), providers.clone());
        nodes.spawn(Arc::clone(node).run(move |life, stop| {
            let (company, providers) = (Arc::clone(&company), providers.clone());
            Box::pin(async move { company.boot(number, &life, &stop, &providers).await })
        }));
    }

    let scene = Scene {
        world: Arc::clone(&world),
        model: Arc::clone(&model),
        bank,
        company,
        providers,
        billers,
        restores: Mutex::new([Restore::Never; 2]),
        resent_since: Mutex::default(),
    };
    while world.elapsed() < lasts && world.violation().is_none() {
        tokio::time::sleep(world.millis(10_000)).await;
        scene.disturb();
    }
    world.calm();
    for node in &scene.providers {
        if node.recover() {
            scene.model.clock_set();
        }
    }
    // Two pollers that ask far more often than a limit allows, and do not know it, may starve each
    // other, so they get to know it in the end.
    let is_news = !scene.bank.are_limits_known();
    scene.bank.tell_limits();
    for node in &scene.billers {
        node.recover();
        if is_news {
            node.stop();
        }
    }
    world.note(format_args!("quiet"));
    let settled = scene.settle().await;
    if world.violation().is_none() {
        let day = world.day();
        tokio::time::sleep(AFTERWARDS).await;
        // Pending entries stand on the statement of the new day now.
        if world.day() != day {
            scene.settle().await;
        }
        for open in model.open(scene.company.unbooked) {
            world.violated(format_args!("at the end, {open}"));
        }
    }
    if world.violation().is_none() && world.kind == Kind::Retention {
        scene.grow_old().await;
        for open in model.open(scene.company.unbooked) {
            world.violated(format_args!("after hours, {open}"));
        }
    }
    drop(nodes);
    let violation = world.violation();
    let (trace, marks) = world.take();
    Outcome {
        trace,
        marks,
        violation,
        settled,
    }
}

/// The world outside of the processes, which stops them, sets clocks and replaces keys.
struct Scene {
    world: Arc<World>,
    model: Arc<Model>,
    bank: Arc<Bank>,
    company: Arc<Company>,
    providers: [Arc<Node>; 2],
    billers: [Arc<Node>; 2],
    /// The states of backup and restore of the provider's and the biller's stores.
    restores: Mutex<[Restore; 2]>,
    /// The time of the copy that the biller's stores were put back to, of which operators have the
    /// messages of since then delivered again.
    resent_since: Mutex<Option<Timestamp>>,
}

/// The state of backup and restore of one side's stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Restore {
    Never,
    BackedUp,
    Restored,
}

impl Scene {
    fn some_node(&self) -> &Arc<Node> {
        let all = [&self.providers, &self.billers];
        let at = |end| usize::try_from(self.world.below(end)).unwrap_or(0);
        let (side, number) = (at(2), at(2));
        let side = all.get(side).copied().unwrap_or(&self.billers);
        side.get(number).unwrap_or(&side[0])
    }

    /// A random disturbance, every few seconds.
    fn disturb(&self) {
        let world = &self.world;
        if world.below(3) == 0 {
            self.bank.books.change();
        }
        self.bank.books.turn();
        if world.kind == Kind::Restore && world.below(4) == 0 {
            self.restore();
        }
        // Faults of a whole process come ten times as often as those of single operations.
        let comes = |fault| world.below(1_000) < world.rate(fault);
        if comes(Fault::Clock) {
            self.set_clocks();
        }
        for (fault, kind) in [
            (Fault::Pause, Trouble::Pause),
            (Fault::Away, Trouble::Away),
            (Fault::Full, Trouble::Full),
        ] {
            if comes(fault) {
                let node = self.some_node();
                node.trouble(kind, world.millis(150_000));
            }
        }
        if comes(Fault::Cut) {
            world.cut(world.millis(180_000));
        }
        if comes(Fault::Rotation) {
            match world.below(3) {
                0 => self.bank.rotate(0),
                1 => self.bank.rotate(1),
                _ => self.company.rotate(),
            }
        }
        // Somebody has read a request for a token on its way.
        if comes(Fault::Twice)
            && let Some(answered) = self
                .model
                .some_exchange()
                .and_then(|request| self.providers[0].visit(request))
        {
            world.mark(format_args!("assertion presented again"));
            world.note(format_args!("an assertion is presented again"));
            tokio::spawn(answered);
        }
        // Also after the inbox has forgotten the message, by a clock that is ahead.
        if world.kind == Kind::Retention
            && let [deliveries, _] = self.model.old_requests()
            && let Some(request) = deliveries.last().filter(|_| world.below(4) == 0)
            && let Some(answered) = self.billers[0].visit(request.clone())
        {
            world.mark(format_args!("delivery presented again"));
            world.note(format_args!("a delivery is presented again"));
            tokio::spawn(answered);
        }
        if comes(Fault::Restart) {
            let node = self.some_node();
            world.mark(format_args!("restart in order"));
            world.note(format_args!("{node:?} is to stop"));
            node.stop();
        }
        if comes(Fault::Revoke)
            && let Some(token) = self.model.some_token()
        {
            world.mark(format_args!("token revoked"));
            self.revoke(&token);
        }
    }

    /// Copies the stores of a side, or restores them from the copy, each once. Every program that
    /// uses a database is stopped before, as the guide requires.
    fn restore(&self) {
        let world = &self.world;
        let side = usize::try_from(world.below(2)).unwrap_or(0);
        let mut restores = lock(&self.restores);
        match restores[side] {
            Restore::Never => {
                restores[side] = Restore::BackedUp;
                match side {
                    0 => self.bank.back_up(),
                    _ => self.company.back_up(),
                }
                world.note(format_args!("backup of side {side}"));
            }
            Restore::BackedUp => {
                restores[side] = Restore::Restored;
                let nodes = [&self.providers, &self.billers][side];
                nodes.iter().for_each(|node| node.kill());
                world.note(format_args!("side {side} is put back to its backup"));
                match side {
                    0 => self.revoke_again(self.bank.restore().unwrap_or_default()),
                    _ => *lock(&self.resent_since) = self.company.restore(),
                }
            }
            Restore::Restored => {}
        }
    }

    /// Revokes tokens whose revocation a restored store has forgotten, or leaves them valid.
    fn revoke_again(&self, tokens: Vec<String>) {
        if self.world.below(2) == 0 {
            return;
        }
        for token in tokens {
            self.world.mark(format_args!("token revoked again"));
            self.revoke(&token);
        }
    }

    fn revoke(&self, token: &str) {
        let Ok(parsed) = AccessToken::parse(token) else {
            return;
        };
        let revoked = self.bank.store().revoke(parsed.hash()).now_or_never();
        self.world
            .note(format_args!("a token is revoked: {revoked:?}"));
        self.model.revoked(token);
    }

    /// Lets hours pass, until every old record is forgotten, and presents again what was accepted.
    async fn grow_old(&self) {
        let (world, begun) = (&self.world, self.world.now());
        let [deliveries, calls] = self.model.old_requests();
        // Sweeps come once an hour.
        let sweeps = Duration::from_secs(3600 + 600);
        tokio::time::sleep(INBOX_RETENTION + EXPIRY_GRACE + sweeps).await;
        for id in self.model.not_forgotten(begun) {
            world.violated(format_args!("entry {id} of the inbox was not forgotten"));
        }
        let delivered = OutboxQuery::new().state(OutboxState::Delivered);
        let listed = self.bank.store().outbox().list(&delivered).await;
        let before = world.now().saturating_sub(OUTBOX_RETENTION + sweeps);
        for old in listed.expect("the engine in memory").iter() {
            if old.finished_at.is_some_and(|at| at < before) {
                world.violated(format_args!(
                    "entry {} of the outbox was not forgotten",
                    old.id
                ));
            }
        }
        if self.company.knows_old_entries() {
            world.violated(format_args!("an entry of long ago was not forgotten"));
        }
        for (node, requests) in [(&self.billers[0], deliveries), (&self.providers[0], calls)] {
            for request in requests {
                let path = request.uri().path().to_owned();
                let answer = node.visit(request).expect("a process");
                let status = answer.await.map_or(0, |answer| answer.status().as_u16());
                world.mark(format_args!(
                    "old request presented again: {path}: {status}"
                ));
                world.note(format_args!("{path} is presented again: {status}"));
                if status == 200 {
                    world.violated(format_args!("an old request was accepted: {path}"));
                }
            }
        }
        tokio::time::sleep(AFTERWARDS).await;
    }

    /// Sets the clock of a machine or of all of one side.
    fn set_clocks(&self) {
        let world = &self.world;
        let some = i64::try_from(world.below(7_200_000)).unwrap_or(0) - 3_600_000;
        let steps = [
            0,
            0,
            20_000,
            120_000,
            3_600_000,
            some,
            86_400_000,
            30 * 86_400_000,
        ];
        let at = usize::try_from(world.below(8)).unwrap_or(0);
        let sign = if world.below(2) == 0 { 1 } else { -1 };
        let mut lead = sign * steps[at];
        if world.kind == Kind::Retention {
            // Ahead, where a sweep forgets too much.
            lead = lead.abs();
        }
        if world.below(4) == 0 {
            return self.set_all_clocks();
        }
        world.mark(format_args!("clock set"));
        if lead.abs() >= 86_400_000 {
            world.mark(format_args!("clock set by days"));
        }
        // With both sides ahead by days, it is that day to the bank too.
        let node = match world.kind {
            Kind::Retention if lead >= 86_400_000 => &self.billers[at % 2],
            _ => self.some_node(),
        };
        let both = world.below(2) == 0;
        // A process that starts under a wrong clock deletes old records by that clock.
        if world.kind == Kind::Retention {
            node.stop();
        }
        for side in [&self.providers, &self.billers] {
            if !side.iter().any(|other| Arc::ptr_eq(other, node)) {
                continue;
            }
            for other in side.iter().filter(|other| both || Arc::ptr_eq(other, node)) {
                if other.set_lead(lead) && Arc::ptr_eq(&side[0], &self.providers[0]) {
                    self.model.clock_set();
                }
            }
        }
    }

    /// Sets all clocks ahead by some hours, as when both sides ask the same time server, and sets
    /// them right soon. Not beyond the bank's midnight: its statement of the next day would end
    /// what the biller remembers of this one.
    fn set_all_clocks(&self) {
        let ahead = Duration::from_secs(2 * 3600) + self.world.millis(3_600_000);
        if self.world.day_in(ahead) != self.world.day() {
            return;
        }
        let lead = i64::try_from(ahead.as_millis()).unwrap_or(0);
        self.world.mark(format_args!("all clocks set"));
        let nodes = [&self.providers, &self.billers].map(|side| side.clone());
        let set = move |lead: i64| {
            for node in nodes.iter().flatten() {
                node.set_lead(lead);
            }
        };
        set(lead);
        self.model.clock_set();
        let (model, lasts) = (Arc::clone(&self.model), self.world.millis(60_000));
        tokio::spawn(async move {
            tokio::time::sleep(lasts).await;
            set(0);
            model.clock_set();
        });
    }

    /// Waits until everything has arrived, and does meanwhile what operators do.
    async fn settle(&self) -> Duration {
        let begun = self.world.elapsed();
        let mut round = 0_u32;
        while self.world.violation().is_none() {
            if round.is_multiple_of(3) {
                self.operate(round).await;
            }
            round += 1;
            self.bank.books.turn();
            if self.model.open(self.company.unbooked).is_empty() {
                break;
            }
            if self.world.elapsed().saturating_sub(begun) > PATIENCE {
                for open in self.model.open(self.company.unbooked) {
                    self.world
                        .violated(format_args!("{PATIENCE:?} after the faults, {open}"));
                }
            }
            tokio::time::sleep(Duration::from_secs(20)).await;
        }
        let took = self.world.elapsed().saturating_sub(begun);
        self.world.note(format_args!("settled after {took:?}"));
        took
    }

    /// Has the messages delivered again that the biller has lost with its store.
    async fn deliver_again(&self, round: u32) {
        let Some(since) = *lock(&self.resent_since) else {
            return;
        };
        let Some(dispatcher) = self.bank.dispatcher() else {
            return;
        };
        // A clock that was set has written other times.
        let since = match self.model.were_clocks_set() {
            true => Timestamp::UNIX_EPOCH,
            false => since,
        };
        let endpoint = Target::Biller.endpoint();
        let resent = dispatcher
            .resend_delivered(&endpoint, since, Timestamp::MAX)
            .await;
        self.world.mark(format_args!("outbox: delivered again"));
        self.world.note(format_args!(
            "an operator resends what was delivered: {resent:?}"
        ));
        // Not again and again, but what was noted late too.
        if round >= 6 {
            *lock(&self.resent_since) = None;
        }
    }

    /// Resends dead letters, lets stopped endpoints and accounts go on.
    async fn operate(&self, round: u32) {
        let (outbox, inbox) = (self.bank.store().outbox(), self.company.store().inbox());
        let now = self.world.now();
        self.deliver_again(round).await;
        for stopped in outbox.stopped_endpoints().await.unwrap_or_default() {
            let resumed = outbox.resume_endpoint(&stopped.endpoint, now).await;
            self.world.note(format_args!(
                "an operator resumes {}: {resumed:?}",
                stopped.endpoint
            ));
        }
        for backlog in outbox.backlogs(None, 10).await.unwrap_or_default() {
            let resent = outbox.resend_all(&backlog.endpoint, now).await.unwrap_or(0);
            if resent > 0 {
                self.world.mark(format_args!("outbox: dead letters resent"));
                self.world.note(format_args!(
                    "an operator resends {resent} of {}",
                    backlog.endpoint
                ));
            }
        }
        for dead in inbox.dead_letters(None, 1000).await.unwrap_or_default() {
            self.world.mark(format_args!("inbox: dead letter resent"));
            self.world
                .note(format_args!("an operator resends entry {}", dead.id));
            let _ = inbox.resend(dead.id, now).await;
            self.model.resent(dead.id);
        }
        self.company.resume();
    }
}
