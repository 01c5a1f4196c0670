//! An inbox in memory with faults.

use bankrail_mailbox::{
    EntryId, Inbox, InboxCounts, InboxEntry, InboxUpdate, Incoming, Kind, Lease, LeaseOwner,
    ReceiveOutcome,
};
use bankrail_stores::memory::{MemoryInbox, MemoryStore};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// An inbox that fails on request, with an error text that has a mark.
#[derive(Debug)]
pub(crate) struct Faulty {
    pub(crate) inner: MemoryInbox,
    pub(crate) fails: AtomicBool,
    /// True if leases and updates are stored but their answers are lost.
    pub(crate) loses_answers: AtomicBool,
    /// The last requested lease.
    pub(crate) asked: Mutex<Option<Lease>>,
}

impl Faulty {
    pub(crate) fn new() -> Self {
        let inner = MemoryStore::new().inbox();
        Self {
            inner,
            fails: AtomicBool::default(),
            loses_answers: AtomicBool::default(),
            asked: Mutex::default(),
        }
    }

    fn fails_if(fails: &AtomicBool) -> Result<(), StoreError> {
        let fails = fails.load(Ordering::SeqCst);
        if fails {
            Err(StoreError::new(
                StoreErrorKind::Unavailable,
                "row (JANE MARKED, 990077123)",
            ))
        } else {
            Ok(())
        }
    }
}

macro_rules! failing {
    ($self:ident, $call:expr) => {
        Box::pin(async move {
            Self::fails_if(&$self.fails)?;
            $call.await
        })
    };
}

impl Inbox for Faulty {
    fn receive<'a>(
        &'a self,
        message: &'a Incoming,
        now: Timestamp,
    ) -> StoreFuture<'a, ReceiveOutcome> {
        failing!(self, self.inner.receive(message, now))
    }
    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        *self.asked.lock().unwrap() = Some(lease);
        Box::pin(async move {
            Self::fails_if(&self.fails)?;
            let answer = self.inner.lease(kinds, limit, lease, now).await;
            Self::fails_if(&self.loses_answers)?;
            answer
        })
    }
    fn update<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        update: InboxUpdate<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            Self::fails_if(&self.fails)?;
            let answer = self.inner.update(id, owner, update, now).await;
            Self::fails_if(&self.loses_answers)?;
            answer
        })
    }
    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        failing!(self, self.inner.release_all(owners))
    }
    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        failing!(self, self.inner.recall(latest, now))
    }
    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        failing!(self, self.inner.dead_letters(after, limit))
    }
    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        failing!(self, self.inner.resend(id, now))
    }
    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        failing!(self, self.inner.find(id))
    }
    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        failing!(self, self.inner.forget(before))
    }
    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        failing!(self, self.inner.oldest_pending())
    }
    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        failing!(self, self.inner.counts())
    }
}
