//! A plain model of an outbox, to compare engines with.

use super::ready;
use crate::lease::{EntryId, Lease, LeaseOwner};
use crate::outbox::{
    Circuit, DeliveryRecord, Disposition, DropOutcome, EndpointBacklog, EndpointCircuit,
    EndpointId, Enqueued, Intervention, LeaseRequest, Outbox, OutboxCounts, OutboxEntry,
    OutboxOperator, OutboxQuery, OutboxState, OutboxSummary, Outgoing, StoppedEndpoint,
};
use bankrail_values::{StoreErrorKind, StoreFuture, Timestamp};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An outbox in a list that is searched from the start, for tests only: it is lost at the end of
/// the process.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct ModelOutbox(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    stored: Vec<Stored>,
    stopped: Vec<StoppedEndpoint>,
    circuits: BTreeMap<EndpointId, Circuit>,
    last: u64,
}

#[derive(Debug)]
struct Stored {
    entry: OutboxEntry,
    lease: Option<Lease>,
    deliveries: Vec<DeliveryRecord>,
    finished_at: Option<Timestamp>,
    dropped: Option<Intervention>,
}

impl State {
    fn make_due(&mut self, endpoint: &EndpointId, now: Timestamp) {
        for entry in self.stored.iter_mut().map(|stored| &mut stored.entry) {
            if entry.message.endpoint == *endpoint && entry.state == OutboxState::Pending {
                entry.due = entry.due.min(now);
            }
        }
    }
}

impl Stored {
    fn summary(&self) -> OutboxSummary {
        OutboxSummary {
            leased_until: self.lease.map(|lease| lease.until),
            finished_at: self.finished_at,
            dropped: self.dropped.clone(),
            ..OutboxSummary::of(&self.entry)
        }
    }

    fn finish(&mut self, state: OutboxState, now: Timestamp) {
        self.entry.state = state;
        self.finished_at = Some(now);
    }

    fn resend(&mut self, now: Timestamp) -> bool {
        let ended = matches!(
            self.entry.state,
            OutboxState::DeadLetter | OutboxState::Delivered
        );
        if ended {
            self.entry.state = OutboxState::Pending;
            self.entry.deliveries = 0;
            self.entry.due = now;
            self.finished_at = None;
        }
        ended
    }
}

impl ModelOutbox {
    /// Creates an empty outbox.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, id: EntryId, change: impl FnOnce(&mut Stored) -> bool) -> bool {
        self.state()
            .stored
            .iter_mut()
            .find(|stored| stored.entry.id == id)
            .is_some_and(change)
    }

    fn as_owner(&self, id: EntryId, owner: LeaseOwner, change: impl FnOnce(&mut Stored)) -> bool {
        self.change(id, |stored| {
            let is_owner = stored.lease.is_some_and(|lease| lease.owner == owner);
            if is_owner {
                change(stored);
            }
            is_owner
        })
    }
}

impl Outbox for ModelOutbox {
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued> {
        let mut state = self.state();
        let same = |stored: &&Stored| {
            let there = &stored.entry.message;
            there.endpoint == message.endpoint && there.message_id == message.message_id
        };
        if let Some(stored) = state.stored.iter().find(same) {
            let same = stored
                .entry
                .message
                .has_same_content(message)
                .then_some(Enqueued::AlreadyStored(stored.entry.id));
            return Box::pin(std::future::ready(
                same.ok_or_else(|| StoreErrorKind::Conflict.into()),
            ));
        }
        state.last += 1;
        let id = EntryId::new(state.last);
        state.stored.push(Stored {
            entry: OutboxEntry {
                id,
                message: message.clone(),
                state: OutboxState::Pending,
                enqueued_at: now,
                due: now,
                deliveries: 0,
                circuit: None,
            },
            lease: None,
            deliveries: Vec::new(),
            finished_at: None,
            dropped: None,
        });
        ready(Enqueued::New(id))
    }

    fn lease<'a>(
        &'a self,
        request: LeaseRequest<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<OutboxEntry>> {
        let mut state = self.state();
        let held = |stored: &Stored| stored.lease.is_some_and(|lease| !lease.is_over(now));
        let of = |endpoint: &EndpointId, counts: &dyn Fn(&Stored) -> bool| {
            let count = state
                .stored
                .iter()
                .filter(|s| s.entry.message.endpoint == *endpoint && counts(s))
                .count();
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        let free =
            |s: &Stored| s.entry.state == OutboxState::Pending && s.entry.due <= now && !held(s);
        let mut candidates = Vec::new();
        for entry in state
            .stored
            .iter()
            .filter(|stored| free(stored))
            .map(|stored| &stored.entry)
        {
            let endpoint = &entry.message.endpoint;
            let barred = state.stopped.iter().any(|s| s.endpoint == *endpoint);
            let circuit = state.circuits.get(endpoint).copied().unwrap_or_default();
            let per_endpoint = circuit.bound(request.per_endpoint);
            let leased = of(endpoint, &held);
            let before = of(endpoint, &|s| {
                free(s) && (s.entry.due, s.entry.id) < (entry.due, entry.id)
            });
            let full = leased >= per_endpoint;
            let over = leased.saturating_add(before) >= per_endpoint && !request.lease.is_over(now);
            if !barred && !circuit.is_held(now) && !full && !over {
                let slow = request.slow.contains(endpoint);
                let last = if slow {
                    request.slow_after
                } else {
                    request.after
                };
                let in_this_round = last.is_none_or(|last| endpoint > last);
                candidates.push((
                    slow,
                    leased.saturating_add(before),
                    !in_this_round,
                    endpoint.clone(),
                    entry.id,
                ));
            }
        }
        candidates.sort_unstable();
        let mut chosen: Vec<(bool, EntryId)> = Vec::new();
        for (slow, turn, _, _, id) in candidates {
            let limit = if slow {
                request.slow_limit
            } else {
                request.limit
            };
            let taken = u32::try_from(chosen.iter().filter(|(other, _)| *other == slow).count())
                .unwrap_or(u32::MAX);
            if taken < limit && limit - taken > turn.saturating_mul(request.reserve) {
                chosen.push((slow, id));
            }
        }
        let mut leased = Vec::new();
        for (_, id) in chosen {
            if let Some(stored) = state.stored.iter_mut().find(|stored| stored.entry.id == id) {
                stored.lease = Some(request.lease);
                leased.push(stored.entry.clone());
            }
        }
        for entry in &mut leased {
            entry.circuit = state.circuits.get(&entry.message.endpoint).copied();
        }
        ready(leased)
    }

    fn record<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        delivery: &'a DeliveryRecord,
        disposition: Disposition,
        answered: Option<&'a EndpointId>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        if let Some(endpoint) = answered {
            let mut state = self.state();
            let rest = state
                .circuits
                .remove(endpoint)
                .and_then(|circuit| circuit.closed(now));
            state
                .circuits
                .extend(rest.map(|rest| (endpoint.clone(), rest)));
        }
        ready(self.as_owner(id, owner, |stored| {
            stored.lease = None;
            stored.deliveries.push(delivery.clone());
            stored.entry.deliveries += 1;
            match disposition {
                Disposition::Delivered => stored.finish(OutboxState::Delivered, now),
                Disposition::RetryAt(due) => stored.entry.due = due,
                Disposition::DeadLetter => stored.finish(OutboxState::DeadLetter, now),
            }
        }))
    }

    fn release(&self, id: EntryId, owner: LeaseOwner, due: Timestamp) -> StoreFuture<'_, bool> {
        ready(self.as_owner(id, owner, |stored| {
            stored.lease = None;
            stored.entry.due = due;
        }))
    }

    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        let mut state = self.state();
        let owned = |stored: &&mut Stored| {
            stored
                .lease
                .is_some_and(|lease| owners.contains(&lease.owner))
        };
        let leased = state.stored.iter_mut().filter(owned);
        ready(leased.map(|stored| stored.lease = None).map(|()| 1).sum())
    }

    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        let mut state = self.state();
        let held = |circuit: &Circuit| circuit.held_until() > Some(latest);
        state.circuits.retain(|_, circuit| !held(circuit));
        let pending = state.stored.iter_mut();
        let pending = pending.filter(|stored| stored.entry.state == OutboxState::Pending);
        let recalled = pending.map(|stored| {
            let leased = stored.lease.filter(|lease| lease.until <= latest);
            let ended = std::mem::replace(&mut stored.lease, leased) != leased;
            let late = stored.entry.due > latest;
            if late {
                stored.entry.due = now;
            }
            u64::from(ended || late)
        });
        ready(recalled.sum())
    }

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        let state = self.state();
        let running = state.stored.iter().filter(|stored| {
            let endpoint = &stored.entry.message.endpoint;
            stored.entry.state == OutboxState::Pending
                && !state.stopped.iter().any(|s| s.endpoint == *endpoint)
        });
        let next = running.map(|stored| {
            let due = stored.entry.due;
            let next = stored.lease.map_or(due, |lease| due.max(lease.until));
            let held = state
                .circuits
                .get(&stored.entry.message.endpoint)
                .and_then(Circuit::held_until);
            held.map_or(next, |held| held.max(next))
        });
        ready(next.min())
    }

    fn hold_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        circuit: Circuit,
    ) -> StoreFuture<'a, ()> {
        let mut state = self.state();
        let kept = state.circuits.get(endpoint).copied().unwrap_or_default();
        state
            .circuits
            .insert(endpoint.clone(), kept.joined(circuit));
        ready(())
    }

    fn retry_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        let mut state = self.state();
        state.make_due(endpoint, now);
        if let Some(circuit) = state.circuits.get_mut(endpoint) {
            circuit.open_until = None;
        }
        ready(())
    }

    fn stop_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        let mut state = self.state();
        if !state
            .stopped
            .iter()
            .any(|stopped| stopped.endpoint == *endpoint)
        {
            let (endpoint, intervention) = (endpoint.clone(), intervention.clone());
            state.stopped.push(StoppedEndpoint {
                endpoint,
                since: now,
                intervention,
            });
            state.stopped.sort_by(|a, b| a.endpoint.cmp(&b.endpoint));
        }
        ready(())
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        let mut state = self.state();
        let length = state.stored.len();
        state.stored.retain(|stored| {
            let done = matches!(
                stored.entry.state,
                OutboxState::Delivered | OutboxState::Dropped
            );
            !done || stored.finished_at >= Some(before)
        });
        let forgotten = length - state.stored.len();
        ready(u64::try_from(forgotten).unwrap_or(u64::MAX))
    }
}

impl OutboxOperator for ModelOutbox {
    fn circuits(&self) -> StoreFuture<'_, Vec<EndpointCircuit>> {
        let circuits = self.state().circuits.clone();
        ready(
            circuits
                .into_iter()
                .map(|(endpoint, circuit)| EndpointCircuit { endpoint, circuit })
                .collect(),
        )
    }

    fn deliveries(&self, id: EntryId) -> StoreFuture<'_, Vec<DeliveryRecord>> {
        let state = self.state();
        let stored = state.stored.iter().find(|stored| stored.entry.id == id);
        ready(
            stored
                .map(|stored| stored.deliveries.clone())
                .unwrap_or_default(),
        )
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>> {
        ready(
            self.state()
                .stored
                .iter()
                .find(|stored| stored.entry.id == id)
                .map(|stored| stored.entry.clone()),
        )
    }

    fn list<'a>(&'a self, query: &'a OutboxQuery) -> StoreFuture<'a, Vec<OutboxSummary>> {
        let summaries = self
            .state()
            .stored
            .iter()
            .map(Stored::summary)
            .collect::<Vec<_>>();
        let listed = summaries.into_iter().filter(|entry| {
            Some(entry.id) > query.after
                && query
                    .endpoint
                    .as_ref()
                    .is_none_or(|endpoint| entry.endpoint == *endpoint)
                && query.state.is_none_or(|state| entry.state == state)
                && query.kind.as_ref().is_none_or(|kind| entry.kind == *kind)
                && query
                    .enqueued_before
                    .is_none_or(|before| entry.enqueued_at < before)
        });
        ready(
            listed
                .take(usize::try_from(query.page()).unwrap_or(usize::MAX))
                .collect(),
        )
    }

    fn summary(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxSummary>> {
        ready(
            self.state()
                .stored
                .iter()
                .find(|stored| stored.entry.id == id)
                .map(Stored::summary),
        )
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        ready(self.change(id, |stored| stored.resend(now)))
    }

    fn resend_all<'a>(&'a self, endpoint: &'a EndpointId, now: Timestamp) -> StoreFuture<'a, u64> {
        let mut state = self.state();
        let dead = state.stored.iter_mut().filter(|stored| {
            stored.entry.message.endpoint == *endpoint
                && stored.entry.state == OutboxState::DeadLetter
        });
        ready(dead.map(|stored| u64::from(stored.resend(now))).sum())
    }

    fn drop_entry<'a>(
        &'a self,
        id: EntryId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, DropOutcome> {
        let mut outcome = DropOutcome::NotOpen;
        self.change(id, |stored| {
            let open = matches!(
                stored.entry.state,
                OutboxState::Pending | OutboxState::DeadLetter
            );
            match stored.lease.filter(|lease| !lease.is_over(now)) {
                Some(lease) => outcome = DropOutcome::Leased { until: lease.until },
                None if open => {
                    stored.lease = None;
                    stored.dropped = Some(intervention.clone());
                    stored.finish(OutboxState::Dropped, now);
                    outcome = DropOutcome::Dropped;
                }
                None => {}
            }
            true
        });
        ready(outcome)
    }

    fn resume_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let mut state = self.state();
        state.make_due(endpoint, now);
        state.circuits.remove(endpoint);
        let length = state.stopped.len();
        state
            .stopped
            .retain(|stopped| stopped.endpoint != *endpoint);
        ready(state.stopped.len() < length)
    }

    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>> {
        ready(self.state().stopped.clone())
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        let state = self.state();
        let mut waiting = state.stored.iter().filter(|stored| {
            let endpoint = &stored.entry.message.endpoint;
            stored.entry.state == OutboxState::Pending
                && !state.stopped.iter().any(|s| s.endpoint == *endpoint)
        });
        // Entries are in the order of enqueueing.
        ready(waiting.next().map(|stored| stored.entry.enqueued_at))
    }

    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts> {
        let mut counts = OutboxCounts::default();
        for stored in &self.state().stored {
            if endpoint.is_some_and(|endpoint| stored.entry.message.endpoint != *endpoint) {
                continue;
            }
            match stored.entry.state {
                OutboxState::Pending => counts.pending += 1,
                OutboxState::Delivered => counts.delivered += 1,
                OutboxState::DeadLetter => counts.dead_letters += 1,
                OutboxState::Dropped => counts.dropped += 1,
            }
        }
        ready(counts)
    }

    fn backlogs<'a>(
        &'a self,
        after: Option<&'a EndpointId>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<EndpointBacklog>> {
        let state = self.state();
        let mut names: Vec<&EndpointId> = state
            .stored
            .iter()
            .map(|stored| &stored.entry.message.endpoint)
            .collect();
        names.sort_unstable();
        names.dedup();
        let backlogs = names
            .into_iter()
            .filter(|name| after.is_none_or(|after| *name > after))
            .map(|name| {
                let of_state = |state: OutboxState| {
                    move |stored: &&Stored| {
                        stored.entry.message.endpoint == *name && stored.entry.state == state
                    }
                };
                let count = |wanted: OutboxState| {
                    u64::try_from(state.stored.iter().filter(of_state(wanted)).count())
                        .unwrap_or(u64::MAX)
                };
                EndpointBacklog {
                    endpoint: name.clone(),
                    pending: count(OutboxState::Pending),
                    dead_letters: count(OutboxState::DeadLetter),
                    oldest_due: state
                        .stored
                        .iter()
                        .filter(of_state(OutboxState::Pending))
                        .map(|s| s.entry.due)
                        .min(),
                }
            });
        let limit = usize::try_from(limit.min(OutboxQuery::MAX_LIMIT)).unwrap_or(usize::MAX);
        ready(
            backlogs
                .filter(|backlog| backlog.pending + backlog.dead_letters > 0)
                .take(limit)
                .collect(),
        )
    }
}
