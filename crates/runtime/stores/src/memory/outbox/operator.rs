//! Operations for operators.

use super::{Messages, Stored};
use crate::memory::most;
use bankrail_mailbox::{
    DropOutcome, EndpointBacklog, EndpointId, EntryId, Intervention, OutboxCounts, OutboxQuery,
    OutboxState, OutboxSummary,
};
use bankrail_values::Timestamp;
use std::collections::BTreeMap;
use std::ops::Bound;

impl Stored {
    pub(super) fn summary(&self) -> OutboxSummary {
        OutboxSummary {
            leased_until: self.lease.map(|lease| lease.until),
            finished_at: self.finished,
            dropped: self.dropped.clone(),
            ..OutboxSummary::of(&self.entry)
        }
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
    pub(super) fn list(&self, query: &OutboxQuery) -> Vec<OutboxSummary> {
        let after = query.after.map_or(Bound::Unbounded, Bound::Excluded);
        let entries = self
            .entries
            .range((after, Bound::Unbounded))
            .map(|(_, stored)| stored);
        entries
            .filter(|stored| stored.is_asked_for(query))
            .take(most(query.page()))
            .map(Stored::summary)
            .collect()
    }

    pub(super) fn resend(&mut self, id: EntryId, now: Timestamp) -> bool {
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

    pub(super) fn resend_all(&mut self, endpoint: &EndpointId, now: Timestamp) -> u64 {
        let dead = self.entries.values().filter(|stored| {
            stored.entry.message.endpoint == *endpoint
                && stored.entry.state == OutboxState::DeadLetter
        });
        let ids: Vec<_> = dead.map(|stored| stored.entry.id).collect();
        ids.into_iter()
            .map(|id| u64::from(self.resend(id, now)))
            .sum()
    }

    /// Makes what waits for an endpoint due.
    pub(super) fn make_due(&mut self, endpoint: &EndpointId, now: Timestamp) {
        let waiting = self.pending().map(|stored| &stored.entry);
        let waiting =
            waiting.filter(|entry| entry.due > now && entry.message.endpoint == *endpoint);
        let ids: Vec<_> = waiting.map(|entry| entry.id).collect();
        ids.into_iter().for_each(|id| self.make_pending(id, now));
    }

    pub(super) fn drop_entry(
        &mut self,
        id: EntryId,
        intervention: &Intervention,
        now: Timestamp,
    ) -> DropOutcome {
        let Some(stored) = self.entries.get_mut(&id) else {
            return DropOutcome::NotOpen;
        };
        if !matches!(
            stored.entry.state,
            OutboxState::Pending | OutboxState::DeadLetter
        ) {
            return DropOutcome::NotOpen;
        }
        if let Some(lease) = stored.lease.filter(|lease| !lease.is_over(now)) {
            return DropOutcome::Leased { until: lease.until };
        }
        stored.lease = None;
        stored.dropped = Some(intervention.clone());
        self.finish(id, OutboxState::Dropped, now);
        DropOutcome::Dropped
    }

    pub(super) fn backlogs(&self, after: Option<&EndpointId>, limit: u32) -> Vec<EndpointBacklog> {
        let mut backlogs: BTreeMap<&EndpointId, EndpointBacklog> = BTreeMap::new();
        for Stored { entry, .. } in self.entries.values() {
            let endpoint = &entry.message.endpoint;
            let open = matches!(entry.state, OutboxState::Pending | OutboxState::DeadLetter);
            if !open || after.is_some_and(|after| endpoint <= after) {
                continue;
            }
            let backlog = backlogs.entry(endpoint).or_insert_with(|| EndpointBacklog {
                endpoint: endpoint.clone(),
                pending: 0,
                dead_letters: 0,
                oldest_due: None,
            });
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
        backlogs
            .into_values()
            .take(most(limit.min(OutboxQuery::MAX_LIMIT)))
            .collect()
    }

    pub(super) fn counts(&self, endpoint: Option<&EndpointId>) -> OutboxCounts {
        let mut counts = OutboxCounts::default();
        for Stored { entry, .. } in self.entries.values() {
            if endpoint.is_none_or(|endpoint| entry.message.endpoint == *endpoint) {
                *match entry.state {
                    OutboxState::Pending => &mut counts.pending,
                    OutboxState::Delivered => &mut counts.delivered,
                    OutboxState::DeadLetter => &mut counts.dead_letters,
                    OutboxState::Dropped => &mut counts.dropped,
                } += 1;
            }
        }
        counts
    }
}
