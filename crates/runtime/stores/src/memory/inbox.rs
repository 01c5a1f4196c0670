//! The inbox: received messages.

use super::{Parts, most, run};
use bankrail_mailbox::{
    EntryId, Fingerprint, Inbox, InboxCounts, InboxEntry, InboxState, InboxUpdate, Incoming,
    KeyHash, Kind, KnownEntry, Lease, LeaseOwner, ReceiveDecision, ReceiveOutcome,
};
use bankrail_values::{StoreErrorKind, StoreFuture, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The inbox of a [`MemoryStore`](super::MemoryStore).
#[derive(Clone, Debug)]
pub struct MemoryInbox {
    pub(super) parts: Arc<Parts>,
}

#[derive(Clone, Default)]
pub(super) struct Messages {
    last: u64,
    entries: BTreeMap<EntryId, Stored>,
    keys: HashMap<KeyHash, BTreeSet<EntryId>>,
    pending: BTreeSet<EntryId>,
}

#[derive(Clone)]
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
    fn receive<'a>(
        &'a self,
        message: &'a Incoming,
        now: Timestamp,
    ) -> StoreFuture<'a, ReceiveOutcome> {
        run(&self.parts.inbox, move |messages| {
            let ids: BTreeSet<EntryId> = message
                .key
                .hashes()
                .iter()
                .filter_map(|key| messages.keys.get(key))
                .flatten()
                .copied()
                .collect();
            let known = ids
                .iter()
                .filter_map(|id| messages.entries.get(id))
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
            if messages.entries.len() >= self.parts.capacity {
                return Err(StoreErrorKind::Full.into());
            }
            messages.last += 1;
            let id = EntryId::new(messages.last);
            let mut entry = InboxEntry::new(id, message.kind.clone(), now);
            entry.attributes = message.attributes.clone();
            entry.body = message.body.clone();
            entry.acknowledgement = message.acknowledgement.clone();
            entry.conflicts_with = conflicts_with;
            entry.follows = follows;
            let keys = message.key.hashes().to_vec();
            for key in &keys {
                messages.keys.entry(*key).or_default().insert(id);
            }
            messages.pending.insert(id);
            let Incoming {
                fingerprint,
                interim,
                ..
            } = *message;
            messages.entries.insert(
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
            if let Some(result) = followed_by.and_then(|result| messages.entries.get_mut(&result)) {
                result.entry.follows = Some(id);
            }
            Ok(ReceiveOutcome::stored(
                id,
                message.acknowledgement.clone(),
                conflicts_with,
            ))
        })
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        run(&self.parts.inbox, move |messages| {
            let mut leased = Vec::new();
            for id in &messages.pending {
                if leased.len() == most(limit) {
                    break;
                }
                let Some(stored) = messages.entries.get_mut(id) else {
                    continue;
                };
                let wanted = kinds.is_empty() || kinds.contains(&stored.entry.kind);
                let held = stored
                    .entry
                    .follows
                    .is_some_and(|id| messages.pending.contains(&id));
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
            Ok(leased)
        })
    }

    fn update<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        update: InboxUpdate<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        run(&self.parts.inbox, move |messages| {
            let stored = messages.entries.get_mut(&id);
            let Some(stored) =
                stored.filter(|stored| stored.lease.is_some_and(|lease| lease.owner == owner))
            else {
                return Ok(false);
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
                messages.pending.remove(&id);
            }
            Ok(true)
        })
    }

    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        run(&self.parts.inbox, move |messages| {
            let mut released = 0;
            for id in &messages.pending {
                let stored = messages.entries.get_mut(id);
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
            Ok(released)
        })
    }

    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        run(&self.parts.inbox, move |messages| {
            let mut recalled = 0;
            for id in &messages.pending {
                let Some(stored) = messages.entries.get_mut(id) else {
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
            Ok(recalled)
        })
    }

    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        run(&self.parts.inbox, move |messages| {
            let entries = messages.entries.values().map(|stored| &stored.entry);
            let listed = entries
                .filter(|entry| entry.state == InboxState::DeadLetter && Some(entry.id) > after);
            Ok(listed.take(most(limit)).cloned().collect())
        })
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        run(&self.parts.inbox, move |messages| {
            let stored = messages
                .entries
                .get_mut(&id)
                .filter(|stored| stored.entry.state == InboxState::DeadLetter);
            let Some(stored) = stored else {
                return Ok(false);
            };
            stored.entry.state = InboxState::Pending;
            stored.entry.attempts = 0;
            stored.due = now;
            Ok(messages.pending.insert(id))
        })
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        run(&self.parts.inbox, move |messages| {
            let found = messages.entries.get(&id);
            Ok(found.map(|stored| stored.entry.clone()))
        })
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        run(&self.parts.inbox, move |messages| {
            let Messages { entries, keys, .. } = messages;
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
            Ok(forgotten)
        })
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        run(&self.parts.inbox, move |messages| {
            let first = messages
                .pending
                .first()
                .and_then(|id| messages.entries.get(id));
            Ok(first.map(|stored| stored.entry.received_at))
        })
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        run(&self.parts.inbox, move |messages| {
            let mut counts = InboxCounts::default();
            for stored in messages.entries.values() {
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
