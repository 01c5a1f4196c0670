//! The receiver's inbox, which stores each message once.
//!
//! A receiver stores the message with its acknowledgement in one step ([`Inbox::receive`]),
//! answers, and then works from the inbox: [`Inbox::lease`], then [`Inbox::complete`],
//! [`Inbox::release`] or [`Inbox::dead_letter`]. A caller that handles a message before it answers
//! the sender does the same in this order: it leases the message once [`ReceiveOutcome::is_stored`]
//! returns true. Where the engine has transactions, [`TransactionalInbox::complete_with`] makes the
//! caller's own effect part of the completion.

use crate::key::{DuplicateKey, Fingerprint};
use crate::kind::Kind;
use crate::lease::{EntryId, Lease, LeaseOwner};
use crate::opaque::OpaqueBytes;
use bankrail_values::{StoreFuture, Timestamp, ValueError};
use std::fmt::Debug;
use std::str::FromStr;
use std::time::Duration;

mod decision;
mod transactional;

pub use decision::{KnownEntry, ReceiveDecision};
pub use transactional::{Completion, TransactionalInbox};

/// A received message, with the acknowledgement that is stored if the message is new.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "receivers make them")]
pub struct Incoming {
    /// The kind of the message.
    pub kind: Kind,
    /// The duplicate key.
    pub key: DuplicateKey,
    /// The fingerprint of the content.
    pub fingerprint: Fingerprint,
    /// The fingerprints of the same content in other spellings. An entry with one of them has the
    /// message, too.
    pub other_spellings: Vec<Fingerprint>,
    /// True for an interim message, which only announces a result. The message with the result has
    /// the same duplicate key and other content. That message follows this one
    /// ([`InboxEntry::follows`]) and is not in conflict with it.
    pub interim: bool,
    /// The attributes of the delivery, in the caller's own format: its headers for example.
    pub attributes: OpaqueBytes,
    /// The bytes of the message.
    pub body: OpaqueBytes,
    /// The acknowledgement to store and answer, unless there is an earlier one.
    pub acknowledgement: OpaqueBytes,
}

impl Incoming {
    /// Returns true if a message with this fingerprint has the same content as this one, in any
    /// spelling.
    #[must_use]
    pub fn has_content(&self, fingerprint: Fingerprint) -> bool {
        self.fingerprint == fingerprint || self.other_spellings.contains(&fingerprint)
    }
}

/// The classification of a message by an inbox. Each variant has the acknowledgement to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a receiver must act on each")]
pub enum ReceiveOutcome {
    /// The message was not seen before, or is the result after an interim message. It is stored
    /// with its acknowledgement.
    New {
        /// The entry.
        id: EntryId,
        /// The stored acknowledgement.
        acknowledgement: OpaqueBytes,
    },
    /// The message was seen before and is finished: completed, or a dead letter.
    Duplicate {
        /// The first delivery's entry.
        id: EntryId,
        /// The first delivery's acknowledgement.
        acknowledgement: OpaqueBytes,
    },
    /// The message was seen before and is not finished.
    InProgress {
        /// The first delivery's entry.
        id: EntryId,
        /// The first delivery's acknowledgement.
        acknowledgement: OpaqueBytes,
    },
    /// The message's key was seen before with contradictory content. The inbox stores the message
    /// as another entry, marked ([`InboxEntry::conflicts_with`]), with its own acknowledgement. A
    /// conflicting message that arrives again is a `Duplicate` or `InProgress` of that entry.
    Conflict {
        /// The entry of this message.
        id: EntryId,
        /// The acknowledgement of this message.
        acknowledgement: OpaqueBytes,
        /// The entry that the message contradicts ([`InboxEntry::conflicts_with`]).
        with: EntryId,
    },
}

impl ReceiveOutcome {
    /// Returns the outcome of a call that stored an entry.
    #[must_use]
    pub fn stored(
        id: EntryId,
        acknowledgement: OpaqueBytes,
        conflicts_with: Option<EntryId>,
    ) -> Self {
        match conflicts_with {
            None => Self::New {
                id,
                acknowledgement,
            },
            Some(with) => Self::Conflict {
                id,
                acknowledgement,
                with,
            },
        }
    }

    /// Returns the acknowledgement to answer.
    #[must_use]
    pub fn acknowledgement(&self) -> &OpaqueBytes {
        let (Self::New {
            acknowledgement, ..
        }
        | Self::Duplicate {
            acknowledgement, ..
        }
        | Self::InProgress {
            acknowledgement, ..
        }
        | Self::Conflict {
            acknowledgement, ..
        }) = self;
        acknowledgement
    }

    /// Returns the acknowledgement to answer, without a copy.
    #[must_use]
    pub fn into_acknowledgement(self) -> OpaqueBytes {
        let (Self::New {
            acknowledgement, ..
        }
        | Self::Duplicate {
            acknowledgement, ..
        }
        | Self::InProgress {
            acknowledgement, ..
        }
        | Self::Conflict {
            acknowledgement, ..
        }) = self;
        acknowledgement
    }

    /// Returns the entry that has the message.
    #[must_use]
    pub fn id(&self) -> EntryId {
        let (Self::New { id, .. }
        | Self::Duplicate { id, .. }
        | Self::InProgress { id, .. }
        | Self::Conflict { id, .. }) = self;
        *id
    }

    /// Returns true if this call stored the message, so that it is still to be handled.
    #[must_use]
    pub fn is_stored(&self) -> bool {
        matches!(self, Self::New { .. } | Self::Conflict { .. })
    }
}

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "engines store each")]
pub enum InboxState {
    /// The entry waits for a worker, or is leased to one.
    Pending,
    /// The message is handled.
    Completed,
    /// The entry is not leased until [`Inbox::resend`].
    DeadLetter,
}

impl InboxState {
    /// Returns the stable name of the state, for stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::DeadLetter => "dead_letter",
        }
    }
}

impl FromStr for InboxState {
    type Err = ValueError;

    /// Reads a [stable name](Self::as_str).
    fn from_str(name: &str) -> Result<Self, ValueError> {
        let known = [Self::Pending, Self::Completed, Self::DeadLetter]
            .into_iter()
            .find(|state| state.as_str() == name);
        known.ok_or_else(|| ValueError::new("the name of a state of the inbox", name))
    }
}

/// A stored message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InboxEntry {
    /// The number of the entry, rising with the time of arrival.
    pub id: EntryId,
    /// The kind of the message.
    pub kind: Kind,
    /// The attributes of the first delivery.
    pub attributes: OpaqueBytes,
    /// The bytes of the message in its first delivery.
    pub body: OpaqueBytes,
    /// The acknowledgement of the first delivery.
    pub acknowledgement: OpaqueBytes,
    /// The instant at which the first delivery was stored.
    pub received_at: Timestamp,
    /// The entry that this one contradicts: the earliest one with a hash in common and other
    /// content, among the interim messages if this is one, otherwise among the results.
    pub conflicts_with: Option<EntryId>,
    /// The entry of the interim message ([`Incoming::interim`]) whose result this message brings.
    /// This entry is leased only when the interim one is completed or a dead letter.
    pub follows: Option<EntryId>,
    /// The state.
    pub state: InboxState,
    /// The number of leases since the message was received or resent, the present one included.
    /// Leases without an answer that were given back ([`Inbox::release_all`]) do not count.
    pub attempts: u32,
    /// The reason of the last failure, from [`Inbox::release`] or [`Inbox::dead_letter`].
    pub last_error: Option<String>,
}

impl InboxEntry {
    /// Returns a pending entry without attributes, body and acknowledgement. An engine sets those
    /// fields, and those that differ from a new entry's.
    #[must_use]
    pub fn new(id: EntryId, kind: Kind, received_at: Timestamp) -> Self {
        Self {
            id,
            kind,
            attributes: OpaqueBytes::default(),
            body: OpaqueBytes::default(),
            acknowledgement: OpaqueBytes::default(),
            received_at,
            conflicts_with: None,
            follows: None,
            state: InboxState::Pending,
            attempts: 0,
            last_error: None,
        }
    }
}

/// A change of an entry by the owner of its lease ([`Inbox::update`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines store each member")]
pub struct InboxUpdate<'a> {
    /// The new state.
    pub state: InboxState,
    /// The new instant at which the entry is due; `None` leaves it unchanged.
    pub due: Option<Timestamp>,
    /// The new end of the lease; `None` ends the lease at once.
    pub until: Option<Timestamp>,
    /// The reason of this failure; `None` leaves the earlier reason.
    pub error: Option<&'a str>,
}

impl InboxUpdate<'_> {
    /// Makes an update that ends the lease and leaves the entry in this state.
    #[must_use]
    pub const fn to(state: InboxState) -> Self {
        Self {
            state,
            due: None,
            until: None,
            error: None,
        }
    }
}

/// The number of entries in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a number for each `InboxState`")]
pub struct InboxCounts {
    /// The number of entries that wait or are leased.
    pub pending: u64,
    /// The number of entries that were handled and are not yet forgotten.
    pub completed: u64,
    /// The number of dead letters.
    pub dead_letters: u64,
}

/// A receiver's store of messages. Each operation is durable before it returns.
///
/// Rules for engines, which the suite of the `testing` feature checks:
/// - All hashes of a message's key are stored together, in one transaction with message and
///   acknowledgement.
/// - [`ReceiveDecision::of`] classifies each message.
/// - [`Inbox::lease`] leaves out an entry as long as the entry that it follows is pending.
/// - A lease belongs to its owner strictly before `until`. From `until` on another owner may take
///   the entry; as long as no other has taken it, the first owner may still finish. Calls by others
///   change nothing and return `false`.
/// - The caller passes `now`; a store never reads a clock.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not store received messages",
    label = "not an `Inbox`",
    note = "pass `Arc::new(store.inbox())` of `SqliteStore`, `PostgresStore` or `MemoryStore`, or a `RedisInbox`",
    note = "`bankrail-stores` implements it with the feature `mailbox`, which `bankrail` switches on by itself"
)]
pub trait Inbox: Debug + Send + Sync {
    /// Stores message and acknowledgement in one step, unless they are stored already.
    fn receive<'a>(
        &'a self,
        message: &'a Incoming,
        now: Timestamp,
    ) -> StoreFuture<'a, ReceiveOutcome>;

    /// Leases up to `limit` pending entries that are due and free, of these kinds (an empty list
    /// means all kinds), in the order of their arrival. An entry that was never leased is due, even
    /// if it was received while the clock was ahead. If many entries became due again, one call may
    /// consider only the first thousand of them, and later calls the rest.
    fn lease<'a>(
        &'a self,
        kinds: &'a [Kind],
        limit: u32,
        lease: Lease,
        now: Timestamp,
    ) -> StoreFuture<'a, Vec<InboxEntry>>;

    /// Changes an entry for the owner of its lease. Returns `false`, and changes nothing, if the
    /// lease is no longer the owner's: another owner may be handling the entry.
    fn update<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        update: InboxUpdate<'a>,
        now: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Moves the end of a lease ([`Inbox::update`]).
    fn extend(&self, id: EntryId, lease: Lease, now: Timestamp) -> StoreFuture<'_, bool> {
        self.update(
            id,
            lease.owner,
            InboxUpdate {
                until: Some(lease.until),
                ..InboxUpdate::to(InboxState::Pending)
            },
            now,
        )
    }

    /// Marks an entry handled ([`Inbox::update`]).
    fn complete(&self, id: EntryId, owner: LeaseOwner, now: Timestamp) -> StoreFuture<'_, bool> {
        self.update(id, owner, InboxUpdate::to(InboxState::Completed), now)
    }

    /// Gives an entry back, due again at `due` ([`Inbox::update`]). `error` is the reason, without
    /// payload.
    fn release<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        due: Timestamp,
        error: &'a str,
    ) -> StoreFuture<'a, bool> {
        let update = InboxUpdate {
            due: Some(due),
            error: Some(error),
            ..InboxUpdate::to(InboxState::Pending)
        };
        self.update(id, owner, update, due)
    }

    /// Makes an entry a dead letter ([`Inbox::update`]). `error` is the reason, without payload.
    fn dead_letter<'a>(
        &'a self,
        id: EntryId,
        owner: LeaseOwner,
        error: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.update(
            id,
            owner,
            InboxUpdate {
                error: Some(error),
                ..InboxUpdate::to(InboxState::DeadLetter)
            },
            now,
        )
    }

    /// Ends all leases of these owners, and returns the number of their entries. The entries are
    /// due as before, and the lease is not counted as an attempt ([`InboxEntry::attempts`]). A
    /// worker calls this after a failed [`Inbox::lease`], because the engine may have made the
    /// lease and only the answer was lost ([`LeaseOwners`](crate::LeaseOwners)).
    ///
    /// An engine may leave out expired leases, because their entries are free, and extended ones,
    /// because their answer was not lost.
    fn release_all<'a>(&'a self, owners: &'a [LeaseOwner]) -> StoreFuture<'a, u64>;

    /// Corrects entries that were written while a clock was ahead. Pending entries that are due
    /// after `latest` are due now; leases that last beyond `latest` end. Returns the number of
    /// changed entries. One call may consider only the first thousand, and later calls the rest.
    ///
    /// A worker calls this when [`LeaseOwners::is_recall_due`](crate::LeaseOwners::is_recall_due)
    /// returns true, with the latest instant that its schedule
    /// ([`Schedule::longest_delay`](crate::Schedule::longest_delay)) and its leases allow. All
    /// workers over one store need the same bounds: longer leases and delays of another worker
    /// would be cut.
    fn recall(&self, latest: Timestamp, now: Timestamp) -> StoreFuture<'_, u64>;

    /// Returns dead letters, after the entry `after`, in the order of their arrival.
    fn dead_letters(&self, after: Option<EntryId>, limit: u32) -> StoreFuture<'_, Vec<InboxEntry>>;

    /// Makes a dead letter pending again, due at once, with [`InboxEntry::attempts`] counted from
    /// zero. Returns `false` if the entry is not a dead letter.
    fn resend(&self, id: EntryId, now: Timestamp) -> StoreFuture<'_, bool>;

    /// Returns an entry.
    fn find(&self, id: EntryId) -> StoreFuture<'_, Option<InboxEntry>>;

    /// Forgets entries, with their keys, that were completed before `before`: a later delivery of
    /// the same message then counts as new. Returns the number of forgotten entries.
    fn forget(&self, before: Timestamp) -> StoreFuture<'_, u64>;

    /// Returns the number of entries in each state.
    fn counts(&self) -> StoreFuture<'_, InboxCounts>;

    /// Returns the instant at which the oldest pending entry was received; `None` if there is no
    /// pending entry. An engine may read only the first thousand of the entries that wait for a
    /// later time. As with [`Inbox::counts`], the duration of the call may grow with the number of
    /// entries.
    fn oldest_pending(&self) -> StoreFuture<'_, Option<Timestamp>>;

    /// Returns the time after which the engine itself forgets completed entries, to which it adds
    /// [`EXPIRY_GRACE`](bankrail_values::EXPIRY_GRACE). With `None`, the default, only
    /// [`Inbox::forget`] forgets entries. An inbox that wraps another one returns the retention of
    /// the wrapped one, because receivers refuse older messages.
    fn retention(&self) -> Option<Duration> {
        None
    }
}
