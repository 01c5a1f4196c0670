//! The inbox: received messages.

use super::{Parts, lock, most, operations};
use bankrail_mailbox::{
    EntryId, Fingerprint, Inbox, InboxCounts, InboxEntry, InboxState, InboxUpdate, Incoming,
    KeyHash, Kind, KnownEntry, Lease, LeaseOwner, ReceiveDecision, ReceiveOutcome,
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
    operations! {
        self.parts.inbox;
        receive(message: &'a Incoming, now: Timestamp) -> ReceiveOutcome =
            messages, capacity => messages.receive(message, now, capacity);
        lease(kinds: &'a [Kind], limit: u32, lease: Lease, now: Timestamp) -> Vec<InboxEntry> =
            messages => Ok(messages.lease(kinds, limit, lease, now));
        update(id: EntryId, owner: LeaseOwner, update: InboxUpdate<'a>, now: Timestamp) -> bool =
            messages => Ok(messages.update(id, owner, update, now));
        release_all(owners: &'a [LeaseOwner]) -> u64 = messages => Ok(messages.release_all(owners));
        dead_letters(after: Option<EntryId>, limit: u32) -> Vec<InboxEntry> = messages => {
            let entries = messages.entries.values().map(|stored| &stored.entry);
            let listed = entries.filter(|entry| entry.state == InboxState::DeadLetter && Some(entry.id) > after);
            Ok(listed.take(most(limit)).cloned().collect())
        };
        resend(id: EntryId, now: Timestamp) -> bool = messages => Ok(messages.resend(id, now));
        find(id: EntryId) -> Option<InboxEntry> =
            messages => Ok(messages.entries.get(&id).map(|stored| stored.entry.clone()));
        forget(before: Timestamp) -> u64 = messages => Ok(messages.forget(before));
        oldest_pending() -> Option<Timestamp> = messages => {
            let first = messages.pending.first().and_then(|id| messages.entries.get(id));
            Ok(first.map(|stored| stored.entry.received_at))
        };
        counts() -> InboxCounts = messages => {
            let of = |state| messages.entries.values().filter(|stored| stored.entry.state == state).map(|_| 1).sum();
            let [pending, completed, dead_letters] =
                [InboxState::Pending, InboxState::Completed, InboxState::DeadLetter].map(of);
            Ok(InboxCounts { pending, completed, dead_letters })
        };
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
                && stored.due <= now
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
