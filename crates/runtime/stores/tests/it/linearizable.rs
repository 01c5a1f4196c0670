//! Recorded histories of calls that overlap. Each engine answers as if the calls had come one after
//! the other, in an order in which a call that returned before another began also precedes it.

use crate::counters::{Random, charge, policy};
use crate::engines::{at, incoming, outgoing, query, suite};
use bankrail_client_assertion::token::{TokenGrant, TokenHash, TokenStore};
use bankrail_client_assertion::{ReplayKey, ReplayStore};
use bankrail_mailbox::{
    DeliveryRecord, Disposition, DropOutcome, EntryId, Inbox, InboxState, InboxUpdate,
    Intervention, Lease, LeaseOwner, LeaseRequest, Outbox, OutboxOperator, ReceiveOutcome,
};
use bankrail_rate_limit::{Algorithm, CounterStore, Counting, Policy, State, decide};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Barrier;

/// The histories of each engine and trait, the callers of each history, and the calls of each
/// caller.
const HISTORIES: u32 = 30;
const CALLERS: usize = 3;
const CALLS: usize = 4;

mod one {
    use super::{
        claims_are_linearizable, inboxes_are_linearizable, outboxes_are_linearizable, suite,
        tokens_are_linearizable,
    };
    suite!(claims_are_linearizable, tokens_are_linearizable);
    mod inbox {
        use super::{inboxes_are_linearizable, suite};
        suite!(inbox: inboxes_are_linearizable);
    }
    mod outbox {
        use super::{outboxes_are_linearizable, suite};
        suite!(outbox: outboxes_are_linearizable);
    }
}

/// Makes the calls of all callers at the same time, and returns true if the recorded history is
/// linearizable.
async fn is_linearizable<S, F>(
    begin: S,
    programs: Vec<Vec<S::Op>>,
    call: impl Fn(S::Op) -> F + Clone + Send + 'static,
) -> bool
where
    S: SequentialSpec + Clone,
    S::Op: Clone + Debug + Send + 'static,
    S::Ret: Clone + Debug + Send + 'static,
    F: Future<Output = S::Ret> + Send + 'static,
{
    let (clock, together) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(Barrier::new(programs.len())),
    );
    let callers: Vec<_> = programs
        .into_iter()
        .map(|program| {
            let (clock, together, call) = (clock.clone(), together.clone(), call.clone());
            tokio::spawn(async move {
                let mut calls = Vec::new();
                together.wait().await;
                for op in program {
                    let invoked = clock.fetch_add(1, Ordering::SeqCst);
                    let answer = call(op.clone()).await;
                    let returned = clock.fetch_add(1, Ordering::SeqCst);
                    calls.push((invoked, returned, op, answer));
                }
                calls
            })
        })
        .collect();
    let (mut begins, mut ends) = (BTreeMap::new(), BTreeMap::new());
    for (caller, calls) in callers.into_iter().enumerate() {
        for (invoked, returned, op, answer) in calls.await.unwrap() {
            begins.insert(invoked, (caller, op));
            ends.insert(returned, (caller, answer));
        }
    }
    let mut history = LinearizabilityTester::new(begin);
    for event in 0..clock.load(Ordering::SeqCst) {
        match (begins.remove(&event), ends.remove(&event)) {
            (Some((caller, op)), _) => history.on_invoke(caller, op).map(drop).unwrap(),
            (None, Some((caller, answer))) => history.on_return(caller, answer).map(drop).unwrap(),
            (None, None) => unreachable!("each number is of one event"),
        }
    }
    history.is_consistent()
}

/// Returns the calls of each caller in a history.
fn programs<Op>(history: u32, mut op: impl FnMut(&mut Random) -> Op) -> Vec<Vec<Op>> {
    let mut random = Random(u64::from(history));
    (0..CALLERS)
        .map(|_| (0..CALLS).map(|_| op(&mut random)).collect())
        .collect()
}

/// The model of used assertions: the first claim of a key succeeds.
#[derive(Clone, Default)]
struct Claims(BTreeSet<u8>);

impl SequentialSpec for Claims {
    type Op = u8;
    type Ret = bool;

    fn invoke(&mut self, key: &u8) -> bool {
        self.0.insert(*key)
    }
}

pub(crate) async fn claims_are_linearizable<S: ReplayStore + 'static>(store: S) {
    let store = Arc::new(store);
    for history in 0..HISTORIES {
        let programs = programs(history, |random| random.of(&[1, 2, 3]));
        let store = store.clone();
        let call = move |key: u8| {
            let store = store.clone();
            let mut bytes = [key; 32];
            bytes[..4].copy_from_slice(&history.to_be_bytes());
            async move {
                store
                    .claim(ReplayKey::new(bytes, at(1_000)), at(0))
                    .await
                    .unwrap()
            }
        };
        assert!(
            is_linearizable(Claims::default(), programs, call).await,
            "history {history}"
        );
    }
}

/// The model of tokens, which are valid from their grant to their revocation.
#[derive(Clone, Default)]
struct Tokens(BTreeMap<u8, u8>);

#[derive(Clone, Copy, Debug)]
enum TokenCall {
    /// Grants the token of this number until this many seconds have passed.
    Insert(u8, u8),
    Find(u8),
    Revoke(u8),
}

impl SequentialSpec for Tokens {
    type Op = TokenCall;
    type Ret = Option<u8>;

    fn invoke(&mut self, call: &TokenCall) -> Option<u8> {
        match *call {
            TokenCall::Insert(token, seconds) => {
                self.0.insert(token, seconds);
                None
            }
            TokenCall::Find(token) => self.0.get(&token).copied(),
            TokenCall::Revoke(token) => self.0.remove(&token).map(|_| 1),
        }
    }
}

pub(crate) async fn tokens_are_linearizable<S: TokenStore + 'static>(store: S) {
    let store = Arc::new(store);
    for history in 0..HISTORIES {
        let programs = programs(history, |random| {
            let token = random.of(&[1, 2]);
            match random.of(&[0, 1, 1, 2]) {
                0 => TokenCall::Insert(token, random.of(&[10, 20])),
                1 => TokenCall::Find(token),
                _ => TokenCall::Revoke(token),
            }
        });
        let store = store.clone();
        let call = move |call: TokenCall| {
            let store = store.clone();
            let hash = move |token: u8| {
                let mut bytes = [token; 32];
                bytes[..4].copy_from_slice(&history.to_be_bytes());
                TokenHash::from(bytes)
            };
            async move {
                match call {
                    TokenCall::Insert(token, seconds) => {
                        let (customer, scope) =
                            ("CUSTOMER-7".parse().unwrap(), "READ".parse().unwrap());
                        let until = at(i64::from(seconds) * 1_000);
                        let grant = TokenGrant::new(customer, scope, at(0), until);
                        store.insert(hash(token), grant).await.unwrap();
                        None
                    }
                    TokenCall::Find(token) => {
                        let found = store.find(hash(token), at(0)).await.unwrap();
                        let seconds =
                            |grant: TokenGrant| grant.expires_at.saturating_since(at(0)).as_secs();
                        found.map(|grant| u8::try_from(seconds(grant)).unwrap())
                    }
                    TokenCall::Revoke(token) => {
                        store.revoke(hash(token)).await.unwrap().then_some(1)
                    }
                }
            }
        };
        assert!(
            is_linearizable(Tokens::default(), programs, call).await,
            "history {history}"
        );
    }
}

/// The model of one customer's counters, which decide like the product's `decide`.
#[derive(Clone)]
struct Limit(State, Policy);

impl SequentialSpec for Limit {
    type Op = (i64, u32);
    type Ret = (bool, Option<u32>);

    fn invoke(&mut self, (now, cost): &(i64, u32)) -> (bool, Option<u32>) {
        let decision = decide(&mut self.0, &self.1, crate::counters::at(*now), *cost).unwrap();
        (decision.is_allowed(), decision.remaining())
    }
}

fn limit(history: u32) -> Limit {
    let algorithm = if history.is_multiple_of(2) {
        Algorithm::Fixed
    } else {
        Algorithm::Sliding
    };
    let counting = if history.is_multiple_of(3) {
        Counting::Attempts
    } else {
        Counting::Admitted
    };
    Limit(
        State::new(),
        policy(algorithm, counting, &[(1_000, 5), (10_000, 8)]),
    )
}

/// Checks counters that decide by the callers' clocks.
pub(crate) async fn counters_are_linearizable(counters: impl CounterStore + 'static) {
    let counters = Arc::new(counters);
    for history in 0..HISTORIES {
        let programs = programs(history, |random| {
            (random.of(&[0, 400, 1_300, 2_100]), random.of(&[0, 1, 2]))
        });
        let (counters, begin) = (counters.clone(), limit(history));
        let policy = begin.1;
        let call = move |(now, cost): (i64, u32)| {
            let counters = counters.clone();
            async move {
                let customer = format!("history {history}");
                let decision = counters
                    .charge(charge(&customer, &policy, now, cost).unwrap())
                    .await
                    .unwrap();
                (decision.is_allowed(), decision.remaining())
            }
        };
        assert!(
            is_linearizable(begin, programs, call).await,
            "history {history}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counters_in_memory_are_linearizable() {
    counters_are_linearizable(bankrail_rate_limit::MemoryCounters::default()).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counters_of_sqlite_are_linearizable() {
    counters_are_linearizable(crate::engines::sqlite_file().store.clone()).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs postgresql"]
async fn counters_of_postgresql_are_linearizable() {
    let engine = crate::engines::postgres().await;
    counters_are_linearizable(
        engine
            .store
            .counters(bankrail_stores::CounterClock::Callers),
    )
    .await;
}

#[cfg(feature = "redis")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs redis-server and valkey-server"]
async fn stores_on_valkey_and_redis_are_linearizable() {
    use crate::redis::{SERVERS, Server};
    use bankrail_stores::redis::{RedisInbox, RedisInboxOptions, RedisStore, RedisStoreOptions};
    let patient = Duration::from_secs(20);
    for variable in SERVERS {
        let server = Server::start(variable).await;
        let store =
            || RedisStore::open(&server.url(), RedisStoreOptions::new().timeout(patient)).unwrap();
        claims_are_linearizable(store()).await;
        tokens_are_linearizable(store()).await;
        counters_are_linearizable(server.counters_by_callers()).await;
        let inbox =
            RedisInbox::open(&server.url(), RedisInboxOptions::new().timeout(patient)).unwrap();
        inboxes_are_linearizable(inbox).await;
    }
}

/// An entry of inbox or outbox: pending or not, the instant at which it is due, the owner and the
/// end of its lease.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pending: bool,
    due: i64,
    lease: Option<(u8, i64)>,
    leased_before: bool,
}

const NEW: Entry = Entry {
    pending: true,
    due: 0,
    lease: None,
    leased_before: false,
};

#[derive(Clone, Copy, Debug)]
enum Call {
    /// Receives the message of this number.
    Receive(usize),
    /// Leases this many entries, at this instant.
    Lease(u8, usize, i64),
    /// Ends the lease of an owner: the entry is finished, or due again at an instant.
    Update(usize, u8, Option<i64>),
    ReleaseAll(u8),
    /// Drops an entry, at this instant.
    Drop(usize, i64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reply {
    Leased(Vec<usize>),
    Changed(bool),
    Released(u64),
    /// The flags of a received message: new, and finished.
    Received(bool, bool),
}

/// Entries of an inbox or an outbox.
#[derive(Clone)]
struct Queue {
    entries: Vec<Option<Entry>>,
    /// True in an inbox, where an entry that was never leased is due at any time.
    is_inbox: bool,
    /// True if a lease may leave out an entry that another call is changing, as `SKIP LOCKED` of
    /// PostgreSQL does: a later lease finds it.
    skips: bool,
}

/// The length of a lease.
const LEASE: i64 = 50;

impl Queue {
    /// Returns the free entries in the order in which they are leased.
    fn free(&self, now: i64) -> Vec<usize> {
        let is_free = |entry: &Entry| {
            let is_due = entry.due <= now || (self.is_inbox && !entry.leased_before);
            entry.pending && is_due && entry.lease.is_none_or(|(_, until)| until <= now)
        };
        let mut free: Vec<_> = (0..)
            .zip(&self.entries)
            .filter_map(|(at, entry)| entry.map(|it| (it, at)))
            .collect();
        free.retain(|(entry, _)| is_free(entry));
        free.sort_by_key(|(entry, at)| (if self.is_inbox { 0 } else { entry.due }, *at));
        free.into_iter().map(|(_, at)| at).collect()
    }

    fn take(&mut self, taken: &[usize], owner: u8, now: i64) {
        for at in taken {
            let entry = self.entries[*at].as_mut().unwrap();
            (entry.lease, entry.leased_before) = (Some((owner, now + LEASE)), true);
        }
    }
}

/// Returns true for the engine whose leases leave out what another call is changing.
fn skips<S>() -> bool {
    std::any::type_name::<S>().contains("Postgres")
}

impl SequentialSpec for Queue {
    type Op = Call;
    type Ret = Reply;

    fn is_valid_step(&mut self, call: &Call, reply: &Reply) -> bool {
        match (call, reply) {
            (Call::Lease(owner, limit, now), Reply::Leased(taken)) if self.skips => {
                let free = self.free(*now);
                let allowed = taken.len() <= *limit && taken.iter().all(|at| free.contains(at));
                if allowed {
                    self.take(taken, *owner, *now);
                }
                allowed
            }
            _ => self.invoke(call) == *reply,
        }
    }

    fn invoke(&mut self, call: &Call) -> Reply {
        match *call {
            Call::Receive(at) => {
                let known = self.entries[at];
                self.entries[at] = known.or(Some(NEW));
                Reply::Received(known.is_none(), known.is_some_and(|entry| !entry.pending))
            }
            Call::Lease(owner, limit, now) => {
                let mut taken = self.free(now);
                taken.truncate(limit);
                self.take(&taken, owner, now);
                taken.sort_unstable();
                Reply::Leased(taken)
            }
            Call::Update(at, owner, due) => {
                let entry = self.entries[at]
                    .as_mut()
                    .filter(|it| it.lease.is_some_and(|(leased, _)| leased == owner));
                let is_owner = entry.is_some();
                if let Some(entry) = entry {
                    (entry.lease, entry.pending) = (None, due.is_some());
                    entry.due = due.unwrap_or(entry.due);
                }
                Reply::Changed(is_owner)
            }
            Call::ReleaseAll(owner) => {
                let leased = self.entries.iter_mut().flatten();
                let leased =
                    leased.filter(|entry| entry.lease.is_some_and(|(other, _)| other == owner));
                Reply::Released(leased.map(|entry| entry.lease = None).map(|()| 1).sum())
            }
            Call::Drop(at, now) => {
                let entry = self.entries[at].as_mut().unwrap();
                let drops = entry.pending && entry.lease.is_none_or(|(_, until)| until <= now);
                if drops {
                    (entry.lease, entry.pending) = (None, false);
                }
                Reply::Changed(drops)
            }
        }
    }
}

fn owner_of(history: u32, owner: u8) -> LeaseOwner {
    let mut bytes = [owner; 16];
    bytes[..4].copy_from_slice(&history.to_be_bytes());
    LeaseOwner::from_random_bytes(bytes)
}

fn lease_of(history: u32, owner: u8, until: i64) -> Lease {
    Lease {
        owner: owner_of(history, owner),
        until: at(until),
    }
}

/// Returns the place of a message in its history, which its body ends with.
fn place(body: &[u8]) -> usize {
    usize::from(body.last().unwrap() - b'0')
}

/// Returns the number of a message whose last digit is its place.
fn case(history: u32, place: usize) -> u32 {
    history * 10 + u32::try_from(place).unwrap()
}

/// An instant after all leases of a history.
const LATER: i64 = 1_000_000;

pub(crate) async fn outboxes_are_linearizable<S: Outbox + OutboxOperator + 'static>(outbox: S) {
    let outbox = Arc::new(outbox);
    for history in 0..HISTORIES {
        let mut ids = Vec::new();
        for place in 0..2 {
            ids.push(
                outbox
                    .enqueue(&outgoing("a", case(history, place)), at(0))
                    .await
                    .unwrap()
                    .id(),
            );
        }
        let programs = programs(history, |random| {
            let (place, owner) = (random.of(&[0, 1]), random.of(&[1, 2]));
            match random.of(&[0, 0, 0, 1, 1, 1, 2, 3]) {
                0 => Call::Lease(owner, random.of(&[1, 2]), random.of(&[0, 20, 100])),
                1 => Call::Update(place, owner, random.of(&[None, Some(60), Some(10)])),
                2 => Call::ReleaseAll(owner),
                _ => Call::Drop(place, random.of(&[0, 100])),
            }
        });
        let (shared, known) = (outbox.clone(), ids.clone());
        let call = move |call: Call| {
            let (outbox, ids) = (shared.clone(), known.clone());
            async move { of_outbox(&*outbox, &ids, history, call).await }
        };
        let begin = Queue {
            entries: vec![Some(NEW); 2],
            is_inbox: false,
            skips: skips::<S>(),
        };
        assert!(
            is_linearizable(begin, programs, call).await,
            "history {history}"
        );
        for id in ids {
            outbox.drop_entry(id, &by_hand(), at(LATER)).await.unwrap();
        }
    }
    assert_eq!(outbox.counts(None).await.unwrap().pending, 0);
}

fn by_hand() -> Intervention {
    Intervention {
        by: "test".parse().unwrap(),
        reason: "its history is over".parse().unwrap(),
    }
}

async fn of_outbox<S: Outbox + OutboxOperator>(
    outbox: &S,
    ids: &[EntryId],
    history: u32,
    call: Call,
) -> Reply {
    match call {
        Call::Receive(_) => unreachable!("of an inbox"),
        Call::Lease(owner, limit, now) => {
            let request = LeaseRequest::new(
                lease_of(history, owner, now + LEASE),
                u32::try_from(limit).unwrap(),
            );
            let leased = outbox.lease(request, at(now)).await.unwrap();
            let mut places: Vec<_> = leased
                .iter()
                .map(|entry| place(&entry.message.body))
                .collect();
            places.sort_unstable();
            Reply::Leased(places)
        }
        Call::Update(place, owner, due) => {
            let (started_at, duration) = (at(0), Duration::ZERO);
            let record = DeliveryRecord {
                started_at,
                duration,
                status: Some(200),
                note: None,
            };
            let next = due.map_or(Disposition::Delivered, |due| Disposition::RetryAt(at(due)));
            let owner = owner_of(history, owner);
            Reply::Changed(
                outbox
                    .record(ids[place], owner, &record, next, None, at(0))
                    .await
                    .unwrap(),
            )
        }
        Call::ReleaseAll(owner) => Reply::Released(
            outbox
                .release_all(&[owner_of(history, owner)])
                .await
                .unwrap(),
        ),
        Call::Drop(place, now) => {
            let outcome = outbox
                .drop_entry(ids[place], &by_hand(), at(now))
                .await
                .unwrap();
            Reply::Changed(outcome == DropOutcome::Dropped)
        }
    }
}

pub(crate) async fn inboxes_are_linearizable<S: Inbox + 'static>(inbox: S) {
    let inbox = Arc::new(inbox);
    for history in 0..HISTORIES {
        let mut ids = Vec::new();
        for place in 0..2 {
            let message = incoming(&query(case(history, place), "Why?"), 1);
            ids.push(inbox.receive(&message, at(0)).await.unwrap().id());
        }
        let programs = programs(history, |random| {
            let (place, owner) = (random.of(&[0, 1]), random.of(&[1, 2]));
            match random.of(&[0, 1, 1, 1, 2, 2, 2]) {
                0 => Call::Receive(random.of(&[0, 1, 2, 2])),
                1 => Call::Lease(owner, random.of(&[1, 2, 3]), random.of(&[0, 20, 100])),
                _ => Call::Update(place, owner, random.of(&[None, Some(60), Some(10)])),
            }
        });
        let shared = inbox.clone();
        let call = move |call: Call| {
            let (inbox, ids) = (shared.clone(), ids.clone());
            async move { of_inbox(&*inbox, &ids, history, call).await }
        };
        let begin = Queue {
            entries: vec![Some(NEW), Some(NEW), None],
            is_inbox: true,
            skips: skips::<S>(),
        };
        assert!(
            is_linearizable(begin, programs, call).await,
            "history {history}"
        );
        let over = lease_of(history, 9, LATER + 1);
        for entry in inbox.lease(&[], 10, over, at(LATER)).await.unwrap() {
            assert!(
                inbox
                    .complete(entry.id, over.owner, at(LATER))
                    .await
                    .unwrap()
            );
        }
    }
    assert_eq!(inbox.counts().await.unwrap().pending, 0);
}

async fn of_inbox<S: Inbox>(inbox: &S, ids: &[EntryId], history: u32, call: Call) -> Reply {
    match call {
        Call::Receive(place) => {
            let message = incoming(&query(case(history, place), "Why?"), 2);
            let outcome = inbox.receive(&message, at(0)).await.unwrap();
            Reply::Received(
                outcome.is_stored(),
                matches!(outcome, ReceiveOutcome::Duplicate { .. }),
            )
        }
        Call::Lease(owner, limit, now) => {
            let lease = lease_of(history, owner, now + LEASE);
            let leased = inbox
                .lease(&[], u32::try_from(limit).unwrap(), lease, at(now))
                .await
                .unwrap();
            let mut places: Vec<_> = leased.iter().map(|entry| place(&entry.body)).collect();
            places.sort_unstable();
            Reply::Leased(places)
        }
        Call::Update(place, owner, due) => {
            let state = if due.is_some() {
                InboxState::Pending
            } else {
                InboxState::Completed
            };
            let update = InboxUpdate {
                due: due.map(at),
                ..InboxUpdate::to(state)
            };
            Reply::Changed(
                inbox
                    .update(ids[place], owner_of(history, owner), update, at(0))
                    .await
                    .unwrap(),
            )
        }
        Call::ReleaseAll(_) | Call::Drop(..) => unreachable!("of an outbox"),
    }
}

/// Checks that the test detects a store that reads in one operation and writes in another, so that
/// both callers read before one writes.
async fn is_seen<S>(begin: S, ops: [S::Op; 2])
where
    S: SequentialSpec + Clone + Send + 'static,
    S::Op: Clone + Debug + Send + Sync + 'static,
    S::Ret: Clone + Debug + Send + 'static,
{
    let (store, both_have_read) = (
        Arc::new(Mutex::new(begin.clone())),
        Arc::new(Barrier::new(2)),
    );
    let call = move |op: S::Op| {
        let (store, both_have_read) = (store.clone(), both_have_read.clone());
        async move {
            let mut read = store.lock().unwrap().clone();
            let answer = read.invoke(&op);
            both_have_read.wait().await;
            *store.lock().unwrap() = read;
            answer
        }
    };
    assert!(!is_linearizable(begin, ops.map(|op| vec![op]).into(), call).await);
}

#[tokio::test]
async fn a_store_that_reads_and_writes_in_two_operations_is_seen() {
    is_seen(Claims::default(), [1, 1]).await;
    is_seen(Tokens(BTreeMap::from([(1, 10)])), [TokenCall::Revoke(1); 2]).await;
    is_seen(limit(1), [(0, 2), (0, 2)]).await;
    let queue = Queue {
        entries: vec![Some(NEW); 2],
        is_inbox: false,
        skips: false,
    };
    is_seen(queue.clone(), [Call::Lease(1, 1, 0), Call::Lease(2, 1, 0)]).await;
    let inbox = Queue {
        entries: vec![None],
        is_inbox: true,
        skips: false,
    };
    is_seen(inbox, [Call::Receive(0); 2]).await;
}

/// The test detects a store that answers from an outdated copy.
#[tokio::test]
async fn an_answer_of_the_past_is_seen() {
    let calls = vec![vec![
        TokenCall::Insert(1, 10),
        TokenCall::Revoke(1),
        TokenCall::Find(1),
    ]];
    let stale = |call: TokenCall| async move {
        match call {
            TokenCall::Insert(..) => None,
            TokenCall::Revoke(_) => Some(1),
            TokenCall::Find(_) => Some(10),
        }
    };
    assert!(!is_linearizable(Tokens::default(), calls, stale).await);
}
