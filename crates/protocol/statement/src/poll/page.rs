//! A received page of a poll, and the decision on it.

mod judge;

use super::day::StatementDay;
use super::relation::{AccountNotice, EntryRelation};
use super::stated::StatedAccount;
use super::{Delta, PollPosition};
use crate::EntryLinks;
use crate::ReceivedNextPage;
use crate::seen::{EntryIdentity, EntryKey, PositionChange, SeenEntry};
use bankrail_camt052::ReadError;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The parts of a received page that a poll needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolledPage {
    next: ReceivedNextPage,
    entries: Vec<EntryIdentity>,
    day: Option<StatementDay>,
    ordered: bool,
    links: Vec<EntryLinks>,
    others: usize,
    stated: StatedAccount,
    /// The entries that could not be read: a hash of their markup, and their place.
    unread: Vec<(u64, String)>,
}

impl PolledPage {
    /// Creates a page with the identities of its entries, in their order.
    #[must_use]
    pub fn new(next: ReceivedNextPage, entries: Vec<EntryIdentity>) -> Self {
        Self {
            next,
            entries,
            day: None,
            ordered: true,
            links: Vec::new(),
            others: 0,
            stated: StatedAccount::default(),
            unread: Vec::new(),
        }
    }

    /// Sets the day of the statement from the page ([`StatementDay::of`]). Default: not known.
    #[must_use]
    pub fn day(mut self, day: Option<StatementDay>) -> Self {
        self.day = day;
        self
    }

    /// Sets the order of the page: true if its entries are listed least recent first. Otherwise new
    /// entries are not at the end of the statement, and each poll is a full walk. Default: true.
    #[must_use]
    pub fn ordered(mut self, ordered: bool) -> Self {
        self.ordered = ordered;
        self
    }

    /// Sets the links of the entries, in their order. Without them each new entry is
    /// [`EntryRelation::New`], and a vanished entry causes no notice. Default: none.
    #[must_use]
    pub fn links(mut self, links: Vec<EntryLinks>) -> Self {
        self.links = links;
        self
    }

    /// Sets the number of other entries on the page, such as pending ones that are not handed over.
    /// Default: 0.
    #[must_use]
    pub fn others(mut self, others: usize) -> Self {
        self.others = others;
        self
    }

    /// Sets the page's statements about the account. Default: none.
    #[must_use]
    pub fn stated(mut self, stated: StatedAccount) -> Self {
        self.stated = stated;
        self
    }

    /// Sets the errors of the page's unreadable entries ([`ReadError::unread`]); other errors are
    /// left out. Default: none.
    #[must_use]
    pub fn unread<'a>(mut self, errors: impl IntoIterator<Item = &'a ReadError>) -> Self {
        let entry = |error: &ReadError| {
            let hash = Sha256::digest(error.unread()?);
            let place = format!("{} ({})", error.path(), error.position());
            Some((u64::from_be_bytes(*hash.first_chunk()?), place))
        };
        self.unread = errors.into_iter().filter_map(entry).collect();
        self
    }

    /// Returns the keys of the entries in their order, for
    /// [`SeenEntries::counts`](crate::SeenEntries::counts).
    #[must_use]
    pub fn keys(&self) -> Vec<EntryKey> {
        self.entries.iter().map(|entry| entry.key).collect()
    }
}

/// The decision on a received page.
#[derive(Clone, Debug)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a caller must act on each")]
pub enum PageDecision {
    /// Record this commit, and hand over its new entries.
    Commit(Box<PollCommit>),
    /// No entry of the page is handed over, because the page does not show which ones are new. The
    /// poll has begun again at the first page.
    BeginAgain,
}

/// The record of a page: its entries with marks of the new ones, and the account's position after
/// it.
#[derive(Clone, Debug, Default)]
#[must_use = "a page is committed when it is recorded and given to `AccountPoll::committed`"]
pub struct PollCommit {
    entries: Vec<SeenEntry>,
    new: Vec<bool>,
    indexes: Vec<usize>,
    relations: Vec<Option<EntryRelation>>,
    late: Vec<bool>,
    notices: Vec<AccountNotice>,
    /// The account's position as the store had it before the page.
    before: Option<Arc<str>>,
    pub(super) position: Option<Arc<str>>,
    /// The position from which the poll continues, recorded or not.
    pub(super) next: PollPosition,
    pub(super) delta: Delta,
}

impl PollCommit {
    fn push(&mut self, index: usize, entry: SeenEntry, new: bool) {
        self.entries.push(entry);
        self.new.push(new);
        self.indexes.push(index);
    }

    /// Returns all entries, each with its index on the page and whether it is new.
    fn all(&self) -> impl Iterator<Item = (usize, &SeenEntry, bool)> {
        let entries = self.indexes.iter().zip(&self.entries).zip(&self.new);
        entries.map(|((index, entry), new)| (*index, entry, *new))
    }

    /// Returns the entries to record, without entries of the page that are held back.
    #[must_use]
    pub fn entries(&self) -> &[SeenEntry] {
        &self.entries
    }

    /// Returns the marks of [`PollCommit::entries`] in their order: true for each new one.
    #[must_use]
    pub fn new_flags(&self) -> &[bool] {
        &self.new
    }

    /// Returns the change of the account's position, to be recorded in the same step.
    #[must_use]
    pub fn position(&self) -> PositionChange<'_> {
        PositionChange::new(self.before.as_deref(), self.position.as_deref())
    }

    /// Returns the notices about the account that follow from the page.
    #[must_use]
    pub fn notices(&self) -> &[AccountNotice] {
        &self.notices
    }

    /// Returns the new entries, each with its index on the page.
    pub fn new_entries(&self) -> impl Iterator<Item = (usize, &SeenEntry)> {
        self.all()
            .filter_map(|(index, entry, new)| new.then_some((index, entry)))
    }

    /// Returns the entries to hand over, in their order: the new ones, and those that have returned
    /// or changed.
    pub fn handed_over(&self) -> impl Iterator<Item = HandedOver<'_>> {
        let entries = self
            .indexes
            .iter()
            .zip(&self.entries)
            .zip(&self.relations)
            .zip(&self.late);
        entries.filter_map(|(((index, entry), relation), late)| {
            Some(HandedOver {
                index: *index,
                entry,
                relation: relation.as_ref()?,
                late: *late,
            })
        })
    }
}

/// An entry to hand over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandedOver<'a> {
    /// The index on the page, from 0.
    pub index: usize,
    /// The recorded form of the entry.
    pub entry: &'a SeenEntry,
    /// The relation to earlier entries.
    pub relation: &'a EntryRelation,
    /// True if the entry is new and its day was complete already: a full walk of a later day's
    /// statement had been completed.
    pub late: bool,
}
