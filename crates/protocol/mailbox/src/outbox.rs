//! The sender's outbox, which loses no enqueued message.
//!
//! The outbox stores the message itself, not the sealed form: a dead letter may be resent days
//! later, when a text sealed at enqueue would no longer open. The outbox therefore has payload:
//! protect it like the ledger.

mod circuit;
mod operator;
mod record;
mod request;

pub use circuit::{Circuit, EndpointCircuit};
pub use operator::{
    DropOutcome, EndpointBacklog, Intervention, InterventionReason, OperatorName, OutboxCounts,
    OutboxQuery, OutboxSummary, StoppedEndpoint,
};
pub use record::{DeliveryNote, DeliveryRecord, Disposition};
pub use request::{LeaseCandidate, LeaseRequest};

use crate::key::Fingerprint;
use crate::kind::Kind;
use crate::lease::{EntryId, LeaseOwner};
use crate::opaque::OpaqueBytes;
use bankrail_values::{BoundedText, HyphenatedUuid, StoreFuture, Timestamp, ValueError};
use std::fmt::Debug;
use std::str::FromStr;

/// A receiver's endpoint, as the sender names it: 1 to 200 code points. Some engines cannot store
/// U+0000.
pub type EndpointId = BoundedText<1, 200>;

/// A message to deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "senders and engines make them")]
pub struct Outgoing {
    /// The endpoint to deliver to.
    pub endpoint: EndpointId,
    /// The kind of the message.
    pub kind: Kind,
    /// The sender's identification of the message, which is the same in each delivery and unique
    /// for the endpoint.
    pub message_id: HyphenatedUuid,
    /// The fingerprint of the content.
    pub fingerprint: Fingerprint,
    /// The attributes of the message, in the caller's own format: its headers for example.
    pub attributes: OpaqueBytes,
    /// The message.
    pub body: OpaqueBytes,
}

impl Outgoing {
    /// Returns true if both are one message, even if the second was generated again: kind,
    /// fingerprint and attributes are equal. Engines use this to compare two messages with the same
    /// [`Outgoing::message_id`].
    #[must_use]
    pub fn has_same_content(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.fingerprint == other.fingerprint
            && self.attributes == other.attributes
    }
}

/// The result of [`Outbox::enqueue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "stored now or before")]
pub enum Enqueued {
    /// The message is stored now, and due at once.
    New(EntryId),
    /// The message was stored before, under its `message_id` and for its endpoint. Nothing was
    /// changed.
    AlreadyStored(EntryId),
}

impl Enqueued {
    /// Returns the entry.
    #[must_use]
    pub fn id(self) -> EntryId {
        match self {
            Self::New(id) | Self::AlreadyStored(id) => id,
        }
    }
}

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "engines store each")]
pub enum OutboxState {
    /// The entry waits for its time, or is leased.
    Pending,
    /// The message is delivered.
    Delivered,
    /// The message is not delivered until [`OutboxOperator::resend`].
    DeadLetter,
    /// An operator has dropped the message, which is never delivered.
    Dropped,
}

impl OutboxState {
    /// All states.
    pub const ALL: &'static [Self] = &[
        Self::Pending,
        Self::Delivered,
        Self::DeadLetter,
        Self::Dropped,
    ];

    /// Returns the stable name of the state, for stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::DeadLetter => "dead_letter",
            Self::Dropped => "dropped",
        }
    }
}

impl FromStr for OutboxState {
    type Err = ValueError;

    /// Reads a [stable name](Self::as_str).
    fn from_str(name: &str) -> Result<Self, ValueError> {
        let known = Self::ALL
            .iter()
            .copied()
            .find(|state| state.as_str() == name);
        known.ok_or_else(|| ValueError::new("the name of a state of the outbox", name))
    }
}

/// A stored message to deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutboxEntry {
    /// The number of the entry, rising with the time of enqueueing.
    pub id: EntryId,
    /// The message.
    pub message: Outgoing,
    /// The state.
    pub state: OutboxState,
    /// The instant at which the message was enqueued.
    pub enqueued_at: Timestamp,
    /// The instant at which a pending entry is due.
    pub due: Timestamp,
    /// The number of deliveries since the message was enqueued or resent, for the schedule.
    pub deliveries: u32,
    /// The circuit of the endpoint, if there is one; only [`Outbox::lease`] returns it.
    pub circuit: Option<Circuit>,
}

impl OutboxEntry {
    /// Returns a pending entry that is due at once. An engine sets the fields that differ.
    #[must_use]
    pub fn new(id: EntryId, message: Outgoing, enqueued_at: Timestamp) -> Self {
        Self {
            id,
            message,
            state: OutboxState::Pending,
            enqueued_at,
            due: enqueued_at,
            deliveries: 0,
            circuit: None,
        }
    }
}

/// A sender's store of messages to deliver, as workers use it. Each operation is durable before it
/// returns.
///
/// Rules for engines, which the suite of the `testing` feature checks:
/// - A lease belongs to its owner strictly before `until`. From `until` on another owner may take
///   the entry; as long as no other has taken it, the first owner may still record. Calls by others
///   change nothing and return `false`.
/// - Entries of an endpoint that is stopped, or that its [`Circuit`] holds back, are stored but
///   not leased.
/// - The caller passes `now`; a store never reads a clock.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not store messages to deliver",
    label = "not an `Outbox`",
    note = "pass `Arc::new(store.outbox())` of `SqliteStore`, `PostgresStore` or `MemoryStore` of `bankrail_stores`",
    note = "`bankrail-stores` implements it with the feature `mailbox`, which `bankrail` switches on by itself"
)]
pub trait Outbox: Debug + Send + Sync {
    /// Stores a message, due at once. A message for a stopped endpoint is stored, too.
    ///
    /// Another message ([`Outgoing::has_same_content`]) under a `message_id` that is stored for the
    /// endpoint is an error of the kind
    /// [`StoreErrorKind::Conflict`](bankrail_values::StoreErrorKind::Conflict), because it would
    /// never be delivered.
    fn enqueue<'a>(&'a self, message: &'a Outgoing, now: Timestamp) -> StoreFuture<'a, Enqueued>;

    /// Leases pending entries that are due and free. The endpoints take turns ([`LeaseRequest`]);
    /// the answer is in that order, with the entries of slow endpoints last.
    fn lease<'a>(
        &'a self,
        request: LeaseRequest<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<OutboxEntry>>;

    /// Records a delivery and the entry's new state in one step, and ends the lease. Returns
    /// `false`, and records nothing, if the lease is no longer the owner's.
    ///
    /// `answered` is the endpoint if the delivery shows that it works. The same step closes the
    /// endpoint's circuit ([`Circuit::closed`]), whichever worker opened it, even if the delivery
    /// began before the opening, and even if this returns `false`.
    fn record<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        delivery: &'a DeliveryRecord,
        disposition: Disposition,
        answered: Option<&'a EndpointId>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Gives an entry back without a delivery, due at `due`. Returns `false` if the lease is no
    /// longer the owner's.
    fn release(&self, id: EntryId, owner: LeaseOwner, due: Timestamp) -> StoreFuture<'_, bool>;

    /// Ends all leases of these owners, and returns the number of their entries, which are due as
    /// before. A worker calls this after a failed [`Outbox::lease`], because the engine may have
    /// made the lease and only the answer was lost ([`LeaseOwners`](crate::LeaseOwners)).
    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64>;

    /// Corrects entries that were written while a clock was ahead. Pending entries that are due
    /// after `latest` are due now; leases and circuits that last beyond `latest` end. Returns the
    /// number of changed entries.
    ///
    /// A worker calls this when [`LeaseOwners::is_recall_due`](crate::LeaseOwners::is_recall_due)
    /// returns true, with the latest instant that its schedule
    /// ([`Schedule::longest_delay`](crate::Schedule::longest_delay)) and its leases allow. All
    /// workers over one store need the same bounds: longer leases and delays of another worker
    /// would be cut.
    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64>;

    /// Returns the first instant at which a pending entry can be leased: it is due, free of its
    /// lease, and its endpoint is neither stopped nor held back by its circuit. `None` if there is
    /// no such entry.
    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>>;

    /// Waits until another process may have enqueued a message, so that an idle worker need not
    /// poll often. The wait may also end without a message. Only one of several workers over one
    /// store handle is woken. After an error, and where messages are stored without
    /// [`Outbox::enqueue`], a worker polls at its own interval. The default never completes.
    fn changed(&self) -> StoreFuture<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// Joins a circuit with the stored one of an endpoint ([`Circuit::joined`]). Workers call this
    /// only when a circuit opens or a rest begins, so that healthy endpoints cause no calls.
    fn hold_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        circuit: Circuit,
    ) -> StoreFuture<'a, ()>;

    /// Permits a trial of an endpoint that is up again: its pending entries that wait for a later
    /// time are due now, as by [`OutboxOperator::resume_endpoint`], and an opening of its circuit
    /// ends. The circuit itself stays, so that one entry is the trial. A rest and a stop stay too.
    ///
    /// An engine may do so in several transactions, the last of which ends the opening.
    fn retry_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, ()>;

    /// Stops an endpoint. A second stop has no effect.
    fn stop_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, ()>;

    /// Forgets the entries that were delivered or dropped before `before`, with their deliveries.
    /// Returns the number of forgotten entries.
    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64>;
}

/// A sender's store of messages to deliver, as operators use it. Only [`OutboxOperator::find`] and
/// [`Outbox::lease`] return payload.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not store messages to deliver",
    label = "not an `OutboxOperator`",
    note = "pass `Arc::new(store.outbox())` of `SqliteStore`, `PostgresStore` or `MemoryStore` of `bankrail_stores`",
    note = "`bankrail-stores` implements it with the feature `mailbox`, which `bankrail` switches on by itself"
)]
pub trait OutboxOperator: Debug + Send + Sync {
    /// Returns entries without their payload, in the order of enqueueing. An entry that this
    /// version cannot read is left out.
    ///
    /// The cost of a page is that of its entries and of those that the engine reads in vain,
    /// because of their kind or their time. In addition, an engine in memory reads all entries. For
    /// the pending or dropped entries of an endpoint, PostgreSQL also reads those of other
    /// endpoints; for its delivered entries, also those in other states. For dropped entries,
    /// SQLite reads all dropped ones, with one search for each endpoint.
    fn list<'a>(&'a self, query: &'a OutboxQuery) -> StoreFuture<'a, Vec<OutboxSummary>>;

    /// Returns an entry without its payload.
    fn summary(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxSummary>>;

    /// Returns all recorded deliveries of an entry in their order, including those before a resend.
    fn deliveries(&self, id: EntryId) -> StoreFuture<'_, Vec<DeliveryRecord>>;

    /// Returns an entry with its payload.
    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<OutboxEntry>>;

    /// Makes a dead letter, or an entry that was delivered, pending again, due at once, with
    /// deliveries counted from zero and an unchanged `message_id`. Returns `false` for an entry
    /// that is pending, dropped or forgotten.
    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool>;

    /// Resends all dead letters of an endpoint, and returns their number. An engine may do so in
    /// several transactions.
    fn resend_all<'a>(&'a self, endpoint: &'a EndpointId, now: Timestamp) -> StoreFuture<'a, u64>;

    /// Drops a pending entry or a dead letter, which is then never delivered. The entry and its
    /// deliveries stay stored until they are forgotten, and its `message_id` stays taken.
    ///
    /// An entry under a lease that lasts beyond now is not dropped, because its message may be
    /// under way. An expired lease does not prevent the drop; its late owner then records nothing.
    fn drop_entry<'a>(
        &'a self,
        id: EntryId,
        intervention: &'a Intervention,
        now: Timestamp,
    ) -> StoreFuture<'a, DropOutcome>;

    /// Resumes deliveries to an endpoint, whoever stopped it. Its circuit is removed, and its
    /// pending entries that wait for a later time are due now. These are leased in the order of
    /// enqueueing, after those that were due before, and the count of their deliveries goes on.
    /// Returns `false` if the endpoint was not stopped.
    ///
    /// An engine may do so in several transactions, the last of which ends the stop.
    fn resume_endpoint<'a>(
        &'a self,
        endpoint: &'a EndpointId,
        now: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Returns the stopped endpoints, by name.
    fn stopped_endpoints(&self) -> StoreFuture<'_, Vec<StoppedEndpoint>>;

    /// Returns the endpoints with a circuit, by name. A circuit may still have a rest that is over.
    fn circuits(&self) -> StoreFuture<'_, Vec<EndpointCircuit>>;

    /// Returns the number of entries in each state, of one endpoint or of all. In SQLite the cost
    /// does not depend on the number of entries; the other engines count them. The same is true of
    /// [`OutboxOperator::oldest_pending`] and [`OutboxOperator::backlogs`].
    fn counts<'a>(&'a self, endpoint: Option<&'a EndpointId>) -> StoreFuture<'a, OutboxCounts>;

    /// Returns the instant at which the oldest pending entry was enqueued; `None` if there is none.
    /// Entries of stopped endpoints do not count.
    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>>;

    /// Returns the backlog of each endpoint that has a pending entry or a dead letter: by name,
    /// after the name `after`, at most `limit` and at most [`OutboxQuery::MAX_LIMIT`] endpoints.
    fn backlogs<'a>(
        &'a self,
        after: Option<&'a EndpointId>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<EndpointBacklog>>;
}

/// An outbox for workers and operators.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not store messages to deliver",
    label = "not an `OutboxStore`",
    note = "pass `Arc::new(store.outbox())` of `SqliteStore`, `PostgresStore` or `MemoryStore` of `bankrail_stores`",
    note = "`bankrail-stores` implements it with the feature `mailbox`, which `bankrail` switches on by itself"
)]
pub trait OutboxStore: Outbox + OutboxOperator {}

#[diagnostic::do_not_recommend]
impl<S: Outbox + OutboxOperator + ?Sized> OutboxStore for S {}
