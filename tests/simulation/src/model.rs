//! The rules that must hold. The harness has its own record of messages, tokens, limits and
//! entries, and compares each operation and each answer with it.

use crate::biller::INBOX_RETENTION;
use crate::messages::{Planned, Target};
use crate::node::{Arrival, Node};
use crate::provider::{KEYS_PATH, TWIN};
use crate::world::{Kind, World, lock};
use bankrail_client::{Addition, LedgerChange, NewEntries};
use bankrail_client_assertion::VerifierOptions;
use bankrail_mailbox::{
    EntryId, InboxEntry, InboxState, InboxUpdate, Incoming, Lease, LeaseOwner, OutboxCounts,
    OutboxEntry, ReceiveOutcome,
};
use bankrail_rate_limit::{Charge, Decision};
use bankrail_values::{Clock as _, Date, EXPIRY_GRACE, HyphenatedUuid, Timestamp};
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
    /// The messages that the inbox has ever held.
    ever_received: BTreeSet<HyphenatedUuid>,
    states: BTreeMap<EntryId, InboxState>,
    leases: BTreeMap<EntryId, Lease>,
    handled: BTreeMap<HyphenatedUuid, u32>,
    /// The times at which entries were completed, by the clock that did so.
    completed: BTreeMap<EntryId, Timestamp>,
    /// The messages that the inbox has forgotten, with the time of forgetting and of completion.
    forgotten: BTreeMap<HyphenatedUuid, (Timestamp, Timestamp)>,
    /// The forgotten messages that may be handled again, because a clock was ahead.
    excused: BTreeSet<HyphenatedUuid>,
    /// The latest deliveries that were acknowledged.
    deliveries: VecDeque<Request<Bytes>>,
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
    /// The rows that were marked as possible later forms of other rows, for a person to decide.
    undecided: BTreeSet<String>,
    /// The entry of each id, including ids that another system than the biller's may have stored.
    ids: BTreeMap<String, Listed>,
}

/// The model's copy of the biller's stores, and of the tables beside them.
#[derive(Debug)]
pub(crate) struct BillerCopy {
    received: BTreeMap<HyphenatedUuid, EntryId>,
    states: BTreeMap<EntryId, InboxState>,
    leases: BTreeMap<EntryId, Lease>,
    handled: BTreeMap<HyphenatedUuid, u32>,
    added: BTreeMap<Listed, usize>,
    rows: BTreeMap<String, Listed>,
}

/// The model's copy of the provider's stores.
#[derive(Debug)]
pub(crate) struct ProviderCopy {
    enqueued: BTreeSet<HyphenatedUuid>,
    delivered: BTreeSet<HyphenatedUuid>,
    tokens: BTreeMap<String, Issued>,
    assertions: BTreeMap<String, u32>,
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

#[derive(Clone, Debug)]
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
    /// Returns the entries of days before today of which the biller has more forms than one: each
    /// was corrected or completed at most once, to an amount of the same ten cents.
    fn doubled(&self) -> Vec<String> {
        let form = |(account, cents, booked, day): &Listed| {
            let first = if *cents == TWIN + 1 {
                TWIN
            } else {
                cents / 10 * 10
            };
            (account.clone(), first, *booked, *day)
        };
        let mut listed: BTreeMap<Listed, BTreeSet<u64>> = BTreeMap::new();
        for (entry, versions) in &self.ever_listed {
            let numbers = versions.iter().map(|version| version / 4);
            listed.entry(form(entry)).or_default().extend(numbers);
        }
        let mut rows: BTreeMap<Listed, usize> = BTreeMap::new();
        let old = self.rows.iter().filter(|(_, row)| row.3 < self.today);
        for (_, row) in old.filter(|(id, _)| !self.undecided.contains(*id)) {
            *rows.entry(form(row)).or_default() += 1;
        }
        rows.retain(|row, count| *count > listed.get(row).map_or(0, BTreeSet::len));
        let doubled = rows
            .iter()
            .map(|(row, count)| format!("the biller has {row:?} of an earlier day {count} times"));
        doubled.collect()
    }

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
        let kept = state.ever_received.contains(&id) || state.acknowledged.contains(&id);
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
    pub(crate) fn received(&self, message: &Incoming, outcome: &ReceiveOutcome, now: Timestamp) {
        let Some((headers, _)) = DeliveryHeaders::from_attributes(&message.attributes) else {
            return;
        };
        let id = headers.message_id;
        let mut state = lock(&self.state);
        let entry = outcome.id();
        let before = state.received.insert(id, entry);
        state.ever_received.insert(id);
        if self.world.kind == Kind::Retention {
            self.received_again(&mut state, id, now);
        }
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
    pub(crate) fn updated(
        &self,
        id: EntryId,
        owner: LeaseOwner,
        update: InboxUpdate<'_>,
        now: Timestamp,
    ) {
        let mut state = lock(&self.state);
        if update.state == InboxState::Completed {
            state.completed.insert(id, now);
        }
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
        let times = *times;
        if times > 1 && planned.once && !state.excused.contains(&id) {
            self.world
                .violated(format_args!("{} was handled twice", planned.name));
        }
    }

    // ---- old records

    /// A sweep asks for younger records than those that it may forget.
    pub(crate) fn forgets_too_soon(&self, what: &str, before: Timestamp) {
        self.world.violated(format_args!(
            "the {what} is to forget what is older than {before}"
        ));
    }

    pub(crate) fn inbox_entries(&self) -> Vec<EntryId> {
        let state = lock(&self.state);
        state.received.values().copied().collect()
    }

    /// The inbox has forgotten entries, those that were completed before an instant, by a clock
    /// with this time.
    pub(crate) fn inbox_forgotten(&self, gone: &[EntryId], before: Timestamp, by: Timestamp) {
        let mut state = lock(&self.state);
        for id in gone {
            let completed = state.completed.get(id).copied();
            let is_over = state.states.remove(id) == Some(InboxState::Completed);
            let old = completed.filter(|at| is_over && *at < before);
            let Some(completed) = old else {
                self.world.violated(format_args!(
                    "entry {id} was forgotten, which was completed at {completed:?}"
                ));
                continue;
            };
            let ahead = by.saturating_since(self.world.now()) > EXPIRY_GRACE;
            let clock = if ahead {
                " by a clock that is ahead"
            } else {
                ""
            };
            self.world.mark(format_args!("inbox: forgotten{clock}"));
            self.world
                .note(format_args!("entry {id} is forgotten{clock}"));
            let (gone, kept) = std::mem::take(&mut state.received)
                .into_iter()
                .partition::<BTreeMap<_, _>, _>(|(_, own)| own == id);
            state.received = kept;
            let gone = gone.into_keys().map(|message| (message, (by, completed)));
            state.forgotten.extend(gone);
        }
    }

    /// The inbox has accepted a message, which it may have forgotten.
    fn received_again(&self, state: &mut State, id: HyphenatedUuid, now: Timestamp) {
        // All messages of a run are made at its beginning.
        let made = self.world.begin();
        if now.saturating_since(made) > INBOX_RETENTION {
            self.world.violated(format_args!(
                "{} was accepted at {now}, older than the inbox remembers",
                self.name(&id)
            ));
        }
        let Some((by, completed)) = state.forgotten.remove(&id) else {
            return;
        };
        self.world.mark(format_args!("received: forgotten before"));
        self.world
            .note(format_args!("{} was forgotten before", self.name(&id)));
        // Between two clocks that differ by less than the grace, what is forgotten is too old to be
        // accepted.
        let differ = by.saturating_since(now) + made.saturating_since(completed);
        if differ <= EXPIRY_GRACE {
            self.world.violated(format_args!(
                "{} was forgotten by {by} and accepted at {now}",
                self.name(&id)
            ));
        }
        state.excused.insert(id);
    }

    /// The outbox has forgotten messages.
    pub(crate) fn outbox_forgotten(
        &self,
        forgotten: u64,
        before: &OutboxCounts,
        after: &OutboxCounts,
    ) {
        if forgotten > 0 {
            self.world.mark(format_args!("outbox: forgotten"));
            self.world.note(format_args!(
                "{forgotten} messages of the outbox are forgotten"
            ));
        }
        let open = |counts: &OutboxCounts| (counts.pending, counts.dead_letters);
        if open(before) != open(after) {
            self.world.violated(format_args!(
                "the outbox has forgotten what was not delivered: {before:?}, {after:?}"
            ));
        }
    }

    /// The store has forgotten entries of days before this one.
    pub(crate) fn entries_forgotten(&self, forgotten: u64, day: Date) {
        if forgotten > 0 {
            self.world.mark(format_args!("seen: forgotten"));
            self.world.note(format_args!(
                "{forgotten} entries before {day} are forgotten"
            ));
        }
        // Each account has one entry of long ago.
        if day >= self.world.first_day() && forgotten > 1 {
            self.world
                .violated(format_args!("entries before {day} are forgotten"));
        }
    }

    /// Returns the entries of the inbox that were completed before an instant and are still there.
    pub(crate) fn not_forgotten(&self, before: Timestamp) -> Vec<EntryId> {
        let state = lock(&self.state);
        let left = state.received.values().filter(|id| {
            state.states.get(id) == Some(&InboxState::Completed)
                && state.completed.get(id).is_some_and(|at| *at < before)
        });
        left.copied().collect()
    }

    /// Returns the latest requests that were answered with success: deliveries, and those to the
    /// provider.
    pub(crate) fn old_requests(&self) -> [Vec<Request<Bytes>>; 2] {
        let state = lock(&self.state);
        [&state.deliveries, &state.exchanges].map(|requests| requests.iter().cloned().collect())
    }

    // ---- restored stores

    pub(crate) fn copy_biller(&self) -> BillerCopy {
        let state = lock(&self.state);
        BillerCopy {
            received: state.received.clone(),
            states: state.states.clone(),
            leases: state.leases.clone(),
            handled: state.handled.clone(),
            added: state.added.clone(),
            rows: state.rows.clone(),
        }
    }

    /// The biller's stores are those of the copy again, with the tables beside them. The effects of
    /// a handler elsewhere stay.
    pub(crate) fn restore_biller(&self, copy: BillerCopy) {
        let mut state = lock(&self.state);
        let lost = state.received.len() - copy.received.len();
        self.world.mark(format_args!("biller restored"));
        if lost > 0 {
            self.world
                .mark(format_args!("biller restored: messages lost"));
        }
        if copy.rows != state.rows {
            self.world
                .mark(format_args!("biller restored: other entries"));
        }
        let (_, elsewhere): (Vec<_>, Vec<_>) = std::mem::take(&mut state.handled)
            .into_iter()
            .partition(|(id, _)| self.planned.get(id).is_some_and(|planned| planned.once));
        state.handled = copy.handled;
        state.handled.extend(elsewhere);
        state.received = copy.received;
        state.states = copy.states;
        state.leases = copy.leases;
        state.added = copy.added;
        state.rows = copy.rows;
    }

    pub(crate) fn copy_provider(&self) -> ProviderCopy {
        let state = lock(&self.state);
        ProviderCopy {
            enqueued: state.enqueued.clone(),
            delivered: state.delivered.clone(),
            tokens: state.tokens.clone(),
            assertions: state.assertions.clone(),
        }
    }

    /// The provider's stores are those of the copy again. Returns the tokens that were revoked
    /// since: they are valid again.
    pub(crate) fn restore_provider(&self, copy: ProviderCopy) -> Vec<String> {
        let mut state = lock(&self.state);
        self.world.mark(format_args!("provider restored"));
        for (what, is_other) in [
            ("messages lost", state.enqueued != copy.enqueued),
            ("delivers again", state.delivered != copy.delivered),
            ("tokens lost", state.tokens.len() > copy.tokens.len()),
            ("assertions lost", state.assertions != copy.assertions),
        ] {
            if is_other {
                self.world.mark(format_args!("provider restored: {what}"));
            }
        }
        let is_revoked = |token: &String| {
            let issued = state.tokens.get(token);
            issued.is_some_and(|issued| issued.revoked.is_some())
        };
        let valid = copy
            .tokens
            .iter()
            .filter(|(_, issued)| issued.revoked.is_none());
        let again = valid.map(|(token, _)| token.clone()).filter(is_revoked);
        let again = again.collect();
        state.enqueued = copy.enqueued;
        state.delivered = copy.delivered;
        state.tokens = copy.tokens;
        state.assertions = copy.assertions;
        again
    }

    /// Returns true if a provider's clock was set.
    pub(crate) fn were_clocks_set(&self) -> bool {
        lock(&self.state).clock_sets > 0
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
        if status != 200 || path == KEYS_PATH {
            return;
        }
        let mut state = lock(&self.state);
        if !path.ends_with("/auth") && self.world.kind == Kind::Retention {
            state.exchanges.push_front(request.clone());
            state.exchanges.truncate(4);
        }
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
        let mut state = lock(&self.state);
        if status == 200 && self.world.kind == Kind::Retention {
            state.deliveries.push_front(request.clone());
            state.deliveries.truncate(4);
        }
        let is_kept = id.is_some_and(|id| state.received.contains_key(&id));
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
                    let is_booked = movement.status == bankrail_camt052::EntryStatus::BOOKED;
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
                    let id = format!("{account} {}", movement.id);
                    let has = |earlier| state.rows.contains_key(&format!("{account} {earlier}"));
                    if movement.may_replace.iter().any(has) {
                        let late = movement.booked_on < state.today;
                        let of = if late { " of yesterday" } else { "" };
                        self.world
                            .mark(format_args!("entry may replace another{of}"));
                        state.undecided.insert(id.clone());
                    }
                    let of_id = state.ids.entry(id).or_insert_with(|| row.clone());
                    if *of_id != row {
                        self.world.violated(format_args!(
                            "{of_id:?} and {row:?} were handed over under one id"
                        ));
                    }
                    if state
                        .rows
                        .insert(format!("{account} {}", movement.id), row.clone())
                        .is_some()
                    {
                        self.world
                            .violated(format_args!("{row:?} was handed over twice"));
                    }
                    let ever = state.ever_listed.get(&row).map_or(0, BTreeSet::len);
                    // Also before a restored store forgot it: another system knows it by its id.
                    let ids = state.ids.values().filter(|other| **other == row).count();
                    if ids > ever {
                        self.world.violated(format_args!(
                            "{row:?} was handed over under {ids} ids, and {ever} were listed"
                        ));
                    }
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
        open.extend(state.doubled());
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
