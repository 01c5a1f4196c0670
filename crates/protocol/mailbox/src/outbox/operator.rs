//! The types of operators' operations, which have no payload.

use super::{EndpointId, OutboxEntry, OutboxState};
use crate::kind::Kind;
use crate::lease::EntryId;
use bankrail_values::{BoundedText, HyphenatedUuid, Timestamp};

/// The name of a person, or of a part of the program, that intervenes: 1 to 100 code points.
pub type OperatorName = BoundedText<1, 100>;

/// The reason of an intervention: up to 500 code points, without payload.
pub type InterventionReason = BoundedText<0, 500>;

/// The author and the reason of a stop of an endpoint or of a dropped entry. The store adds the
/// time. PostgreSQL stores U+FFFD in place of U+0000.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "who and why")]
pub struct Intervention {
    /// The author.
    pub by: OperatorName,
    /// The reason.
    pub reason: InterventionReason,
}

/// A stopped endpoint, to which nothing is delivered. An operator stopped it, or a dispatcher after
/// its answer 410.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoppedEndpoint {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The instant at which the endpoint was stopped.
    pub since: Timestamp,
    /// The author and the reason of the stop.
    pub intervention: Intervention,
}

impl StoppedEndpoint {
    /// Returns an endpoint that was stopped at this instant.
    #[must_use]
    pub fn new(endpoint: EndpointId, since: Timestamp, intervention: Intervention) -> Self {
        Self {
            endpoint,
            since,
            intervention,
        }
    }
}

bankrail_values::options! {
    /// The selection of entries for [`OutboxOperator::list`](super::OutboxOperator::list). `new`
    /// selects the first 100 of all entries.
    ///
    /// ```
    /// use bankrail_mailbox::{OutboxQuery, OutboxState};
    /// let first = OutboxQuery::new().state(OutboxState::DeadLetter).limit(50);
    /// # let last_id = bankrail_mailbox::EntryId::new(50);
    /// let next = first.after(last_id);
    /// # drop(next);
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct OutboxQuery {
        /// The endpoint of the entries. Default: any.
        pub endpoint(EndpointId => Some): Option<EndpointId> = None,
        /// The state of the entries. Default: any.
        pub state(OutboxState => Some): Option<OutboxState> = None,
        /// The kind of the entries. Default: any.
        pub kind(Kind => Some): Option<Kind> = None,
        /// The instant before which the entries were enqueued. Default: none.
        pub enqueued_before(Timestamp => Some): Option<Timestamp> = None,
        /// The last entry of the page before. Default: none, for the first page.
        pub after(EntryId => Some): Option<EntryId> = None,
        /// The maximum number of entries of a page, up to [`OutboxQuery::MAX_LIMIT`]. Default: 100.
        limit(u32 => |entries| entries.min(OutboxQuery::MAX_LIMIT)): u32 = 100,
    }
}

impl OutboxQuery {
    /// The maximum number of entries or endpoints that an outbox lists at once.
    pub const MAX_LIMIT: u32 = 1000;

    /// Returns the maximum number of entries of a page, for engines.
    #[must_use]
    pub fn page(&self) -> u32 {
        self.limit
    }
}

/// An entry without its payload. [`OutboxOperator::deliveries`](super::OutboxOperator::deliveries)
/// returns the entry's deliveries, [`OutboxOperator::find`](super::OutboxOperator::find) its body.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutboxSummary {
    /// The number of the entry.
    pub id: EntryId,
    /// The endpoint to deliver to.
    pub endpoint: EndpointId,
    /// The kind of the message.
    pub kind: Kind,
    /// The sender's identification of the message.
    pub message_id: HyphenatedUuid,
    /// The state.
    pub state: OutboxState,
    /// The instant at which the message was enqueued.
    pub enqueued_at: Timestamp,
    /// The instant at which a pending entry is due.
    pub due: Timestamp,
    /// The number of deliveries since the message was enqueued or resent.
    pub deliveries: u32,
    /// The end of the entry's lease, if there is one.
    pub leased_until: Option<Timestamp>,
    /// The instant at which the entry was delivered, dropped or became a dead letter, if it is not
    /// pending.
    pub finished_at: Option<Timestamp>,
    /// The author and the reason of the drop, if the entry was dropped.
    pub dropped: Option<Intervention>,
}

impl OutboxSummary {
    /// Returns the summary of a pending entry that is due at once. An engine sets the fields that
    /// differ.
    #[must_use]
    pub fn new(
        id: EntryId,
        endpoint: EndpointId,
        kind: Kind,
        message_id: HyphenatedUuid,
        enqueued_at: Timestamp,
    ) -> Self {
        Self {
            id,
            endpoint,
            kind,
            message_id,
            state: OutboxState::Pending,
            enqueued_at,
            due: enqueued_at,
            deliveries: 0,
            leased_until: None,
            finished_at: None,
            dropped: None,
        }
    }

    /// Returns the summary of an entry that is neither leased nor finished nor dropped. An engine
    /// sets those fields.
    #[must_use]
    pub fn of(entry: &OutboxEntry) -> Self {
        let message = &entry.message;
        let (endpoint, kind) = (message.endpoint.clone(), message.kind.clone());
        Self {
            state: entry.state,
            due: entry.due,
            deliveries: entry.deliveries,
            ..Self::new(
                entry.id,
                endpoint,
                kind,
                message.message_id,
                entry.enqueued_at,
            )
        }
    }
}

/// The answer of [`OutboxOperator::drop_entry`](super::OutboxOperator::drop_entry).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_enums,
    reason = "dropped, or one of two reasons why not"
)]
pub enum DropOutcome {
    /// The entry is dropped, and never delivered from now on.
    Dropped,
    /// Nothing was changed, because a worker may be delivering the message. Repeat the call at this
    /// instant, or after the delivery's record.
    Leased {
        /// The end of the lease.
        until: Timestamp,
    },
    /// Nothing was changed, because the entry is delivered or dropped already, or does not exist.
    NotOpen,
}

/// The messages that wait for an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndpointBacklog {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The number of entries that wait or are leased.
    pub pending: u64,
    /// The number of dead letters.
    pub dead_letters: u64,
    /// The earliest time at which a pending entry is or was due. The time since then is the delay
    /// of the endpoint's messages.
    pub oldest_due: Option<Timestamp>,
}

impl EndpointBacklog {
    /// Returns the backlog of an endpoint for which no message waits. An engine sets the numbers.
    #[must_use]
    pub fn new(endpoint: EndpointId) -> Self {
        Self {
            endpoint,
            pending: 0,
            dead_letters: 0,
            oldest_due: None,
        }
    }
}

/// The number of entries in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a number for each `OutboxState`")]
pub struct OutboxCounts {
    /// The number of entries that wait or are leased.
    pub pending: u64,
    /// The number of entries that were delivered and are not yet forgotten.
    pub delivered: u64,
    /// The number of dead letters.
    pub dead_letters: u64,
    /// The number of entries that were dropped and are not yet forgotten.
    pub dropped: u64,
}
