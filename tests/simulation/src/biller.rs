//! A biller's process: receivers, worker, client and poller.

use crate::messages::KEYS;
use crate::model::{BillerCopy, Model};
use crate::network::Way;
use crate::node::{Life, Node, Process, Stop};
use crate::provider::{ACCOUNTS, Bank, CUSTOMER_KEY, KEYS_PATH, PROVIDER_URL, RECEIVER_KEY};
use crate::stores::{Used, Work};
use crate::world::{Fault, Kind, World, lock};
use bankrail_client::receivers::keys::{JwksUrl, JwksUrlOptions};
use bankrail_client::receivers::{
    Conflict, Delivery, HandlerError, Handlers, Receivers, ReceiversOptions, WorkerOptions,
};
use bankrail_client::{
    Client, ClientOptions, Credentials, NewEntries, PolledAccount, Poller, PollerOptions,
    SealingSecret,
};
use bankrail_jose::{DecryptionKey, KeySet};
use bankrail_mailbox::Schedule;
use bankrail_rate_limit::MemoryCounters;
use bankrail_secured_payload::{OpenOptions, Opener};
use bankrail_statement::{
    AccountId, EntryKey, MaxEntries, PollOptions, SeenEntries as _, SeenEntry,
};
use bankrail_stores::memory::{MemoryInbox, MemoryStore};
use bankrail_values::{Clock, Date, HyphenatedUuid, Timestamp};
use bankrail_webhook::{
    MandateActionOutcome, MandateNotification, PaymentOutcome, QueryNotification,
};
use futures_util::FutureExt as _;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

/// The time for which handled messages are kept, in runs with a retention. Longer than their
/// deliveries take: older ones are refused.
pub(crate) const INBOX_RETENTION: Duration = Duration::from_secs(5 * 3600);
/// An entry of a day long ago.
fn old_entry() -> EntryKey {
    EntryKey::from([1; 32])
}

/// The biller's stores, which survive the processes of its two nodes.
#[derive(Debug)]
pub(crate) struct Company {
    pub(crate) world: Arc<World>,
    pub(crate) model: Arc<Model>,
    store: Mutex<MemoryStore>,
    /// An older copy of the stores, its time, and what the model knew of them.
    backup: Mutex<Option<(MemoryStore, Timestamp, BillerCopy)>>,
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
        let store = MemoryStore::new();
        if world.kind == Kind::Retention {
            for account in ACCOUNTS {
                let account = AccountId::parse(account).expect("an account");
                let day = Date::parse("2026-01-05").expect("a day");
                let old = [SeenEntry::new(old_entry(), 1, Some(day))];
                let recorded = store.record(&account, &old, None).now_or_never();
                let _ = recorded.expect("at once").expect("room");
            }
        }
        // Seldom in a run of hours, where the polls would be most of what it costs.
        let every = match world.kind {
            Kind::Retention => 1800,
            _ if bank.has_few_statements() => 15,
            _ => 60,
        };
        Arc::new(Self {
            world: Arc::clone(world),
            model: Arc::clone(model),
            store: Mutex::new(store),
            backup: Mutex::default(),
            counters: Arc::default(),
            bank: Arc::clone(bank),
            pollers: Mutex::new(vec![None, None]),
            clients: Mutex::new(vec![None, None]),
            key: Mutex::default(),
            unbooked: world.below(2) == 0,
            every: Duration::from_secs(every),
        })
    }

    fn used<S>(&self, life: &Arc<Life>, engine: S) -> Used<S> {
        Used {
            life: Arc::clone(life),
            model: Arc::clone(&self.model),
            engine,
        }
    }

    pub(crate) fn store(&self) -> MemoryStore {
        lock(&self.store).clone()
    }

    /// Copies the stores, as a backup of a running database.
    pub(crate) fn back_up(&self) {
        let copy = self.model.copy_biller();
        *lock(&self.backup) = Some((self.store().copy(), self.world.now(), copy));
    }

    /// Puts the stores back to the copy, once there is one. No process may run. Returns the time of
    /// the copy.
    pub(crate) fn restore(&self) -> Option<Timestamp> {
        let (store, at, copy) = lock(&self.backup).take()?;
        *lock(&self.store) = store;
        self.model.restore_biller(copy);
        Some(at)
    }

    /// Returns true if the records of entries of long ago are still there.
    pub(crate) fn knows_old_entries(&self) -> bool {
        ACCOUNTS.iter().any(|account| {
            let account = AccountId::parse(account).expect("an account");
            let store = self.store();
            let counts = store.counts(&account, &[old_entry()]).now_or_never();
            !matches!(counts, Some(Ok(counts)) if counts == [0])
        })
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

    pub(crate) async fn boot(
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
        let keys = self.fetch_keys(&way).await;
        let receivers = self.receivers(life, &clock, &keys);
        let options = WorkerOptions::new()
            .poll(self.world.longest_idle())
            // Few and soon, so that they are used up within a run.
            .schedule(Schedule::new([0, 2, 5].map(Duration::from_secs), 20));
        let worker = receivers.worker(self.handlers(life), options);
        let client = self.client(life, &clock, way);
        let poller = self.poller(number, life, &client);
        if let Some(place) = lock(&self.pollers).get_mut(number) {
            *place = Some(poller.clone());
        }
        if let Some(place) = lock(&self.clients).get_mut(number) {
            *place = Some(client);
        }
        let mut tasks = JoinSet::new();
        let (working, polling, fetching) = (stop.clone(), stop.clone(), stop.clone());
        tasks.spawn(async move { keys.run(fetching.wait()).await });
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

    /// Fetches the provider's keys, without which no process starts.
    async fn fetch_keys(&self, way: &Arc<Way>) -> JwksUrl {
        let address = format!("{PROVIDER_URL}{KEYS_PATH}");
        let options = JwksUrlOptions::new()
            .danger_allow_http_on_loopback(true)
            .network(Arc::clone(way) as _);
        loop {
            match JwksUrl::fetch(&address, options.clone()).await {
                Ok(keys) => return keys,
                Err(error) => {
                    self.world
                        .mark(format_args!("keys: not fetched at the start"));
                    self.world.note(format_args!("{:?}: {error}", way.life));
                }
            }
            // Each try makes a client of HTTP.
            tokio::time::sleep(Duration::from_secs(20)).await;
        }
    }

    fn receivers(
        &self,
        life: &Arc<Life>,
        clock: &Arc<dyn Clock>,
        keys: &JwksUrl,
    ) -> Receivers<Used<MemoryInbox>> {
        let decryption: [DecryptionKey; 2] = KEYS.decryption.clone();
        let opener = Opener::new(
            KeySet::new(decryption).expect("two keys"),
            keys.keys(),
            OpenOptions::new(),
        );
        let mut options = ReceiversOptions::new()
            .clock(Arc::clone(clock))
            .sender_keys(Arc::new(keys.clone()));
        if self.world.kind == Kind::Retention {
            options = options.retention(INBOX_RETENTION);
        }
        let inbox = self.used(life, self.store().inbox());
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
            let cache = Arc::new(self.used(life, self.store()));
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
        let mut options = PollerOptions::new()
            .unbooked(self.unbooked)
            .walks(PollOptions::new().full_walk_every(Duration::from_secs(300)));
        if self.world.kind == Kind::Retention {
            // The shortest one.
            options = options.retention(Duration::from_secs(2 * 86_400));
        }
        let own_life = Arc::clone(life);
        let handler = move |new: NewEntries| import(Arc::clone(&own_life), new);
        let store = Arc::new(self.used(life, self.store()));
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
