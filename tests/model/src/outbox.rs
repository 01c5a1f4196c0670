//! Two dispatchers deliver two messages of one outbox to one endpoint.

use crate::{Answer, Owner, after, renumber, ticks};
use bankrail_mailbox::{Circuit, Disposition, Lease, LeaseOwner, OutboxState, Schedule};
use bankrail_values::Timestamp;
use stateright::{Model, Property};
use std::sync::LazyLock;
use std::time::Duration;

/// The number of messages.
pub const MESSAGES: usize = 2;

/// The length of a lease in ticks, without the difference of clocks
/// (`DispatcherOptions::lease`: twice the time-out and 10 s).
const LEASE: u8 = 2;

/// The ticks that may pass while a delivery is under way. `deliver::post`: sealing and sending each
/// end with the time-out.
const TIMEOUT: u8 = 1;

/// The deliveries of a message before it is a dead letter, and the ticks between them.
const ATTEMPTS: u8 = 2;
const DELAY: u64 = 1;

/// The ticks within which a store may still make a lease. `lease::owners::MADE_LATE`.
const MADE_LATE: u8 = 1;

/// The maximum number of messages of the endpoint under lease. `DispatcherOptions::per_endpoint`.
pub const PER_ENDPOINT: u32 = 2;

/// The ticks of the `Retry-After` of 429 and of 503.
const RESTS: [u8; 2] = [1, 2];

/// The maximum number of openings of a circuit that differ.
const OPENINGS: u8 = 2;

static SCHEDULE: LazyLock<Schedule> =
    LazyLock::new(|| Schedule::new([Duration::ZERO, Duration::from_secs(DELAY)], 0));

/// A fault planted in the model. Each must break a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// `Outbox::record` changes an entry of another owner.
    OwnerNotComparedInRecord,
    /// `Outbox::record` leaves the owner, so that a record that is repeated is made twice.
    OwnerLeftByRecord,
    /// `Outbox::lease` takes entries whose lease lasts, and leaves those whose lease is over.
    ExpiryComparedTheWrongWay,
    /// A lease is no longer than the time-out of a delivery.
    LeaseAsShortAsADelivery,
    /// A lease never ends.
    LeaseWithoutEnd,
    /// The dispatcher records before the receiver has answered.
    RecordedBeforeTheAnswer,
    /// The dispatcher takes a lost answer for an acknowledgement.
    SilenceTakenForAnAcknowledgement,
    /// `Outbox::lease` leaves the bound of a circuit out.
    CircuitWithoutBound,
    /// The dispatcher records a failure before it opens the circuit.
    HeldAfterTheRecord,
    /// `Outbox::lease` takes entries of a stopped endpoint.
    StopIgnored,
    /// The dispatcher counts a delivery twice for the schedule.
    AttemptCountedTwice,
    /// `OutboxOperator::drop_entry` drops an entry under lease.
    LeaseIgnoredByDrop,
    /// A dispatcher uses one owner for all its leases.
    OneOwnerForAllLeases,
    /// `OutboxOperator::resume_endpoint` leaves the stop.
    StopLeftByResume,
    /// `Outbox::lease` takes entries of an endpoint that rests.
    RestIgnored,
    /// `Outbox::record` ends the rest of an endpoint that has answered.
    RestEndedByAnswer,
    /// `Outbox::retry_endpoint` ends the rest too.
    RestEndedByLook,
    /// `Outbox::hold_endpoint` lets a shorter rest take the place of a longer one.
    RestShortened,
}

impl Fault {
    /// Each fault with the property that it breaks.
    pub const ALL: [(Self, &'static str); 18] = [
        (Self::OwnerNotComparedInRecord, STAYS),
        (Self::OwnerLeftByRecord, COUNTED_ONCE),
        (Self::ExpiryComparedTheWrongWay, ONE_AT_A_TIME),
        (Self::LeaseAsShortAsADelivery, ONE_AT_A_TIME),
        (Self::LeaseWithoutEnd, TAKEN_OVER),
        (Self::RecordedBeforeTheAnswer, RECEIVED),
        (Self::SilenceTakenForAnAcknowledgement, RECEIVED),
        (Self::CircuitWithoutBound, ONE_TRIAL),
        (Self::HeldAfterTheRecord, HELD_FIRST),
        (Self::StopIgnored, STOPPED),
        (Self::AttemptCountedTwice, ALL_ATTEMPTS),
        (Self::LeaseIgnoredByDrop, DROPPED),
        (Self::OneOwnerForAllLeases, ONE_AT_A_TIME),
        (Self::StopLeftByResume, ARRIVES),
        (Self::RestIgnored, RESTED),
        (Self::RestEndedByAnswer, RESTED),
        (Self::RestEndedByLook, RESTED),
        (Self::RestShortened, RESTED),
    ];
}

const RECEIVED: &str = "what counts as delivered was received";
const STAYS: &str = "what is delivered stays delivered";
const ONE_AT_A_TIME: &str = "one delivery of a message at a time";
const COUNTED_ONCE: &str = "a delivery is counted once";
const ALL_ATTEMPTS: &str = "a dead letter has had all its attempts";
const ONE_TRIAL: &str = "one trial at a time while the circuit has opened";
const HELD_FIRST: &str = "no lease between a failure and the circuit that it opens";
const STOPPED: &str = "nothing is leased of a stopped endpoint";
const RESTED: &str = "nothing is leased of an endpoint that rests";
const DROPPED: &str = "nothing is under way of a dropped message";
const ARRIVES: &str = "everything arrives once faults end";
const TAKEN_OVER: &str = "everything arrives if only one dispatcher is left";

/// An entry of the outbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The state.
    pub state: OutboxState,
    /// The ticks until it is due.
    pub due: u8,
    /// The owner of the lease, and the ticks until its end.
    pub lease: Option<(Owner, u8)>,
    /// The number of deliveries recorded since the message was enqueued or resent.
    pub deliveries: u8,
}

/// The openings of the endpoint's circuit and the ticks for which it is open.
pub type Open = (u8, u8);

/// The effects of a delivery on its endpoint: an opening of the circuit, and a rest in ticks.
pub type News = (Option<Open>, u8);

fn after_a_tick((open, rest): News) -> News {
    let open = open.map(|(openings, left)| (openings, left.saturating_sub(1)));
    (open, rest.saturating_sub(1))
}

/// A disposition whose time is relative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Next {
    /// Delivered.
    Delivered,
    /// The message is delivered again after this many ticks.
    Retry(u8),
    /// Given up.
    DeadLetter,
}

/// The stored state of the engine: `crates/runtime/stores/src/{memory,sqlite,postgres}/outbox.rs`.
/// A test compares its operations with the product's. `skew` is the lead of the caller's clock,
/// in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    /// The entries.
    pub entries: [Entry; MESSAGES],
    /// True while the endpoint is stopped.
    pub stopped: bool,
    /// The endpoint's circuit.
    pub circuit: Option<Open>,
    /// The ticks for which the endpoint rests.
    pub rest: u8,
    fault: Option<Fault>,
}

fn kept(circuit: Option<Open>, rest: u8) -> Circuit {
    let mut kept = circuit.map_or(Circuit::default(), |(openings, open)| Circuit {
        openings: u32::from(openings),
        open_until: Some(after(open)),
        rests_until: None,
    });
    kept.rests_until = (rest > 0).then(|| after(rest));
    kept
}

impl Store {
    /// Two entries that were enqueued and are due.
    #[must_use]
    pub fn new(fault: Option<Fault>) -> Self {
        let entry = Entry {
            state: OutboxState::Pending,
            due: 0,
            lease: None,
            deliveries: 0,
        };
        Self {
            entries: [entry; MESSAGES],
            stopped: false,
            circuit: None,
            rest: 0,
            fault,
        }
    }

    /// Returns true if the lease of an entry lasts beyond now. `mailbox::Lease::is_over`.
    fn is_held(&self, entry: &Entry, now: Timestamp) -> bool {
        entry.lease.is_some_and(|(owner, left)| {
            let owner = LeaseOwner::from_random_bytes([owner; 16]);
            let over = Lease {
                owner,
                until: after(left),
            }
            .is_over(now);
            match self.fault {
                Some(Fault::ExpiryComparedTheWrongWay) => over,
                Some(Fault::LeaseWithoutEnd) => true,
                _ => !over,
            }
        })
    }

    /// Returns the sets of entries that a lease may take, as bits. It takes as many as it may;
    /// which of several, the order of their past times would decide, which the model does not know.
    ///
    /// `Outbox::lease`: `memory/outbox.rs`, `sqlite/outbox/lease.rs`, `postgres/outbox/lease.rs`.
    #[must_use]
    pub fn leasable(&self, skew: u8) -> Vec<u8> {
        let now = after(skew);
        let rest = if self.fault == Some(Fault::RestIgnored) {
            0
        } else {
            self.rest
        };
        let circuit = kept(self.circuit, rest);
        if (self.stopped && self.fault != Some(Fault::StopIgnored)) || circuit.is_held(now) {
            return Vec::new();
        }
        let bound = match self.fault {
            Some(Fault::CircuitWithoutBound) => PER_ENDPOINT,
            _ => circuit.bound(PER_ENDPOINT),
        };
        let pending = |entry: &&Entry| entry.state == OutboxState::Pending;
        let leased = self.entries.iter().filter(pending);
        let leased = leased.filter(|entry| self.is_held(entry, now)).count();
        let slots = usize::try_from(bound)
            .unwrap_or(usize::MAX)
            .saturating_sub(leased);
        let free: Vec<u8> = (0..)
            .zip(&self.entries)
            .filter(|(_, entry)| {
                pending(entry) && after(entry.due) <= now && !self.is_held(entry, now)
            })
            .map(|(at, _)| 1 << at)
            .collect();
        match free.len() {
            0 => Vec::new(),
            _ if slots == 0 => Vec::new(),
            found if found <= slots => vec![free.iter().sum()],
            _ => free,
        }
    }

    /// Makes a lease of these entries that ends after `left` ticks.
    pub fn lease(&mut self, taken: u8, owner: Owner, left: u8) {
        for (at, entry) in self.entries.iter_mut().enumerate() {
            if taken >> at & 1 == 1 {
                entry.lease = Some((owner, left));
            }
        }
    }

    /// `Outbox::record`: `memory/outbox.rs`, `RECORD` of `sqlite/outbox.rs`, `postgres/outbox.rs`.
    pub fn record(&mut self, at: usize, owner: Owner, next: Next, answered: bool) -> bool {
        if answered {
            self.circuit = None;
            if self.fault == Some(Fault::RestEndedByAnswer) {
                self.rest = 0;
            }
        }
        let entry = &mut self.entries[at];
        let is_owner = entry.lease.is_some_and(|(leased, _)| leased == owner);
        if !is_owner && self.fault != Some(Fault::OwnerNotComparedInRecord) {
            return false;
        }
        if self.fault != Some(Fault::OwnerLeftByRecord) {
            entry.lease = None;
        }
        entry.deliveries = (entry.deliveries + 1).min(ATTEMPTS);
        match next {
            Next::Delivered => entry.state = OutboxState::Delivered,
            Next::DeadLetter => entry.state = OutboxState::DeadLetter,
            Next::Retry(due) => (entry.state, entry.due) = (OutboxState::Pending, due),
        }
        if entry.state != OutboxState::Pending {
            entry.due = 0;
        }
        true
    }

    /// `Outbox::release_all`.
    pub fn release_all(&mut self, owners: &[Owner]) -> u64 {
        let mut released = 0;
        for entry in &mut self.entries {
            if entry
                .lease
                .is_some_and(|(owner, _)| owners.contains(&owner))
            {
                entry.lease = None;
                released += 1;
            }
        }
        released
    }

    /// `Outbox::hold_endpoint`, with the product's `Circuit::joined`.
    pub fn hold(&mut self, (opening, rest): News) {
        let joined = kept(self.circuit, self.rest).joined(kept(opening, rest));
        let openings = u8::try_from(joined.openings).unwrap_or(u8::MAX);
        let circuit = (openings, joined.open_until.map_or(0, ticks));
        self.circuit = (openings > 0).then_some(circuit);
        self.rest = if self.fault == Some(Fault::RestShortened) && rest > 0 {
            rest
        } else {
            joined.rests_until.map_or(0, ticks)
        };
    }

    /// `Outbox::retry_endpoint`.
    pub fn retry(&mut self, skew: u8) {
        self.make_due(skew);
        self.circuit = self.circuit.map(|(openings, _)| (openings, 0));
        if self.fault == Some(Fault::RestEndedByLook) {
            self.rest = 0;
        }
    }

    /// `OutboxOperator::resume_endpoint`.
    pub fn resume(&mut self) -> bool {
        self.make_due(0);
        (self.circuit, self.rest) = (None, 0);
        let was = self.stopped;
        self.stopped &= self.fault == Some(Fault::StopLeftByResume);
        was
    }

    /// `OutboxOperator::resend`, of dead letters.
    pub fn resend(&mut self, at: usize) {
        let entry = &mut self.entries[at];
        if entry.state == OutboxState::DeadLetter {
            (entry.state, entry.due, entry.deliveries) = (OutboxState::Pending, 0, 0);
        }
    }

    /// `OutboxOperator::drop_entry`.
    pub fn drop_entry(&mut self, at: usize) -> bool {
        let entry = self.entries[at];
        let open = matches!(entry.state, OutboxState::Pending | OutboxState::DeadLetter);
        let held = self.is_held(&entry, after(0)) && self.fault != Some(Fault::LeaseIgnoredByDrop);
        if open && !held {
            let entry = &mut self.entries[at];
            (entry.state, entry.lease, entry.due) = (OutboxState::Dropped, None, 0);
        }
        open && !held
    }

    /// Makes time pass.
    pub fn tick(&mut self) {
        for entry in &mut self.entries {
            entry.due = entry.due.saturating_sub(1);
            entry.lease = entry
                .lease
                .map(|(owner, left)| (owner, left.saturating_sub(1)));
        }
        self.circuit = self
            .circuit
            .map(|(openings, open)| (openings, open.saturating_sub(1)));
        self.rest = self.rest.saturating_sub(1);
    }

    fn make_due(&mut self, skew: u8) {
        for entry in &mut self.entries {
            if entry.state == OutboxState::Pending {
                entry.due = entry.due.min(skew);
            }
        }
    }
}

/// A delivery under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Task {
    owner: Owner,
    /// The deliveries and the openings of the circuit when the entry was leased.
    made: u8,
    openings: u8,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Stage {
    /// The request is under way, for so many more ticks at most.
    Sending(u8),
    /// The request has ended: the circuit is to be opened, the endpoint stopped, the delivery
    /// recorded.
    Ended {
        news: Option<News>,
        stop: bool,
        next: Next,
        answered: bool,
    },
}

/// A dispatcher: a process that may end, with what it remembers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dispatcher {
    /// `LeaseOwners::unanswered`: owners and their age in ticks.
    unanswered: [Option<(Owner, u8)>; 2],
    /// True once this look has released them.
    given_back: bool,
    tasks: [Option<Task>; MESSAGES],
}

/// A request that the store executes later, or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Late {
    Lease {
        owner: Owner,
        left: u8,
        age: u8,
        skew: u8,
    },
    Record {
        at: usize,
        owner: Owner,
        next: Next,
        answered: bool,
    },
}

/// The present state, and the parts of the past that the properties need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The store.
    pub store: Store,
    dispatchers: [Dispatcher; 2],
    late: Option<Late>,
    /// An opening that is stored after the record: of [`Fault::HeldAfterTheRecord`] alone.
    unheld: Option<News>,
    crashes: u8,
    lost: u8,
    late_left: u8,
    /// The messages that the receiver has stored, and that were recorded as delivered.
    received: [bool; MESSAGES],
    delivered: [bool; MESSAGES],
    /// The deliveries begun since a message was enqueued or resent.
    posts: [u8; MESSAGES],
    leased_while_stopped: bool,
    leased_while_unheld: bool,
    /// The ticks for which the endpoint has asked to rest, as far as that was stored.
    asked_rest: u8,
    leased_while_resting: bool,
}

/// The end of a delivery. `deliver::judge`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The receiver stored the message and acknowledged it.
    Acknowledged,
    /// The receiver stored the message; its answer was lost.
    AnswerLost,
    /// The request did not reach the receiver.
    Unreached,
    /// The receiver refused the message, with 422.
    Refused,
    /// The receiver answered 410.
    Gone,
    /// The receiver answered 429 with a `Retry-After`.
    Limited,
    /// The receiver, or a proxy before it, answered 503 with a `Retry-After`.
    Busy,
}

/// A step. Numbers are those of dispatcher and message. Paths are below
/// `crates/runtime/service/src/delivery`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Time passes. `Clock::now` of all parts.
    Tick,
    /// `DispatcherState::lease` in `dispatcher.rs`, its first half: `Outbox::release_all` of
    /// `LeaseOwners::unanswered`, then `LeaseOwners::given_back`.
    GiveBack(usize, Answer),
    /// `DispatcherState::lease` in `dispatcher.rs`, its second half: `LeaseOwners::ask`,
    /// `Outbox::lease` of these entries, `LeaseOwners::answered`. Then
    /// `DispatcherState::lease_into` starts a task for each.
    Lease(usize, u8, Answer),
    /// The same, but the store makes the lease later or never; the dispatcher sees an error.
    AskLate(usize),
    /// The store makes the late lease.
    LateLease(u8),
    /// `DispatcherState::post` and `judge` in `dispatcher/deliver.rs`, then `Breaker::after` in
    /// `breaker.rs` with `BreakerPolicy::failures(1)`, and `Schedule::after_failure` of
    /// `DispatcherState::next`.
    Post(usize, usize, Outcome),
    /// `DispatcherState::hold` in `dispatcher/deliver.rs`: `Outbox::hold_endpoint`, once.
    Hold(usize, usize, Answer),
    /// `DispatcherState::next` in `dispatcher/deliver.rs`, after 410: `Outbox::stop_endpoint`,
    /// once.
    Stop(usize, usize, Answer),
    /// `end_lease` in `dispatcher/deliver.rs`: `Outbox::record`, repeated until it is answered.
    Record(usize, usize, Answer),
    /// The same, but the store executes it later or never; the dispatcher gives up, as at the end
    /// of the lease.
    AskRecordLate(usize, usize),
    /// The store executes the late record.
    LateRecord,
    /// `DispatcherState::look_for_returned` in `dispatcher/returned.rs`: `Transport::is_up`, then
    /// `Outbox::retry_endpoint`. The model does it at any time, also without a failure before.
    Look(usize),
    /// The process ends and is started again.
    Crash(usize),
    /// `Dispatcher::drop_entry` in `dispatcher/operator.rs`.
    Drop(usize),
    /// `Dispatcher::resume` in `dispatcher/operator.rs`.
    Resume,
    /// `Dispatcher::resend` in `dispatcher/operator.rs`.
    Resend(usize),
    /// The circuit of [`Fault::HeldAfterTheRecord`] is stored.
    LateHold,
}

/// The model.
#[derive(Clone, Copy, Debug)]
pub struct OutboxModel {
    /// The planted fault.
    pub fault: Option<Fault>,
    /// The lead of the second dispatcher's clock, in ticks.
    pub skew: u8,
    /// The maximum number of crashes in a run.
    pub crashes: u8,
    /// The maximum number of answers of the store in a run that are errors: the operation took
    /// effect, or did not.
    pub lost: u8,
    /// The maximum number of operations in a run that the store executes late, or never.
    pub late: u8,
    /// True if the receiver may answer 422 and 410.
    pub refuses: bool,
    /// True if the operator may drop messages.
    pub drops: bool,
    /// True if the receiver may ask for a rest.
    pub rests: bool,
}

impl OutboxModel {
    fn skew_of(&self, dispatcher: usize) -> u8 {
        if dispatcher == 0 { 0 } else { self.skew }
    }

    fn lease_ticks(&self) -> u8 {
        match self.fault {
            Some(Fault::LeaseAsShortAsADelivery) => TIMEOUT,
            _ => LEASE + self.skew,
        }
    }

    /// Makes a step, which [`Model::actions`] offers.
    fn apply(&self, state: &mut State, action: Action) {
        match action {
            Action::Tick => state.tick(),
            Action::GiveBack(by, answer) => {
                let dispatcher = &mut state.dispatchers[by];
                let owners: Vec<_> = dispatcher
                    .unanswered
                    .iter()
                    .flatten()
                    .map(|(owner, _)| *owner)
                    .collect();
                state.store.release_all(&owners);
                if answer == Answer::Arrives {
                    for owner in &mut dispatcher.unanswered {
                        *owner = owner.filter(|(_, age)| *age < MADE_LATE);
                    }
                    dispatcher.given_back = true;
                }
            }
            Action::Lease(by, taken, answer) => {
                let owner = state.ask(by, self.fault);
                if answer == Answer::Lost {
                    state.lease(taken, owner, self.skew_of(by) + self.lease_ticks());
                    return;
                }
                state.answered(by, owner);
                for at in (0..MESSAGES).filter(|at| taken >> at & 1 == 1) {
                    state.dispatchers[by].tasks[at] = Some(Task {
                        owner,
                        made: state.store.entries[at].deliveries,
                        openings: state.store.circuit.map_or(0, |(openings, _)| openings),
                        stage: Stage::Sending(TIMEOUT),
                    });
                }
                state.lease(taken, owner, self.skew_of(by) + self.lease_ticks());
            }
            Action::AskLate(by) => {
                let owner = state.ask(by, self.fault);
                let skew = self.skew_of(by);
                state.late = Some(Late::Lease {
                    owner,
                    left: skew + self.lease_ticks(),
                    age: 0,
                    skew,
                });
            }
            Action::LateLease(taken) => {
                if let Some(Late::Lease { owner, left, .. }) = state.late.take() {
                    state.lease(taken, owner, left);
                }
            }
            Action::Post(by, at, outcome) => self.post(state, by, at, outcome),
            Action::Hold(by, at, answer) => {
                if let Some(Stage::Ended { news, .. }) = state.stage(by, at)
                    && let Some(news) = news.take()
                    && answer != Answer::Refused
                {
                    state.hold(news);
                }
            }
            Action::Stop(by, at, answer) => {
                if let Some(Stage::Ended { stop, next, .. }) = state.stage(by, at) {
                    *stop = false;
                    if answer == Answer::Arrives {
                        *next = Next::Retry(self.skew_of(by));
                    }
                }
                state.store.stopped |= answer != Answer::Refused;
            }
            Action::Record(by, at, answer) => {
                let (owner, next, answered) = state.recordable(by, at).expect("offered");
                if let Some(Stage::Ended { news, .. }) = state.stage(by, at) {
                    let unheld = news.take();
                    state.unheld = state.unheld.or(unheld);
                }
                state.record(at, owner, next, answered);
                if answer == Answer::Arrives {
                    state.dispatchers[by].tasks[at] = None;
                }
            }
            Action::AskRecordLate(by, at) => {
                let (owner, next, answered) = state.recordable(by, at).expect("offered");
                state.late = Some(Late::Record {
                    at,
                    owner,
                    next,
                    answered,
                });
                state.dispatchers[by].tasks[at] = None;
            }
            Action::LateRecord => {
                if let Some(Late::Record {
                    at,
                    owner,
                    next,
                    answered,
                }) = state.late.take()
                {
                    state.record(at, owner, next, answered);
                }
            }
            Action::Look(by) => state.store.retry(self.skew_of(by)),
            Action::Crash(by) => state.dispatchers[by] = Dispatcher::default(),
            Action::Drop(at) => {
                state.store.drop_entry(at);
            }
            Action::Resume => {
                state.store.resume();
                state.asked_rest = 0;
            }
            Action::Resend(at) => {
                state.store.resend(at);
                state.posts[at] = 0;
            }
            Action::LateHold => {
                if let Some(news) = state.unheld.take() {
                    state.hold(news);
                }
            }
        }
    }

    fn post(&self, state: &mut State, by: usize, at: usize, outcome: Outcome) {
        let task = state.dispatchers[by].tasks[at].expect("offered");
        state.posts[at] = (state.posts[at] + 1).min(ATTEMPTS);
        state.received[at] |= matches!(outcome, Outcome::Acknowledged | Outcome::AnswerLost);
        // `judge`, and `Health`.
        let bad = matches!(
            outcome,
            Outcome::AnswerLost | Outcome::Unreached | Outcome::Busy
        );
        let answered = matches!(
            outcome,
            Outcome::Acknowledged | Outcome::Refused | Outcome::Limited
        );
        // `Outcome::rest`.
        let asked = match outcome {
            Outcome::Limited => Some(RESTS[0]),
            Outcome::Busy => Some(RESTS[1]),
            _ => None,
        };
        // `breaker::pause`, cut at two ticks.
        let openings = (task.openings + 1).min(OPENINGS);
        let skew = self.skew_of(by);
        let open = bad.then_some((openings, skew + openings));
        let rest = asked.map_or(0, |asked| skew + asked);
        let news = (open.is_some() || rest > 0).then_some((open, rest));
        let counted = if self.fault == Some(Fault::AttemptCountedTwice) {
            2
        } else {
            1
        };
        let asked = asked.map(|asked| Duration::from_secs(asked.into()));
        let failed =
            match SCHEDULE.after_failure(u32::from(task.made + counted), after(0), asked, 0) {
                Disposition::RetryAt(due) => Next::Retry(skew + ticks(due)),
                _ => Next::DeadLetter,
            };
        let silence = self.fault == Some(Fault::SilenceTakenForAnAcknowledgement) && bad;
        let next = if outcome == Outcome::Acknowledged || silence {
            Next::Delivered
        } else {
            failed
        };
        let stop = outcome == Outcome::Gone;
        let stage = Stage::Ended {
            news,
            stop,
            next,
            answered,
        };
        state.dispatchers[by].tasks[at] = Some(Task { stage, ..task });
    }

    /// Returns true if all arrives without further faults, with these dispatchers. Each step is the
    /// first that is possible; time passes if none is.
    fn arrives(&self, mut state: State, alive: [bool; 2]) -> bool {
        state.late = None;
        for (dispatcher, alive) in state.dispatchers.iter_mut().zip(alive) {
            if !alive {
                *dispatcher = Dispatcher::default();
            }
        }
        let done =
            |entry: &Entry| matches!(entry.state, OutboxState::Delivered | OutboxState::Dropped);
        for _ in 0..60 {
            if state.store.entries.iter().all(done) {
                return true;
            }
            let action = self.fair(&state, alive);
            self.apply(&mut state, action);
        }
        false
    }

    fn fair(&self, state: &State, alive: [bool; 2]) -> Action {
        let living = || (0..2).filter(|by| alive[*by]);
        for by in living() {
            for (at, task) in state.dispatchers[by].tasks.iter().enumerate() {
                match task.map(|task| task.stage) {
                    Some(Stage::Sending(_)) => return Action::Post(by, at, Outcome::Acknowledged),
                    Some(Stage::Ended { news: Some(_), .. }) => {
                        return Action::Hold(by, at, Answer::Arrives);
                    }
                    Some(Stage::Ended { stop: true, .. }) => {
                        return Action::Stop(by, at, Answer::Arrives);
                    }
                    Some(Stage::Ended { .. }) => return Action::Record(by, at, Answer::Arrives),
                    None => {}
                }
            }
        }
        if state.unheld.is_some() {
            return Action::LateHold;
        }
        if state.store.stopped && self.fault != Some(Fault::StopLeftByResume) {
            return Action::Resume;
        }
        let mut entries = state.store.entries.iter();
        if let Some(dead) = entries.position(|entry| entry.state == OutboxState::DeadLetter) {
            return Action::Resend(dead);
        }
        for by in living() {
            if state.must_give_back(by) {
                return Action::GiveBack(by, Answer::Arrives);
            }
            if let Some(taken) = state.leasable(by, self.skew_of(by)).first() {
                return Action::Lease(by, *taken, Answer::Arrives);
            }
        }
        Action::Tick
    }
}

impl State {
    fn stage(&mut self, by: usize, at: usize) -> Option<&mut Stage> {
        self.dispatchers[by].tasks[at]
            .as_mut()
            .map(|task| &mut task.stage)
    }

    fn recordable(&self, by: usize, at: usize) -> Option<(Owner, Next, bool)> {
        let task = self.dispatchers[by].tasks[at]?;
        match task.stage {
            Stage::Ended { next, answered, .. } => Some((task.owner, next, answered)),
            // Of `Fault::RecordedBeforeTheAnswer`.
            Stage::Sending(_) => Some((task.owner, Next::Delivered, true)),
        }
    }

    fn must_give_back(&self, by: usize) -> bool {
        let Dispatcher {
            unanswered,
            given_back,
            ..
        } = self.dispatchers[by];
        !given_back && unanswered.iter().any(Option::is_some)
    }

    /// The entries that a dispatcher may lease, without those that it is about to record.
    fn leasable(&self, by: usize, skew: u8) -> Vec<u8> {
        let tasks = self.dispatchers[by].tasks.iter().enumerate();
        let busy: u8 = tasks
            .filter(|(_, task)| task.is_some())
            .map(|(at, _)| 1 << at)
            .sum();
        let mut sets = self.store.leasable(skew);
        sets.retain(|taken| taken & busy == 0);
        sets
    }

    /// `LeaseOwners::ask`.
    fn ask(&mut self, by: usize, fault: Option<Fault>) -> Owner {
        let owner = match fault {
            Some(Fault::OneOwnerForAllLeases) => 100 + u8::from(by == 1),
            _ => self.unused(),
        };
        self.dispatchers[by].given_back = false;
        if let Some(free) = self.dispatchers[by]
            .unanswered
            .iter_mut()
            .find(|owner| owner.is_none())
        {
            *free = Some((owner, 0));
        }
        owner
    }

    /// `LeaseOwners::answered`.
    fn answered(&mut self, by: usize, owner: Owner) {
        for unanswered in &mut self.dispatchers[by].unanswered {
            *unanswered = unanswered.filter(|(other, _)| *other != owner);
        }
        self.dispatchers[by]
            .unanswered
            .sort_unstable_by_key(|owner| owner.is_none());
    }

    fn unused(&self) -> Owner {
        let leased = self
            .store
            .entries
            .iter()
            .filter_map(|entry| entry.lease)
            .map(|(owner, _)| owner);
        let tasks = self
            .dispatchers
            .iter()
            .flat_map(|it| it.tasks.iter().flatten())
            .map(|task| task.owner);
        let unanswered = self
            .dispatchers
            .iter()
            .flat_map(|it| it.unanswered.iter().flatten())
            .map(|(owner, _)| *owner);
        let late = self.late.map(|late| match late {
            Late::Lease { owner, .. } | Late::Record { owner, .. } => owner,
        });
        let used: Vec<Owner> = leased.chain(tasks).chain(unanswered).chain(late).collect();
        (0..)
            .find(|owner| !used.contains(owner))
            .expect("few are used")
    }

    /// Returns the one of all states that differ from this one only in the numbers of owners and
    /// messages, in those of dispatchers whose clocks agree, and in what decides nothing any more.
    fn canonical(mut self, skew: u8) -> Self {
        // Of a former owner's record, the store executes only that the endpoint has answered.
        if let Some(Late::Record {
            at,
            owner,
            answered,
            ..
        }) = self.late
            && self.store.entries[at]
                .lease
                .is_none_or(|(leased, _)| leased != owner)
        {
            let late = Late::Record {
                at: 0,
                owner: Owner::MAX,
                next: Next::Delivered,
                answered,
            };
            self.late = answered.then_some(late);
        }
        for (at, entry) in self.store.entries.iter_mut().enumerate() {
            if matches!(entry.state, OutboxState::Delivered | OutboxState::Dropped) {
                (entry.deliveries, self.posts[at]) = (0, 0);
            }
            let remembered = |owner| {
                let mut dispatchers = self.dispatchers.iter();
                let late = self.late.map(|late| match late {
                    Late::Lease { owner, .. } | Late::Record { owner, .. } => owner,
                });
                late == Some(owner)
                    || dispatchers.any(|dispatcher| {
                        dispatcher
                            .tasks
                            .iter()
                            .flatten()
                            .any(|task| task.owner == owner)
                            || dispatcher
                                .unanswered
                                .iter()
                                .flatten()
                                .any(|(unanswered, _)| *unanswered == owner)
                    })
            };
            entry.lease = entry
                .lease
                .filter(|(owner, left)| *left > 0 || remembered(*owner));
        }
        let key = |state: &Self| {
            let states = state.store.entries.map(|entry| {
                (
                    entry.state.as_str(),
                    entry.due,
                    entry.lease,
                    entry.deliveries,
                )
            });
            (
                state.dispatchers,
                state.late,
                states,
                state.received,
                state.posts,
            )
        };
        let [one, other] = [self, self.messages_swapped()].map(|state| {
            let [one, other] = [state.numbered(), state.dispatchers_swapped().numbered()];
            if skew == 0 && key(&other) < key(&one) {
                other
            } else {
                one
            }
        });
        if key(&other) < key(&one) { other } else { one }
    }

    fn dispatchers_swapped(mut self) -> Self {
        self.dispatchers.reverse();
        self
    }

    fn messages_swapped(mut self) -> Self {
        self.store.entries.reverse();
        self.received.reverse();
        self.delivered.reverse();
        self.posts.reverse();
        for dispatcher in &mut self.dispatchers {
            dispatcher.tasks.reverse();
        }
        if let Some(Late::Record { at, owner, .. }) = &mut self.late
            && *owner != Owner::MAX
        {
            *at = 1 - *at;
        }
        self
    }

    /// Numbers the owners in the order of the places where they stand.
    fn numbered(mut self) -> Self {
        let mut names = Vec::new();
        for dispatcher in &mut self.dispatchers {
            for task in dispatcher.tasks.iter_mut().flatten() {
                renumber(&mut names, &mut task.owner);
            }
            for (owner, _) in dispatcher.unanswered.iter_mut().flatten() {
                renumber(&mut names, owner);
            }
        }
        if let Some(Late::Lease { owner, .. } | Late::Record { owner, .. }) = &mut self.late
            && *owner != Owner::MAX
        {
            renumber(&mut names, owner);
        }
        for entry in &mut self.store.entries {
            if let Some((owner, _)) = &mut entry.lease {
                renumber(&mut names, owner);
            }
        }
        self
    }

    fn lease(&mut self, taken: u8, owner: Owner, left: u8) {
        self.leased_while_stopped |= self.store.stopped;
        self.leased_while_unheld |= self.unheld.is_some();
        self.leased_while_resting |= self.asked_rest > 0;
        self.store.lease(taken, owner, left);
    }

    fn hold(&mut self, news: News) {
        self.asked_rest = self.asked_rest.max(news.1);
        self.store.hold(news);
    }

    fn record(&mut self, at: usize, owner: Owner, next: Next, answered: bool) {
        self.store.record(at, owner, next, answered);
        self.delivered[at] |= self.store.entries[at].state == OutboxState::Delivered;
    }

    fn tick(&mut self) {
        self.store.tick();
        for dispatcher in &mut self.dispatchers {
            for unanswered in &mut dispatcher.unanswered {
                // `LeaseOwners::unanswered` forgets those whose lease is over.
                *unanswered = unanswered
                    .map(|(owner, age)| (owner, age + 1))
                    .filter(|(_, age)| *age < LEASE);
            }
            dispatcher
                .unanswered
                .sort_unstable_by_key(|owner| owner.is_none());
            for task in dispatcher.tasks.iter_mut().flatten() {
                match &mut task.stage {
                    Stage::Sending(left) => *left = left.saturating_sub(1),
                    Stage::Ended { news, next, .. } => {
                        *news = news.map(after_a_tick);
                        if let Next::Retry(left) = next {
                            *left = left.saturating_sub(1);
                        }
                    }
                }
            }
        }
        self.late = match self.late {
            Some(Late::Lease { age, .. }) if age + 1 > MADE_LATE => None,
            Some(Late::Lease {
                owner,
                left,
                age,
                skew,
            }) => Some(Late::Lease {
                owner,
                left: left.saturating_sub(1),
                age: age + 1,
                skew,
            }),
            Some(Late::Record {
                at,
                owner,
                next: Next::Retry(left),
                answered,
            }) => Some(Late::Record {
                at,
                owner,
                next: Next::Retry(left.saturating_sub(1)),
                answered,
            }),
            other => other,
        };
        self.unheld = self.unheld.map(after_a_tick);
        self.asked_rest = self.asked_rest.saturating_sub(1);
    }

    fn sending(&self, at: usize) -> impl Iterator<Item = Task> + use<> {
        let tasks = self
            .dispatchers
            .map(|dispatcher| dispatcher.tasks[at])
            .into_iter()
            .flatten();
        tasks.filter(|task| matches!(task.stage, Stage::Sending(_)))
    }
}

impl Model for OutboxModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            store: Store::new(self.fault),
            dispatchers: [Dispatcher::default(); 2],
            late: None,
            unheld: None,
            crashes: self.crashes,
            lost: self.lost,
            late_left: self.late,
            received: [false; MESSAGES],
            delivered: [false; MESSAGES],
            posts: [0; MESSAGES],
            leased_while_stopped: false,
            leased_while_unheld: false,
            asked_rest: 0,
            leased_while_resting: false,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let fails = state.lost > 0;
        let is_late = state.late_left > 0 && state.late.is_none();
        let mut answers = vec![Answer::Arrives];
        answers.extend(fails.then_some(Answer::Lost));
        for by in 0..2 {
            let dispatcher = &state.dispatchers[by];
            if state.must_give_back(by) {
                actions.extend(answers.iter().map(|answer| Action::GiveBack(by, *answer)));
            } else {
                let room = dispatcher.unanswered.iter().any(Option::is_none);
                for taken in state.leasable(by, self.skew_of(by)) {
                    actions.push(Action::Lease(by, taken, Answer::Arrives));
                    if fails && room {
                        actions.push(Action::Lease(by, taken, Answer::Lost));
                    }
                }
                if room && is_late {
                    actions.push(Action::AskLate(by));
                }
            }
            for (at, task) in dispatcher.tasks.iter().enumerate() {
                match task.map(|task| task.stage) {
                    None => {}
                    Some(Stage::Sending(_)) => {
                        use Outcome::{
                            Acknowledged, AnswerLost, Busy, Gone, Limited, Refused, Unreached,
                        };
                        let mut outcomes = vec![Acknowledged, AnswerLost, Unreached];
                        if self.refuses {
                            outcomes.extend([Refused, Gone]);
                        }
                        if self.rests {
                            outcomes.extend([Limited, Busy]);
                        }
                        actions.extend(
                            outcomes
                                .into_iter()
                                .map(|outcome| Action::Post(by, at, outcome)),
                        );
                        if self.fault == Some(Fault::RecordedBeforeTheAnswer) {
                            actions.push(Action::Record(by, at, Answer::Lost));
                        }
                    }
                    Some(Stage::Ended { news: Some(_), .. })
                        if self.fault != Some(Fault::HeldAfterTheRecord) =>
                    {
                        actions.push(Action::Hold(by, at, Answer::Arrives));
                        if fails {
                            actions.push(Action::Hold(by, at, Answer::Refused));
                        }
                    }
                    Some(Stage::Ended { stop: true, .. }) => {
                        actions.extend(answers.iter().map(|answer| Action::Stop(by, at, *answer)));
                        if fails {
                            actions.push(Action::Stop(by, at, Answer::Refused));
                        }
                    }
                    Some(Stage::Ended { .. }) => {
                        actions
                            .extend(answers.iter().map(|answer| Action::Record(by, at, *answer)));
                        if is_late {
                            actions.push(Action::AskRecordLate(by, at));
                        }
                    }
                }
            }
            actions.push(Action::Look(by));
            if state.crashes > 0 && *dispatcher != Dispatcher::default() {
                actions.push(Action::Crash(by));
            }
        }
        match state.late {
            Some(Late::Lease { skew, .. }) => {
                actions.extend(
                    state
                        .store
                        .leasable(skew)
                        .into_iter()
                        .map(Action::LateLease),
                );
            }
            Some(Late::Record { .. }) => actions.push(Action::LateRecord),
            None => {}
        }
        if state.unheld.is_some() {
            actions.push(Action::LateHold);
        }
        if state.store.stopped {
            actions.push(Action::Resume);
        }
        for (at, entry) in state.store.entries.iter().enumerate() {
            if entry.state == OutboxState::DeadLetter {
                actions.push(Action::Resend(at));
            }
            if self.drops && state.store.clone().drop_entry(at) {
                actions.push(Action::Drop(at));
            }
        }
        // A delivery does not outlast its time-outs, and calls of the store take no time.
        let mut tasks = state
            .dispatchers
            .iter()
            .flat_map(|dispatcher| dispatcher.tasks.iter().flatten());
        if tasks.all(|task| matches!(task.stage, Stage::Sending(1..))) {
            actions.push(Action::Tick);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = *last;
        match action {
            Action::Crash(_) => state.crashes -= 1,
            Action::AskLate(_) | Action::AskRecordLate(..) => state.late_left -= 1,
            Action::GiveBack(_, Answer::Lost)
            | Action::Lease(_, _, Answer::Lost)
            | Action::Hold(_, _, Answer::Refused)
            | Action::Stop(_, _, Answer::Lost | Answer::Refused)
            | Action::Record(_, _, Answer::Lost) => state.lost = state.lost.saturating_sub(1),
            _ => {}
        }
        self.apply(&mut state, action);
        let state = if self.fault.is_none() {
            state.canonical(self.skew)
        } else {
            state
        };
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(RECEIVED, |_, state: &State| {
                let mut entries = state.store.entries.iter().zip(state.received);
                entries.all(|(entry, received)| entry.state != OutboxState::Delivered || received)
            }),
            Property::always(STAYS, |_, state: &State| {
                let mut entries = state.store.entries.iter().zip(state.delivered);
                entries
                    .all(|(entry, delivered)| !delivered || entry.state == OutboxState::Delivered)
            }),
            Property::always(ONE_AT_A_TIME, |_, state: &State| {
                (0..MESSAGES).all(|at| state.sending(at).count() <= 1)
            }),
            Property::always(COUNTED_ONCE, |_, state: &State| {
                let mut entries = state.store.entries.iter().zip(state.posts);
                entries.all(|(entry, posts)| entry.deliveries <= posts)
            }),
            Property::always(ALL_ATTEMPTS, |_, state: &State| {
                let mut entries = state.store.entries.iter();
                entries.all(|entry| {
                    entry.state != OutboxState::DeadLetter || entry.deliveries == ATTEMPTS
                })
            }),
            Property::always(ONE_TRIAL, |_, state: &State| {
                let sending = (0..MESSAGES).flat_map(|at| state.sending(at));
                sending.filter(|task| task.openings > 0).count() <= 1
            }),
            Property::always(HELD_FIRST, |_, state: &State| !state.leased_while_unheld),
            Property::always(STOPPED, |_, state: &State| !state.leased_while_stopped),
            Property::always(RESTED, |_, state: &State| !state.leased_while_resting),
            Property::always(DROPPED, |_, state: &State| {
                let mut entries = state.store.entries.iter().enumerate();
                entries.all(|(at, entry)| {
                    entry.state != OutboxState::Dropped || state.sending(at).count() == 0
                })
            }),
            Property::always(ARRIVES, |model, state: &State| {
                model.arrives(*state, [true; 2])
            }),
            Property::always(TAKEN_OVER, |model, state: &State| {
                model.arrives(*state, [true, false]) && model.arrives(*state, [false, true])
            }),
            Property::sometimes("a circuit opens again", |_, state: &State| {
                state
                    .store
                    .circuit
                    .is_some_and(|(openings, _)| openings == OPENINGS)
            }),
            Property::sometimes("both messages are dead letters", |_, state: &State| {
                state
                    .store
                    .entries
                    .iter()
                    .all(|entry| entry.state == OutboxState::DeadLetter)
            }),
            Property::sometimes(
                "a former owner's record is under way while another delivers",
                |model, state: &State| {
                    model.late == 0
                        || matches!(state.late, Some(Late::Record { at, owner, .. })
                    if state.sending(at).any(|task| task.owner != owner))
                },
            ),
        ]
    }
}
