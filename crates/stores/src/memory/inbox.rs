//! Received messages.

use super::{MemoryStore, lock};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use bankrail_webhook::store::inbox::InboxCounts;
use bankrail_webhook::{
    EntryId, Fingerprint, Inbox, InboxEntry, InboxState, Incoming, KeyHash, Lease, MessageKind, Owner, Verdict,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    due: Timestamp,
    lease: Option<Lease>,
    finished: Timestamp,
}

impl Inbox for MemoryStore {
    fn receive<'a>(&'a self, message: &'a Incoming, now: Timestamp) -> StoreFuture<'a, Verdict> {
        Box::pin(async move { lock(&self.parts.inbox).receive(message, None, now, self.parts.capacity) })
    }

    fn claim<'a>(&'a self, message: &'a Incoming, lease: Lease, now: Timestamp) -> StoreFuture<'a, Verdict> {
        Box::pin(async move { lock(&self.parts.inbox).receive(message, Some(lease), now, self.parts.capacity) })
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [MessageKind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        Box::pin(async move { Ok(lock(&self.parts.inbox).lease(kinds, limit, lease, now)) })
    }

    fn extend(&self, id: EntryId, lease: Lease, _now: Timestamp) -> StoreFuture<'_, bool> {
        self.owned(id, lease.owner, move |stored| stored.lease = Some(lease))
    }

    fn complete(&self, id: EntryId, owner: Owner, now: Timestamp) -> StoreFuture<'_, bool> {
        self.owned(id, owner, move |stored| stored.finish(InboxState::Completed, now))
    }

    fn release<'a>(&'a self, id: EntryId, owner: Owner, due: Timestamp, error: &'a str) -> StoreFuture<'a, bool> {
        self.owned(id, owner, move |stored| {
            stored.lease = None;
            stored.due = due;
            stored.entry.last_error = Some(error.to_owned());
        })
    }

    fn set_aside<'a>(&'a self, id: EntryId, owner: Owner, error: &'a str, now: Timestamp) -> StoreFuture<'a, bool> {
        self.owned(id, owner, move |stored| {
            stored.finish(InboxState::SetAside, now);
            stored.entry.last_error = Some(error.to_owned());
        })
    }

    fn list_set_aside(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        Box::pin(async move {
            let messages = lock(&self.parts.inbox);
            let set_aside = messages
                .entries
                .values()
                .map(|stored| &stored.entry)
                .filter(|entry| entry.state == InboxState::SetAside && after.is_none_or(|after| entry.id > after));
            Ok(set_aside.take(usize::try_from(limit).unwrap_or(usize::MAX)).cloned().collect())
        })
    }

    fn retry(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            let messages = &mut *lock(&self.parts.inbox);
            let Some(stored) = messages.entries.get_mut(&id).filter(|s| s.entry.state == InboxState::SetAside) else {
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

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        Box::pin(async move {
            let mut counts = InboxCounts::default();
            for stored in lock(&self.parts.inbox).entries.values() {
                match stored.entry.state {
                    InboxState::Pending => counts.pending += 1,
                    InboxState::Completed => counts.completed += 1,
                    InboxState::SetAside => counts.set_aside += 1,
                }
            }
            Ok(counts)
        })
    }
}

impl MemoryStore {
    /// Changes an entry whose lease is the owner's.
    fn owned<'a>(
        &'a self,
        id: EntryId,
        owner: Owner,
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
    fn is_free(&self, now: Timestamp) -> bool {
        self.lease.is_none_or(|lease| lease.until <= now)
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
    ) -> Result<Verdict, StoreError> {
        let known: BTreeSet<EntryId> =
            message.key.keys().iter().filter_map(|key| self.keys.get(key)).flatten().copied().collect();
        let same = known.iter().find(|id| self.entries.get(id).is_some_and(|s| s.fingerprint == message.fingerprint));
        if let Some(stored) = same.and_then(|id| self.entries.get_mut(id)) {
            return Ok(again(stored, lease, now));
        }
        if self.entries.len() >= capacity {
            return Err(StoreErrorKind::Full.into());
        }
        let with = known.first().copied();
        let id = self.insert(message, with, lease, now);
        let acknowledgement = message.acknowledgement.clone();
        Ok(match with {
            None => Verdict::New { id, acknowledgement },
            Some(with) => Verdict::Conflict { id, acknowledgement, with },
        })
    }

    fn insert(
        &mut self,
        message: &Incoming,
        conflicts_with: Option<EntryId>,
        lease: Option<Lease>,
        now: Timestamp,
    ) -> EntryId {
        self.last += 1;
        let id = EntryId::new(self.last);
        let entry = InboxEntry {
            id,
            kind: message.kind,
            headers: message.headers,
            header_findings: message.header_findings.clone(),
            body: message.body.clone(),
            acknowledgement: message.acknowledgement.clone(),
            received_at: now,
            conflicts_with,
            state: InboxState::Pending,
            attempts: u32::from(lease.is_some()),
            last_error: None,
        };
        let keys = message.key.keys().to_vec();
        for key in &keys {
            self.keys.entry(*key).or_default().insert(id);
        }
        self.pending.insert(id);
        let fingerprint = message.fingerprint;
        self.entries.insert(id, Stored { entry, keys, fingerprint, due: now, lease, finished: now });
        id
    }

    fn lease(&mut self, kinds: &[MessageKind], limit: u32, lease: Lease, now: Timestamp) -> Vec<InboxEntry> {
        let mut leased = Vec::new();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        for id in &self.pending {
            if leased.len() == limit {
                break;
            }
            let Some(stored) = self.entries.get_mut(id) else { continue };
            let wanted = kinds.is_empty() || kinds.contains(&stored.entry.kind);
            if wanted && stored.due <= now && stored.is_free(now) {
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

/// The verdict on a message that is there already, after the lease that a claim takes of it.
fn again(stored: &mut Stored, lease: Option<Lease>, now: Timestamp) -> Verdict {
    let id = stored.entry.id;
    let acknowledgement = stored.entry.acknowledgement.clone();
    if stored.entry.state != InboxState::Pending {
        return Verdict::Duplicate { id, acknowledgement };
    }
    let free = stored.is_free(now);
    let own = |lease: &Lease| stored.lease.is_some_and(|held| held.owner == lease.owner);
    let Some(lease) = lease.filter(|lease| free || own(lease)) else {
        return Verdict::InProgress { id, acknowledgement };
    };
    // The owner's own repetition is the same lease.
    if free {
        stored.entry.attempts = stored.entry.attempts.saturating_add(1);
    }
    stored.lease = Some(lease);
    match stored.entry.conflicts_with {
        None => Verdict::New { id, acknowledgement },
        Some(with) => Verdict::Conflict { id, acknowledgement, with },
    }
}
