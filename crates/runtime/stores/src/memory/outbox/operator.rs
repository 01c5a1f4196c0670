//! Operations for operators.

use super::{MemoryOutbox, Messages, Stored};
use crate::memory::{most, run};
use bankrail_mailbox::{
    DeliveryRecord, DropOutcome, EndpointBacklog, EndpointCircuit, EndpointId, EntryId,
    Intervention, OutboxCounts, OutboxEntry, OutboxOperator, OutboxQuery, OutboxState,
    OutboxSummary, StoppedEndpoint,
};
use bankrail_values::{StoreFuture, Timestamp};
use std::collections::BTreeMap;
use std::ops::Bound;

impl OutboxOperator for MemoryOutbox {
    fn list<'a>(&'a self, query: &'a OutboxQuery) -> StoreFuture<'a, Vec<OutboxSummary>> {
        run(&self.parts.outbox, move |messages| {
            let after = query.after.map_or(Bound::Unbounded, Bound::Excluded);
            let entries = messages
                .entries
                .range((after, Bound::Unbounded))
                .map(|(_, stored)| stored);
            Ok(entries
                .filter(|stored| stored.is_asked_for(query))
                .take(most(query.page()))
                .map(Stored::summary)
                .collect())
        })
    }

    fn summary(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxSummary>> {
        run(&self.parts.outbox, move |messages| {
            Ok(messages.entries.get(&id).map(Stored::summary))
        })
    }

    fn deliveries(&self, id: EntryId) -> StoreFuture<'_, Vec<DeliveryRecord>> {
        run(&self.parts.outbox, move |messages| {
            let stored = messages.entries.get(&id);
            Ok(stored
                .map(|stored| stored.deliveries.clone())
                .unwrap_or_default())
        })
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>> {
        run(&self.parts.outbox, move |messages| {
            let found = messages.entries.get(&id);
            Ok(found.map(|stored| stored.entry.clone()))
        })
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        run(&self.parts.outbox, move |messages| {
            Ok(messages.resend(id, now))
        })
    }

    fn resend_all<'a>(&'a self, endpoint: &'a EndpointId, now: Timestamp) -> StoreFuture<'a, u64> {
        run(&self.parts.outbox, move |messages| {
            let dead = messages.entries.values().filter(|stored| {
                stored.entry.message.endpoint == *endpoint
                    && stored.entry.state == OutboxState::DeadLetter
            });
            let ids: Vec<_> = dead.map(|stored| stored.entry.id).collect();
            Ok(ids
                .into_iter()
                .map(|id| u64::from(messages.resend(id, now)))
                .sum())
        })
    }

    fn drop_entry<'a>(
        &'a self,
        id: EntryId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, DropOutcome> {
        run(&self.parts.outbox, move |messages| {
            let Some(stored) = messages.entries.get_mut(&id) else {
                return Ok(DropOutcome::NotOpen);
            };
            if !matches!(
                stored.entry.state,
                OutboxState::Pending | OutboxState::DeadLetter
            ) {
                return Ok(DropOutcome::NotOpen);
            }
            if let Some(lease) = stored.lease.filter(|lease| !lease.is_over(now)) {
                return Ok(DropOutcome::Leased { until: lease.until });
            }
            stored.lease = None;
            stored.dropped = Some(intervention.clone());
            messages.finish(id, OutboxState::Dropped, now);
            Ok(DropOutcome::Dropped)
        })
    }

    fn resume_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        run(&self.parts.outbox, move |messages| {
            messages.make_due(endpoint, now);
            messages.circuits.remove(endpoint);
            Ok(messages.stopped.remove(endpoint).is_some())
        })
    }

    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>> {
        run(&self.parts.outbox, |messages| {
            Ok(messages.stopped.values().cloned().collect())
        })
    }

    fn circuits(&self) -> StoreFuture<'_, Vec<EndpointCircuit>> {
        run(&self.parts.outbox, |messages| {
            let circuits = messages.circuits.clone().into_iter();
            Ok(circuits
                .map(|(endpoint, circuit)| EndpointCircuit::new(endpoint, circuit))
                .collect())
        })
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        run(&self.parts.outbox, move |messages| {
            let oldest = messages.open().min_by_key(|stored| stored.entry.id);
            Ok(oldest.map(|stored| stored.entry.enqueued_at))
        })
    }

    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts> {
        run(&self.parts.outbox, move |messages| {
            let mut counts = OutboxCounts::default();
            for Stored { entry, .. } in messages.entries.values() {
                if endpoint.is_none_or(|endpoint| entry.message.endpoint == *endpoint) {
                    *match entry.state {
                        OutboxState::Pending => &mut counts.pending,
                        OutboxState::Delivered => &mut counts.delivered,
                        OutboxState::DeadLetter => &mut counts.dead_letters,
                        OutboxState::Dropped => &mut counts.dropped,
                    } += 1;
                }
            }
            Ok(counts)
        })
    }

    fn backlogs<'a>(
        &'a self,
        after: Option<&'a EndpointId>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<EndpointBacklog>> {
        run(&self.parts.outbox, move |messages| {
            let mut backlogs: BTreeMap<&EndpointId, EndpointBacklog> = BTreeMap::new();
            for Stored { entry, .. } in messages.entries.values() {
                let endpoint = &entry.message.endpoint;
                let open = matches!(entry.state, OutboxState::Pending | OutboxState::DeadLetter);
                if !open || after.is_some_and(|after| endpoint <= after) {
                    continue;
                }
                let backlog = backlogs
                    .entry(endpoint)
                    .or_insert_with(|| EndpointBacklog::new(endpoint.clone()));
                if entry.state == OutboxState::Pending {
                    backlog.pending += 1;
                    backlog.oldest_due = Some(
                        backlog
                            .oldest_due
                            .map_or(entry.due, |oldest| oldest.min(entry.due)),
                    );
                } else {
                    backlog.dead_letters += 1;
                }
            }
            Ok(backlogs
                .into_values()
                .take(most(limit.min(OutboxQuery::MAX_LIMIT)))
                .collect())
        })
    }
}

impl Stored {
    fn summary(&self) -> OutboxSummary {
        let mut summary = OutboxSummary::of(&self.entry);
        summary.leased_until = self.lease.map(|lease| lease.until);
        summary.finished_at = self.finished;
        summary.dropped = self.dropped.clone();
        summary
    }

    fn is_asked_for(&self, query: &OutboxQuery) -> bool {
        let entry = &self.entry;
        query
            .endpoint
            .as_ref()
            .is_none_or(|endpoint| entry.message.endpoint == *endpoint)
            && query.state.is_none_or(|state| entry.state == state)
            && query
                .kind
                .as_ref()
                .is_none_or(|kind| entry.message.kind == *kind)
            && query
                .enqueued_before
                .is_none_or(|before| entry.enqueued_at < before)
    }
}

impl Messages {
    fn resend(&mut self, id: EntryId, now: Timestamp) -> bool {
        let stored = self.entries.get_mut(&id).filter(|stored| {
            matches!(
                stored.entry.state,
                OutboxState::DeadLetter | OutboxState::Delivered
            )
        });
        let Some(stored) = stored else { return false };
        stored.entry.deliveries = 0;
        self.make_pending(id, now);
        true
    }
}
