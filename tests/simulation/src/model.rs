//! The rules that must hold. The harness has its own record of messages, tokens, limits and
//! entries, and compares each operation and each answer with it.

use crate::messages::{Planned, Target};
use crate::node::{Arrival, Node};
use crate::world::{World, lock};
use bankrail_client::{Addition, LedgerChange, NewEntries};
use bankrail_client_assertion::VerifierOptions;
use bankrail_mailbox::{
    EntryId, InboxEntry, InboxState, InboxUpdate, Incoming, Lease, LeaseOwner, OutboxEntry,
    ReceiveOutcome,
};
use bankrail_rate_limit::{Charge, Decision};
use bankrail_values::{Clock as _, Date, HyphenatedUuid, Timestamp};
use bankrail_webhook::DeliveryHeaders;
use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Request, Response};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) world: Arc<World>,
    pub(crate) planned: BTreeMap<HyphenatedUuid, Planned>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The messages that are stored in the outbox for certain.
    enqueued: BTreeSet<HyphenatedUuid>,
    delivered: BTreeSet<HyphenatedUuid>,
    /// The messages that the other receiver has acknowledged.
    acknowledged: BTreeSet<HyphenatedUuid>,
    /// The messages that the inbox holds, with the entry that holds each.
    received: BTreeMap<HyphenatedUuid, EntryId>,
    states: BTreeMap<EntryId, InboxState>,
    leases: BTreeMap<EntryId, Lease>,
    handled: BTreeMap<HyphenatedUuid, u32>,
    tokens: BTreeMap<String, Issued>,
    assertions: BTreeMap<String, u32>,
    /// The latest requests that got a token.
    exchanges: VecDeque<Request<Bytes>>,
    /// Charges that were allowed, by customer, type, length and number of the window.
    charges: BTreeMap<(String, String, u32, i64), u64>,
    /// The same, by customer, type and length, in order.
    sliding: BTreeMap<(String, String, u32), Allowed>,
    allowed: BTreeMap<&'static str, u64>,
    served: BTreeMap<&'static str, u64>,
    /// The number of times that a provider's clock was set.
    clock_sets: u64,
    /// The entries that the bank lists today, with their number.
    listed: BTreeMap<Listed, i64>,
    today: Option<Date>,
    /// The numbers of the entries that were ever listed as this.
    ever_listed: BTreeMap<Listed, BTreeSet<u64>>,
    /// The number of times that each entry was handed over as new.
    added: BTreeMap<Listed, usize>,
    rows: BTreeMap<String, Listed>,
}

/// An entry as the bank lists it: the account, the amount in cents, whether it is booked, and its
/// day.
pub(crate) type Listed = (String, i64, bool, Option<Date>);

/// The calls that one limit has allowed.
#[derive(Debug, Default)]
struct Allowed {
    /// The time as of which the last one was judged.
    at: i64,
    current: u64,
    previous: u64,
}

#[derive(Debug)]
struct Issued {
    /// The time of the issue, at the earliest.
    since: Timestamp,
    until: Timestamp,
    revoked: Option<Duration>,
}

/// The text of a JSON member without escapes.
fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = json.split_once(&format!("\"{name}\":"))?;
    let rest = rest.trim_start();
    match rest.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => rest.split([',', '}']).next(),
    }
}

impl State {
    /// The number of entries that were ever listed as this.
    fn most_listed(&self, row: &Listed) -> i64 {
        let ever = self.ever_listed.get(row).map_or(0, BTreeSet::len);
        i64::try_from(ever).unwrap_or(i64::MAX)
    }
}

fn message_id(headers: &HeaderMap) -> Option<HyphenatedUuid> {
    headers.get("x-message-id")?.to_str().ok()?.parse().ok()
}

impl Model {
    pub(crate) fn new(world: &Arc<World>, planned: BTreeMap<HyphenatedUuid, Planned>) -> Arc<Self> {
        Arc::new(Self {
            world: Arc::clone(world),
            planned,
            state: Mutex::default(),
        })
    }

    fn name(&self, id: &HyphenatedUuid) -> &str {
        self.planned
            .get(id)
            .map_or("?", |planned| planned.name.as_str())
    }

    // ---- messages

    pub(crate) fn enqueued(&self, id: HyphenatedUuid) {
        lock(&self.state).enqueued.insert(id);
        self.world.note(format_args!("{} enqueued", self.name(&id)));
    }

    /// The outbox has noted a delivery.
    pub(crate) fn delivered(&self, entry: Option<OutboxEntry>) {
        let Some(entry) = entry else { return };
        let id = entry.message.message_id;
        let mut state = lock(&self.state);
        state.delivered.insert(id);
        let kept = state.received.contains_key(&id) || state.acknowledged.contains(&id);
        self.world
            .note(format_args!("{} delivered", self.name(&id)));
        if !kept {
            self.world.violated(format_args!(
                "{} counts as delivered, and no receiver has it",
                self.name(&id)
            ));
        }
    }

    pub(crate) fn acknowledged(&self, headers: &HeaderMap) {
        lock(&self.state).acknowledged.extend(message_id(headers));
    }

    /// The inbox has stored a message, or knew it.
    pub(crate) fn received(&self, message: &Incoming, outcome: &ReceiveOutcome) {
        let Some((headers, _)) = DeliveryHeaders::from_attributes(&message.attributes) else {
            return;
        };
        let id = headers.message_id;
        let mut state = lock(&self.state);
        let entry = outcome.id();
        let before = state.received.insert(id, entry);
        if let Some(before) = before.filter(|before| *before != entry) {
            self.world.violated(format_args!(
                "{} is in the inbox as {before} and as {entry}",
                self.name(&id)
            ));
        }
        if outcome.is_stored() {
            state.states.insert(entry, InboxState::Pending);
        }
        let outcome = match outcome {
            ReceiveOutcome::New { .. } => "new",
            ReceiveOutcome::Duplicate { .. } => "duplicate",
            ReceiveOutcome::InProgress { .. } => "in progress",
            ReceiveOutcome::Conflict { .. } => "conflict",
        };
        self.world.mark(format_args!("received: {outcome}"));
        self.world.note(format_args!(
            "{} received: {outcome} {entry}",
            self.name(&id)
        ));
    }

    /// The inbox has leased entries.
    pub(crate) fn leased(&self, entries: &[InboxEntry], lease: Lease) {
        let mut state = lock(&self.state);
        for entry in entries {
            state.leases.insert(entry.id, lease);
            let id = state
                .received
                .iter()
                .find(|(_, own)| **own == entry.id)
                .map(|(id, _)| *id);
            let Some(id) = id else { continue };
            if state.states.get(&entry.id) != Some(&InboxState::Pending) {
                self.world
                    .violated(format_args!("{} is leased and is over", self.name(&id)));
            }
            let before = self.planned.get(&id).and_then(|planned| planned.follows);
            let before = before.and_then(|before| state.received.get(&before));
            if before.is_some_and(|before| state.states.get(before) == Some(&InboxState::Pending)) {
                self.world.violated(format_args!(
                    "{} is leased before the message that it follows is handled",
                    self.name(&id)
                ));
            }
        }
    }

    /// The inbox has changed an entry for the owner of its lease.
    pub(crate) fn updated(&self, id: EntryId, owner: LeaseOwner, update: InboxUpdate<'_>) {
        let mut state = lock(&self.state);
        let over = state.states.insert(id, update.state) != Some(InboxState::Pending);
        let lost = state
            .leases
            .get(&id)
            .is_none_or(|lease| lease.owner != owner);
        match update.until {
            Some(until) => state.leases.insert(id, Lease { owner, until }),
            None => state.leases.remove(&id),
        };
        if over || lost {
            self.world.violated(format_args!(
                "entry {id} was changed by somebody who does not have it"
            ));
        }
        if update.state == InboxState::DeadLetter {
            self.world.note(format_args!("entry {id} is a dead letter"));
        }
    }

    pub(crate) fn resent(&self, id: EntryId) {
        lock(&self.state).states.insert(id, InboxState::Pending);
    }

    /// The lease that an owner has.
    pub(crate) fn lease_of(&self, id: EntryId, owner: LeaseOwner) -> Option<Lease> {
        let state = lock(&self.state);
        state
            .leases
            .get(&id)
            .copied()
            .filter(|lease| lease.owner == owner)
    }

    /// A handler's effect.
    pub(crate) fn handled(&self, id: HyphenatedUuid) {
        let mut state = lock(&self.state);
        let times = state.handled.entry(id).or_default();
        *times += 1;
        self.world
            .note(format_args!("{} handled, {times}", self.name(&id)));
        let Some(planned) = self.planned.get(&id) else {
            return self
                .world
                .violated(format_args!("{id} was handled and never sent"));
        };
        if *times > 1 && planned.once {
            self.world
                .violated(format_args!("{} was handled twice", planned.name));
        }
    }

    // ---- tokens and limits

    pub(crate) fn clock_set(&self) {
        lock(&self.state).clock_sets += 1;
    }

    /// The counters have decided.
    pub(crate) fn charged(&self, charge: &Charge<'_>, decision: &Decision) {
        if !decision.is_allowed() {
            self.world.mark(format_args!("limit: refused"));
            return;
        }
        let mut state = lock(&self.state);
        // By the right clock no more than the rule of sliding windows allows. A clock that is set
        // into another window and back may find that window's calls forgotten, so each time may
        // cost the calls of one more window, but no more.
        let slack = 1 + state.clock_sets;
        let asked_at = decision.asked_at().unix_millis();
        let windows = charge.policy().windows();
        let longest = windows.iter().map(|window| i64::from(window.millis()));
        let longest = longest.max().unwrap_or_default();
        let skew = bankrail_rate_limit::State::MAX_SKEW.as_millis();
        let skew = i64::try_from(skew).unwrap_or(i64::MAX);
        for window in windows {
            let length = i64::from(window.millis());
            let number = asked_at.div_euclid(length);
            let (customer, kind) = (
                charge.customer().to_owned(),
                format!("{:?}", charge.call_type()),
            );
            if slack == 1 {
                let key = (customer.clone(), kind.clone(), window.millis());
                let (limit, length) = (u64::from(window.limit()), length.unsigned_abs());
                let allowed = state.sliding.entry(key.clone()).or_default();
                // A charge that was under way while others were decided counts with them. One that
                // was under way for longer than the limiter takes for a difference of clocks is to
                // it as a clock that is set back: the calls of a later window are no evidence.
                if allowed.at - asked_at > longest.min(skew) {
                    *allowed = Allowed::default();
                }
                let at = asked_at.max(allowed.at);
                let passed = at.unsigned_abs() / length - allowed.at.unsigned_abs() / length;
                if passed > 0 {
                    allowed.previous = if passed == 1 { allowed.current } else { 0 };
                    allowed.current = 0;
                }
                (allowed.at, allowed.current) = (at, allowed.current + u64::from(charge.cost()));
                let remaining = length - at.unsigned_abs() % length;
                if allowed.current * length + allowed.previous * remaining > limit * length {
                    self.world.violated(format_args!(
                        "more calls were allowed than {limit}: {key:?} {allowed:?}"
                    ));
                }
            }
            let key = (customer, kind, window.millis(), number);
            let count = state.charges.entry(key.clone()).or_default();
            *count += u64::from(charge.cost());
            if *count > u64::from(window.limit()) * slack {
                self.world.violated(format_args!(
                    "{count} calls were allowed in one window: {key:?}"
                ));
            }
        }
        if format!("{:?}", charge.call_type()) == "Statement" {
            *state.allowed.entry("statement").or_default() += 1;
        }
    }

    /// The provider answers a call.
    pub(crate) fn called(
        &self,
        node: &Node,
        request: &Request<Bytes>,
        arrival: Arrival,
        response: &Response<Bytes>,
    ) {
        let path = request.uri().path();
        let status = response.status().as_u16();
        self.world.mark(format_args!("answer {path}: {status}"));
        self.world
            .note(format_args!("{node:?} answers {path}: {status}"));
        if status != 200 {
            return;
        }
        let mut state = lock(&self.state);
        let body = String::from_utf8_lossy(response.body());
        let form = String::from_utf8_lossy(request.body());
        if path.ends_with("/auth") {
            let assertion = form
                .split('&')
                .find(|part| part.starts_with("client_assertion="));
            state.exchanges.push_front(request.clone());
            state.exchanges.truncate(4);
            let times = state
                .assertions
                .entry(assertion.unwrap_or("").to_owned())
                .or_default();
            *times += 1;
            if *times > 1 {
                self.world
                    .violated(format_args!("an assertion was used {times} times"));
            }
            let lasts = member(&body, "expires_in").and_then(|text| text.parse().ok());
            let since = arrival.clock.min(node.now());
            let until = arrival
                .clock
                .max(node.now())
                .saturating_add(Duration::from_secs(lasts.unwrap_or(0)));
            let token = member(&body, "access_token").unwrap_or("").to_owned();
            let revoked = None;
            state.tokens.insert(
                token,
                Issued {
                    since,
                    until,
                    revoked,
                },
            );
            return;
        }
        *state.served.entry("statement").or_default() += 1;
        if state.served.get("statement") > state.allowed.get("statement") {
            self.world
                .violated(format_args!("a statement was served that no limit allowed"));
        }
        let token = request.headers().get(AUTHORIZATION);
        let token = token.and_then(|value| value.to_str().ok()).unwrap_or("");
        let token = token.trim_start_matches("Bearer ");
        let Some(issued) = state.tokens.get(token) else {
            // Its answer was lost on the way out of the process: nobody can have it.
            return self
                .world
                .violated(format_args!("a token was accepted that nobody was given"));
        };
        // The clock may have been set during the call.
        let earliest = arrival.clock.min(node.now());
        if earliest >= issued.until {
            self.world.violated(format_args!(
                "a token was accepted at {earliest} that had expired at {}",
                issued.until
            ));
        }
        // A token of a clock that was ahead would live as much longer.
        let latest = arrival.clock.max(node.now());
        if issued.since.saturating_since(latest) > VerifierOptions::MAX_LEEWAY {
            self.world.violated(format_args!(
                "a token was accepted at {latest} that was issued at {}",
                issued.since
            ));
        }
        if issued.revoked.is_some_and(|at| at < arrival.at) {
            self.world
                .violated(format_args!("a token was accepted that had been revoked"));
        }
    }

    /// The biller answers a delivery.
    pub(crate) fn visited(
        &self,
        node: &Node,
        request: &Request<Bytes>,
        response: &Response<Bytes>,
    ) {
        let id = message_id(request.headers());
        let name = id.as_ref().map_or("?", |id| self.name(id));
        let status = response.status().as_u16();
        self.world
            .mark(format_args!("answer to a delivery: {status}"));
        self.world
            .note(format_args!("{node:?} answers {name}: {status}"));
        let is_kept = id.is_some_and(|id| lock(&self.state).received.contains_key(&id));
        if status == 200 && !is_kept {
            self.world
                .violated(format_args!("{name} was acknowledged before it was stored"));
        }
    }

    /// Returns a token that can still be used, if there is one.
    pub(crate) fn some_token(&self) -> Option<String> {
        let state = lock(&self.state);
        let mut open = state
            .tokens
            .iter()
            .filter(|(_, issued)| issued.revoked.is_none());
        open.next_back().map(|(token, _)| token.clone())
    }

    /// Returns one of the latest requests that got a token.
    pub(crate) fn some_exchange(&self) -> Option<Request<Bytes>> {
        let state = lock(&self.state);
        let at = self
            .world
            .below(u64::try_from(state.exchanges.len()).unwrap_or(0));
        state
            .exchanges
            .get(usize::try_from(at).unwrap_or(0))
            .cloned()
    }

    pub(crate) fn revoked(&self, token: &str) {
        if let Some(issued) = lock(&self.state).tokens.get_mut(token) {
            issued.revoked = Some(self.world.elapsed());
        }
    }

    // ---- entries

    /// The bank lists something else from now on.
    pub(crate) fn list(&self, today: Date, all: impl Iterator<Item = (u64, Listed)>) {
        let mut state = lock(&self.state);
        state.listed.clear();
        state.today = Some(today);
        for (number, entry) in all {
            let ever = state.ever_listed.entry(entry.clone()).or_default();
            ever.insert(number);
            // A statement has the entries of its day only, so that what nobody has asked for
            // before midnight is lost.
            if entry.3 == Some(today) {
                *state.listed.entry(entry).or_default() += 1;
            }
        }
    }

    /// The biller's own table follows what was handed over, in the transaction.
    pub(crate) fn book(&self, new: &NewEntries) -> Result<(), Box<dyn Error + Send + Sync>> {
        let account = new.account.as_str().to_owned();
        let mut state = lock(&self.state);
        for change in new.changes() {
            match change {
                LedgerChange::Remove { id, because } => {
                    let removed = state.rows.remove(&format!("{account} {id}"));
                    self.world.mark(format_args!("entry removed: {because:?}"));
                    self.world
                        .note(format_args!("entry removed {removed:?}: {because:?}"));
                }
                LedgerChange::Add(movement) => {
                    let cents = movement.amount.amount().mantissa();
                    let is_booked = movement.status == bankrail_camt052::EntryStatus::Booked;
                    let row = (
                        account.clone(),
                        i64::try_from(cents).unwrap_or(0),
                        is_booked,
                        movement.booked_on,
                    );
                    self.world
                        .mark(format_args!("entry added: {:?}", movement.because));
                    self.world
                        .note(format_args!("entry added {row:?}: {:?}", movement.because));
                    if state
                        .rows
                        .insert(format!("{account} {}", movement.id), row.clone())
                        .is_some()
                    {
                        self.world
                            .violated(format_args!("{row:?} was handed over twice"));
                    }
                    let ever = state.ever_listed.get(&row).map_or(0, BTreeSet::len);
                    let times = state.added.entry(row.clone()).or_default();
                    *times += usize::from(movement.because == Addition::New);
                    if *times > ever {
                        self.world.violated(format_args!(
                            "{row:?} was handed over as new {times} times, and {ever} were listed"
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    // ---- the end

    /// Returns the messages and entries that have not arrived.
    pub(crate) fn open(&self, unbooked: bool) -> Vec<String> {
        let state = lock(&self.state);
        let mut open = Vec::new();
        for (id, planned) in &self.planned {
            let stage = if !state.enqueued.contains(id) {
                "is not enqueued"
            } else if !state.delivered.contains(id) {
                "is not delivered"
            } else if planned.target == Target::Biller && !state.handled.contains_key(id) {
                "is not handled"
            } else {
                continue;
            };
            open.push(format!("{} {stage}", planned.name));
        }
        let mut rows: BTreeMap<&Listed, i64> = BTreeMap::new();
        for row in state.rows.values() {
            *rows.entry(row).or_default() += 1;
        }
        let listed = state
            .listed
            .iter()
            .filter(|((_, _, booked, _), _)| *booked || unbooked);
        for (entry, count) in listed {
            let found = rows.remove(entry).unwrap_or(0);
            if found != *count {
                open.push(format!(
                    "{entry:?} is listed {count} times, and the biller has {found}"
                ));
            }
        }
        // Of an earlier day the biller has what it has seen in time, but nothing that was pending.
        let kept = |row: &Listed| row.2 && row.3 < state.today;
        rows.retain(|row, count| !kept(row) || *count > state.most_listed(row));
        open.extend(
            rows.keys()
                .map(|row| format!("{row:?} is not listed, and the biller has it")),
        );
        open
    }
}
