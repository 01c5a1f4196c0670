//! The outbox: messages to deliver.

use super::{Parts, run};
use bankrail_mailbox::{
    Circuit, DeliveryRecord, Disposition, EndpointId, Enqueued, EntryId, Intervention, Lease,
    LeaseCandidate, LeaseOwner, LeaseRequest, Outbox, OutboxEntry, OutboxState, Outgoing,
    StoppedEndpoint,
};
use bankrail_values::{HyphenatedUuid, StoreErrorKind, StoreFuture, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

mod operator;

/// The outbox of a [`MemoryStore`](super::MemoryStore).
#[derive(Clone, Debug)]
pub struct MemoryOutbox {
    pub(super) parts: Arc<Parts>,
}

#[derive(Clone, Default)]
pub(super) struct Messages {
    last: u64,
    entries: BTreeMap<EntryId, Stored>,
    ids: HashMap<(EndpointId, HyphenatedUuid), EntryId>,
    pending: BTreeSet<(Timestamp, EntryId)>,
    stopped: BTreeMap<EndpointId, StoppedEndpoint>,
    circuits: BTreeMap<EndpointId, Circuit>,
}

#[derive(Clone)]
struct Stored {
    entry: OutboxEntry,
    deliveries: Vec<DeliveryRecord>,
    lease: Option<Lease>,
    finished: Option<Timestamp>,
    dropped: Option<Intervention>,
}

/// The entries of one endpoint that may be leased.
struct Queue {
    /// The turn of the endpoint's next candidate.
    turn: u32,
    /// The number of further candidates.
    open: u32,
    slow: bool,
}

impl Outbox for MemoryOutbox {
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued> {
        run(&self.parts.outbox, move |messages| {
            let name = (message.endpoint.clone(), message.message_id);
            if let Some(&id) = messages.ids.get(&name) {
                let stored = messages
                    .entries
                    .get(&id)
                    .is_some_and(|stored| stored.entry.message.has_same_content(message));
                return if stored {
                    Ok(Enqueued::AlreadyStored(id))
                } else {
                    Err(StoreErrorKind::Conflict.into())
                };
            }
            if messages.entries.len() >= self.parts.capacity {
                return Err(StoreErrorKind::Full.into());
            }
            messages.last += 1;
            let id = EntryId::new(messages.last);
            let entry = OutboxEntry::new(id, message.clone(), now);
            messages.entries.insert(
                id,
                Stored {
                    entry,
                    deliveries: Vec::new(),
                    lease: None,
                    finished: None,
                    dropped: None,
                },
            );
            messages.ids.insert(name, id);
            messages.pending.insert((now, id));
            Ok(Enqueued::New(id))
        })
    }

    fn lease<'a>(
        &'a self,
        request: LeaseRequest<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<OutboxEntry>> {
        run(&self.parts.outbox, move |messages| {
            let mut leased: HashMap<&EndpointId, u32> = HashMap::new();
            for stored in messages
                .pending()
                .filter(|stored| stored.lease.is_some_and(|lease| !lease.is_over(now)))
            {
                *leased.entry(&stored.entry.message.endpoint).or_default() += 1;
            }
            let slow: HashSet<_> = request.slow.iter().collect();
            let queue_of = |endpoint: &EndpointId| {
                let leased = leased.get(endpoint).copied().unwrap_or(0);
                let slow = slow.contains(endpoint);
                let circuit = messages.circuits.get(endpoint).copied().unwrap_or_default();
                let limit = if slow {
                    request.slow_limit
                } else {
                    request.limit
                };
                let open = match circuit.bound(request.per_endpoint).saturating_sub(leased) {
                    // A lease that is already over does not count.
                    1.. if request.lease.is_over(now) => limit,
                    slots => slots.min(limit),
                };
                let barred = messages.stopped.contains_key(endpoint) || circuit.is_held(now);
                Queue {
                    turn: leased,
                    open: if barred { 0 } else { open },
                    slow,
                }
            };
            let mut queues: HashMap<&EndpointId, Queue> = HashMap::new();
            let mut candidates = Vec::new();
            for (_, id) in messages.pending.iter().take_while(|(due, _)| *due <= now) {
                let Some(stored) = messages.entries.get(id) else {
                    continue;
                };
                let endpoint = &stored.entry.message.endpoint;
                let queue = queues.entry(endpoint).or_insert_with(|| queue_of(endpoint));
                if queue.open > 0 && stored.lease.is_none_or(|lease| lease.is_over(now)) {
                    let turn = queue.turn;
                    let slow = queue.slow;
                    candidates.push(LeaseCandidate {
                        id: *id,
                        endpoint: endpoint.as_str().to_owned(),
                        turn,
                        slow,
                    });
                    queue.turn = queue.turn.saturating_add(1);
                    queue.open -= 1;
                }
            }
            let mut entries = Vec::new();
            for id in request.choose(candidates) {
                if let Some(stored) = messages.entries.get_mut(&id) {
                    stored.lease = Some(request.lease);
                    let mut entry = stored.entry.clone();
                    entry.circuit = messages.circuits.get(&entry.message.endpoint).copied();
                    entries.push(entry);
                }
            }
            Ok(entries)
        })
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
        run(&self.parts.outbox, move |messages| {
            if let Some(endpoint) = answered {
                let circuit = messages.circuits.remove(endpoint);
                let rest = circuit.and_then(|circuit| circuit.closed(now));
                messages
                    .circuits
                    .extend(rest.map(|rest| (endpoint.clone(), rest)));
            }
            let Some(stored) = messages.owned(id, owner) else {
                return Ok(false);
            };
            // Whole milliseconds, as in every engine.
            let millis = i64::try_from(delivery.duration.as_millis())
                .unwrap_or(i64::MAX)
                .unsigned_abs();
            let duration = std::time::Duration::from_millis(millis);
            stored.deliveries.push(DeliveryRecord {
                duration,
                ..delivery.clone()
            });
            stored.entry.deliveries = stored.entry.deliveries.saturating_add(1);
            stored.lease = None;
            let state = match disposition {
                Disposition::RetryAt(due) => {
                    messages.make_pending(id, due);
                    return Ok(true);
                }
                Disposition::Delivered => OutboxState::Delivered,
                Disposition::DeadLetter => OutboxState::DeadLetter,
            };
            messages.finish(id, state, now);
            Ok(true)
        })
    }

    fn release(&self, id: EntryId, owner: LeaseOwner, due: Timestamp) -> StoreFuture<'_, bool> {
        run(&self.parts.outbox, move |messages| {
            let Some(stored) = messages.owned(id, owner) else {
                return Ok(false);
            };
            stored.lease = None;
            messages.make_pending(id, due);
            Ok(true)
        })
    }

    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        run(&self.parts.outbox, move |messages| {
            let mut released = 0;
            for stored in messages.entries.values_mut() {
                if stored
                    .lease
                    .is_some_and(|lease| owners.contains(&lease.owner))
                {
                    stored.lease = None;
                    released += 1;
                }
            }
            Ok(released)
        })
    }

    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        run(&self.parts.outbox, move |messages| {
            let lasts = |circuit: &Circuit| circuit.held_until() <= Some(latest);
            messages.circuits.retain(|_, circuit| lasts(circuit));
            let is_ahead = |stored: &&Stored| {
                let leased = stored.lease.is_some_and(|lease| lease.until > latest);
                leased || stored.entry.due > latest
            };
            let ahead: Vec<EntryId> = messages
                .pending()
                .filter(is_ahead)
                .map(|stored| stored.entry.id)
                .collect();
            for &id in &ahead {
                if let Some(stored) = messages.entries.get_mut(&id) {
                    stored.lease = stored.lease.filter(|lease| lease.until <= latest);
                    if stored.entry.due > latest {
                        messages.make_pending(id, now);
                    }
                }
            }
            Ok(u64::try_from(ahead.len()).unwrap_or(u64::MAX))
        })
    }

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        run(&self.parts.outbox, move |messages| {
            let next = messages.open().map(|Stored { entry, lease, .. }| {
                let circuit = messages.circuits.get(&entry.message.endpoint);
                let held = circuit.and_then(Circuit::held_until);
                let leased = lease.map(|lease| lease.until);
                entry.due.max(held.max(leased).unwrap_or(entry.due))
            });
            Ok(next.min())
        })
    }

    fn hold_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        circuit: Circuit,
    ) -> StoreFuture<'a, ()> {
        run(&self.parts.outbox, move |messages| {
            let known = messages.circuits.entry(endpoint.clone()).or_default();
            *known = known.joined(circuit);
            Ok(())
        })
    }

    fn retry_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        run(&self.parts.outbox, move |messages| {
            messages.make_due(endpoint, now);
            if let Some(circuit) = messages.circuits.get_mut(endpoint) {
                circuit.open_until = None;
            }
            Ok(())
        })
    }

    fn stop_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        run(&self.parts.outbox, move |messages| {
            let stopped = || StoppedEndpoint::new(endpoint.clone(), now, intervention.clone());
            messages
                .stopped
                .entry(endpoint.clone())
                .or_insert_with(stopped);
            Ok(())
        })
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        run(&self.parts.outbox, move |messages| {
            let held = messages.entries.len();
            messages.entries.retain(
                |_,
                 Stored {
                     entry, finished, ..
                 }| {
                    let done = matches!(entry.state, OutboxState::Delivered | OutboxState::Dropped);
                    let old = done && finished.is_some_and(|finished| finished < before);
                    if old {
                        messages
                            .ids
                            .remove(&(entry.message.endpoint.clone(), entry.message.message_id));
                    }
                    !old
                },
            );
            Ok(u64::try_from(held - messages.entries.len()).unwrap_or(u64::MAX))
        })
    }
}

impl Messages {
    /// Moves an entry from the pending ones to this state.
    fn finish(&mut self, id: EntryId, state: OutboxState, now: Timestamp) {
        if let Some(stored) = self.entries.get_mut(&id) {
            stored.entry.state = state;
            stored.finished = Some(now);
            self.pending.remove(&(stored.entry.due, id));
        }
    }

    /// Returns an entry that the owner has leased.
    fn owned(&mut self, id: EntryId, owner: LeaseOwner) -> Option<&mut Stored> {
        self.entries
            .get_mut(&id)
            .filter(|stored| stored.lease.is_some_and(|lease| lease.owner == owner))
    }

    fn make_pending(&mut self, id: EntryId, due: Timestamp) {
        if let Some(stored) = self.entries.get_mut(&id) {
            self.pending.remove(&(stored.entry.due, id));
            stored.entry.state = OutboxState::Pending;
            stored.entry.due = due;
            stored.finished = None;
            self.pending.insert((due, id));
        }
    }

    /// Makes the entries that wait for an endpoint due.
    fn make_due(&mut self, endpoint: &EndpointId, now: Timestamp) {
        let waiting = self.pending().map(|stored| &stored.entry);
        let waiting =
            waiting.filter(|entry| entry.due > now && entry.message.endpoint == *endpoint);
        let ids: Vec<_> = waiting.map(|entry| entry.id).collect();
        ids.into_iter().for_each(|id| self.make_pending(id, now));
    }

    fn pending(&self) -> impl Iterator<Item = &Stored> {
        self.pending
            .iter()
            .filter_map(|(_, id)| self.entries.get(id))
    }

    /// Returns the pending entries of endpoints that are not stopped.
    fn open(&self) -> impl Iterator<Item = &Stored> {
        self.pending()
            .filter(|stored| !self.stopped.contains_key(&stored.entry.message.endpoint))
    }
}
