//! The inbox: received messages.

use super::{Parts, lock};
use bankrail_mailbox::{
    EntryId, Fingerprint, Inbox, InboxCounts, InboxEntry, InboxState, Incoming, KeyHash, Kind, KnownEntry, Lease,
    LeaseOwner, ReceiveDecision, ReceiveOutcome,
};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The inbox of a [`MemoryStore`](super::MemoryStore).
#[derive(Clone, Debug)]
pub struct MemoryInbox {
    pub(super) parts: Arc<Parts>,
}

#[derive(Default)]
pub(super) struct Messages {
    last: u64,
    entries: BTreeMap<EntryId, Stored>,
    keys: HashMap<KeyHash, BTreeSet<EntryId>>,
    pending: BTreeSet<EntryId>,
}

struct Stored {
    entry: InboxEntry,
    keys: Vec<KeyHash>,
    fingerprint: Fingerprint,
    interim: bool,
    due: Timestamp,
    lease: Option<Lease>,
    finished: Timestamp,
}

impl Inbox for MemoryInbox {
    fn receive<'a>(&'a self, message: &'a Incoming, now: Timestamp) -> StoreFuture<'a, ReceiveOutcome> {
        Box::pin(async move { lock(&self.parts.inbox).receive(message, None, now, self.parts.capacity) })
    }

    fn claim<'a>(&'a self, message: &'a Incoming, lease: Lease, now: Timestamp) -> StoreFuture<'a, ReceiveOutcome> {
        Box::pin(async move { lock(&self.parts.inbox).receive(message, Some(lease), now, self.parts.capacity) })
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        Box::pin(async move { Ok(lock(&self.parts.inbox).lease(kinds, limit, lease, now)) })
    }

    fn extend(&self, id: EntryId, lease: Lease, _now: Timestamp) -> StoreFuture<'_, bool> {
        self.owned(id, lease.owner, move |stored| stored.lease = Some(lease))
    }

    fn complete(&self, id: EntryId, owner: LeaseOwner, now: Timestamp) -> StoreFuture<'_, bool> {
        self.owned(id, owner, move |stored| stored.finish(InboxState::Completed, now))
    }

    fn release<'a>(&'a self, id: EntryId, owner: LeaseOwner, due: Timestamp, error: &'a str) -> StoreFuture<'a, bool> {
        self.owned(id, owner, move |stored| {
            stored.lease = None;
            stored.due = due;
            stored.entry.last_error = Some(error.to_owned());
        })
    }

    fn dead_letter<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        error: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.owned(id, owner, move |stored| {
            stored.finish(InboxState::DeadLetter, now);
            stored.entry.last_error = Some(error.to_owned());
        })
    }

    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        Box::pin(async move {
            let messages = lock(&self.parts.inbox);
            let dead_letter =
                messages.entries.values().map(|stored| &stored.entry).filter(|entry| {
                    entry.state == InboxState::DeadLetter && after.is_none_or(|after| entry.id > after)
                });
            Ok(dead_letter.take(usize::try_from(limit).unwrap_or(usize::MAX)).cloned().collect())
        })
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            let messages = &mut *lock(&self.parts.inbox);
            let Some(stored) = messages.entries.get_mut(&id).filter(|s| s.entry.state == InboxState::DeadLetter) else {
                return Ok(false);
            };
            stored.entry.state = InboxState::Pending;
            stored.entry.attempts = 0;
            stored.due = now;
            messages.pending.insert(id);
            Ok(true)
        })
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        Box::pin(async move { Ok(lock(&self.parts.inbox).entries.get(&id).map(|stored| stored.entry.clone())) })
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(async move { Ok(lock(&self.parts.inbox).forget(before)) })
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(async move {
            let messages = lock(&self.parts.inbox);
            let mut pending = messages.entries.values().filter(|stored| stored.entry.state == InboxState::Pending);
            Ok(pending.next().map(|stored| stored.entry.received_at))
        })
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        Box::pin(async move {
            let mut counts = InboxCounts::default();
            for stored in lock(&self.parts.inbox).entries.values() {
                match stored.entry.state {
                    InboxState::Pending => counts.pending += 1,
                    InboxState::Completed => counts.completed += 1,
                    InboxState::DeadLetter => counts.dead_letters += 1,
                }
            }
            Ok(counts)
        })
    }
}

impl MemoryInbox {
    /// Changes an entry that the owner has leased.
    fn owned<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        change: impl FnOnce(&mut Stored) + Send + 'a,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let messages = &mut *lock(&self.parts.inbox);
            let stored = messages.entries.get_mut(&id);
            let Some(stored) = stored.filter(|stored| stored.lease.is_some_and(|lease| lease.owner == owner)) else {
                return Ok(false);
            };
            change(stored);
            if stored.entry.state != InboxState::Pending {
                messages.pending.remove(&id);
            }
            Ok(true)
        })
    }
}

impl Stored {
    fn known(&self) -> KnownEntry {
        KnownEntry {
            id: self.entry.id,
            fingerprint: self.fingerprint,
            interim: self.interim,
            state: self.entry.state,
            acknowledgement: self.entry.acknowledgement.clone(),
            conflicts_with: self.entry.conflicts_with,
            lease: self.lease,
        }
    }

    fn is_free(&self, now: Timestamp) -> bool {
        self.lease.is_none_or(|lease| lease.is_over(now))
    }

    fn finish(&mut self, state: InboxState, now: Timestamp) {
        self.entry.state = state;
        self.finished = now;
        self.lease = None;
    }
}

impl Messages {
    fn receive(
        &mut self,
        message: &Incoming,
        lease: Option<Lease>,
        now: Timestamp,
        capacity: usize,
    ) -> Result<ReceiveOutcome, StoreError> {
        let ids: BTreeSet<EntryId> =
            message.key.hashes().iter().filter_map(|key| self.keys.get(key)).flatten().copied().collect();
        let known = ids.iter().filter_map(|id| self.entries.get(id)).map(Stored::known).collect();
        let (conflicts_with, follows, followed_by) = match ReceiveDecision::of(message, known, lease.as_ref(), now) {
            ReceiveDecision::Answer(outcome) => return Ok(outcome),
            ReceiveDecision::Lease { outcome, attempts } => {
                if let Some(stored) = self.entries.get_mut(&outcome.id()) {
                    stored.lease = lease;
                    stored.entry.attempts = stored.entry.attempts.saturating_add(attempts);
                }
                return Ok(outcome);
            }
            ReceiveDecision::Store { conflicts_with, follows, followed_by } => (conflicts_with, follows, followed_by),
        };
        if self.entries.len() >= capacity {
            return Err(StoreErrorKind::Full.into());
        }
        let id = self.insert(message, conflicts_with, follows, lease, now);
        if let Some(result) = followed_by.and_then(|result| self.entries.get_mut(&result)) {
            result.entry.follows = Some(id);
        }
        Ok(ReceiveOutcome::work(id, message.acknowledgement.clone(), conflicts_with))
    }

    fn insert(
        &mut self,
        message: &Incoming,
        conflicts_with: Option<EntryId>,
        follows: Option<EntryId>,
        lease: Option<Lease>,
        now: Timestamp,
    ) -> EntryId {
        self.last += 1;
        let id = EntryId::new(self.last);
        let entry = InboxEntry {
            id,
            kind: message.kind.clone(),
            attributes: message.attributes.clone(),
            body: message.body.clone(),
            acknowledgement: message.acknowledgement.clone(),
            received_at: now,
            conflicts_with,
            follows,
            state: InboxState::Pending,
            attempts: u32::from(lease.is_some()),
            last_error: None,
        };
        let keys = message.key.hashes().to_vec();
        for key in &keys {
            self.keys.entry(*key).or_default().insert(id);
        }
        self.pending.insert(id);
        let Incoming { fingerprint, interim, .. } = *message;
        self.entries.insert(id, Stored { entry, keys, fingerprint, interim, due: now, lease, finished: now });
        id
    }

    fn lease(&mut self, kinds: &[Kind], limit: u32, lease: Lease, now: Timestamp) -> Vec<InboxEntry> {
        let mut leased = Vec::new();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        for id in &self.pending {
            if leased.len() == limit {
                break;
            }
            let Some(stored) = self.entries.get_mut(id) else { continue };
            let wanted = kinds.is_empty() || kinds.contains(&stored.entry.kind);
            let held = stored.entry.follows.is_some_and(|id| self.pending.contains(&id));
            if wanted && !held && stored.due <= now && stored.is_free(now) {
                stored.lease = Some(lease);
                stored.entry.attempts = stored.entry.attempts.saturating_add(1);
                leased.push(stored.entry.clone());
            }
        }
        leased
    }

    fn forget(&mut self, before: Timestamp) -> u64 {
        let Self { entries, keys, .. } = self;
        let mut forgotten = 0;
        entries.retain(|id, stored| {
            let old = stored.entry.state == InboxState::Completed && stored.finished < before;
            if old {
                forgotten += 1;
                for key in &stored.keys {
                    keys.get_mut(key).map(|ids| ids.remove(id));
                    if keys.get(key).is_some_and(BTreeSet::is_empty) {
                        keys.remove(key);
                    }
                }
            }
            !old
        });
        forgotten
    }
}
