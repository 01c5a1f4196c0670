//! The receiver's inbox: each message once.
//!
//! A receiver stores the message with its acknowledgement in one step ([`Inbox::receive`]), answers, and then works
//! from the inbox: [`Inbox::lease`], then [`Inbox::complete`], [`Inbox::release`] or [`Inbox::set_aside`]. A caller
//! that works while the sender waits does both at once: [`Inbox::claim`], then the same three. Where the engine has
//! transactions, [`TransactionalInbox::complete_with`] makes the caller's own effect part of the completion.

use super::{EntryId, Lease, Owner};
use crate::acknowledgement::Acknowledgement;
use crate::duplicate::{DuplicateKey, Fingerprint};
use crate::finding::Finding;
use crate::headers::DeliveryHeaders;
use crate::kind::MessageKind;
use bankrail_values::{StoreFuture, Timestamp};
use std::fmt;

mod transactional;

pub use transactional::{Completion, TransactionalInbox};

/// A message that was opened, verified and parsed, with the acknowledgement to keep should it be new.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Incoming {
    /// Which of the four.
    pub kind: MessageKind,
    /// What it is de-duplicated by.
    pub key: DuplicateKey,
    /// Its content.
    pub fingerprint: Fingerprint,
    /// The headers of the delivery.
    pub headers: DeliveryHeaders,
    /// What is odd about them; empty unless set. [`Finding::pointer`] is the header's name.
    pub header_findings: Vec<Finding>,
    /// The message's JSON as it was received.
    pub body: Vec<u8>,
    /// The acknowledgement to keep and answer unless there is an earlier one.
    pub acknowledgement: Acknowledgement,
}

impl Incoming {
    /// A message as received under `scope` (see [`crate::WebhookMessage::duplicate_key`]).
    #[must_use]
    pub fn new(
        scope: &str,
        message: &crate::Message,
        body: Vec<u8>,
        headers: DeliveryHeaders,
        acknowledgement: Acknowledgement,
    ) -> Self {
        Self {
            kind: message.kind(),
            key: message.duplicate_key(scope, headers.message_id),
            fingerprint: message.fingerprint(),
            headers,
            header_findings: Vec::new(),
            body,
            acknowledgement,
        }
    }
}

impl fmt::Debug for Incoming {
    /// Without the body: it holds names and accounts.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Incoming")
            .field("kind", &self.kind)
            .field("key", &self.key)
            .field("fingerprint", &self.fingerprint)
            .field("headers", &self.headers)
            .field("header_findings", &self.header_findings)
            .field("body", &format_args!("{} octets", self.body.len()))
            .field("acknowledgement", &self.acknowledgement)
            .finish()
    }
}

/// What the inbox knows of a message. In each case the acknowledgement is the one to answer with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a receiver must act on each")]
pub enum Verdict {
    /// Not seen before: stored, with its acknowledgement. From [`Inbox::claim`] also a message whose earlier claim was
    /// released or ran out, then with the first acknowledgement.
    New {
        /// The entry.
        id: EntryId,
        /// The acknowledgement kept.
        acknowledgement: Acknowledgement,
    },
    /// Seen before and finished: completed or set aside.
    Duplicate {
        /// The first delivery's entry.
        id: EntryId,
        /// The first delivery's acknowledgement.
        acknowledgement: Acknowledgement,
    },
    /// Seen before and not finished.
    InProgress {
        /// The first delivery's entry.
        id: EntryId,
        /// The first delivery's acknowledgement.
        acknowledgement: Acknowledgement,
    },
    /// The key was seen before with other content: stored as an entry of its own, marked
    /// ([`InboxEntry::conflicts_with`]), with its own acknowledgement. A conflicting message that comes again is a
    /// `Duplicate` or `InProgress` of that entry.
    Conflict {
        /// The entry of this message.
        id: EntryId,
        /// Its own acknowledgement.
        acknowledgement: Acknowledgement,
        /// The earliest entry that has a key in common.
        with: EntryId,
    },
}

impl Verdict {
    /// The acknowledgement to answer with.
    #[must_use]
    pub fn acknowledgement(&self) -> &Acknowledgement {
        match self {
            Self::New { acknowledgement, .. }
            | Self::Duplicate { acknowledgement, .. }
            | Self::InProgress { acknowledgement, .. }
            | Self::Conflict { acknowledgement, .. } => acknowledgement,
        }
    }

    /// The entry that holds the message.
    #[must_use]
    pub fn id(&self) -> EntryId {
        match self {
            Self::New { id, .. }
            | Self::Duplicate { id, .. }
            | Self::InProgress { id, .. }
            | Self::Conflict { id, .. } => *id,
        }
    }

    /// True when this call stored the message, or took it over: with [`Inbox::claim`] the caller has work to do.
    #[must_use]
    pub fn is_work(&self) -> bool {
        matches!(self, Self::New { .. } | Self::Conflict { .. })
    }
}

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "engines store each")]
pub enum InboxState {
    /// Waits for a worker, or is leased to one.
    Pending,
    /// Handled.
    Completed,
    /// Poison: no worker gets it until [`Inbox::retry`].
    SetAside,
}

impl InboxState {
    /// A stable name, for stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::SetAside => "set_aside",
        }
    }

    /// The state of a stable name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Pending, Self::Completed, Self::SetAside].into_iter().find(|state| state.as_str() == name)
    }
}

/// A stored message.
#[derive(Clone, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines make them")]
pub struct InboxEntry {
    /// The store's number, rising with the time of arrival.
    pub id: EntryId,
    /// Which of the four.
    pub kind: MessageKind,
    /// The headers of the first delivery.
    pub headers: DeliveryHeaders,
    /// What was odd about them.
    pub header_findings: Vec<Finding>,
    /// The message's JSON as it was received first.
    pub body: Vec<u8>,
    /// The acknowledgement that was answered.
    pub acknowledgement: Acknowledgement,
    /// When the first delivery was stored.
    pub received_at: Timestamp,
    /// The earliest entry with a key in common and other content.
    pub conflicts_with: Option<EntryId>,
    /// The state.
    pub state: InboxState,
    /// How often it was leased, this lease included.
    pub attempts: u32,
    /// Why the last attempt failed, as [`Inbox::release`] or [`Inbox::set_aside`] said.
    pub last_error: Option<String>,
}

impl fmt::Debug for InboxEntry {
    /// Without the body: it holds names and accounts.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("InboxEntry")
            .field("id", &self.id)
            .field("kind", &self.kind)
            .field("headers", &self.headers)
            .field("header_findings", &self.header_findings)
            .field("body", &format_args!("{} octets", self.body.len()))
            .field("acknowledgement", &self.acknowledgement)
            .field("received_at", &self.received_at)
            .field("conflicts_with", &self.conflicts_with)
            .field("state", &self.state)
            .field("attempts", &self.attempts)
            .field("last_error", &self.last_error)
            .finish()
    }
}

/// How many entries there are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines make them")]
pub struct InboxCounts {
    /// Waiting or leased.
    pub pending: u64,
    /// Handled and not yet forgotten.
    pub completed: u64,
    /// Set aside.
    pub set_aside: u64,
}

/// Where a receiver keeps messages. Every answer is durable before it is given.
///
/// Rules for engines, which the suite of the `testing` feature checks:
/// - All keys of a message are taken together, in one transaction with message and acknowledgement. A message whose
///   fingerprint equals that of a stored entry with a key in common is that entry's duplicate; otherwise, if any entry
///   has a key in common, it is in conflict with the earliest of them; otherwise it is new.
/// - A lease belongs to its owner strictly before `until`. From `until` on another may take the entry; until somebody
///   does, the owner may still finish. Calls by anyone but the owner change nothing and answer `false`.
/// - `now` is the caller's; a store never reads a clock.
pub trait Inbox: fmt::Debug + Send + Sync {
    /// Stores message and acknowledgement in one step, unless they are there already.
    fn receive<'a>(&'a self, message: &'a Incoming, now: Timestamp) -> StoreFuture<'a, Verdict>;

    /// As [`Inbox::receive`], and leases the entry to the caller when it is new, in conflict, or free again (released,
    /// or its lease ran out). The owner's own repeated call answers as the first did: a lost answer is no duplicate.
    fn claim<'a>(&'a self, message: &'a Incoming, lease: Lease, now: Timestamp) -> StoreFuture<'a, Verdict>;

    /// Leases up to `limit` pending entries that are due and free, of these kinds (none named: of all), in the order of
    /// their arrival. Of many entries that came due again meanwhile an engine may see to the first thousand only; later
    /// calls see to the rest.
    fn lease<'a>(
        &'a self,
        kinds: &'a [MessageKind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>>;

    /// Moves the end of a lease. `false`: the lease is no longer the owner's.
    fn extend(&self, id: EntryId, lease: Lease, now: Timestamp) -> StoreFuture<'_, bool>;

    /// Marks an entry handled. `false`: the lease is no longer the owner's, and another may be handling it.
    fn complete(&self, id: EntryId, owner: Owner, now: Timestamp) -> StoreFuture<'_, bool>;

    /// Gives an entry back, due again at `due`. `error` says why, without payload. `false`: the lease is no longer the
    /// owner's.
    fn release<'a>(&'a self, id: EntryId, owner: Owner, due: Timestamp, error: &'a str) -> StoreFuture<'a, bool>;

    /// Sets a poison entry aside. `error` says why, without payload. `false`: the lease is no longer the owner's.
    fn set_aside<'a>(&'a self, id: EntryId, owner: Owner, error: &'a str, now: Timestamp) -> StoreFuture<'a, bool>;

    /// Entries that were set aside, after the entry `after`, in the order of their arrival.
    fn list_set_aside(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>>;

    /// Makes a set-aside entry pending again, due at once, its attempts counted from zero. `false`: it is not set
    /// aside.
    fn retry(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool>;

    /// The entry.
    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>>;

    /// Forgets entries, with their keys, that were completed before `before`: a later delivery of the same message is
    /// new again. Says how many.
    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64>;

    /// How many entries there are.
    fn counts(&self) -> StoreFuture<'_, InboxCounts>;
}
