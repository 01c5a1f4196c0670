//! Handlers of new entries.

use crate::StatementPage;
use crate::handling::Returns;
use bankrail_camt052::Entry;
use bankrail_statement::{
    AccountId, AccountNotice, EntryRelation, PollCommit, SeenEntry, SeenEntryId,
    TransactionalSeenEntries,
};
use bankrail_values::HyphenatedUuid;
use std::error::Error;
use std::future::Future;
use std::sync::Arc;

pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// The new entries of a page, as a handler gets them, with the page's notices about earlier ones.
/// There is at least one entry or notice. [`NewEntries::changes`] converts them to changes of a
/// ledger.
#[derive(Clone)]
#[non_exhaustive]
pub struct NewEntries {
    /// The account.
    pub account: AccountId,
    /// The new entries, in the order of the page. One may replace an earlier one
    /// ([`NewEntry::relation`]).
    pub entries: Vec<NewEntry>,
    /// Entries that were handed over before, and have returned or have a new text, each with its
    /// earlier id.
    pub again: Vec<NewEntry>,
    /// Notices about the account: entries that have vanished, and balances that do not add up.
    pub notices: Vec<AccountNotice>,
    /// The whole page, with balances, findings and the raw XML.
    pub page: Arc<StatementPage>,
    /// The number of times that the page has been handed over since it was fetched, including this
    /// time.
    pub attempt: u32,
}

impl NewEntries {
    /// Returns the new entries of a page; `polled` are the page's entries that the commit counts.
    pub(super) fn of<'a>(
        account: &AccountId,
        page: &Arc<StatementPage>,
        polled: impl Iterator<Item = &'a Entry>,
        commit: &PollCommit,
        attempt: u32,
    ) -> Self {
        let mut handed_over = commit.handed_over().peekable();
        let (mut entries, mut again) = (Vec::new(), Vec::new());
        for (index, entry) in polled.enumerate() {
            if let Some(handed) = handed_over.next_if(|handed| handed.index == index) {
                let (seen, relation) = (handed.entry.clone(), handed.relation.clone());
                let known = matches!(
                    relation,
                    EntryRelation::Returned { .. } | EntryRelation::TextChanged
                );
                let one = NewEntry {
                    entry: entry.clone(),
                    id: seen.id(),
                    seen,
                    relation,
                    late: handed.late,
                };
                if known {
                    again.push(one)
                } else {
                    entries.push(one)
                }
            }
        }
        let notices = commit.notices().to_vec();
        Self {
            account: account.clone(),
            entries,
            again,
            notices,
            page: page.clone(),
            attempt,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.again.is_empty() && self.notices.is_empty()
    }

    /// Returns the request key of the call, for support staff.
    #[must_use]
    pub fn request_key(&self) -> HyphenatedUuid {
        self.page.request_key()
    }
}

// Without account and entries.
bankrail_values::impl_debug!(NewEntries, self;
    entries: self.entries.len(), again: self.again.len(), notices: self.notices.len(), page: self.page,
    attempt: self.attempt);

/// A new entry.
#[derive(Clone)]
#[non_exhaustive]
pub struct NewEntry {
    /// The entry as the bank lists it: its amount has no sign.
    pub entry: Entry,
    /// The entry's identifier within its account, the same each time it is handed over
    /// ([`SeenEntry::id`]).
    pub id: SeenEntryId,
    /// The entry as the store records it.
    pub seen: SeenEntry,
    /// The relation to earlier entries.
    pub relation: EntryRelation,
    /// True if the entry's day was complete already: a full walk through the statement of a later
    /// day had been completed.
    pub late: bool,
}

// Prints no part of the entry.
bankrail_values::impl_debug!(NewEntry, self; seen: self.seen, relation: self.relation, late: self.late);

/// A handler of new entries. Functions from [`NewEntries`] to a future implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle new entries",
    label = "not a `NewEntriesHandler`",
    note = "pass `async fn import(new: NewEntries) -> Result<(), Box<dyn Error + Send + Sync>>`, or a closure"
)]
pub trait NewEntriesHandler: Send + Sync + 'static {
    /// Handles the new entries of a page. The future is dropped when it takes longer than
    /// [`PollerOptions::handler_timeout`](super::PollerOptions::handler_timeout).
    ///
    /// # Errors
    /// Any error: the page is handed over again later, and in the end the account is stopped.
    fn handle(
        &self,
        new: NewEntries,
    ) -> impl Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send;
}

impl<F, O> NewEntriesHandler for F
where
    F: Fn(NewEntries) -> O + Send + Sync + 'static,
    O: Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send,
    O::Output: Returns<Result<(), Box<dyn Error + Send + Sync>>>,
{
    fn handle(
        &self,
        new: NewEntries,
    ) -> impl Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send {
        self(new)
    }
}

/// A handler whose effect is part of the transaction that records the entries, with a store of the
/// type `S`. Functions from [`NewEntries`] to a future of [`TransactionalSeenEntries::Work`]
/// implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not prepare work for `{S}`",
    label = "not a `TransactionalNewEntriesHandler`",
    note = "pass `async fn import(new: NewEntries) -> Result<SqliteWork, Box<dyn Error + Send + Sync>>`, or a closure",
    note = "the work is that of the store: `SqliteWork` for `SqliteStore`, `PostgresWork` for `PostgresStore`"
)]
pub trait TransactionalNewEntriesHandler<S: TransactionalSeenEntries>:
    Send + Sync + 'static
{
    /// Prepares the work for the new entries of a page. The work is given the open transaction; its
    /// effect, the record of the entries and the account's position are committed together.
    ///
    /// # Errors
    /// Any error: the page is handed over again later, and in the end the account is stopped.
    fn prepare(
        &self,
        new: NewEntries,
    ) -> impl Future<Output = Result<S::Work, Box<dyn Error + Send + Sync>>> + Send;
}

impl<S, F, O> TransactionalNewEntriesHandler<S> for F
where
    S: TransactionalSeenEntries,
    F: Fn(NewEntries) -> O + Send + Sync + 'static,
    O: Future<Output = Result<S::Work, Box<dyn Error + Send + Sync>>> + Send,
    O::Output: Returns<Result<S::Work, Box<dyn Error + Send + Sync>>>,
{
    fn prepare(
        &self,
        new: NewEntries,
    ) -> impl Future<Output = Result<S::Work, Box<dyn Error + Send + Sync>>> + Send {
        self(new)
    }
}
