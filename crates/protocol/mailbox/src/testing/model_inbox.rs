//! A plain model of an inbox, to compare engines with.

use super::ready;
use crate::inbox::{
    Inbox, InboxCounts, InboxEntry, InboxState, InboxUpdate, Incoming, KnownEntry, ReceiveDecision,
    ReceiveOutcome,
};
use crate::key::{DuplicateKey, Fingerprint};
use crate::kind::Kind;
use crate::lease::{EntryId, Lease, LeaseOwner};
use bankrail_values::{StoreFuture, Timestamp};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An inbox in a list that is searched from the start, for tests only: it is lost at the end of the
/// process.
#[derive(Debug, Default)]
pub struct ModelInbox(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    stored: Vec<Stored>,
    last: u64,
}

#[derive(Debug)]
struct Stored {
    entry: InboxEntry,
    key: DuplicateKey,
    fingerprint: Fingerprint,
    interim: bool,
    lease: Option<Lease>,
    due: Timestamp,
    completed_at: Timestamp,
}

impl Stored {
    fn is_free(&self, now: Timestamp) -> bool {
        self.entry.state == InboxState::Pending && self.lease.is_none_or(|lease| lease.is_over(now))
    }

    fn take(&mut self, lease: Lease) {
        self.lease = Some(lease);
        self.entry.attempts += 1;
    }

    fn give_back(&mut self) {
        self.lease = None;
        self.entry.attempts = self.entry.attempts.saturating_sub(1);
    }
}

impl ModelInbox {
    /// Creates an empty inbox.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn store(&self, message: &Incoming, now: Timestamp) -> ReceiveOutcome {
        let mut state = self.state();
        let known = state
            .stored
            .iter()
            .filter(|stored| stored.key.overlaps(&message.key))
            .map(|stored| KnownEntry {
                id: stored.entry.id,
                fingerprint: stored.fingerprint,
                interim: stored.interim,
                state: stored.entry.state,
                acknowledgement: stored.entry.acknowledgement.clone(),
                conflicts_with: stored.entry.conflicts_with,
            });
        let (conflicts_with, follows, followed_by) =
            match ReceiveDecision::of(message, known.collect()) {
                ReceiveDecision::Answer(outcome) => return outcome,
                ReceiveDecision::Store {
                    conflicts_with,
                    follows,
                    followed_by,
                } => (conflicts_with, follows, followed_by),
            };
        state.last += 1;
        let id = EntryId::new(state.last);
        for stored in state
            .stored
            .iter_mut()
            .filter(|stored| Some(stored.entry.id) == followed_by)
        {
            stored.entry.follows = Some(id);
        }
        state.stored.push(Stored {
            entry: InboxEntry {
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
            },
            key: message.key.clone(),
            fingerprint: message.fingerprint,
            interim: message.interim,
            lease: None,
            due: now,
            completed_at: now,
        });
        ReceiveOutcome::stored(id, message.acknowledgement.clone(), conflicts_with)
    }

    fn change(&self, id: EntryId, change: impl FnOnce(&mut Stored) -> bool) -> bool {
        self.state()
            .stored
            .iter_mut()
            .find(|stored| stored.entry.id == id)
            .is_some_and(change)
    }
}

impl Inbox for ModelInbox {
    fn receive<'a>(
        &'a self,
        message: &'a Incoming,
        now: Timestamp,
    ) -> StoreFuture<'a, ReceiveOutcome> {
        ready(self.store(message, now))
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        let mut state = self.state();
        let pending = state
            .stored
            .iter()
            .filter(|stored| stored.entry.state == InboxState::Pending);
        let pending: Vec<EntryId> = pending.map(|stored| stored.entry.id).collect();
        let wanted = |stored: &&mut Stored| kinds.is_empty() || kinds.contains(&stored.entry.kind);
        let free = state
            .stored
            .iter_mut()
            .filter(|stored| {
                stored.is_free(now) && (stored.due <= now || stored.entry.attempts == 0)
            })
            .filter(wanted);
        let free =
            free.filter(|stored| stored.entry.follows.is_none_or(|id| !pending.contains(&id)));
        let leased = free
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .map(|stored| {
                stored.take(lease);
                stored.entry.clone()
            });
        ready(leased.collect())
    }

    fn update<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        update: InboxUpdate<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        ready(self.change(id, |stored| {
            if stored.lease.is_none_or(|lease| lease.owner != owner) {
                return false;
            }
            stored.lease = update.until.map(|until| Lease { owner, until });
            stored.entry.state = update.state;
            if let Some(due) = update.due {
                stored.due = due;
            }
            if let Some(error) = update.error {
                stored.entry.last_error = Some(error.to_owned());
            }
            if update.state == InboxState::Completed {
                stored.completed_at = now;
            }
            true
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
        ready(leased.map(Stored::give_back).map(|()| 1).sum())
    }

    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        let mut state = self.state();
        let pending = state.stored.iter_mut();
        let pending = pending.filter(|stored| stored.entry.state == InboxState::Pending);
        let recalled = pending.map(|stored| {
            let leased = stored.lease.filter(|lease| lease.until <= latest);
            let ended = std::mem::replace(&mut stored.lease, leased) != leased;
            let late = stored.due > latest && stored.entry.attempts > 0;
            if late {
                stored.due = now;
            }
            u64::from(ended || late)
        });
        ready(recalled.sum())
    }

    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        let state = self.state();
        let entries = state.stored.iter().map(|stored| &stored.entry);
        let listed =
            entries.filter(|entry| entry.state == InboxState::DeadLetter && Some(entry.id) > after);
        ready(
            listed
                .take(usize::try_from(limit).unwrap_or(usize::MAX))
                .cloned()
                .collect(),
        )
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        ready(self.change(id, |stored| {
            let is_dead = stored.entry.state == InboxState::DeadLetter;
            if is_dead {
                stored.entry.state = InboxState::Pending;
                stored.entry.attempts = 0;
                stored.due = now;
            }
            is_dead
        }))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        ready(
            self.state()
                .stored
                .iter()
                .find(|stored| stored.entry.id == id)
                .map(|stored| stored.entry.clone()),
        )
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        let mut state = self.state();
        let length = state.stored.len();
        state
            .stored
            .retain(|s| s.entry.state != InboxState::Completed || s.completed_at >= before);
        let forgotten = length - state.stored.len();
        ready(u64::try_from(forgotten).unwrap_or(u64::MAX))
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        let state = self.state();
        // Entries are in the order of arrival.
        let first = state
            .stored
            .iter()
            .find(|stored| stored.entry.state == InboxState::Pending);
        ready(first.map(|stored| stored.entry.received_at))
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        let mut counts = InboxCounts::default();
        for stored in &self.state().stored {
            match stored.entry.state {
                InboxState::Pending => counts.pending += 1,
                InboxState::Completed => counts.completed += 1,
                InboxState::DeadLetter => counts.dead_letters += 1,
            }
        }
        ready(counts)
    }
}
