//! Effects that are committed with the note that their message was handled.

use super::Inbox;
use crate::lease::{EntryId, LeaseOwner};
use bankrail_values::{StoreFuture, Timestamp};
use std::error::Error;

/// An inbox whose engine has transactions that a handler's own effect can be part of.
pub trait TransactionalInbox: Inbox {
    /// What is done in a transaction of this engine: a function that is given the engine's own transaction, with all
    /// that it can do. Each engine documents how to make one.
    type Work: Send + 'static;

    /// Marks an entry handled and does `work` in one transaction: both take effect, or neither does. Dropping the
    /// future does not tell which.
    fn complete_with(
        &self,
        id: EntryId,
        owner: LeaseOwner,
        work: Self::Work,
        now: Timestamp,
    ) -> StoreFuture<'_, Completion>;
}

/// What came of [`TransactionalInbox::complete_with`].
#[derive(Debug)]
#[allow(clippy::exhaustive_enums, reason = "a caller must act on each")]
pub enum Completion {
    /// The work and the note that the entry was handled took effect.
    Committed,
    /// The lease is no longer the owner's: nothing was done, and another may be handling the entry.
    LeaseLost,
    /// The work returned this error, and nothing of it was kept. The entry is still the owner's.
    Undone(Box<dyn Error + Send + Sync>),
}
