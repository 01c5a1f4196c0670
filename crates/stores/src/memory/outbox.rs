//! The outbox: messages to deliver.

use super::{Parts, lock};
use bankrail_mailbox::{
    Circuit, DeliveryRecord, Disposition, DropOutcome, EndpointBacklog, EndpointCircuit, EndpointId, Enqueued, EntryId,
    Intervention, Lease, LeaseCandidate, LeaseOwner, LeaseRequest, Outbox, OutboxCounts, OutboxEntry, OutboxQuery,
    OutboxState, OutboxSummary, Outgoing, StoppedEndpoint,
};
use bankrail_values::{HyphenatedUuid, StoreError, StoreErrorKind, StoreFuture, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

mod operator;

/// The outbox of a [`MemoryStore`](super::MemoryStore).
#[derive(Clone, Debug)]
pub struct MemoryOutbox {
    pub(super) parts: Arc<Parts>,
}

#[derive(Default)]
pub(super) struct Messages {
    last: u64,
    entries: BTreeMap<EntryId, Stored>,
    ids: HashMap<(EndpointId, HyphenatedUuid), EntryId>,
    pending: BTreeSet<(Timestamp, EntryId)>,
    stopped: BTreeMap<String, StoppedEndpoint>,
    circuits: BTreeMap<EndpointId, Circuit>,
}

struct Stored {
    entry: OutboxEntry,
    deliveries: Vec<DeliveryRecord>,
    lease: Option<Lease>,
    finished: Option<Timestamp>,
    dropped: Option<Intervention>,
}

/// The entries of one endpoint that may be leased.
struct Queue {
    /// The turn of the next one.
    turn: u32,
    /// How many more may be candidates.
    open: u32,
    slow: bool,
}

impl Outbox for MemoryOutbox {
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued> {
        Box::pin(async move { lock(&self.parts.outbox).enqueue(message, now, self.parts.capacity) })
    }

    fn lease<'a>(&'a self, request: LeaseRequest<'a>, now: Timestamp) -> StoreFuture<'a, Vec<OutboxEntry>> {
        Box::pin(async move { Ok(lock(&self.parts.outbox).lease(request, now)) })
    }

    fn record<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        delivery: &'a DeliveryRecord,
        disposition: Disposition,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move { Ok(lock(&self.parts.outbox).record(id, owner, delivery, disposition, now)) })
    }

    fn release(&self, id: EntryId, owner: LeaseOwner, due: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            let mut messages = lock(&self.parts.outbox);
            let Some(stored) = messages.owned(id, owner) else { return Ok(false) };
            stored.lease = None;
            messages.make_pending(id, due);
            Ok(true)
        })
    }

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(async move {
            let messages = lock(&self.parts.outbox);
            let open = messages.pending().filter(|stored| !messages.is_stopped(stored));
            let next = open.map(|Stored { entry, lease, .. }| {
                let held = messages.circuits.get(&entry.message.endpoint).and_then(Circuit::held_until);
                [lease.map(|lease| lease.until), held].into_iter().flatten().fold(entry.due, Timestamp::max)
            });
            Ok(next.min())
        })
    }

    fn hold_endpoint<'a>(&'a self, endpoint: &'a EndpointId, circuit: Circuit) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let circuits = &mut lock(&self.parts.outbox).circuits;
            let kept = circuits.get(endpoint).copied().unwrap_or_default();
            circuits.insert(endpoint.clone(), kept.joined(circuit));
            Ok(())
        })
    }

    fn close_circuit<'a>(&'a self, endpoint: &'a EndpointId, openings: u32, now: Timestamp) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let circuits = &mut lock(&self.parts.outbox).circuits;
            if let Some(rest) = circuits.remove(endpoint).and_then(|kept| kept.closed(openings, now)) {
                circuits.insert(endpoint.clone(), rest);
            }
            Ok(())
        })
    }

    fn circuits(&self) -> StoreFuture<'_, Vec<EndpointCircuit>> {
        Box::pin(async move {
            let messages = lock(&self.parts.outbox);
            let circuit = |(endpoint, circuit): (&EndpointId, &Circuit)| EndpointCircuit {
                endpoint: endpoint.clone(),
                circuit: *circuit,
            };
            Ok(messages.circuits.iter().map(circuit).collect())
        })
    }

    fn deliveries(&self, id: EntryId) -> StoreFuture<'_, Vec<DeliveryRecord>> {
        Box::pin(async move {
            let messages = lock(&self.parts.outbox);
            Ok(messages.entries.get(&id).map(|stored| stored.deliveries.clone()).unwrap_or_default())
        })
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>> {
        Box::pin(async move { Ok(lock(&self.parts.outbox).entries.get(&id).map(|stored| stored.entry.clone())) })
    }

    fn list<'a>(&'a self, query: &'a OutboxQuery) -> StoreFuture<'a, Vec<OutboxSummary>> {
        Box::pin(async move { Ok(lock(&self.parts.outbox).list(query)) })
    }

    fn summary(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxSummary>> {
        Box::pin(async move { Ok(lock(&self.parts.outbox).entries.get(&id).map(Stored::summary)) })
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(async move { Ok(lock(&self.parts.outbox).resend(id, now)) })
    }

    fn resend_all<'a>(&'a self, endpoint: &'a EndpointId, now: Timestamp) -> StoreFuture<'a, u64> {
        Box::pin(async move { Ok(lock(&self.parts.outbox).resend_all(endpoint, now)) })
    }

    fn drop_entry<'a>(
        &'a self,
        id: EntryId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, DropOutcome> {
        Box::pin(async move { Ok(lock(&self.parts.outbox).drop_entry(id, intervention, now)) })
    }

    fn stop_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let (name, intervention) = (endpoint.clone(), intervention.clone());
            let stopped = StoppedEndpoint { endpoint: name, since: now, intervention };
            lock(&self.parts.outbox).stopped.entry(endpoint.as_str().to_owned()).or_insert(stopped);
            Ok(())
        })
    }

    fn resume_endpoint<'a>(&'a self, endpoint: &'a EndpointId) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let messages = &mut *lock(&self.parts.outbox);
            messages.circuits.remove(endpoint);
            Ok(messages.stopped.remove(endpoint.as_str()).is_some())
        })
    }

    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>> {
        Box::pin(async move { Ok(lock(&self.parts.outbox).stopped.values().cloned().collect()) })
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            let Messages { entries, ids, .. } = &mut *lock(&self.parts.outbox);
            let mut forgotten = 0;
            entries.retain(|_, Stored { entry, finished, .. }| {
                let done = matches!(entry.state, OutboxState::Delivered | OutboxState::Dropped);
                let old = done && finished.is_some_and(|finished| finished < before);
                if old {
                    forgotten += 1;
                    ids.remove(&(entry.message.endpoint.clone(), entry.message.message_id));
                }
                !old
            });
            Ok(forgotten)
        })
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(async move {
            let messages = lock(&self.parts.outbox);
            let open = messages.pending().filter(|stored| !messages.is_stopped(stored));
            Ok(open.min_by_key(|stored| stored.entry.id).map(|stored| stored.entry.enqueued_at))
        })
    }

    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts> {
        Box::pin(async move {
            let mut counts = OutboxCounts::default();
            for stored in lock(&self.parts.outbox).of(endpoint) {
                match stored.entry.state {
                    OutboxState::Pending => counts.pending += 1,
                    OutboxState::Delivered => counts.delivered += 1,
                    OutboxState::DeadLetter => counts.dead_letters += 1,
                    OutboxState::Dropped => counts.dropped += 1,
                }
            }
            Ok(counts)
        })
    }

    fn backlogs<'a>(&'a self, after: Option<&'a EndpointId>, limit: u32) -> StoreFuture<'a, Vec<EndpointBacklog>> {
        Box::pin(async move { Ok(lock(&self.parts.outbox).backlogs(after, limit)) })
    }
}

impl Messages {
    fn enqueue(&mut self, message: &Outgoing, now: Timestamp, capacity: usize) -> Result<Enqueued, StoreError> {
        let name = (message.endpoint.clone(), message.message_id);
        if let Some(&id) = self.ids.get(&name) {
            let stored = self.entries.get(&id).is_some_and(|stored| stored.entry.message.has_same_content(message));
            return if stored { Ok(Enqueued::Already(id)) } else { Err(StoreErrorKind::Conflict.into()) };
        }
        if self.entries.len() >= capacity {
            return Err(StoreErrorKind::Full.into());
        }
        self.last += 1;
        let id = EntryId::new(self.last);
        let (message, state) = (message.clone(), OutboxState::Pending);
        let entry = OutboxEntry { id, message, state, enqueued_at: now, due: now, deliveries: 0, circuit: None };
        self.entries.insert(id, Stored { entry, deliveries: Vec::new(), lease: None, finished: None, dropped: None });
        self.ids.insert(name, id);
        self.pending.insert((now, id));
        Ok(Enqueued::New(id))
    }

    fn lease(&mut self, request: LeaseRequest<'_>, now: Timestamp) -> Vec<OutboxEntry> {
        let mut leased: HashMap<&EndpointId, u32> = HashMap::new();
        for stored in self.pending().filter(|stored| stored.lease.is_some_and(|lease| !lease.is_over(now))) {
            *leased.entry(&stored.entry.message.endpoint).or_default() += 1;
        }
        let [except, slow] = [request.except, request.slow].map(|names| names.iter().collect::<HashSet<_>>());
        let queue_of = |endpoint: &EndpointId| {
            let leased = leased.get(endpoint).copied().unwrap_or(0);
            let slow = slow.contains(endpoint);
            let circuit = self.circuits.get(endpoint).copied().unwrap_or_default();
            let limit = if slow { request.slow_limit } else { request.limit };
            let open = match circuit.bound(request.per_endpoint).saturating_sub(leased) {
                // A lease that is already over does not count.
                1.. if request.lease.is_over(now) => limit,
                slots => slots.min(limit),
            };
            let barred =
                self.stopped.contains_key(endpoint.as_str()) || except.contains(endpoint) || circuit.is_held(now);
            Queue { turn: leased, open: if barred { 0 } else { open }, slow }
        };
        let mut queues: HashMap<&EndpointId, Queue> = HashMap::new();
        let mut candidates = Vec::new();
        for (_, id) in self.pending.iter().take_while(|(due, _)| *due <= now) {
            let Some(stored) = self.entries.get(id) else { continue };
            let endpoint = &stored.entry.message.endpoint;
            let queue = queues.entry(endpoint).or_insert_with(|| queue_of(endpoint));
            if queue.open > 0 && stored.lease.is_none_or(|lease| lease.is_over(now)) {
                let (turn, slow) = (queue.turn, queue.slow);
                candidates.push(LeaseCandidate { id: *id, endpoint: endpoint.as_str().to_owned(), turn, slow });
                queue.turn = queue.turn.saturating_add(1);
                queue.open -= 1;
            }
        }
        let mut entries = Vec::new();
        for id in request.choose(candidates) {
            if let Some(stored) = self.entries.get_mut(&id) {
                stored.lease = Some(request.lease);
                let circuit = self.circuits.get(&stored.entry.message.endpoint).copied();
                entries.push(OutboxEntry { circuit, ..stored.entry.clone() });
            }
        }
        entries
    }

    fn record(
        &mut self,
        id: EntryId,
        owner: LeaseOwner,
        delivery: &DeliveryRecord,
        disposition: Disposition,
        now: Timestamp,
    ) -> bool {
        let Some(stored) = self.owned(id, owner) else { return false };
        // Whole milliseconds, as in every engine.
        let millis = i64::try_from(delivery.duration.as_millis()).unwrap_or(i64::MAX).unsigned_abs();
        stored
            .deliveries
            .push(DeliveryRecord { duration: std::time::Duration::from_millis(millis), ..delivery.clone() });
        stored.entry.deliveries = stored.entry.deliveries.saturating_add(1);
        stored.lease = None;
        let state = match disposition {
            Disposition::RetryAt(due) => {
                self.make_pending(id, due);
                return true;
            }
            Disposition::Delivered => OutboxState::Delivered,
            Disposition::DeadLetter => OutboxState::DeadLetter,
        };
        self.finish(id, state, now);
        true
    }

    /// The entry is pending no more.
    fn finish(&mut self, id: EntryId, state: OutboxState, now: Timestamp) {
        if let Some(stored) = self.entries.get_mut(&id) {
            stored.entry.state = state;
            stored.finished = Some(now);
            self.pending.remove(&(stored.entry.due, id));
        }
    }

    /// An entry that the owner has leased.
    fn owned(&mut self, id: EntryId, owner: LeaseOwner) -> Option<&mut Stored> {
        self.entries.get_mut(&id).filter(|stored| stored.lease.is_some_and(|lease| lease.owner == owner))
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

    fn pending(&self) -> impl Iterator<Item = &Stored> {
        self.pending.iter().filter_map(|(_, id)| self.entries.get(id))
    }

    fn of<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> impl Iterator<Item = &'a Stored> {
        self.entries.values().filter(move |s| endpoint.is_none_or(|endpoint| s.entry.message.endpoint == *endpoint))
    }

    fn is_stopped(&self, stored: &Stored) -> bool {
        self.stopped.contains_key(stored.entry.message.endpoint.as_str())
    }
}
