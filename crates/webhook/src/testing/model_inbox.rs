//! An inbox as plain as its rules, to compare engines with.

use crate::duplicate::{DuplicateKey, Fingerprint};
use crate::store::inbox::{Inbox, InboxCounts, InboxEntry, InboxState, Incoming, Verdict};
use crate::store::{EntryId, Lease, Owner};
use crate::{Acknowledgement, MessageKind};
use bankrail_values::{StoreFuture, Timestamp};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An inbox in a list, searched from the start. Not for use beyond tests: it forgets at the end of the process.
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
    lease: Option<Lease>,
    due: Timestamp,
    completed_at: Timestamp,
}

impl Stored {
    fn is_free(&self, now: Timestamp) -> bool {
        self.entry.state == InboxState::Pending && self.lease.is_none_or(|lease| lease.until <= now)
    }

    fn take(&mut self, lease: Lease) {
        self.lease = Some(lease);
        self.entry.attempts += 1;
    }

    /// As a claim answers for an entry that is the caller's.
    fn taken(&self) -> Verdict {
        let (id, acknowledgement) = (self.entry.id, self.entry.acknowledgement.clone());
        match self.entry.conflicts_with {
            None => Verdict::New { id, acknowledgement },
            Some(with) => Verdict::Conflict { id, acknowledgement, with },
        }
    }
}

impl ModelInbox {
    /// An empty inbox.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn store(&self, message: &Incoming, lease: Option<Lease>, now: Timestamp) -> Verdict {
        let mut state = self.state();
        let same_key = |stored: &&mut Stored| stored.key.overlaps(&message.key);
        let same = |stored: &&mut Stored| stored.fingerprint == message.fingerprint;
        if let Some(stored) = state.stored.iter_mut().filter(same_key).find(same) {
            if let Some(lease) = lease {
                if stored.is_free(now) {
                    stored.take(lease);
                    return stored.taken();
                }
                if stored.entry.state == InboxState::Pending && stored.lease.is_some_and(|l| l.owner == lease.owner) {
                    stored.lease = Some(lease);
                    return stored.taken();
                }
            }
            let (id, acknowledgement) = (stored.entry.id, stored.entry.acknowledgement.clone());
            return match stored.entry.state {
                InboxState::Pending => Verdict::InProgress { id, acknowledgement },
                InboxState::Completed | InboxState::SetAside => Verdict::Duplicate { id, acknowledgement },
            };
        }
        let conflicts_with = state.stored.iter_mut().find(same_key).map(|stored| stored.entry.id);
        state.last += 1;
        let mut stored = Stored {
            entry: InboxEntry {
                id: EntryId::new(state.last),
                kind: message.kind,
                headers: message.headers,
                header_findings: message.header_findings.clone(),
                body: message.body.clone(),
                acknowledgement: message.acknowledgement.clone(),
                received_at: now,
                conflicts_with,
                state: InboxState::Pending,
                attempts: 0,
                last_error: None,
            },
            key: message.key.clone(),
            fingerprint: message.fingerprint,
            lease: None,
            due: now,
            completed_at: now,
        };
        if let Some(lease) = lease {
            stored.take(lease);
        }
        let verdict = stored.taken();
        state.stored.push(stored);
        verdict
    }

    fn change(&self, id: EntryId, change: impl FnOnce(&mut Stored) -> bool) -> bool {
        self.state().stored.iter_mut().find(|stored| stored.entry.id == id).is_some_and(change)
    }

    fn finish(&self, id: EntryId, owner: Owner, change: impl FnOnce(&mut Stored)) -> bool {
        self.change(id, |stored| {
            let is_owner = stored.lease.is_some_and(|lease| lease.owner == owner);
            if is_owner {
                stored.lease = None;
                change(stored);
            }
            is_owner
        })
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> StoreFuture<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}

impl Inbox for ModelInbox {
    fn receive<'a>(&'a self, message: &'a Incoming, now: Timestamp) -> StoreFuture<'a, Verdict> {
        ready(self.store(message, None, now))
    }

    fn claim<'a>(&'a self, message: &'a Incoming, lease: Lease, now: Timestamp) -> StoreFuture<'a, Verdict> {
        ready(self.store(message, Some(lease), now))
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [MessageKind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        let mut state = self.state();
        let wanted = |stored: &&mut Stored| kinds.is_empty() || kinds.contains(&stored.entry.kind);
        let free = state.stored.iter_mut().filter(|stored| stored.is_free(now) && stored.due <= now).filter(wanted);
        let leased = free.take(usize::try_from(limit).unwrap_or(usize::MAX)).map(|stored| {
            stored.take(lease);
            stored.entry.clone()
        });
        ready(leased.collect())
    }

    fn extend(&self, id: EntryId, lease: Lease, _now: Timestamp) -> StoreFuture<'_, bool> {
        ready(self.change(id, |stored| {
            let is_owner = stored.lease.is_some_and(|held| held.owner == lease.owner);
            if is_owner {
                stored.lease = Some(lease);
            }
            is_owner
        }))
    }

    fn complete(&self, id: EntryId, owner: Owner, now: Timestamp) -> StoreFuture<'_, bool> {
        ready(self.finish(id, owner, |stored| {
            stored.entry.state = InboxState::Completed;
            stored.completed_at = now;
        }))
    }

    fn release<'a>(&'a self, id: EntryId, owner: Owner, due: Timestamp, error: &'a str) -> StoreFuture<'a, bool> {
        ready(self.finish(id, owner, |stored| {
            stored.due = due;
            stored.entry.last_error = Some(error.to_owned());
        }))
    }

    fn set_aside<'a>(&'a self, id: EntryId, owner: Owner, error: &'a str, _now: Timestamp) -> StoreFuture<'a, bool> {
        ready(self.finish(id, owner, |stored| {
            stored.entry.state = InboxState::SetAside;
            stored.entry.last_error = Some(error.to_owned());
        }))
    }

    fn list_set_aside(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        let state = self.state();
        let entries = state.stored.iter().map(|stored| &stored.entry);
        let listed = entries.filter(|entry| entry.state == InboxState::SetAside && Some(entry.id) > after);
        ready(listed.take(usize::try_from(limit).unwrap_or(usize::MAX)).cloned().collect())
    }

    fn retry(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        ready(self.change(id, |stored| {
            let set_aside = stored.entry.state == InboxState::SetAside;
            if set_aside {
                stored.entry.state = InboxState::Pending;
                stored.entry.attempts = 0;
                stored.due = now;
            }
            set_aside
        }))
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        ready(self.state().stored.iter().find(|stored| stored.entry.id == id).map(|stored| stored.entry.clone()))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        let mut state = self.state();
        let length = state.stored.len();
        state.stored.retain(|s| s.entry.state != InboxState::Completed || s.completed_at >= before);
        let forgotten = length - state.stored.len();
        ready(u64::try_from(forgotten).unwrap_or(u64::MAX))
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        let mut counts = InboxCounts::default();
        for stored in &self.state().stored {
            match stored.entry.state {
                InboxState::Pending => counts.pending += 1,
                InboxState::Completed => counts.completed += 1,
                InboxState::SetAside => counts.set_aside += 1,
            }
        }
        ready(counts)
    }
}

/// The acknowledgement number `number` of a suite.
pub(super) fn acknowledgement(number: u64) -> Acknowledgement {
    Acknowledgement::from_random_bytes((u128::from(number) << 64 | 7).to_be_bytes())
}
