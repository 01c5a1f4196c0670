//! A provider's process: endpoints, dispatcher, and the business that enqueues messages.

use crate::messages::{KEYS, SealOnce, Target};
use crate::model::{Listed, Model, ProviderCopy};
use crate::network::Way;
use crate::node::{Life, Node, Process, Stop};
use crate::stores::Used;
use crate::world::{Fault, Kind, World, lock};
use axum::Router;
use axum::body::Body;
use axum::routing::get;
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
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use http::{HeaderMap, Response, StatusCode};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

/// The API key that the biller's calls have.
pub(crate) const CUSTOMER_KEY: &str = "the-customers-key";
/// The API key that deliveries have.
pub(crate) const RECEIVER_KEY: &str = "the-receivers-key";
/// The address of the provider, as the biller's client calls it.
pub(crate) const PROVIDER_URL: &str = "http://127.0.0.1";
/// The path of its signing keys.
pub(crate) const KEYS_PATH: &str = "/keys.jwks";
pub(crate) const ACCOUNTS: [&str; 2] = ["012003123456789", "012003123456780"];

/// The provider's stores, which survive the processes of its two nodes.
#[derive(Debug)]
pub(crate) struct Bank {
    pub(crate) world: Arc<World>,
    pub(crate) model: Arc<Model>,
    store: Mutex<MemoryStore>,
    /// An older copy of the stores, with what the model knew of them.
    backup: Mutex<Option<(MemoryStore, BTreeSet<HyphenatedUuid>, ProviderCopy)>>,
    /// The dispatchers of both nodes, of their latest processes.
    dispatchers: Mutex<[Option<Dispatcher>; 2]>,
    counters: Arc<MemoryCounters>,
    pub(crate) books: Arc<Books>,
    /// The messages that the business knows to be stored.
    stored: Mutex<BTreeSet<HyphenatedUuid>>,
    /// The generations of the keys with which messages are sealed.
    keys: Mutex<[usize; 2]>,
    /// The signing key before the present one.
    signed_before: Mutex<usize>,
    endpoints: Mutex<Vec<Endpoints>>,
    /// The keys that the biller may sign its assertions with.
    pub(crate) assertion_keys: KeySet<VerifyingKey>,
    limits: (u32, u32),
    /// True if the biller counts its calls by these limits too.
    limits_are_known: AtomicBool,
    lifetime: Duration,
}

impl Bank {
    pub(crate) fn new(world: &Arc<World>, model: &Arc<Model>) -> Arc<Self> {
        let keys = KEYS.assertion.iter().map(|key| key.verifying_key());
        let at = usize::try_from(world.below(4)).unwrap_or(0);
        // Lives that the calls of an hour are enough for, also after some restarts.
        let (tokens, lifetime) = [(10, 3600), (20, 3600), (60, 600), (600, 60)][at];
        let at = usize::try_from(world.below(5)).unwrap_or(0);
        let statements = [16, 25, 600, 600, 600][at];
        Arc::new(Self {
            world: Arc::clone(world),
            model: Arc::clone(model),
            store: Mutex::new(MemoryStore::new()),
            backup: Mutex::default(),
            dispatchers: Mutex::default(),
            counters: Arc::default(),
            books: Arc::new(Books::new(world, model)),
            stored: Mutex::default(),
            keys: Mutex::default(),
            signed_before: Mutex::default(),
            endpoints: Mutex::default(),
            assertion_keys: KeySet::new(keys).expect("two keys"),
            limits: (tokens, statements),
            limits_are_known: AtomicBool::new(world.below(2) == 0),
            lifetime: Duration::from_secs(lifetime),
        })
    }

    pub(crate) fn store(&self) -> MemoryStore {
        lock(&self.store).clone()
    }

    /// Copies the stores, as a backup of a running database.
    pub(crate) fn back_up(&self) {
        let copy = self.model.copy_provider();
        *lock(&self.backup) = Some((self.store().copy(), lock(&self.stored).clone(), copy));
    }

    /// Puts the stores back to the copy, once there is one. No process may run. Returns the tokens
    /// that were revoked since.
    pub(crate) fn restore(&self) -> Option<Vec<String>> {
        let (store, stored, copy) = lock(&self.backup).take()?;
        *lock(&self.store) = store;
        *lock(&self.stored) = stored;
        *lock(&self.dispatchers) = [None, None];
        Some(self.model.restore_provider(copy))
    }

    /// Returns a dispatcher, for operators.
    pub(crate) fn dispatcher(&self) -> Option<Dispatcher> {
        lock(&self.dispatchers).iter().flatten().next().cloned()
    }

    /// Returns true if the biller counts its calls by the provider's limits.
    pub(crate) fn are_limits_known(&self) -> bool {
        self.limits_are_known.load(Ordering::Relaxed)
    }

    /// Gives the biller the limits, from its next start on.
    pub(crate) fn tell_limits(&self) {
        self.limits_are_known.store(true, Ordering::Relaxed);
    }

    /// Returns true if statements are limited so tightly that pollers reach the limit.
    pub(crate) fn has_few_statements(&self) -> bool {
        self.limits.1 < 600
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
        *lock(&self.signed_before) = lock(&self.keys)[0];
        if let Some(key) = lock(&self.keys).get_mut(which) {
            *key = (*key + 1) % if which == 0 { 3 } else { 2 };
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

    /// Publishes the key that signs now, or, as a cache in between has it now and then, the one
    /// before.
    fn publish(&self, headers: &HeaderMap) -> Response<Body> {
        let stale = self.world.happens_often(Fault::Rotation, 20);
        let at = if stale {
            self.world.mark(format_args!("keys: old"));
            *lock(&self.signed_before)
        } else {
            lock(&self.keys)[0]
        };
        let tag = format!("\"{at}\"");
        let known = headers.get(IF_NONE_MATCH);
        let is_known = known.is_some_and(|known| known.as_bytes() == tag.as_bytes());
        let control = ["no-store", "max-age=600", "max-age=7200"];
        let control = control[usize::try_from(self.world.below(3)).unwrap_or(0)];
        let (status, body) = if is_known {
            (StatusCode::NOT_MODIFIED, Body::empty())
        } else {
            let keys = KeySet::from(KEYS.signing[at].verifying_key());
            (StatusCode::OK, Body::from(keys.to_jwk_set()))
        };
        Response::builder()
            .status(status)
            .header(ETAG, tag)
            .header(CACHE_CONTROL, control)
            .body(body)
            .expect("headers in ASCII")
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
        let mut options = DispatcherOptions::new()
            .schedule(Schedule::new(delays, 20).longest_retry_after(Duration::from_secs(600)))
            .breaker(BreakerPolicy::new().failures(2))
            .longest_idle(self.world.longest_idle());
        if self.world.kind == Kind::Retention {
            options = options.retention(OUTBOX_RETENTION);
        }
        let dispatcher = Dispatcher::new(
            Arc::new(self.used(life, self.store().outbox())),
            endpoints,
            Arc::new(way),
            options.clock(Arc::clone(&clock)),
        )
        .expect("random bytes");
        if let Some(place) = lock(&self.dispatchers).get_mut(number) {
            *place = Some(dispatcher.clone());
        }

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
            Arc::new(self.used(life, self.store())),
            Verifier::new(audience, VerifierOptions::new()),
            ProviderOptions::new()
                .clock(clock)
                .token_lifetime(self.lifetime)
                .report_time_zone("Australia/Sydney")
                // A document that nobody reads here, and that costs as much as all of a boot.
                .serve_openapi(false)
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
        let (bank, model) = (Arc::clone(self), Arc::clone(&self.model));
        let keys = Router::new().route(
            KEYS_PATH,
            get(move |headers: HeaderMap| async move { bank.publish(&headers) }),
        );
        Process {
            router: provider.expect("usable options").router().merge(keys),
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
    /// In the order of the statements.
    entries: Mutex<Vec<Booked>>,
    /// True if a page begins at a number of entries, so that pages shift when the bank inserts an
    /// entry; false if it begins after an entry.
    by_offset: bool,
    /// The accounts whose pages have shifted. Each account shifts once, because after shifts in two
    /// walks an entry without a reference cannot be distinguished from a twin.
    shifted: Mutex<[bool; 2]>,
}

#[derive(Clone, Debug)]
struct Booked {
    number: u64,
    /// The place among the entries, which no insertion changes.
    place: u64,
    account: usize,
    cents: i64,
    is_booked: bool,
    reference: Option<String>,
    /// The day of its booking; for a pending entry, today.
    day: Date,
    text: Option<&'static str>,
    /// True for one of two parts that have everything in common.
    is_part: bool,
    /// The number of times that it was corrected or completed.
    version: u64,
}

/// The time for which delivered messages are kept, in runs with a retention.
pub(crate) const OUTBOX_RETENTION: Duration = Duration::from_secs(3600);
/// The amount of entries that are alike, in cents.
pub(crate) const TWIN: i64 = 100;
/// The time after which the biller mostly has the first twins.
const TWINS_ARE_KNOWN: Duration = Duration::from_secs(90);
/// The distance of two places.
const PLACES: u64 = 1 << 20;

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
            by_offset: world.below(2) == 0,
            shifted: Mutex::default(),
        }
    }

    /// Lists entries before anybody asks, so that the statement of a day that ends soon has
    /// several pages.
    pub(crate) fn begin(&self) {
        let mut entries = lock(&self.entries);
        for _ in 0..self.world.below(16) {
            let entry = self.entry(&entries, false, false);
            self.world.note(format_args!("bank: begins with {entry:?}"));
            entries.push(entry);
        }
        self.list(&entries);
    }

    /// Books, books what was pending, and corrects, completes and drops what is listed.
    pub(crate) fn change(&self) {
        let mut entries = lock(&self.entries);
        let (today, kind) = (self.world.day(), self.world.below(14));
        // After midnight a bank still books, completes and corrects entries of the day before.
        let first = self.world.first_day();
        let day = match first < today && self.world.below(2) == 0 {
            true => first,
            false => today,
        };
        let mut of_day = entries.iter_mut().filter(|entry| entry.day == day);
        let note = |what: &str, entry: &Booked| {
            let late = if entry.day < today {
                " of yesterday"
            } else {
                ""
            };
            self.world.mark(format_args!("bank: {what}{late}"));
            self.world.note(format_args!("bank: {what} {entry:?}"));
        };
        match kind {
            0..=2 => {
                // Under the reference that it has at last.
                if let Some(pending) = of_day.find(|entry| !entry.is_booked) {
                    pending.is_booked = true;
                    note("books what was pending", pending);
                }
            }
            3 => {
                // Not a twin: with two alike nobody knows which one it was.
                let is_open = |entry: &&mut Booked| {
                    entry.is_booked && entry.reference.is_none() && entry.cents != TWIN
                };
                if let Some(entry) = of_day.find(|entry| is_open(entry) && entry.version == 0) {
                    match self.world.below(2) {
                        0 => entry.reference = Some(format!("REF{}", entry.number)),
                        _ => entry.text = Some("a text that came later"),
                    }
                    entry.version += 1;
                    note("completes", entry);
                }
            }
            4 => {
                let is_open = |entry: &&mut Booked| {
                    entry.is_booked && entry.reference.is_some() && !entry.is_part
                };
                if let Some(entry) = of_day.find(|entry| is_open(entry) && entry.version == 0) {
                    entry.cents += 1;
                    entry.version += 1;
                    note("corrects", entry);
                }
            }
            5 if !self.by_offset => {
                let found = entries
                    .iter()
                    .position(|entry| !entry.is_booked && entry.day == today);
                if let Some(at) = found {
                    let dropped = entries.remove(at);
                    note("drops what was pending", &dropped);
                }
            }
            6 => {
                let part = Booked {
                    day,
                    ..self.entry(&entries, false, true)
                };
                note("lists a part", &part);
                entries.push(part.clone());
                let (number, place) = (part.number + 1, part.place + PLACES);
                entries.push(Booked {
                    number,
                    place,
                    ..part
                });
            }
            7 | 8 if !self.by_offset && entries.len() > 1 => {
                let count = u64::try_from(entries.len()).unwrap_or(0);
                let at = usize::try_from(1 + self.world.below(count - 1)).unwrap_or(1);
                self.insert(&mut entries, at);
            }
            kind => {
                let mut entry = self.entry(&entries, kind == 9 || kind == 10, false);
                if entry.is_booked {
                    entry.day = day;
                }
                note("lists", &entry);
                entries.push(entry);
            }
        }
        self.list(&entries);
    }

    /// An entry for the end of the list.
    fn entry(&self, entries: &[Booked], pending: bool, is_part: bool) -> Booked {
        let number = entries.iter().map(|entry| entry.number).max().unwrap_or(0) + 1;
        let has_reference = pending || is_part || self.world.below(3) > 0;
        // Far enough from each other that no correction makes two alike.
        let own = 1000 + 10 * i64::try_from(number).unwrap_or(0);
        let twin = !is_part && !pending && self.world.below(4) == 0;
        Booked {
            number,
            place: entries.last().map_or(0, |last| last.place) + PLACES,
            account: usize::try_from(self.world.below(2)).unwrap_or(0),
            cents: if twin { TWIN } else { own },
            is_booked: !pending,
            reference: has_reference.then(|| format!("REF{number}")),
            day: self.world.day(),
            text: None,
            is_part,
            version: 0,
        }
    }

    /// Inserts an entry before another one, as one that the bank books late.
    fn insert(&self, entries: &mut Vec<Booked>, at: usize) {
        let mut entry = self.entry(entries, false, false);
        let before = at.checked_sub(1).map_or(0, |at| entries[at].place);
        let after = entries[at].place;
        // Between two parts nothing is inserted: they are on one page.
        if after - before < 2 || (at > 0 && entries[at].is_part && entries[at - 1].is_part) {
            return;
        }
        entry.place = before + (after - before) / 2;
        self.world.mark(format_args!("bank: inserts"));
        self.world
            .note(format_args!("bank: inserts at {at} {entry:?}"));
        entries.insert(at, entry);
    }

    /// Moves the entries that are still pending to the next day.
    pub(crate) fn turn(&self) {
        let mut entries = lock(&self.entries);
        let today = self.world.day();
        let old = |entry: &&mut Booked| !entry.is_booked && entry.day != today;
        for entry in entries.iter_mut().filter(old) {
            entry.day = today;
        }
        self.list(&entries);
    }

    fn list(&self, entries: &[Booked]) {
        let listed = entries.iter().map(|entry| -> (u64, Listed) {
            let account = ACCOUNTS.get(entry.account).copied().unwrap_or_default();
            (
                entry.number * 4 + entry.version,
                (
                    account.to_owned(),
                    entry.cents,
                    entry.is_booked,
                    Some(entry.day),
                ),
            )
        });
        self.model.list(self.world.day(), listed);
    }

    fn page(&self, query: &StatementQuery) -> LedgerAnswer {
        self.turn();
        let account = ACCOUNTS
            .iter()
            .position(|known| *known == query.account.as_str());
        let after = query.position.as_ref().and_then(PagePosition::as_number);
        let after = after.unwrap_or(0);
        let mut entries = lock(&self.entries);
        let of_account = entries
            .iter()
            .filter(|entry| Some(entry.account) == account);
        let balance = of_account
            .clone()
            .filter(|entry| entry.is_booked)
            .map(|entry| entry.cents)
            .sum();
        let all: Vec<_> = of_account.filter(|entry| entry.day == query.day).collect();
        let begin = if self.by_offset {
            usize::try_from(after).unwrap_or(usize::MAX).min(all.len())
        } else {
            all.partition_point(|entry| entry.place <= after)
        };
        let rest = &all[begin..];
        let mut most = usize::from(query.max_entries.get());
        // Two parts are on one page.
        if let (Some(last), Some(next)) = (rest.get(most - 1), rest.get(most))
            && last.is_part
            && next.reference == last.reference
        {
            most -= 1;
        }
        let more = rest.len() > most;
        let page = &rest[..most.min(rest.len())];
        let next = match page.last().filter(|_| more) {
            Some(_) if self.by_offset => u64::try_from(begin + page.len()).ok(),
            Some(last) => Some(last.place),
            None => None,
        };
        let listed: Vec<_> = page.iter().map(|entry| entry.to_entry()).collect();
        let facts = RegisteredAccount::new(Currency::AUD);
        let answer =
            LedgerPage::new(facts, Decimal::new(balance, 2), query.day).with_entries(listed);
        if query.day < self.world.day() && !page.is_empty() {
            self.world.mark(format_args!("bank: shows yesterday"));
            if page.iter().any(|entry| entry.version > 0) {
                self.world
                    .mark(format_args!("bank: shows what it changed of yesterday"));
            }
        }
        let is_twin = page.last().is_some_and(|last| last.cents == TWIN);
        if next.is_some() {
            self.shift(&mut entries, account.unwrap_or(0), query.day, is_twin);
        }
        match next {
            Some(next) => answer.with_next(PagePosition::from_number(next)).into(),
            None => answer.into(),
        }
    }

    /// Inserts an entry before all others of an account while somebody reads its pages, so that the
    /// last one of this page is on the next one too. Mostly once twins are known and one of them is
    /// the last, because whoever counts them must not count it again.
    fn shift(&self, entries: &mut Vec<Booked>, account: usize, day: Date, is_twin: bool) {
        let world = &self.world;
        let mut shifted = lock(&self.shifted);
        if !self.by_offset
            || world.is_quiet()
            || day != world.day()
            || shifted[account]
            || !(world.below(24) == 0 || is_twin && world.elapsed() > TWINS_ARE_KNOWN)
        {
            return;
        }
        shifted[account] = true;
        world.mark(format_args!("bank: pages shift"));
        let mut entry = self.entry(entries, false, false);
        entry.account = account;
        world.note(format_args!("bank: pages shift by {entry:?}"));
        entries.insert(0, entry);
        self.list(entries);
    }
}

impl Booked {
    fn to_entry(&self) -> LedgerEntry {
        let amount = Money::new(Decimal::new(self.cents, 2), Currency::AUD);
        let mut entry = EntryBuilder::new(amount, self.day);
        if let Some(reference) = &self.reference {
            entry = entry.servicer_reference(reference);
        }
        if let Some(text) = self.text {
            entry = entry.narrative(text);
        }
        let mut entry = entry.build().expect("an entry");
        if !self.is_booked {
            entry.status = EntryStatus::PENDING;
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
