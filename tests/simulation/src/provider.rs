//! A provider's process: endpoints, dispatcher, and the business that enqueues messages.

use crate::messages::{KEYS, SealOnce, Target};
use crate::model::{Listed, Model};
use crate::network::Way;
use crate::node::{Life, Node, Process, Stop};
use crate::stores::Used;
use crate::world::{World, lock};
use bankrail_camt052::{EntryBuilder, EntryStatus};
use bankrail_client_assertion::token::{ScopeSet, names};
use bankrail_client_assertion::{Audience, Verifier, VerifierOptions};
use bankrail_http::EndpointUrl;
use bankrail_jose::{KeySet, VerifyingKey};
use bankrail_mailbox::Schedule;
use bankrail_rate_limit::{
    Algorithm, CallType, Counting, Limiter, Limits, MemoryCounters, Policy, Window,
};
use bankrail_service::delivery::{
    BreakerPolicy, Dispatcher, DispatcherOptions, Endpoint, Endpoints, EnqueueError,
};
use bankrail_service::{
    ApiKeyHash, CursorSecret, Customer, Directory, Ledger, LedgerAnswer, LedgerEntry, LedgerPage,
    Provider, ProviderOptions, RegisteredAccount, StatementQuery,
};
use bankrail_statement::{EntryChannel, PagePosition};
use bankrail_stores::memory::MemoryStore;
use bankrail_values::{
    Clock, Currency, Date, Decimal, HyphenatedUuid, Money, SecretString, StoreErrorKind,
    StoreFuture,
};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

/// The API key that the biller's calls have.
pub(crate) const CUSTOMER_KEY: &str = "the-customers-key";
/// The API key that deliveries have.
pub(crate) const RECEIVER_KEY: &str = "the-receivers-key";
/// The address of the provider, as the biller's client calls it.
pub(crate) const PROVIDER_URL: &str = "http://127.0.0.1";
pub(crate) const ACCOUNTS: [&str; 2] = ["012003123456789", "012003123456780"];

/// The provider's stores, which survive the processes of its two nodes.
#[derive(Debug)]
pub(crate) struct Bank {
    pub(crate) world: Arc<World>,
    pub(crate) model: Arc<Model>,
    pub(crate) store: MemoryStore,
    counters: Arc<MemoryCounters>,
    pub(crate) books: Arc<Books>,
    /// The messages that the business knows to be stored.
    stored: Mutex<BTreeSet<HyphenatedUuid>>,
    /// The generations of the keys with which messages are sealed.
    keys: Mutex<[usize; 2]>,
    endpoints: Mutex<Vec<Endpoints>>,
    /// The keys that the biller may sign its assertions with.
    pub(crate) assertion_keys: KeySet<VerifyingKey>,
    limits: (u32, u32),
    lifetime: Duration,
}

impl Bank {
    pub(crate) fn new(world: &Arc<World>, model: &Arc<Model>) -> Arc<Self> {
        let keys = KEYS.assertion.iter().map(|key| key.verifying_key());
        let at = usize::try_from(world.below(3)).unwrap_or(0);
        // Lives that the calls of an hour are enough for, also after some restarts.
        let (tokens, lifetime) = [(20, 3600), (60, 600), (600, 60)][at];
        let at = usize::try_from(world.below(3)).unwrap_or(0);
        let statements = [25, 600, 600][at];
        Arc::new(Self {
            world: Arc::clone(world),
            model: Arc::clone(model),
            store: MemoryStore::new(),
            counters: Arc::default(),
            books: Arc::new(Books::new(world, model)),
            stored: Mutex::default(),
            keys: Mutex::default(),
            endpoints: Mutex::default(),
            assertion_keys: KeySet::new(keys).expect("two keys"),
            limits: (tokens, statements),
            lifetime: Duration::from_secs(lifetime),
        })
    }

    pub(crate) fn has_tight_limits(&self) -> bool {
        self.limits.0 < 600 || self.limits.1 < 600
    }

    pub(crate) fn limits(&self) -> (Policy, Policy) {
        let policy = |limit| {
            let window = Window::per_hour(limit).expect("a limit");
            Policy::new(Algorithm::Sliding, Counting::Attempts, &[window]).expect("one window")
        };
        (policy(self.limits.0), policy(self.limits.1))
    }

    fn endpoint(&self, target: Target) -> Endpoint {
        let [signing, encryption] = *lock(&self.keys);
        let base = match target {
            Target::Biller => "https://biller.example/",
            Target::Other => "https://other.example/",
        };
        Endpoint::new(
            target.endpoint(),
            EndpointUrl::parse(base).expect("an address"),
            Arc::new(SealOnce {
                signing,
                encryption,
            }),
        )
        .with_api_key(&SecretString::from(RECEIVER_KEY))
        .expect("a key that fits a header")
    }

    /// Seals with the next signing or encryption key from now on.
    pub(crate) fn rotate(&self, which: usize) {
        if let Some(key) = lock(&self.keys).get_mut(which) {
            *key = (*key + 1) % 2;
        }
        for endpoints in &*lock(&self.endpoints) {
            endpoints.insert(self.endpoint(Target::Biller));
        }
        self.world.mark(format_args!("rotation {which}"));
        self.world.note(format_args!(
            "the provider rotates key {which}: {:?}",
            lock(&self.keys)
        ));
    }

    pub(crate) fn boot(
        self: &Arc<Self>,
        number: usize,
        life: &Arc<Life>,
        stop: &Stop,
        billers: &[Arc<Node>; 2],
    ) -> Process {
        let clock: Arc<dyn Clock> = Arc::clone(&life.node) as _;
        let endpoints = Endpoints::new();
        endpoints.insert(self.endpoint(Target::Biller));
        endpoints.insert(self.endpoint(Target::Other));
        lock(&self.endpoints).push(endpoints.clone());
        let way = Way {
            life: Arc::clone(life),
            model: Arc::clone(&self.model),
            to: billers.clone(),
        };
        let delays = [0, 1, 5, 20].map(Duration::from_secs);
        let options = DispatcherOptions::new()
            .schedule(Schedule::new(delays, 20).longest_retry_after(Duration::from_secs(600)))
            .breaker(BreakerPolicy::new().failures(2))
            .longest_idle(Duration::from_secs(20));
        let dispatcher = Dispatcher::new(
            Arc::new(self.used(life, self.store.outbox())),
            endpoints,
            Arc::new(way),
            Arc::clone(&clock),
            options,
        )
        .expect("random bytes");

        let mut limits = Limits::new();
        let (tokens, statements) = self.limits();
        limits.set_default(CallType::Token, tokens);
        limits.set_default(CallType::Statement, statements);
        let scopes = ScopeSet::parse(names::STATEMENT_READ).expect("a scope");
        let code = "BILLER".parse().expect("a code");
        let customer = Customer::new(code, self.assertion_keys.clone(), scopes);
        let audience = Audience::parse(&format!("{PROVIDER_URL}/v1.0/auth")).expect("an address");
        let provider = Provider::new(
            Arc::new(OneCustomer(Arc::new(customer))),
            Arc::new(OfProcess {
                life: Arc::clone(life),
                books: Arc::clone(&self.books),
            }),
            Arc::new(self.used(life, self.store.clone())),
            Verifier::new(audience, VerifierOptions::new()),
            ProviderOptions::new()
                .clock(clock)
                .token_lifetime(self.lifetime)
                .cursor_secret(CursorSecret::from_bytes([7; 32]))
                .limiter(Arc::new(Limiter::new(
                    limits,
                    Arc::new(self.used(life, Arc::clone(&self.counters))),
                ))),
        );
        let mut tasks = JoinSet::new();
        let (bank, running, stop) = (Arc::clone(self), dispatcher.clone(), stop.clone());
        let stopping = stop.clone();
        tasks.spawn(async move { running.run(stop.wait()).await });
        tasks.spawn(async move {
            tokio::select! {
                biased;
                () = stopping.wait() => {}
                () = bank.business(number, dispatcher) => {}
            }
        });
        let model = Arc::clone(&self.model);
        Process {
            router: provider.expect("usable options").router(),
            tasks,
            seen: Arc::new(move |node, request, arrival, response| {
                model.called(node, request, arrival, response);
            }),
        }
    }

    fn used<S>(&self, life: &Arc<Life>, engine: S) -> Used<S> {
        Used {
            life: Arc::clone(life),
            model: Arc::clone(&self.model),
            engine,
        }
    }

    /// Enqueues what this provider has to send, each until that has succeeded.
    async fn business(&self, number: usize, dispatcher: Dispatcher) {
        let mut own: Vec<_> = self.model.planned.iter().collect();
        own.retain(|(id, planned)| planned.provider == number && !lock(&self.stored).contains(*id));
        own.sort_by_key(|(_, planned)| planned.at);
        for (id, planned) in own {
            tokio::time::sleep(planned.at.saturating_sub(self.world.elapsed())).await;
            loop {
                let (endpoint, message) = (planned.target.endpoint(), &planned.message);
                match dispatcher
                    .enqueue(&endpoint, message, planned.headers)
                    .await
                {
                    Ok(_) => break,
                    Err(EnqueueError::Store(error)) if error.kind() != StoreErrorKind::Conflict => {
                    }
                    Err(error) => self
                        .world
                        .violated(format_args!("{} was not enqueued: {error:?}", planned.name)),
                }
                tokio::time::sleep(Duration::from_secs(2)).await;
            }
            lock(&self.stored).insert(*id);
            self.model.enqueued(*id);
        }
        std::future::pending().await
    }
}

#[derive(Debug)]
struct OneCustomer(Arc<Customer>);

impl Directory for OneCustomer {
    fn customer_by_api_key(&self, key: ApiKeyHash) -> StoreFuture<'_, Option<Arc<Customer>>> {
        let found = (key == ApiKeyHash::of(CUSTOMER_KEY.as_bytes())).then(|| Arc::clone(&self.0));
        Box::pin(async move { Ok(found) })
    }
}

/// The bank's accounts.
pub(crate) struct Books {
    world: Arc<World>,
    model: Arc<Model>,
    entries: Mutex<Vec<Booked>>,
}

#[derive(Clone, Debug)]
struct Booked {
    number: u64,
    account: usize,
    cents: i64,
    is_booked: bool,
    reference: Option<String>,
}

impl fmt::Debug for Books {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Books")
    }
}

impl Books {
    fn new(world: &Arc<World>, model: &Arc<Model>) -> Self {
        Self {
            world: Arc::clone(world),
            model: Arc::clone(model),
            entries: Mutex::default(),
        }
    }

    /// Books, or books what was pending.
    pub(crate) fn change(&self) {
        let mut entries = lock(&self.entries);
        let next = entries.last().map_or(1, |last| last.number + 1);
        let pending = entries.iter_mut().find(|entry| !entry.is_booked);
        match (self.world.below(5), pending) {
            (0 | 1, Some(pending)) => {
                // Under the reference that it has at last.
                pending.is_booked = true;
                self.world
                    .note(format_args!("the bank books what was pending: {pending:?}"));
            }
            (kind, _) => {
                let cents = match self.world.below(4) {
                    // As another one.
                    0 => 100,
                    _ => 1000 + i64::try_from(next).unwrap_or(0),
                };
                let booked = Booked {
                    number: next,
                    account: usize::try_from(self.world.below(2)).unwrap_or(0),
                    cents,
                    is_booked: kind != 4,
                    reference: (kind != 2).then(|| format!("REF{next}")),
                };
                self.world.note(format_args!("the bank lists {booked:?}"));
                entries.push(booked);
            }
        }
        let listed = entries.iter().map(|entry| -> (u64, Listed) {
            let account = ACCOUNTS.get(entry.account).copied().unwrap_or_default();
            (
                entry.number,
                (account.to_owned(), entry.cents, entry.is_booked),
            )
        });
        self.model.list(listed);
    }

    fn page(&self, query: &StatementQuery) -> LedgerAnswer {
        let account = ACCOUNTS
            .iter()
            .position(|known| *known == query.account.as_str());
        let after = query
            .position
            .as_ref()
            .and_then(PagePosition::as_number)
            .unwrap_or(0);
        let entries = lock(&self.entries);
        let all = entries
            .iter()
            .filter(|entry| Some(entry.account) == account);
        let balance = all
            .clone()
            .filter(|entry| entry.is_booked)
            .map(|entry| entry.cents)
            .sum();
        let mut page: Vec<_> = all.filter(|entry| entry.number > after).collect();
        let most = usize::from(query.max_entries.get());
        let more = page.len() > most;
        page.truncate(most);
        let last = page.last().map(|entry| entry.number);
        let listed: Vec<_> = page
            .into_iter()
            .map(|entry| entry.to_entry(query.day))
            .collect();
        let facts = RegisteredAccount::new(Currency::AUD);
        let answer =
            LedgerPage::new(facts, Decimal::new(balance, 2), query.day).with_entries(listed);
        match last.filter(|_| more) {
            Some(last) => answer.with_next(PagePosition::from_number(last)).into(),
            None => answer.into(),
        }
    }
}

impl Booked {
    fn to_entry(&self, day: Date) -> LedgerEntry {
        let amount = Money::new(Decimal::new(self.cents, 2), Currency::AUD);
        let mut entry = EntryBuilder::new(amount, day);
        if let Some(reference) = &self.reference {
            entry = entry.servicer_reference(reference);
        }
        let mut entry = entry.build().expect("an entry");
        if !self.is_booked {
            entry.status = EntryStatus::Pending;
        }
        LedgerEntry::new(entry, EntryChannel::Ordinary)
    }
}

/// The books as one process asks them.
#[derive(Debug)]
struct OfProcess {
    life: Arc<Life>,
    books: Arc<Books>,
}

impl Ledger for OfProcess {
    fn statement<'a>(&'a self, query: &'a StatementQuery) -> StoreFuture<'a, LedgerAnswer> {
        Box::pin(
            self.life
                .read("ledger.statement", async { Ok(self.books.page(query)) }),
        )
    }
}
