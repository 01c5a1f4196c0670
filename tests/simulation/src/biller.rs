//! A biller's process: receivers, worker, client and poller.

use crate::messages::KEYS;
use crate::model::Model;
use crate::network::Way;
use crate::node::{Life, Node, Process, Stop};
use crate::provider::{ACCOUNTS, Bank, CUSTOMER_KEY, PROVIDER_URL, RECEIVER_KEY};
use crate::stores::{Used, Work};
use crate::world::{Fault, World, lock};
use bankrail_client::receivers::keys::{RenewFuture, SenderKeys};
use bankrail_client::receivers::{
    Conflict, Delivery, HandlerError, Handlers, Receivers, ReceiversOptions, WorkerOptions,
};
use bankrail_client::{
    Client, ClientOptions, Credentials, NewEntries, PolledAccount, Poller, PollerOptions,
    SealingSecret,
};
use bankrail_jose::{DecryptionKey, KeySet, VerifyingKey};
use bankrail_mailbox::Schedule;
use bankrail_rate_limit::MemoryCounters;
use bankrail_secured_payload::{OpenOptions, Opener};
use bankrail_statement::{AccountId, MaxEntries, PollOptions};
use bankrail_stores::memory::{MemoryInbox, MemoryStore};
use bankrail_values::{Clock, HyphenatedUuid};
use bankrail_webhook::{
    MandateActionOutcome, MandateNotification, PaymentOutcome, QueryNotification,
};
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// The biller's stores, which survive the processes of its two nodes.
#[derive(Debug)]
pub(crate) struct Company {
    pub(crate) world: Arc<World>,
    pub(crate) model: Arc<Model>,
    pub(crate) store: MemoryStore,
    counters: Arc<MemoryCounters>,
    bank: Arc<Bank>,
    pollers: Mutex<Vec<Option<Poller>>>,
    clients: Mutex<Vec<Option<Client>>>,
    /// The generation of the key that signs assertions.
    key: Mutex<usize>,
    pub(crate) unbooked: bool,
    /// The time between two polls: more often than a tight limit allows.
    every: Duration,
}

impl Company {
    pub(crate) fn new(world: &Arc<World>, model: &Arc<Model>, bank: &Arc<Bank>) -> Arc<Self> {
        Arc::new(Self {
            world: Arc::clone(world),
            model: Arc::clone(model),
            store: MemoryStore::new(),
            counters: Arc::default(),
            bank: Arc::clone(bank),
            pollers: Mutex::new(vec![None, None]),
            clients: Mutex::new(vec![None, None]),
            key: Mutex::default(),
            unbooked: world.below(2) == 0,
            every: Duration::from_secs(if bank.has_few_statements() { 15 } else { 60 }),
        })
    }

    fn used<S>(&self, life: &Arc<Life>, engine: S) -> Used<S> {
        Used {
            life: Arc::clone(life),
            model: Arc::clone(&self.model),
            engine,
        }
    }

    /// Signs assertions with the next key from now on.
    pub(crate) fn rotate(&self) {
        let key = {
            let mut key = lock(&self.key);
            *key = (*key + 1) % 2;
            *key
        };
        self.world
            .mark(format_args!("rotation of the assertion key"));
        self.world
            .note(format_args!("the biller signs with key {key}"));
        for client in lock(&self.clients).iter().flatten() {
            client.replace_signing_key(KEYS.assertion[key].clone());
        }
    }

    /// Resumes every account that is stopped, as an operator does.
    pub(crate) fn resume(&self) {
        for (poller, account) in lock(&self.pollers).iter().zip(ACCOUNTS) {
            let account = AccountId::parse(account).expect("an account");
            if poller
                .as_ref()
                .is_some_and(|poller| poller.resume(&account))
            {
                self.world
                    .note(format_args!("an operator resumes {account}"));
            }
        }
    }

    pub(crate) fn boot(
        self: &Arc<Self>,
        number: usize,
        life: &Arc<Life>,
        stop: &Stop,
        providers: &[Arc<Node>; 2],
    ) -> Process {
        let clock: Arc<dyn Clock> = Arc::clone(&life.node) as _;
        let way = Arc::new(Way {
            life: Arc::clone(life),
            model: Arc::clone(&self.model),
            to: providers.clone(),
        });
        let receivers = self.receivers(life, &clock);
        let worker = receivers.worker(self.handlers(life)).with_options(
            WorkerOptions::new()
                .poll(Duration::from_secs(60))
                // Few and soon, so that they are used up within a run.
                .schedule(Schedule::new([0, 2, 5].map(Duration::from_secs), 20)),
        );
        let client = self.client(life, &clock, way);
        let poller = self.poller(number, life, &client);
        if let Some(place) = lock(&self.pollers).get_mut(number) {
            *place = Some(poller.clone());
        }
        if let Some(place) = lock(&self.clients).get_mut(number) {
            *place = Some(client);
        }
        let mut tasks = JoinSet::new();
        let (working, polling) = (stop.clone(), stop.clone());
        tasks.spawn(worker.run(working.wait()));
        tasks.spawn(async move { poller.run(polling.wait()).await });
        let model = Arc::clone(&self.model);
        Process {
            router: receivers.router(),
            tasks,
            seen: Arc::new(move |node, request, _, response| {
                model.visited(node, request, response)
            }),
        }
    }

    fn receivers(&self, life: &Arc<Life>, clock: &Arc<dyn Clock>) -> Receivers<Used<MemoryInbox>> {
        let verifying = KeySet::from(self.bank.published(false));
        let decryption: [DecryptionKey; 2] = KEYS.decryption.clone();
        let opener = Opener::new(
            KeySet::new(decryption).expect("two keys"),
            verifying.clone(),
            OpenOptions::new(),
        );
        let keys = Published {
            life: Arc::clone(life),
            bank: Arc::clone(&self.bank),
            verifying,
            fetched: tokio::sync::Mutex::new([None; 2]),
        };
        let options = ReceiversOptions::new()
            .clock(Arc::clone(clock))
            .sender_keys(Arc::new(keys));
        let inbox = self.used(life, self.store.inbox());
        let opener = opener.expect("usable keys");
        Receivers::new(opener, RECEIVER_KEY, Arc::new(inbox), options).expect("usable options")
    }

    fn handlers(&self, life: &Arc<Life>) -> Handlers<Used<MemoryInbox>> {
        let own = || (Arc::clone(life), Arc::clone(&self.model));
        let ((a, _), (b, _), (c, _)) = (own(), own(), own());
        let (d, e) = (own(), own());
        Handlers::new()
            .on_transactional(move |received: Delivery<QueryNotification>| {
                within(Arc::clone(&a), received.headers.message_id)
            })
            .on_transactional(move |received: Delivery<MandateActionOutcome>| {
                within(Arc::clone(&b), received.headers.message_id)
            })
            .on_conflict_transactional(move |received: Delivery<Conflict>| {
                within(Arc::clone(&c), received.headers.message_id)
            })
            .on(move |received: Delivery<MandateNotification>| {
                outside(d.clone(), received.headers.message_id)
            })
            .on(move |received: Delivery<PaymentOutcome>| {
                outside(e.clone(), received.headers.message_id)
            })
    }

    fn client(&self, life: &Arc<Life>, clock: &Arc<dyn Clock>, way: Arc<Way>) -> Client {
        let key = KEYS.assertion[*lock(&self.key)].clone();
        let credentials = Credentials::new("BILLER".parse().expect("a code"), key, CUSTOMER_KEY);
        let (tokens, statements) = self.bank.limits();
        let mut options = ClientOptions::new()
            .danger_allow_http_on_loopback(true)
            .clock(Arc::clone(clock))
            .network(way);
        if self.bank.are_limits_known() {
            options = options.token_limits(tokens).statement_limits(statements);
        }
        // Two processes without shared counters take each other the calls of a tight limit.
        if self.world.seed.is_multiple_of(2) || self.bank.has_tight_limits() {
            let cache = Arc::new(self.used(life, self.store.clone()));
            options = options
                .counters(Arc::new(self.used(life, Arc::clone(&self.counters))))
                .token_cache((cache, SealingSecret::from_bytes([7; 32])));
        }
        Client::new(credentials, PROVIDER_URL, options).expect("usable options")
    }

    fn poller(&self, number: usize, life: &Arc<Life>, client: &Client) -> Poller {
        let own = ACCOUNTS.get(number).copied().unwrap_or_default();
        let account = PolledAccount::new(AccountId::parse(own).expect("an account"))
            .every(self.every)
            .max_entries(MaxEntries::new(3).expect("a number"));
        let options = PollerOptions::new()
            .unbooked(self.unbooked)
            .walks(PollOptions::new().full_walk_every(Duration::from_secs(300)));
        let own_life = Arc::clone(life);
        let handler = move |new: NewEntries| import(Arc::clone(&own_life), new);
        let store = Arc::new(self.used(life, self.store.clone()));
        Poller::transactional(client.statements(), store, [account], handler, options)
    }
}

/// Prepares the rows of new entries.
async fn import(life: Arc<Life>, new: NewEntries) -> Result<Work, BoxError> {
    misbehave(&life.node.world, "entries").await?;
    Ok(work(move |model| model.book(&new)))
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

fn work(change: impl FnOnce(&Model) -> Result<(), BoxError> + Send + 'static) -> Work {
    Box::new(change)
}

/// Fails, hangs, panics or takes long, now and then.
async fn misbehave(world: &World, what: &'static str) -> Result<(), BoxError> {
    // Pages with entries are rarer than messages.
    let times = if what == "entries" { 4 } else { 1 };
    if !world.happens_often(Fault::Handler, times) {
        return Ok(());
    }
    let how = world.below(4);
    world.mark(format_args!("handler of {what}: fault {how}"));
    world.note(format_args!("the handler of {what}: fault {how}"));
    match how {
        0 => return Err("the handler fails".into()),
        // As a panic that no hook reports.
        1 => std::panic::resume_unwind(Box::new("simulated")),
        2 => pending().await,
        _ => tokio::time::sleep(Duration::from_secs(20)).await,
    }
    Ok(())
}

/// Fails for some messages as long as there are faults, so that their attempts are used up.
fn fail_always(world: &World, id: HyphenatedUuid) -> Result<(), HandlerError> {
    // Not by chance for each attempt: the same message fails each time.
    let own = id.to_string().bytes().fold(world.seed, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    if own.is_multiple_of(8) && world.rate(Fault::Handler) > 0 {
        world.mark(format_args!("handler of messages: fails always"));
        return Err(HandlerError::retryable("not before the faults end"));
    }
    Ok(())
}

/// An effect in the inbox's transaction.
async fn within(life: Arc<Life>, id: HyphenatedUuid) -> Result<Work, HandlerError> {
    let world = &life.node.world;
    fail_always(world, id)?;
    misbehave(world, "messages")
        .await
        .map_err(HandlerError::retryable)?;
    if world.happens(Fault::Handler) {
        world.mark(format_args!("handler of messages: poison"));
        return Err(HandlerError::permanent("poison"));
    }
    let fails = world.happens(Fault::Handler);
    Ok(work(move |model| {
        if fails {
            return Err("the work fails".into());
        }
        model.handled(id);
        Ok(())
    }))
}

/// Handles a message by an effect outside of the inbox's transaction.
async fn outside(
    (life, model): (Arc<Life>, Arc<Model>),
    id: HyphenatedUuid,
) -> Result<(), HandlerError> {
    fail_always(&life.node.world, id)?;
    misbehave(&life.node.world, "messages")
        .await
        .map_err(HandlerError::retryable)?;
    model.handled(id);
    Ok(())
}

/// The provider's verifying keys, as it publishes them: the one that signs now. Fetched over a
/// network that fails, takes long and has old answers, at most every ten seconds, as by `JwksUrl`.
#[derive(Debug)]
struct Published {
    life: Arc<Life>,
    bank: Arc<Bank>,
    verifying: KeySet<VerifyingKey>,
    /// The times of the last try and of the last success. Locked during a fetch.
    fetched: tokio::sync::Mutex<[Option<Instant>; 2]>,
}

impl SenderKeys for Published {
    fn renew(&self, since: Instant) -> RenewFuture<'_> {
        Box::pin(async move {
            let mut fetched = self.fetched.lock().await;
            self.life.go_on().await;
            let now = || tokio::time::Instant::now().into_std();
            let [tried, read] = *fetched;
            if read.is_some_and(|read| read >= since) {
                return true;
            }
            if tried.is_some_and(|tried| now() - tried < Duration::from_secs(10)) {
                return false;
            }
            let world = &self.life.node.world;
            let slow = world.happens(Fault::Slow);
            tokio::time::sleep(world.millis(if slow { 5_000 } else { 100 })).await;
            self.life.go_on().await;
            fetched[0] = Some(now());
            if world.is_cut() || world.happens(Fault::Refused) || world.happens(Fault::Lost) {
                world.mark(format_args!("keys: not fetched"));
                return false;
            }
            // As a cache in between has them.
            let stale = world.happens_often(Fault::Rotation, 20);
            world.mark(format_args!(
                "keys: {}",
                if stale { "old" } else { "fetched" }
            ));
            world.note(format_args!("{:?} fetches keys, stale: {stale}", self.life));
            fetched[1] = Some(now());
            self.verifying.replace([self.bank.published(stale)]).is_ok()
        })
    }
}
