//! Two processes, each a receiver and a worker, over one inbox: an interim message, the result that
//! follows it, and their repetitions.

use crate::{Answer, Owner, after, renumber, ticks};
use bankrail_mailbox::{
    Disposition, DuplicateKey, EntryId, Fingerprint, InboxState, Incoming, KeyHash, Kind,
    KnownEntry, Lease, LeaseOwner, OpaqueBytes, ReceiveDecision, Schedule,
};
use stateright::{Model, Property};
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// The number of messages: the first is an interim one, the second its result.
const MESSAGES: usize = 2;
const INTERIM: usize = 0;
const RESULT: usize = 1;

/// The ticks for which a lease lasts. `WorkerOptions::lease`.
const LEASE: u8 = 2;

/// The times that a message is handed to a handler before it is a dead letter, and the ticks
/// between them.
const ATTEMPTS: u8 = 2;
const DELAY: u64 = 1;

/// The ticks within which a store may still make a lease. `lease::owners::MADE_LATE`.
const MADE_LATE: u8 = 1;

static SCHEDULE: LazyLock<Schedule> =
    LazyLock::new(|| Schedule::new([Duration::ZERO, Duration::from_secs(DELAY)], 0));

/// A fault planted in the model. Each must break a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The receiver acknowledges before it stores.
    AcknowledgedFirst,
    /// `Inbox::receive` looks for the message and stores it in two transactions.
    LookedForApart,
    /// `TransactionalInbox::complete_with` does not compare the owner.
    OwnerNotComparedInCompletion,
    /// `TransactionalInbox::complete_with` leaves the owner.
    OwnerLeftByCompletion,
    /// `Inbox::update` does not compare the owner.
    OwnerNotComparedInUpdate,
    /// `Inbox::extend` does not compare the owner.
    OwnerNotComparedInExtension,
    /// The effect is in a transaction other than the completion.
    EffectBesideTheTransaction,
    /// The worker marks a message as handled before it hands it to the handler.
    CompletedBeforeTheEffect,
    /// `Inbox::lease` takes a result before its interim message is handled.
    OrderIgnored,
    /// `Inbox::receive` does not let a waiting result follow its late interim message.
    LateInterimIgnored,
    /// `Inbox::receive` does not let a result that is a dead letter follow its late interim
    /// message.
    DeadResultIgnored,
    /// A lease never ends.
    LeaseWithoutEnd,
    /// `Inbox::resend` leaves the attempts, so that the message is given up at its first failure.
    AttemptsLeftByResend,
}

impl Fault {
    /// Each fault with the property that it breaks, and whether effects are part of the inbox's
    /// transaction there.
    pub const ALL: [(Self, &'static str, bool); 13] = [
        (Self::AcknowledgedFirst, STORED, true),
        (Self::LookedForApart, ONE_ENTRY, true),
        (Self::OwnerNotComparedInCompletion, EXACTLY_ONCE, true),
        (Self::OwnerLeftByCompletion, STAYS, true),
        (Self::OwnerNotComparedInUpdate, STAYS, false),
        (Self::OwnerNotComparedInExtension, STAYS, false),
        (Self::EffectBesideTheTransaction, EXACTLY_ONCE, true),
        (Self::CompletedBeforeTheEffect, AT_LEAST_ONCE, false),
        (Self::OrderIgnored, IN_ORDER, true),
        (Self::LateInterimIgnored, IN_ORDER, true),
        (Self::DeadResultIgnored, IN_ORDER, true),
        (Self::LeaseWithoutEnd, TAKEN_OVER, true),
        (Self::AttemptsLeftByResend, ALL_ATTEMPTS, true),
    ];
}

const STORED: &str = "no acknowledgement before the message is stored";
const ONE_ENTRY: &str = "a message is stored once";
const EXACTLY_ONCE: &str = "an effect within the transaction happens exactly once";
const AT_LEAST_ONCE: &str = "what counts as handled was handled";
const STAYS: &str = "what is handled stays handled";
const IN_ORDER: &str = "a result is leased after the interim message that it follows";
const ALL_ATTEMPTS: &str = "a dead letter has had all its attempts";
const ARRIVES: &str = "everything is handled once faults end";
const TAKEN_OVER: &str = "everything is handled if only one process is left";

/// A stored message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry {
    message: usize,
    state: InboxState,
    due: u8,
    lease: Option<(Owner, u8)>,
    attempts: u8,
    /// The place of the entry that it follows.
    follows: Option<usize>,
}

/// A note of what came of a message: `InboxUpdate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Update {
    Completed,
    Retry(u8),
    DeadLetter,
}

/// The places of the entry that a new one follows, and of the one that follows it.
type Places = (Option<usize>, Option<usize>);
/// A message, and the messages and states of the entries.
type Asked = (usize, [Option<(usize, &'static str)>; MESSAGES + 1]);

/// The stored state of the engine: `crates/runtime/stores/src/{memory,sqlite,postgres}/inbox.rs`,
/// `redis/inbox.lua`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Store {
    /// One more than messages, so that one can be stored twice.
    entries: [Option<Entry>; MESSAGES + 1],
    fault: Option<Fault>,
}

fn entry_id(at: usize) -> EntryId {
    EntryId::new(u64::try_from(at).unwrap_or(u64::MAX))
}

fn place(id: EntryId) -> usize {
    usize::try_from(id.get()).unwrap_or(usize::MAX)
}

fn fingerprint(message: usize) -> Fingerprint {
    Fingerprint::from_bytes([u8::from(message == RESULT); 32])
}

impl Store {
    fn stored(&self) -> impl Iterator<Item = (usize, Entry)> + use<> {
        self.entries
            .into_iter()
            .enumerate()
            .filter_map(|(at, entry)| Some((at, entry?)))
    }

    fn holds(&self, message: usize) -> bool {
        self.stored().any(|(_, entry)| entry.message == message)
    }

    /// `ReceiveDecision::of`, the product's, which is asked once for each argument.
    fn decide(&self, message: usize) -> Option<Places> {
        static DECISIONS: Mutex<BTreeMap<Asked, Option<Places>>> = Mutex::new(BTreeMap::new());
        let known = self
            .entries
            .map(|entry| entry.map(|entry| (entry.message, entry.state.as_str())));
        let mut decisions = DECISIONS.lock().unwrap_or_else(PoisonError::into_inner);
        *decisions
            .entry((message, known))
            .or_insert_with(|| match self.ask(message) {
                ReceiveDecision::Store {
                    follows,
                    followed_by,
                    ..
                } => Some((follows.map(place), followed_by.map(place))),
                ReceiveDecision::Answer(_) => None,
            })
    }

    fn ask(&self, message: usize) -> ReceiveDecision {
        let known = self.stored().map(|(at, entry)| KnownEntry {
            id: entry_id(at),
            fingerprint: fingerprint(entry.message),
            interim: entry.message == INTERIM,
            state: entry.state,
            acknowledgement: OpaqueBytes::default(),
            conflicts_with: None,
        });
        let incoming = Incoming {
            kind: Kind::from_static("outcome"),
            key: DuplicateKey::from(KeyHash::from_bytes([7; 32])),
            fingerprint: fingerprint(message),
            other_spellings: Vec::new(),
            interim: message == INTERIM,
            attributes: OpaqueBytes::default(),
            body: OpaqueBytes::default(),
            acknowledgement: OpaqueBytes::default(),
        };
        ReceiveDecision::of(&incoming, known.collect())
    }

    /// `Inbox::receive`, in one transaction.
    fn receive(&mut self, message: usize) {
        if let Some(places) = self.decide(message) {
            self.insert(message, places);
        }
    }

    fn insert(&mut self, message: usize, (follows, followed_by): Places) {
        let Some(at) = self.entries.iter().position(Option::is_none) else {
            return;
        };
        self.entries[at] = Some(Entry {
            message,
            state: InboxState::Pending,
            due: 0,
            lease: None,
            attempts: 0,
            follows,
        });
        if let Some(result) = followed_by.and_then(|result| self.entries[result].as_mut())
            && self.fault != Some(Fault::LateInterimIgnored)
            && (result.state == InboxState::Pending || self.fault != Some(Fault::DeadResultIgnored))
        {
            result.follows = Some(at);
        }
    }

    /// Returns the entry that a lease of one takes. `READY` of `sqlite/inbox.rs`, and its siblings.
    fn leasable(&self) -> Option<usize> {
        let free = |entry: &Entry| {
            let over = |(owner, left): (Owner, u8)| {
                let owner = LeaseOwner::from_random_bytes([owner; 16]);
                Lease {
                    owner,
                    until: after(left),
                }
                .is_over(after(0))
                    && self.fault != Some(Fault::LeaseWithoutEnd)
            };
            let interim = entry.follows.and_then(|at| self.entries[at]);
            let waits = interim.is_some_and(|interim| interim.state == InboxState::Pending);
            entry.state == InboxState::Pending
                && (entry.due == 0 || entry.attempts == 0)
                && entry.lease.is_none_or(over)
                && (!waits || self.fault == Some(Fault::OrderIgnored))
        };
        self.stored()
            .find(|(_, entry)| free(entry))
            .map(|(at, _)| at)
    }

    /// `TAKE` of `sqlite/inbox.rs`, and its siblings.
    fn lease(&mut self, at: usize, owner: Owner, left: u8) -> u8 {
        let entry = self.entries[at].as_mut().expect("leasable");
        entry.lease = Some((owner, left));
        entry.attempts = (entry.attempts + 1).min(ATTEMPTS + 1);
        entry.attempts
    }

    /// `Inbox::release_all`, of leases that last.
    fn release_all(&mut self, owner: Owner) {
        for entry in self.entries.iter_mut().flatten() {
            if entry.state == InboxState::Pending
                && entry
                    .lease
                    .is_some_and(|(other, left)| other == owner && left > 0)
            {
                entry.lease = None;
                entry.attempts = entry.attempts.saturating_sub(1);
            }
        }
    }

    fn owned(&mut self, at: usize, owner: Owner, compares: bool) -> Option<&mut Entry> {
        let is_owner = |entry: &&mut Entry| entry.lease.is_some_and(|(leased, _)| leased == owner);
        self.entries[at]
            .as_mut()
            .filter(|entry| !compares || is_owner(entry))
    }

    /// `Inbox::update`: `UPDATE` of `sqlite/inbox.rs`, and its siblings.
    fn update(&mut self, at: usize, owner: Owner, update: Update) -> bool {
        let compares = self.fault != Some(Fault::OwnerNotComparedInUpdate);
        let Some(entry) = self.owned(at, owner, compares) else {
            return false;
        };
        entry.lease = None;
        (entry.state, entry.due) = match update {
            Update::Completed => (InboxState::Completed, 0),
            Update::DeadLetter => (InboxState::DeadLetter, 0),
            Update::Retry(due) => (InboxState::Pending, due),
        };
        true
    }

    /// `Inbox::extend`.
    fn extend(&mut self, at: usize, owner: Owner) -> bool {
        let compares = self.fault != Some(Fault::OwnerNotComparedInExtension);
        let Some(entry) = self.owned(at, owner, compares) else {
            return false;
        };
        (entry.state, entry.lease) = (InboxState::Pending, Some((owner, LEASE)));
        true
    }

    /// `TransactionalInbox::complete_with`: `sqlite/transaction.rs`,
    /// `postgres/transaction/work.rs`. Returns true if the transaction is committed.
    fn complete_with(&mut self, at: usize, owner: Owner) -> bool {
        let compares = self.fault != Some(Fault::OwnerNotComparedInCompletion);
        let leaves = self.fault == Some(Fault::OwnerLeftByCompletion);
        let Some(entry) = self.owned(at, owner, compares) else {
            return false;
        };
        entry.state = InboxState::Completed;
        entry.lease = entry.lease.filter(|_| leaves);
        true
    }

    /// `Inbox::resend`.
    fn resend(&mut self, at: usize) {
        let leaves = self.fault == Some(Fault::AttemptsLeftByResend);
        if let Some(entry) = &mut self.entries[at] {
            (entry.state, entry.due) = (InboxState::Pending, 0);
            entry.attempts = if leaves { entry.attempts.min(1) } else { 0 };
        }
    }

    fn tick(&mut self) {
        for entry in self.entries.iter_mut().flatten() {
            entry.due = entry.due.saturating_sub(1);
            entry.lease = entry
                .lease
                .map(|(owner, left)| (owner, left.saturating_sub(1)));
        }
    }
}

/// A delivery that a receiver takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Receiving {
    /// The message is read and not stored.
    Read(usize),
    /// The message was looked for, and is to be stored: of [`Fault::LookedForApart`] alone.
    LookedFor(usize),
    /// The message is stored, and not acknowledged.
    Stored(usize),
}

/// A message that a worker handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Task {
    at: usize,
    owner: Owner,
    attempts: u8,
    /// The update that is to be noted, once the handler has ended.
    note: Option<Update>,
}

/// A process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Process {
    receiving: Option<Receiving>,
    /// `LeaseOwners::unanswered`: an owner and its age in ticks.
    unanswered: Option<(Owner, u8)>,
    given_back: bool,
    task: Option<Task>,
}

/// A request that the store executes later, or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Late {
    Receive(usize),
    Lease {
        owner: Owner,
        left: u8,
        age: u8,
    },
    Update {
        at: usize,
        owner: Owner,
        update: Update,
    },
    Complete {
        at: usize,
        owner: Owner,
    },
}

/// The present state, and the parts of the past that the properties need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    store: Store,
    processes: [Process; 2],
    late: Option<Late>,
    crashes: u8,
    store_faults: u8,
    sends: u8,
    acknowledged: [bool; MESSAGES],
    /// The effects of each message, at most two within transactions, at most one outside.
    effects: [u8; MESSAGES],
    most_effects: u8,
    completed: [bool; MESSAGES + 1],
    /// The leases since a message was received or resent.
    starts: [u8; MESSAGES + 1],
    out_of_order: bool,
}

/// A step, with the number of the process. Paths are below `crates/runtime/client/src/receivers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Time passes.
    Tick,
    /// A delivery of a message arrives: `receive` in `service.rs`, until the message is opened.
    Send(usize, usize),
    /// `Receiving::work` in `service.rs`: `Inbox::receive`.
    Receive(usize, Answer),
    /// The same, but the store executes it later or never: the delivery is refused.
    AskReceiveLate(usize),
    /// The acknowledgement is answered, and reaches the sender or not.
    Acknowledge(usize, bool),
    /// `Worker::give_back` in `worker.rs`: `Inbox::release_all`.
    GiveBack(usize, Answer),
    /// `Worker::lease` in `worker.rs`, with `WorkerOptions::concurrency(1)`: `Inbox::lease`.
    Lease(usize, Answer),
    /// The same, but the store executes it later or never: the worker sees an error.
    AskLeaseLate(usize),
    /// `Worker::keep` in `worker.rs`: `Inbox::extend`.
    Extend(usize),
    /// `plain` in `handler.rs`: the handler has its effect, and ends well or not.
    Effect(usize, bool),
    /// `Worker::handle` in `worker.rs`: the handler fails, panics or takes too long, without an
    /// effect.
    Fail(usize),
    /// `transactional` in `handler.rs`: `TransactionalInbox::complete_with`.
    Complete(usize, Answer),
    /// The same, but the transaction is committed later or never: the worker sees an error.
    AskCompleteLate(usize),
    /// `Worker::note` in `worker.rs`: `Inbox::update`, repeated until it is answered.
    Note(usize, Answer),
    /// The same, but the store executes it later or never; the worker gives up, as after the time
    /// of a lease.
    AskNoteLate(usize),
    /// The store executes the late request.
    Late,
    /// The process ends and is started again.
    Crash(usize),
    /// `Inbox::resend` of a dead letter.
    Resend(usize),
}

/// The model.
#[derive(Clone, Copy, Debug)]
pub struct InboxModel {
    /// The planted fault.
    pub fault: Option<Fault>,
    /// True if effects are part of the inbox's transaction.
    pub transactional: bool,
    /// The maximum number of crashes in a run.
    pub crashes: u8,
    /// The maximum number of failures of the store in a run.
    pub store_faults: u8,
    /// The maximum number of deliveries in a run.
    pub sends: u8,
}

impl InboxModel {
    fn apply(&self, state: &mut State, action: Action) {
        match action {
            Action::Tick => state.tick(),
            Action::Send(by, message) => {
                state.processes[by].receiving = Some(Receiving::Read(message))
            }
            Action::Receive(by, answer) => {
                let receiving = state.processes[by].receiving.take();
                let Some(Receiving::Read(message) | Receiving::LookedFor(message)) = receiving
                else {
                    return;
                };
                let looks = self.fault == Some(Fault::LookedForApart)
                    && matches!(receiving, Some(Receiving::Read(_)));
                let is_new = state.store.decide(message).is_some();
                if looks && is_new {
                    state.processes[by].receiving = Some(Receiving::LookedFor(message));
                    return;
                }
                match (answer, receiving) {
                    (Answer::Refused, _) => {}
                    (_, Some(Receiving::LookedFor(_))) => state.store.insert(message, (None, None)),
                    _ => state.store.receive(message),
                }
                if answer == Answer::Arrives {
                    state.processes[by].receiving = Some(Receiving::Stored(message));
                }
            }
            Action::AskReceiveLate(by) => {
                if let Some(Receiving::Read(message)) = state.processes[by].receiving.take() {
                    state.late = Some(Late::Receive(message));
                }
            }
            Action::Acknowledge(by, reaches) => match state.processes[by].receiving {
                Some(Receiving::Stored(message)) => {
                    state.acknowledged[message] |= reaches;
                    state.processes[by].receiving = None;
                }
                // Of `Fault::AcknowledgedFirst`.
                Some(Receiving::Read(message)) => state.acknowledged[message] |= reaches,
                _ => {}
            },
            Action::GiveBack(by, answer) => {
                let process = &mut state.processes[by];
                if let Some((owner, _)) = process.unanswered {
                    state.store.release_all(owner);
                }
                if answer == Answer::Arrives {
                    process.unanswered = process.unanswered.filter(|(_, age)| *age < MADE_LATE);
                    process.given_back = true;
                }
            }
            Action::Lease(by, answer) => {
                let owner = state.unused();
                let at = state.store.leasable().expect("offered");
                let attempts = state.lease(at, owner, LEASE);
                state.processes[by].given_back = false;
                if answer == Answer::Lost {
                    state.processes[by].unanswered = Some((owner, 0));
                } else {
                    // `Worker::work`: handling was started too often and never finished.
                    let note = (attempts > ATTEMPTS).then_some(Update::DeadLetter);
                    state.processes[by].task = Some(Task {
                        at,
                        owner,
                        attempts,
                        note,
                    });
                }
            }
            Action::AskLeaseLate(by) => {
                let owner = state.unused();
                state.processes[by].given_back = false;
                state.processes[by].unanswered = Some((owner, 0));
                state.late = Some(Late::Lease {
                    owner,
                    left: LEASE,
                    age: 0,
                });
            }
            Action::Extend(by) => {
                let task = state.processes[by].task.expect("offered");
                state.store.extend(task.at, task.owner);
            }
            Action::Effect(by, ends_well) => {
                let task = state.processes[by].task.expect("offered");
                state.effect(task.at);
                let note = if ends_well {
                    Update::Completed
                } else {
                    state.failure(&task)
                };
                state.processes[by].task = Some(Task {
                    note: Some(note),
                    ..task
                });
            }
            Action::Fail(by) => {
                let task = state.processes[by].task.expect("offered");
                let note = Some(state.failure(&task));
                state.processes[by].task = Some(Task { note, ..task });
            }
            Action::Complete(by, answer) => {
                let task = state.processes[by].task.expect("offered");
                if answer != Answer::Refused {
                    self.complete(state, task.at, task.owner);
                }
                let note = (answer != Answer::Arrives).then(|| state.failure(&task));
                state.processes[by].task = note.map(|note| Task {
                    note: Some(note),
                    ..task
                });
            }
            Action::AskCompleteLate(by) => {
                let task = state.processes[by].task.expect("offered");
                let note = Some(state.failure(&task));
                state.late = Some(Late::Complete {
                    at: task.at,
                    owner: task.owner,
                });
                state.processes[by].task = Some(Task { note, ..task });
            }
            Action::Note(by, answer) => {
                let task = state.processes[by].task.expect("offered");
                // Without a note only with `Fault::CompletedBeforeTheEffect`.
                state.update(task.at, task.owner, task.note.unwrap_or(Update::Completed));
                if answer == Answer::Arrives {
                    state.processes[by].task = None;
                }
            }
            Action::AskNoteLate(by) => {
                if let Some(Task {
                    at,
                    owner,
                    note: Some(update),
                    ..
                }) = state.processes[by].task
                {
                    state.late = Some(Late::Update { at, owner, update });
                    state.processes[by].task = None;
                }
            }
            Action::Late => match state.late.take() {
                Some(Late::Receive(message)) => state.store.receive(message),
                Some(Late::Lease { owner, left, .. }) => {
                    if let Some(at) = state.store.leasable() {
                        state.lease(at, owner, left);
                    }
                }
                Some(Late::Update { at, owner, update }) => state.update(at, owner, update),
                Some(Late::Complete { at, owner }) => self.complete(state, at, owner),
                None => {}
            },
            Action::Crash(by) => state.processes[by] = Process::default(),
            Action::Resend(at) => {
                state.store.resend(at);
                state.starts[at] = 0;
            }
        }
    }

    fn complete(&self, state: &mut State, at: usize, owner: Owner) {
        let beside = self.fault == Some(Fault::EffectBesideTheTransaction);
        if state.store.complete_with(at, owner) {
            state.completed[at] = true;
            state.effect(at);
        } else if beside {
            state.effect(at);
        }
    }

    /// Returns true if all is handled without further faults, with these processes. Each step is
    /// the first that is possible; time passes if none is.
    fn arrives(&self, mut state: State, alive: [bool; 2]) -> bool {
        state.late = None;
        for (process, alive) in state.processes.iter_mut().zip(alive) {
            if !alive {
                *process = Process::default();
            }
        }
        for _ in 0..60 {
            let mut stored = state.store.stored();
            if state.acknowledged == [true; 2]
                && stored.all(|(_, entry)| entry.state == InboxState::Completed)
            {
                return true;
            }
            let action = self.fair(&state, alive);
            self.apply(&mut state, action);
        }
        false
    }

    fn fair(&self, state: &State, alive: [bool; 2]) -> Action {
        if let Some((dead, _)) = state
            .store
            .stored()
            .find(|(_, entry)| entry.state == InboxState::DeadLetter)
        {
            return Action::Resend(dead);
        }
        for by in (0..2).filter(|by| alive[*by]) {
            let process = state.processes[by];
            match process.receiving {
                Some(Receiving::Read(_) | Receiving::LookedFor(_)) => {
                    return Action::Receive(by, Answer::Arrives);
                }
                Some(Receiving::Stored(_)) => return Action::Acknowledge(by, true),
                None => {}
            }
            match process.task {
                Some(Task { note: Some(_), .. }) => return Action::Note(by, Answer::Arrives),
                Some(_) if self.transactional => return Action::Complete(by, Answer::Arrives),
                Some(_) => return Action::Effect(by, true),
                None if process.unanswered.is_some() && !process.given_back => {
                    return Action::GiveBack(by, Answer::Arrives);
                }
                None if state.store.leasable().is_some() => {
                    return Action::Lease(by, Answer::Arrives);
                }
                None => {}
            }
            if let Some(message) = state
                .acknowledged
                .iter()
                .position(|acknowledged| !acknowledged)
            {
                return Action::Send(by, message);
            }
        }
        Action::Tick
    }
}

impl State {
    fn unused(&self) -> Owner {
        let leased = self
            .store
            .stored()
            .filter_map(|(_, entry)| entry.lease)
            .map(|(owner, _)| owner);
        let tasks = self
            .processes
            .iter()
            .filter_map(|process| process.task)
            .map(|task| task.owner);
        let unanswered = self
            .processes
            .iter()
            .filter_map(|process| process.unanswered)
            .map(|(owner, _)| owner);
        let late = match self.late {
            Some(
                Late::Lease { owner, .. }
                | Late::Update { owner, .. }
                | Late::Complete { owner, .. },
            ) => Some(owner),
            _ => None,
        };
        let used: Vec<Owner> = leased.chain(tasks).chain(unanswered).chain(late).collect();
        (0..)
            .find(|owner| !used.contains(owner))
            .expect("few are used")
    }

    /// Returns the one of all states that differ from this one only in the numbers of processes and
    /// owners, and in what decides nothing any more.
    fn canonical(mut self) -> Self {
        // Of a former owner, the store executes nothing.
        if let Some(Late::Update { at, owner, .. } | Late::Complete { at, owner }) = self.late
            && self.store.owned(at, owner, true).is_none()
        {
            self.late = None;
        }
        let completed = self
            .store
            .entries
            .map(|entry| entry.is_some_and(|it| it.state == InboxState::Completed));
        for (at, entry) in self.store.entries.iter_mut().enumerate() {
            let Some(entry) = entry else { continue };
            entry.follows = entry
                .follows
                .filter(|interim| !completed[*interim] && !completed[at]);
            if completed[at] {
                (entry.attempts, self.starts[at]) = (0, 0);
            }
            let remembered = |owner| {
                let mut processes = self.processes.iter();
                let of = |late: Late| match late {
                    Late::Lease { owner, .. }
                    | Late::Update { owner, .. }
                    | Late::Complete { owner, .. } => Some(owner),
                    Late::Receive(_) => None,
                };
                self.late.and_then(of) == Some(owner)
                    || processes.any(|process| {
                        process.task.is_some_and(|task| task.owner == owner)
                            || process
                                .unanswered
                                .is_some_and(|(unanswered, _)| unanswered == owner)
                    })
            };
            entry.lease = entry
                .lease
                .filter(|(owner, left)| *left > 0 || remembered(*owner));
        }
        let [first, second] = self.processes;
        let swapped = Self {
            processes: [second, first],
            ..self
        };
        let [one, other] = [self.numbered(), swapped.numbered()];
        let key = |state: &Self| {
            (
                state.processes,
                state.late,
                state.store.entries.map(|entry| entry.map(|it| it.lease)),
            )
        };
        if key(&other) < key(&one) { other } else { one }
    }

    /// Numbers the owners in the order of the places where they stand.
    fn numbered(mut self) -> Self {
        let mut names = Vec::new();
        for process in &mut self.processes {
            if let Some(task) = &mut process.task {
                renumber(&mut names, &mut task.owner);
            }
            if let Some((owner, _)) = &mut process.unanswered {
                renumber(&mut names, owner);
            }
        }
        if let Some(
            Late::Lease { owner, .. } | Late::Update { owner, .. } | Late::Complete { owner, .. },
        ) = &mut self.late
        {
            renumber(&mut names, owner);
        }
        for entry in self.store.entries.iter_mut().flatten() {
            if let Some((owner, _)) = &mut entry.lease {
                renumber(&mut names, owner);
            }
        }
        self
    }

    fn lease(&mut self, at: usize, owner: Owner, left: u8) -> u8 {
        let is_result = self.store.entries[at].is_some_and(|entry| entry.message == RESULT);
        let waits = |(_, entry): (usize, Entry)| {
            entry.message == INTERIM && entry.state == InboxState::Pending
        };
        self.out_of_order |= is_result && self.store.stored().any(waits);
        self.starts[at] = (self.starts[at] + 1).min(ATTEMPTS);
        self.store.lease(at, owner, left)
    }

    fn update(&mut self, at: usize, owner: Owner, update: Update) {
        if self.store.update(at, owner, update) {
            self.completed[at] |= update == Update::Completed;
        }
    }

    fn effect(&mut self, at: usize) {
        if let Some(entry) = self.store.entries[at] {
            self.effects[entry.message] = (self.effects[entry.message] + 1).min(self.most_effects);
        }
    }

    /// The note of a failure: `Worker::note`, with the product's `Schedule::after_failure`.
    fn failure(&self, task: &Task) -> Update {
        match SCHEDULE.after_failure(u32::from(task.attempts), after(0), None, 0) {
            Disposition::RetryAt(due) => Update::Retry(ticks(due)),
            _ => Update::DeadLetter,
        }
    }

    fn tick(&mut self) {
        self.store.tick();
        for process in &mut self.processes {
            let older = process.unanswered.map(|(owner, age)| (owner, age + 1));
            process.unanswered = older.filter(|(_, age)| *age < LEASE);
            if let Some(Task {
                note: Some(Update::Retry(left)),
                ..
            }) = &mut process.task
            {
                *left = left.saturating_sub(1);
            }
        }
        self.late = match self.late {
            Some(Late::Lease { age, .. }) if age + 1 > MADE_LATE => None,
            Some(Late::Lease { owner, left, age }) => Some(Late::Lease {
                owner,
                left: left.saturating_sub(1),
                age: age + 1,
            }),
            Some(Late::Update {
                at,
                owner,
                update: Update::Retry(left),
            }) => Some(Late::Update {
                at,
                owner,
                update: Update::Retry(left.saturating_sub(1)),
            }),
            other => other,
        };
    }
}

impl Model for InboxModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            store: Store {
                entries: [None; MESSAGES + 1],
                fault: self.fault,
            },
            processes: [Process::default(); 2],
            late: None,
            crashes: self.crashes,
            store_faults: self.store_faults,
            sends: self.sends,
            acknowledged: [false; MESSAGES],
            effects: [0; MESSAGES],
            most_effects: if self.transactional { 2 } else { 1 },
            completed: [false; MESSAGES + 1],
            starts: [0; MESSAGES + 1],
            out_of_order: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        // Handlers take their time; calls of the store and of receivers do not.
        let is_calling = |process: &Process| {
            process.receiving.is_some() || process.task.is_some_and(|it| it.note.is_some())
        };
        if !state.processes.iter().any(is_calling) {
            actions.push(Action::Tick);
        }
        let fails = state.store_faults > 0;
        let is_late = state.late.is_some();
        for by in 0..2 {
            let process = &state.processes[by];
            match process.receiving {
                None if state.sends > 0 => {
                    actions.extend((0..MESSAGES).map(|message| Action::Send(by, message)))
                }
                None => {}
                Some(Receiving::Stored(_)) => {
                    actions.extend([true, false].map(|reaches| Action::Acknowledge(by, reaches)))
                }
                Some(receiving) => {
                    actions.push(Action::Receive(by, Answer::Arrives));
                    if fails {
                        actions.push(Action::Receive(by, Answer::Lost));
                        actions.push(Action::Receive(by, Answer::Refused));
                    }
                    if fails && !is_late && matches!(receiving, Receiving::Read(_)) {
                        actions.push(Action::AskReceiveLate(by));
                    }
                    if self.fault == Some(Fault::AcknowledgedFirst) {
                        actions.push(Action::Acknowledge(by, true));
                    }
                }
            }
            match process.task {
                Some(Task { note: Some(_), .. }) => {
                    actions.push(Action::Note(by, Answer::Arrives));
                    if fails {
                        actions.push(Action::Note(by, Answer::Lost));
                    }
                    if fails && !is_late {
                        actions.push(Action::AskNoteLate(by));
                    }
                }
                Some(_) => {
                    actions.push(Action::Extend(by));
                    actions.push(Action::Fail(by));
                    if self.transactional {
                        actions.push(Action::Complete(by, Answer::Arrives));
                        if fails {
                            actions.push(Action::Complete(by, Answer::Lost));
                            actions.push(Action::Complete(by, Answer::Refused));
                        }
                        if fails && !is_late {
                            actions.push(Action::AskCompleteLate(by));
                        }
                    } else {
                        actions
                            .extend([true, false].map(|ends_well| Action::Effect(by, ends_well)));
                        if self.fault == Some(Fault::CompletedBeforeTheEffect) {
                            actions.push(Action::Note(by, Answer::Lost));
                        }
                    }
                }
                None if process.unanswered.is_some() && !process.given_back => {
                    actions.push(Action::GiveBack(by, Answer::Arrives));
                    if fails {
                        actions.push(Action::GiveBack(by, Answer::Lost));
                    }
                }
                None => {
                    if state.store.leasable().is_some() {
                        actions.push(Action::Lease(by, Answer::Arrives));
                        if fails && process.unanswered.is_none() {
                            actions.push(Action::Lease(by, Answer::Lost));
                        }
                    }
                    if fails && process.unanswered.is_none() && !is_late {
                        actions.push(Action::AskLeaseLate(by));
                    }
                }
            }
            if state.crashes > 0 && *process != Process::default() {
                actions.push(Action::Crash(by));
            }
        }
        if is_late {
            actions.push(Action::Late);
        }
        let dead = state
            .store
            .stored()
            .filter(|(_, entry)| entry.state == InboxState::DeadLetter);
        actions.extend(dead.map(|(at, _)| Action::Resend(at)));
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = *last;
        match action {
            Action::Send(..) => state.sends -= 1,
            Action::Crash(_) => state.crashes -= 1,
            Action::AskReceiveLate(_)
            | Action::AskLeaseLate(_)
            | Action::AskCompleteLate(_)
            | Action::AskNoteLate(_)
            | Action::Receive(_, Answer::Lost | Answer::Refused)
            | Action::GiveBack(_, Answer::Lost)
            | Action::Lease(_, Answer::Lost)
            | Action::Complete(_, Answer::Lost | Answer::Refused)
            | Action::Note(_, Answer::Lost) => {
                state.store_faults = state.store_faults.saturating_sub(1)
            }
            _ => {}
        }
        self.apply(&mut state, action);
        let state = if self.fault.is_none() {
            state.canonical()
        } else {
            state
        };
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(STORED, |_, state: &State| {
                (0..MESSAGES)
                    .all(|message| !state.acknowledged[message] || state.store.holds(message))
            }),
            Property::always(ONE_ENTRY, |_, state: &State| {
                let of = |message| {
                    state
                        .store
                        .stored()
                        .filter(move |(_, entry)| entry.message == message)
                        .count()
                };
                (0..MESSAGES).all(|message| of(message) <= 1)
            }),
            Property::always(EXACTLY_ONCE, |model, state: &State| {
                let exact = |(_, entry): (usize, Entry)| {
                    state.effects[entry.message] == u8::from(entry.state == InboxState::Completed)
                };
                !model.transactional || state.store.stored().all(exact)
            }),
            Property::always(AT_LEAST_ONCE, |_, state: &State| {
                let mut stored = state.store.stored();
                stored.all(|(_, entry)| {
                    entry.state != InboxState::Completed || state.effects[entry.message] > 0
                })
            }),
            Property::always(STAYS, |_, state: &State| {
                let mut stored = state.store.stored();
                stored
                    .all(|(at, entry)| !state.completed[at] || entry.state == InboxState::Completed)
            }),
            Property::always(IN_ORDER, |_, state: &State| !state.out_of_order),
            Property::always(ALL_ATTEMPTS, |_, state: &State| {
                let mut stored = state.store.stored();
                stored.all(|(at, entry)| {
                    entry.state != InboxState::DeadLetter || state.starts[at] >= ATTEMPTS
                })
            }),
            Property::always(ARRIVES, |model, state: &State| {
                model.arrives(*state, [true; 2])
            }),
            Property::always(TAKEN_OVER, |model, state: &State| {
                model.arrives(*state, [true, false]) && model.arrives(*state, [false, true])
            }),
            Property::sometimes("both messages are dead letters", |_, state: &State| {
                let dead = |(_, entry): &(usize, Entry)| entry.state == InboxState::DeadLetter;
                state.store.stored().filter(dead).count() == MESSAGES
            }),
            Property::sometimes(
                "a former owner still works while another handles",
                |_, state: &State| {
                    let tasks = state.processes.map(|process| process.task);
                    matches!(tasks, [Some(one), Some(other)] if one.at == other.at)
                },
            ),
        ]
    }
}
