//! An outbox in memory with faults.

use bankrail_mailbox::{
    Circuit, DeliveryRecord, Disposition, DropOutcome, EndpointBacklog, EndpointCircuit,
    EndpointId, Enqueued, EntryId, Intervention, Lease, LeaseOwner, LeaseRequest, Outbox,
    OutboxCounts, OutboxEntry, OutboxOperator, OutboxQuery, OutboxSummary, Outgoing,
    StoppedEndpoint,
};
use bankrail_stores::memory::{MemoryOutbox, MemoryStore};
use bankrail_values::{StoreError, StoreErrorKind, StoreFuture, Timestamp};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Semaphore;

/// An outbox that fails on request, with an error text that has a mark.
#[derive(Debug)]
pub(super) struct Faulty {
    pub(super) inner: MemoryOutbox,
    pub(super) fails: AtomicBool,
    /// True if the outbox forgets the owner of a lease.
    pub(super) loses_leases: bool,
    /// True if leases and records are stored but their answers are lost.
    pub(super) loses_answers: AtomicBool,
    /// The last requested lease.
    pub(super) asked: Mutex<Option<Lease>>,
    /// Permits of which each record of a delivery takes one.
    pub(super) records: Semaphore,
}

impl Faulty {
    pub(super) fn new() -> Self {
        let records = Semaphore::new(Semaphore::MAX_PERMITS);
        Self {
            inner: MemoryStore::new().outbox(),
            fails: AtomicBool::default(),
            loses_leases: false,
            loses_answers: AtomicBool::default(),
            asked: Mutex::default(),
            records,
        }
    }

    fn fault(&self) -> Result<(), StoreError> {
        Self::fails_if(&self.fails)
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
            $self.fault()?;
            $call.await
        })
    };
}

impl Outbox for Faulty {
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued> {
        failing!(self, self.inner.enqueue(message, now))
    }
    fn lease<'a>(
        &'a self,
        request: LeaseRequest<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<OutboxEntry>> {
        *self.asked.lock().unwrap() = Some(request.lease);
        Box::pin(async move {
            self.fault()?;
            let answer = self.inner.lease(request, now).await;
            Self::fails_if(&self.loses_answers)?;
            answer
        })
    }
    fn record<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        delivery: &'a DeliveryRecord,
        next: Disposition,
        answered: Option<&'a EndpointId>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        if self.loses_leases {
            return Box::pin(async { Ok(false) });
        }
        Box::pin(async move {
            self.records.acquire().await.unwrap().forget();
            self.fault()?;
            let answer = self
                .inner
                .record(id, owner, delivery, next, answered, now)
                .await;
            Self::fails_if(&self.loses_answers)?;
            answer
        })
    }
    fn release(&self, id: EntryId, owner: LeaseOwner, due: Timestamp) -> StoreFuture<'_, bool> {
        failing!(self, self.inner.release(id, owner, due))
    }
    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        failing!(self, self.inner.release_all(owners))
    }
    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        failing!(self, self.inner.recall(latest, now))
    }
    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        failing!(self, self.inner.next_due())
    }
    fn hold_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        circuit: Circuit,
    ) -> StoreFuture<'a, ()> {
        failing!(self, self.inner.hold_endpoint(endpoint, circuit))
    }
    fn retry_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        failing!(self, self.inner.retry_endpoint(endpoint, now))
    }
    fn stop_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        who: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        failing!(self, self.inner.stop_endpoint(endpoint, who, now))
    }
    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        failing!(self, self.inner.forget(before))
    }
}

impl OutboxOperator for Faulty {
    fn circuits(&self) -> StoreFuture<'_, Vec<EndpointCircuit>> {
        failing!(self, self.inner.circuits())
    }
    fn deliveries(&self, id: EntryId) -> StoreFuture<'_, Vec<DeliveryRecord>> {
        failing!(self, self.inner.deliveries(id))
    }
    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>> {
        failing!(self, self.inner.find(id))
    }
    fn list<'a>(&'a self, query: &'a OutboxQuery) -> StoreFuture<'a, Vec<OutboxSummary>> {
        failing!(self, self.inner.list(query))
    }
    fn summary(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxSummary>> {
        failing!(self, self.inner.summary(id))
    }
    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        failing!(self, self.inner.resend(id, now))
    }
    fn resend_all<'a>(&'a self, endpoint: &'a EndpointId, now: Timestamp) -> StoreFuture<'a, u64> {
        failing!(self, self.inner.resend_all(endpoint, now))
    }
    fn drop_entry<'a>(
        &'a self,
        id: EntryId,
        who: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, DropOutcome> {
        failing!(self, self.inner.drop_entry(id, who, now))
    }
    fn resume_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        failing!(self, self.inner.resume_endpoint(endpoint, now))
    }
    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>> {
        failing!(self, self.inner.stopped_endpoints())
    }
    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        failing!(self, self.inner.oldest_pending())
    }
    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts> {
        failing!(self, self.inner.counts(endpoint))
    }
    fn backlogs<'a>(
        &'a self,
        after: Option<&'a EndpointId>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<EndpointBacklog>> {
        failing!(self, self.inner.backlogs(after, limit))
    }
}
