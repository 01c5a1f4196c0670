//! The outbox as an operator sees it: no payload, and who intervened why.

use super::{EndpointId, OutboxEntry, OutboxState};
use crate::kind::Kind;
use crate::lease::EntryId;
use bankrail_values::{BoundedText, HyphenatedUuid, Timestamp};

/// Who intervenes: a person, or a part of the program. 1 to 100 code points.
pub type OperatorName = BoundedText<1, 100>;

/// Why somebody intervenes: up to 500 code points. No payload.
pub type InterventionReason = BoundedText<0, 500>;

/// Who stopped an endpoint or dropped an entry, and why. The store keeps it with its time.
/// PostgreSQL keeps U+FFFD in place of U+0000.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "who and why")]
pub struct Intervention {
    /// Who.
    pub by: OperatorName,
    /// Why.
    pub reason: InterventionReason,
}

/// A stopped endpoint, to which nothing is delivered: an operator stopped it, or a dispatcher did
/// after its answer 410.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines make them")]
pub struct StoppedEndpoint {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// When it was stopped.
    pub since: Timestamp,
    /// Who stopped it, and why.
    pub intervention: Intervention,
}

bankrail_values::options! {
    /// Which entries [`OutboxOperator::list`](super::OutboxOperator::list) returns, and how many at
    /// once. `new` asks for the first 100 of all.
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
        /// The endpoint of the entries. Default: of all.
        pub endpoint(EndpointId => Some): Option<EndpointId> = None,
        /// Their state. Default: any.
        pub state(OutboxState => Some): Option<OutboxState> = None,
        /// Their kind. Default: any.
        pub kind(Kind => Some): Option<Kind> = None,
        /// The instant before which they were enqueued. Default: at any time.
        pub enqueued_before(Timestamp => Some): Option<Timestamp> = None,
        /// The entry before them: the last entry of the page before. Default: from the first on.
        pub after(EntryId => Some): Option<EntryId> = None,
        /// The most entries of a page, at most [`OutboxQuery::MAX_LIMIT`]. Default: 100.
        limit(u32 => |entries| entries.min(OutboxQuery::MAX_LIMIT)): u32 = 100,
    }
}

impl OutboxQuery {
    /// The most entries or endpoints that an outbox lists at once.
    pub const MAX_LIMIT: u32 = 1000;

    /// The most entries of a page, for engines.
    #[must_use]
    pub fn page(&self) -> u32 {
        self.limit
    }
}

/// An entry without its payload. [`OutboxOperator::deliveries`](super::OutboxOperator::deliveries)
/// has its deliveries, [`OutboxOperator::find`](super::OutboxOperator::find) its body.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines make them")]
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
    /// When it was enqueued.
    pub enqueued_at: Timestamp,
    /// When it is due, if it is pending.
    pub due: Timestamp,
    /// How many deliveries were recorded since it was enqueued or resent.
    pub deliveries: u32,
    /// The end of its lease, if a worker has one.
    pub leased_until: Option<Timestamp>,
    /// When it was delivered, given up or dropped, if it is not pending.
    pub finished_at: Option<Timestamp>,
    /// Who dropped it and why, if it was dropped.
    pub dropped: Option<Intervention>,
}

impl OutboxSummary {
    /// The summary of an entry that is neither leased nor finished nor dropped. An engine sets
    /// those fields.
    #[must_use]
    pub fn of(entry: &OutboxEntry) -> Self {
        let OutboxEntry {
            id,
            message,
            state,
            enqueued_at,
            due,
            deliveries,
            ..
        } = entry;
        Self {
            id: *id,
            endpoint: message.endpoint.clone(),
            kind: message.kind.clone(),
            message_id: message.message_id,
            state: *state,
            enqueued_at: *enqueued_at,
            due: *due,
            deliveries: *deliveries,
            leased_until: None,
            finished_at: None,
            dropped: None,
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
    /// It is dropped, and never delivered from now on.
    Dropped,
    /// Nothing was changed: a worker may be delivering it. Repeat the call at this instant, or
    /// after its record.
    Leased {
        /// The end of the lease.
        until: Timestamp,
    },
    /// Nothing was changed: it is delivered or dropped already, or there is no such entry.
    NotOpen,
}

/// What waits for an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines make them")]
pub struct EndpointBacklog {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The number of entries that wait or are leased.
    pub pending: u64,
    /// The number of dead letters.
    pub dead_letters: u64,
    /// The earliest time at which a pending entry is or was due. Its age is how late the endpoint's
    /// messages are.
    pub oldest_due: Option<Timestamp>,
}

/// How many entries there are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines make them")]
pub struct OutboxCounts {
    /// Waiting or leased.
    pub pending: u64,
    /// Delivered and not yet forgotten.
    pub delivered: u64,
    /// Given up.
    pub dead_letters: u64,
    /// Dropped and not yet forgotten.
    pub dropped: u64,
}
