//! The inbox: received messages.

use super::{Parts, lock, most};
use bankrail_mailbox::{
    EntryId, Fingerprint, Inbox, InboxCounts, InboxEntry, InboxState, InboxUpdate, Incoming,
    KeyHash, Kind, KnownEntry, Lease, LeaseOwner, ReceiveDecision, ReceiveOutcome,
};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, MutexGuard};

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

impl MemoryInbox {
    fn messages(&self) -> MutexGuard<'_, Messages> {
        lock(&self.parts.inbox)
    }
}

impl Inbox for MemoryInbox {
    fn receive<'a>(
        &'a self,
        message: &'a Incoming,
        now: Timestamp,
    ) -> StoreFuture<'a, ReceiveOutcome> {
        Box::pin(async move { self.messages().receive(message, now, self.parts.capacity) })
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        Box::pin(async move { Ok(self.messages().lease(kinds, limit, lease, now)) })
    }

    fn update<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        update: InboxUpdate<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move { Ok(self.messages().update(id, owner, update, now)) })
    }

    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        Box::pin(async move { Ok(self.messages().release_all(owners)) })
    }

    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(async move { Ok(self.messages().recall(latest, now)) })
    }

    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        Box::pin(async move {
            let messages = self.messages();
            let entries = messages.entries.values().map(|stored| &stored.entry);
            let listed = entries
                .filter(|entry| entry.state == InboxState::DeadLetter && Some(entry.id) > after);
            Ok(listed.take(most(limit)).cloned().collect())
        })
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(async move { Ok(self.messages().resend(id, now)) })
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        Box::pin(async move {
            Ok(self
                .messages()
                .entries
                .get(&id)
                .map(|stored| stored.entry.clone()))
        })
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(async move { Ok(self.messages().forget(before)) })
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(async move {
            let messages = self.messages();
            let first = messages
                .pending
                .first()
                .and_then(|id| messages.entries.get(id));
            Ok(first.map(|stored| stored.entry.received_at))
        })
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        Box::pin(async move {
            let mut counts = InboxCounts::default();
            for stored in self.messages().entries.values() {
                *match stored.entry.state {
                    InboxState::Pending => &mut counts.pending,
                    InboxState::Completed => &mut counts.completed,
                    InboxState::DeadLetter => &mut counts.dead_letters,
                } += 1;
            }
            Ok(counts)
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
        }
    }
}

impl Messages {
    fn receive(
        &mut self,
        message: &Incoming,
        now: Timestamp,
        capacity: usize,
    ) -> Result<ReceiveOutcome, StoreError> {
        let ids: BTreeSet<EntryId> = message
            .key
            .hashes()
            .iter()
            .filter_map(|key| self.keys.get(key))
            .flatten()
            .copied()
            .collect();
        let known = ids
            .iter()
            .filter_map(|id| self.entries.get(id))
            .map(Stored::known)
            .collect();
        let (conflicts_with, follows, followed_by) = match ReceiveDecision::of(message, known) {
            ReceiveDecision::Answer(outcome) => return Ok(outcome),
            ReceiveDecision::Store {
                conflicts_with,
                follows,
                followed_by,
            } => (conflicts_with, follows, followed_by),
        };
        if self.entries.len() >= capacity {
            return Err(StoreErrorKind::Full.into());
        }
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
            attempts: 0,
            last_error: None,
        };
        let keys = message.key.hashes().to_vec();
        for key in &keys {
            self.keys.entry(*key).or_default().insert(id);
        }
        self.pending.insert(id);
        let Incoming {
            fingerprint,
            interim,
            ..
        } = *message;
        self.entries.insert(
            id,
            Stored {
                entry,
                keys,
                fingerprint,
                interim,
                due: now,
                lease: None,
                finished: now,
            },
        );
        if let Some(result) = followed_by.and_then(|result| self.entries.get_mut(&result)) {
            result.entry.follows = Some(id);
        }
        Ok(ReceiveOutcome::stored(
            id,
            message.acknowledgement.clone(),
            conflicts_with,
        ))
    }

    fn update(
        &mut self,
        id: EntryId,
        owner: LeaseOwner,
        update: InboxUpdate<'_>,
        now: Timestamp,
    ) -> bool {
        let stored = self.entries.get_mut(&id);
        let Some(stored) =
            stored.filter(|stored| stored.lease.is_some_and(|lease| lease.owner == owner))
        else {
            return false;
        };
        stored.entry.state = update.state;
        stored.due = update.due.unwrap_or(stored.due);
        stored.lease = update.until.map(|until| Lease { owner, until });
        stored.entry.last_error = update
            .error
            .map(str::to_owned)
            .or(stored.entry.last_error.take());
        if update.state != InboxState::Pending {
            stored.finished = now;
            self.pending.remove(&id);
        }
        true
    }

    fn release_all(&mut self, owners: &[LeaseOwner]) -> u64 {
        let mut released = 0;
        for id in &self.pending {
            let stored = self.entries.get_mut(id);
            let owned = |stored: &&mut Stored| {
                stored
                    .lease
                    .is_some_and(|lease| owners.contains(&lease.owner))
            };
            if let Some(stored) = stored.filter(owned) {
                stored.lease = None;
                stored.entry.attempts = stored.entry.attempts.saturating_sub(1);
                released += 1;
            }
        }
        released
    }

    fn recall(&mut self, latest: Timestamp, now: Timestamp) -> u64 {
        let mut recalled = 0;
        for id in &self.pending {
            let Some(stored) = self.entries.get_mut(id) else {
                continue;
            };
            let leased = stored.lease.filter(|lease| lease.until <= latest);
            let ended = std::mem::replace(&mut stored.lease, leased) != leased;
            let late = stored.due > latest && stored.entry.attempts > 0;
            if late {
                stored.due = now;
            }
            recalled += u64::from(ended || late);
        }
        recalled
    }

    fn resend(&mut self, id: EntryId, now: Timestamp) -> bool {
        let stored = self
            .entries
            .get_mut(&id)
            .filter(|stored| stored.entry.state == InboxState::DeadLetter);
        let Some(stored) = stored else { return false };
        stored.entry.state = InboxState::Pending;
        stored.entry.attempts = 0;
        stored.due = now;
        self.pending.insert(id)
    }

    fn lease(
        &mut self,
        kinds: &[Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> Vec<InboxEntry> {
        let mut leased = Vec::new();
        for id in &self.pending {
            if leased.len() == most(limit) {
                break;
            }
            let Some(stored) = self.entries.get_mut(id) else {
                continue;
            };
            let wanted = kinds.is_empty() || kinds.contains(&stored.entry.kind);
            let held = stored
                .entry
                .follows
                .is_some_and(|id| self.pending.contains(&id));
            if wanted
                && !held
                && (stored.due <= now || stored.entry.attempts == 0)
                && stored.lease.is_none_or(|lease| lease.is_over(now))
            {
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
