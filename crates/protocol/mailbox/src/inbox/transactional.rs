//! Effects that are committed together with the completion of their message.

use super::Inbox;
use crate::lease::{EntryId, LeaseOwner};
use bankrail_values::{StoreFuture, Timestamp};
use std::error::Error;

/// An inbox whose engine has transactions that can include a handler's own effect.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no transaction for a handler's work",
    label = "not a `TransactionalInbox`",
    note = "`SqliteInbox` and `PostgresInbox` of `bankrail_stores` have one; use the type itself, not `dyn Inbox`",
    note = "with another inbox use `Handlers::on`, `on_any` and `on_conflict`, which may handle a message twice"
)]
pub trait TransactionalInbox: Inbox {
    /// The work in a transaction of this engine: a function of the engine's own transaction type.
    /// Each engine documents how to make one.
    type Work: Send + 'static;

    /// Marks an entry handled and runs `work` in one transaction: both take effect, or neither
    /// does. If the future is dropped, either is possible.
    fn complete_with(
        &self,
        id: EntryId,
        owner: LeaseOwner,
        work: Self::Work,
        now: Timestamp,
    ) -> StoreFuture<'_, Completion>;
}

/// The result of [`TransactionalInbox::complete_with`].
#[derive(Debug)]
#[allow(clippy::exhaustive_enums, reason = "a caller must act on each")]
pub enum Completion {
    /// The work and the completion of the entry took effect.
    Committed,
    /// The lease is no longer the owner's. Nothing was done, and another owner may be handling the
    /// entry.
    LeaseLost,
    /// The work returned this error and was undone. The entry is still the owner's.
    Undone(Box<dyn Error + Send + Sync>),
}
