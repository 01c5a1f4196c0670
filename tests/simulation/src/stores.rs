//! The engines in memory, with a fault possible before and after each operation, and with the
//! transactions that they lack.

use crate::biller::INBOX_RETENTION;
use crate::model::Model;
use crate::node::Life;
use crate::provider::OUTBOX_RETENTION;
use bankrail_client_assertion::ReplayKey;
use bankrail_client_assertion::token::{
    CachedToken, TokenCache, TokenCacheKey, TokenGrant, TokenHash, TokenStore,
};
use bankrail_mailbox::{
    Circuit, Completion, DeliveryRecord, Disposition, DropOutcome, EndpointBacklog,
    EndpointCircuit, EndpointId, Enqueued, EntryId, Inbox, InboxCounts, InboxEntry, InboxState,
    InboxUpdate, Incoming, Intervention, Kind, Lease, LeaseOwner, LeaseRequest, Outbox,
    OutboxCounts, OutboxEntry, OutboxOperator, OutboxQuery, OutboxSummary, Outgoing,
    ReceiveOutcome, StoppedEndpoint, TransactionalInbox,
};
use bankrail_rate_limit::{Charge, CounterStore, Decision, MemoryCounters};
use bankrail_statement::{
    AccountId, EntryKey, PageRecord, PositionChange, Recorded, SeenEntries, SeenEntry,
    TransactionalSeenEntries,
};
use bankrail_stores::memory::{MemoryInbox, MemoryOutbox, MemoryStore};
use bankrail_values::{Clock as _, Date, EXPIRY_GRACE, StoreFuture, Timestamp};
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// A store as one process uses it.
#[derive(Clone)]
pub(crate) struct Used<S> {
    pub(crate) life: Arc<Life>,
    pub(crate) model: Arc<Model>,
    pub(crate) engine: S,
}

impl<S> fmt::Debug for Used<S> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.life, out)
    }
}

/// The work in a transaction: what it changes in the model of the biller's own tables.
pub(crate) type Work = Box<dyn FnOnce(&Model) -> Result<(), Box<dyn Error + Send + Sync>> + Send>;

impl Outbox for Used<MemoryOutbox> {
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued> {
        Box::pin(
            self.life
                .write("outbox.enqueue", self.engine.enqueue(message, now)),
        )
    }

    fn lease<'a>(
        &'a self,
        request: LeaseRequest<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<OutboxEntry>> {
        Box::pin(
            self.life
                .write("outbox.lease", self.engine.lease(request, now)),
        )
    }

    fn record<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        delivery: &'a DeliveryRecord,
        disposition: Disposition,
        answered: Option<&'a EndpointId>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let record = async move {
            let recorded = self
                .engine
                .record(id, owner, delivery, disposition, answered, now)
                .await?;
            if recorded && disposition == Disposition::Delivered {
                self.model.delivered(self.engine.find(id).await?);
            }
            Ok(recorded)
        };
        Box::pin(self.life.write("outbox.record", record))
    }

    fn release(&self, id: EntryId, owner: LeaseOwner, due: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(
            self.life
                .write("outbox.release", self.engine.release(id, owner, due)),
        )
    }

    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        Box::pin(
            self.life
                .write("outbox.release_all", self.engine.release_all(owners)),
        )
    }

    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(
            self.life
                .write("outbox.recall", self.engine.recall(latest, now)),
        )
    }

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.life.read("outbox.next_due", self.engine.next_due()))
    }

    fn hold_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        circuit: Circuit,
    ) -> StoreFuture<'a, ()> {
        Box::pin(self.life.write(
            "outbox.hold_endpoint",
            self.engine.hold_endpoint(endpoint, circuit),
        ))
    }

    fn retry_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(self.life.write(
            "outbox.retry_endpoint",
            self.engine.retry_endpoint(endpoint, now),
        ))
    }

    fn stop_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        let stop = self.engine.stop_endpoint(endpoint, intervention, now);
        Box::pin(self.life.write("outbox.stop_endpoint", stop))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        if before > self.life.node.now().saturating_sub(OUTBOX_RETENTION) {
            self.model.forgets_too_soon("outbox", before);
        }
        let forget = async move {
            let (open, forgotten) = (
                self.engine.counts(None).await?,
                self.engine.forget(before).await?,
            );
            let left = self.engine.counts(None).await?;
            self.model.outbox_forgotten(forgotten, &open, &left);
            Ok(forgotten)
        };
        Box::pin(self.life.write("outbox.forget", forget))
    }
}

/// Operators meet no faults.
impl OutboxOperator for Used<MemoryOutbox> {
    fn list<'a>(&'a self, query: &'a OutboxQuery) -> StoreFuture<'a, Vec<OutboxSummary>> {
        self.engine.list(query)
    }

    fn summary(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxSummary>> {
        self.engine.summary(id)
    }

    fn deliveries(&self, id: EntryId) -> StoreFuture<'_, Vec<DeliveryRecord>> {
        self.engine.deliveries(id)
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>> {
        self.engine.find(id)
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        self.engine.resend(id, now)
    }

    fn resend_all<'a>(&'a self, endpoint: &'a EndpointId, now: Timestamp) -> StoreFuture<'a, u64> {
        self.engine.resend_all(endpoint, now)
    }

    fn drop_entry<'a>(
        &'a self,
        id: EntryId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, DropOutcome> {
        self.engine.drop_entry(id, intervention, now)
    }

    fn resume_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.engine.resume_endpoint(endpoint, now)
    }

    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>> {
        self.engine.stopped_endpoints()
    }

    fn circuits(&self) -> StoreFuture<'_, Vec<EndpointCircuit>> {
        self.engine.circuits()
    }

    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts> {
        self.engine.counts(endpoint)
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        self.engine.oldest_pending()
    }

    fn backlogs<'a>(
        &'a self,
        after: Option<&'a EndpointId>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<EndpointBacklog>> {
        self.engine.backlogs(after, limit)
    }
}

impl Inbox for Used<MemoryInbox> {
    fn receive<'a>(
        &'a self,
        message: &'a Incoming,
        now: Timestamp,
    ) -> StoreFuture<'a, ReceiveOutcome> {
        let receive = async move {
            let outcome = self.engine.receive(message, now).await?;
            self.model.received(message, &outcome, now);
            Ok(outcome)
        };
        Box::pin(self.life.write("inbox.receive", receive))
    }

    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>> {
        let take = async move {
            let leased = self.engine.lease(kinds, limit, lease, now).await?;
            self.model.leased(&leased, lease);
            Ok(leased)
        };
        Box::pin(self.life.write("inbox.lease", take))
    }

    fn update<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        update: InboxUpdate<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let change = async move {
            let changed = self.engine.update(id, owner, update, now).await?;
            if changed {
                self.model.updated(id, owner, update, now);
            }
            Ok(changed)
        };
        Box::pin(self.life.write("inbox.update", change))
    }

    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64> {
        Box::pin(
            self.life
                .write("inbox.release_all", self.engine.release_all(owners)),
        )
    }

    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64> {
        Box::pin(
            self.life
                .write("inbox.recall", self.engine.recall(latest, now)),
        )
    }

    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>> {
        self.engine.dead_letters(after, limit)
    }

    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool> {
        self.engine.resend(id, now)
    }

    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>> {
        Box::pin(self.life.read("inbox.find", self.engine.find(id)))
    }

    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64> {
        let by = before
            .saturating_add(INBOX_RETENTION)
            .saturating_add(EXPIRY_GRACE);
        if by > self.life.node.now() {
            self.model.forgets_too_soon("inbox", before);
        }
        let forget = async move {
            let forgotten = self.engine.forget(before).await?;
            let mut gone = Vec::new();
            for id in self.model.inbox_entries() {
                if self.engine.find(id).await?.is_none() {
                    gone.push(id);
                }
            }
            self.model.inbox_forgotten(&gone, before, by);
            Ok(forgotten)
        };
        Box::pin(self.life.write("inbox.forget", forget))
    }

    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>> {
        self.engine.oldest_pending()
    }

    fn counts(&self) -> StoreFuture<'_, InboxCounts> {
        self.engine.counts()
    }
}

impl TransactionalInbox for Used<MemoryInbox> {
    type Work = Work;

    fn complete_with(
        &self,
        id: EntryId,
        owner: LeaseOwner,
        work: Work,
        now: Timestamp,
    ) -> StoreFuture<'_, Completion> {
        let complete = async move {
            // Asks for the lease without a change: it must be the owner's.
            let lease = self.model.lease_of(id, owner);
            let Some(lease) = lease else {
                return Ok(Completion::LeaseLost);
            };
            if !self.engine.extend(id, lease, now).await? {
                return Ok(Completion::LeaseLost);
            }
            // Work that fails changes nothing, so that it need not be undone.
            if let Err(error) = work(&self.model) {
                return Ok(Completion::Undone(error));
            }
            let update = InboxUpdate::to(InboxState::Completed);
            self.engine.update(id, owner, update, now).await?;
            self.model.updated(id, owner, update, now);
            Ok(Completion::Committed)
        };
        Box::pin(self.life.write("inbox.complete_with", complete))
    }
}

impl TokenStore for Used<MemoryStore> {
    fn grant_once(
        &self,
        claim: Option<ReplayKey>,
        hash: TokenHash,
        grant: TokenGrant,
    ) -> StoreFuture<'_, bool> {
        Box::pin(self.life.write(
            "tokens.grant_once",
            self.engine.grant_once(claim, hash, grant),
        ))
    }

    fn find(&self, hash: TokenHash, now: Timestamp) -> StoreFuture<'_, Option<TokenGrant>> {
        Box::pin(self.life.read("tokens.find", self.engine.find(hash, now)))
    }

    fn revoke(&self, hash: TokenHash) -> StoreFuture<'_, bool> {
        Box::pin(
            self.life
                .write("tokens.revoke", TokenStore::revoke(&self.engine, hash)),
        )
    }
}

impl TokenCache for Used<MemoryStore> {
    fn get<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<CachedToken>> {
        Box::pin(self.life.read("cache.get", self.engine.get(key, now)))
    }

    fn put<'a>(
        &'a self,
        key: &'a TokenCacheKey,
        token: &'a CachedToken,
        now: Timestamp,
    ) -> StoreFuture<'a, ()> {
        Box::pin(
            self.life
                .write("cache.put", self.engine.put(key, token, now)),
        )
    }

    fn remove<'a>(&'a self, key: &'a TokenCacheKey, token: &'a CachedToken) -> StoreFuture<'a, ()> {
        Box::pin(
            self.life
                .write("cache.remove", self.engine.remove(key, token)),
        )
    }
}

impl CounterStore for Used<Arc<MemoryCounters>> {
    fn charge<'a>(&'a self, charge: Charge<'a>) -> StoreFuture<'a, Decision> {
        let decide = async move {
            let decision = self.engine.charge(charge).await?;
            // The biller's own counters only pace it.
            if self.life.node.name.starts_with("provider") {
                self.model.charged(&charge, &decision);
            }
            Ok(decision)
        };
        Box::pin(self.life.write("counters.charge", decide))
    }
}

impl SeenEntries for Used<MemoryStore> {
    fn counts<'a>(
        &'a self,
        account: &'a AccountId,
        keys: &'a [EntryKey],
    ) -> StoreFuture<'a, Vec<u32>> {
        Box::pin(
            self.life
                .read("seen.counts", self.engine.counts(account, keys)),
        )
    }

    fn record<'a>(
        &'a self,
        account: &'a AccountId,
        entries: &'a [SeenEntry],
        position: Option<PositionChange<'a>>,
    ) -> StoreFuture<'a, Recorded> {
        let record = SeenEntries::record(&self.engine, account, entries, position);
        Box::pin(self.life.write("seen.record", record))
    }

    fn position<'a>(&'a self, account: &'a AccountId) -> StoreFuture<'a, Option<String>> {
        Box::pin(
            self.life
                .read("seen.position", self.engine.position(account)),
        )
    }

    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64> {
        let forget = async move {
            let forgotten = self.engine.forget_before(account, day).await?;
            self.model.entries_forgotten(forgotten, day);
            Ok(forgotten)
        };
        Box::pin(self.life.write("seen.forget_before", forget))
    }
}

impl TransactionalSeenEntries for Used<MemoryStore> {
    type Work = Work;

    fn record_with<'a>(
        &'a self,
        account: &'a AccountId,
        page: PageRecord<'a>,
        work: Work,
    ) -> StoreFuture<'a, Recorded> {
        let record = async move {
            let counts = self.engine.counts(account, &page.new_keys()).await?;
            let position = self.engine.position(account).await?;
            if page.is_overtaken(&counts)
                || page
                    .position
                    .is_some_and(|change| change.is_overtaken(position.as_deref()))
            {
                self.life.node.world.mark(format_args!("page overtaken"));
                return Ok(Recorded::Overtaken);
            }
            // Before the work, which cannot be undone, and which changes nothing if it fails.
            bankrail_statement::check_position(page.position)?;
            if let Err(error) = work(&self.model) {
                return Ok(Recorded::Undone(error));
            }
            SeenEntries::record(&self.engine, account, page.entries, page.position).await
        };
        Box::pin(self.life.write("seen.record_with", record))
    }
}
