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
        let worker = receivers
            .worker(self.handlers(life))
            .with_options(WorkerOptions::new().poll(Duration::from_secs(20)));
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
        let verifying = KeySet::from(KEYS.signing[0].verifying_key());
        let decryption: [DecryptionKey; 2] = KEYS.decryption.clone();
        let opener = Opener::new(
            KeySet::new(decryption).expect("two keys"),
            verifying.clone(),
            OpenOptions::new(),
        );
        let keys = Published {
            life: Arc::clone(life),
            verifying,
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
            .token_limits(tokens)
            .statement_limits(statements)
            .network(way);
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
            .every(Duration::from_secs(60))
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
    if !world.happens(Fault::Handler) {
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

/// An effect in the inbox's transaction.
async fn within(life: Arc<Life>, id: HyphenatedUuid) -> Result<Work, HandlerError> {
    let world = &life.node.world;
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
    misbehave(&life.node.world, "messages")
        .await
        .map_err(HandlerError::retryable)?;
    model.handled(id);
    Ok(())
}

/// The provider's verifying keys, as it publishes them.
#[derive(Debug)]
struct Published {
    life: Arc<Life>,
    verifying: KeySet<VerifyingKey>,
}

impl SenderKeys for Published {
    fn renew(&self, _: Instant) -> RenewFuture<'_> {
        Box::pin(async move {
            self.life.go_on().await;
            let world = &self.life.node.world;
            tokio::time::sleep(world.millis(500)).await;
            if world.happens(Fault::Lost) {
                return false;
            }
            let all = KEYS.signing.iter().map(|key| key.verifying_key());
            self.verifying.replace(all).is_ok()
        })
    }
}
