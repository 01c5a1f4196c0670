//! De-duplication, which distinguishes new entries from those that were imported before.
//!
//! Statements overlap, because each poll of an intraday statement lists the day from its beginning.
//!
//! - A reference of the bank identifies an entry. If one page has a reference twice, as for the
//!   parts of a batch, these are two entries, because a page lists no entry twice.
//! - Two entries without a reference may have the same content and yet be different payments, so
//!   they are counted. The n-th entry with some content in one walk through the pages is the same
//!   entry as the n-th in another walk.
//!
//! ```
//! use bankrail_statement::{EntryIdentity, EntryKey, PageWalk, ReceivedNextPage};
//! let coffee = EntryIdentity::by_content(EntryKey::from([1; 32]), None);
//! let occurrences = |entries: &[EntryIdentity]| -> Vec<u32> {
//!     let mut poll = PageWalk::new();
//!     let page = poll.receive(&ReceivedNextPage::None, entries);
//!     page.entries().iter().map(|entry| entry.occurrence).collect()
//! };
//! assert_eq!(occurrences(&[coffee.clone()]), [1]);
//! // The next poll lists it again, and a second entry with the same content, which is new.
//! assert_eq!(occurrences(&[coffee.clone(), coffee]), [1, 2]);
//! ```

use crate::AccountId;
use bankrail_values::{Date, StoreError, StoreErrorKind, StoreFuture};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;

mod transactional;

pub use transactional::{PageRecord, TransactionalSeenEntries};

bankrail_values::hash_value! {
    /// The identity of an entry: a hash of its reference or of its content.
    pub struct EntryKey;
}

bankrail_values::hash_value! {
    /// The identifier of an entry in the caller's own tables, which is the same in every poll. It
    /// is made from the entry's [`EntryKey`] and its number among entries with the same key.
    pub struct SeenEntryId;
}

/// The identity of an entry. [`EntryIdentity::of`] computes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct EntryIdentity {
    /// The hash that identifies the entry.
    pub key: EntryKey,
    /// The booking day of the entry, or else its value day. A store forgets entries by their day.
    pub day: Option<Date>,
    /// True if the key is made from a reference of the bank, and names the same entry on every
    /// page.
    pub has_reference: bool,
}

impl EntryIdentity {
    /// Returns an entry identified by its content. Entries with the same key are counted as
    /// different entries.
    #[must_use]
    pub fn by_content(key: EntryKey, day: Option<Date>) -> Self {
        Self {
            key,
            day,
            has_reference: false,
        }
    }

    /// Returns an entry identified by a reference. Entries with the same key are the same entry,
    /// unless they are on one page.
    #[must_use]
    pub fn by_reference(key: EntryKey, day: Option<Date>) -> Self {
        Self {
            key,
            day,
            has_reference: true,
        }
    }
}

/// One entry as a [`SeenEntries`] store records it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SeenEntry {
    /// The hash that identifies the entry.
    pub key: EntryKey,
    /// The number among the entries with the same key, counted from 1.
    pub occurrence: u32,
    /// The entry's day ([`EntryIdentity::day`]), which decides when the entry is forgotten.
    pub day: Option<Date>,
}

impl SeenEntry {
    /// Creates an entry with this key, occurrence and day.
    #[must_use]
    pub fn new(key: EntryKey, occurrence: u32, day: Option<Date>) -> Self {
        Self {
            key,
            occurrence,
            day,
        }
    }

    /// Returns an identifier of this entry that is the same in every poll. If entries are stored
    /// with the account and this identifier as a unique key, each is imported exactly once, even if
    /// a page is processed again after a crash.
    #[must_use]
    pub fn id(&self) -> SeenEntryId {
        let hash = Sha256::new()
            .chain_update(self.key.0)
            .chain_update(self.occurrence.to_be_bytes());
        SeenEntryId(hash.finalize().into())
    }

    /// Returns the entry that a store has for this key after recording this one over the known one;
    /// `None` if there is no change. This is for engines of [`SeenEntries`].
    ///
    /// - Only an occurrence above the known one changes anything.
    /// - The later one of two days stays, and a key without a day stays without one, so that it
    ///   is never forgotten.
    #[must_use]
    pub fn recorded_over(&self, known: Option<&Self>) -> Option<Self> {
        let known_count = known.map_or(0, |known| known.occurrence);
        // The later day counts, so that an entry is not forgotten while the bank may list it.
        let later = |known: &Self| known.day.zip(self.day).map(|(known, own)| known.max(own));
        self.is_above(known_count).then(|| Self {
            day: known.map_or(self.day, later),
            ..self.clone()
        })
    }

    /// Returns true if the entry is new to a store that knows this occurrence of its key.
    pub(crate) fn is_above(&self, count: u32) -> bool {
        self.occurrence > count
    }
}

/// Counts the entries without a reference in one walk through a statement's pages, by content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryCounter {
    counts: HashMap<EntryKey, u32>,
}

/// The counts that one page adds to an [`EntryCounter`].
#[derive(Clone, Debug, Default)]
pub(crate) struct PageCounts {
    contents: HashMap<EntryKey, u32>,
    /// The entries with a reference, counted per page because on another page a reference names the
    /// same entry.
    references: HashMap<EntryKey, u32>,
}

impl PageCounts {
    /// Returns the entries without a reference by content, each with its count up to this page's
    /// end.
    pub(crate) fn contents(&self) -> &HashMap<EntryKey, u32> {
        &self.contents
    }
}

impl EntryCounter {
    /// Counts an entry after those of the counter and of `page`, and adds it to `page`.
    pub(crate) fn count(&self, page: &mut PageCounts, entry: &EntryIdentity) -> SeenEntry {
        let count = if entry.has_reference {
            page.references.entry(entry.key).or_default()
        } else {
            page.contents
                .entry(entry.key)
                .or_insert_with(|| self.count_of(entry.key))
        };
        *count = count.saturating_add(1);
        SeenEntry {
            key: entry.key,
            occurrence: *count,
            day: entry.day,
        }
    }

    pub(crate) fn advance(&mut self, page: &PageCounts) {
        self.counts.extend(&page.contents);
    }

    /// Returns the count of this content.
    pub(crate) fn count_of(&self, key: EntryKey) -> u32 {
        self.counts.get(&key).copied().unwrap_or(0)
    }

    pub(crate) fn counts(&self) -> &HashMap<EntryKey, u32> {
        &self.counts
    }

    pub(crate) fn from_counts(counts: HashMap<EntryKey, u32>) -> Self {
        Self { counts }
    }
}

/// The maximum number of bytes of a position that [`SeenEntries::record`] stores: 1 MiB. Default: a
/// bound of this crate.
pub const MAX_POSITION_BYTES: usize = 1 << 20;

/// A store of the entries that were imported, and of the position that the walk through each
/// account's statement has reached.
///
/// - A store has the highest recorded occurrence of each key. [`SeenEntry::recorded_over`] has
///   the rule for days.
/// - A position is text that the store does not interpret, such as a
///   [`Checkpoint`](crate::Checkpoint) written as JSON.
/// - Accounts are separate, and are compared byte for byte.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not store imported entries",
    label = "not a `SeenEntries`",
    note = "pass an `Arc` of a `SqliteStore`, `PostgresStore`, `RedisStore` or `MemoryStore` of `bankrail_stores`",
    note = "`bankrail-stores` implements it with the feature `statement`, which `bankrail` switches on by itself"
)]
pub trait SeenEntries: fmt::Debug + Send + Sync {
    /// Returns the highest recorded occurrence of each key, in the same order; 0 for an unknown
    /// one.
    fn counts<'a>(
        &'a self,
        account: &'a AccountId,
        keys: &'a [EntryKey],
    ) -> StoreFuture<'a, Vec<u32>>;

    /// Records all of these entries and changes the account's position in the same step, or does
    /// nothing if the account's position is not the one before this change. Returns
    /// [`Recorded::Committed`] or [`Recorded::Overtaken`].
    ///
    /// - An occurrence that is not above the recorded one has no effect.
    /// - With `None` the position is not compared, and stays as it is.
    /// - A position of more than [`MAX_POSITION_BYTES`] is refused with [`StoreErrorKind::Full`],
    ///   and nothing is recorded ([`check_position`]).
    fn record<'a>(
        &'a self,
        account: &'a AccountId,
        entries: &'a [SeenEntry],
        position: Option<PositionChange<'a>>,
    ) -> StoreFuture<'a, Recorded>;

    /// Returns the account's position as last recorded; `None` if none was.
    fn position<'a>(&'a self, account: &'a AccountId) -> StoreFuture<'a, Option<String>>;

    /// Forgets the entries of days before `day`, and returns the number of keys forgotten. Entries
    /// without a day stay, and so does the position.
    ///
    /// A day must be kept as long as a statement can still list its entries.
    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64>;
}

/// A change of an account's position by a walk through its statement.
///
/// The decisions on new and replaced entries depend on the position before. If another process has
/// moved the position meanwhile, they may be wrong: both processes would import an entry and its
/// completed form as two payments.
///
/// ```
/// use bankrail_statement::PositionChange;
/// let change = PositionChange::new(None, Some("page 1"));
/// assert!(!change.is_overtaken(None));
/// assert!(change.is_overtaken(Some("page 1"))); // of another process
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PositionChange<'a> {
    /// The position from which the walk continued: the one that [`SeenEntries::position`] returned,
    /// or the last one that this walk recorded.
    pub before: Option<&'a str>,
    /// The position that replaces `before`; `None` if it stays.
    pub after: Option<&'a str>,
}

impl<'a> PositionChange<'a> {
    /// Creates a change from the position `before` to the position `after`.
    #[must_use]
    pub fn new(before: Option<&'a str>, after: Option<&'a str>) -> Self {
        Self { before, after }
    }

    /// Returns true if the account has a position other than the one before this change.
    #[must_use]
    pub fn is_overtaken(&self, current: Option<&str>) -> bool {
        self.before != current
    }
}

/// The result of [`SeenEntries::record`] and [`TransactionalSeenEntries::record_with`].
#[derive(Debug)]
#[must_use = "a page that was overtaken is not recorded"]
#[allow(clippy::exhaustive_enums, reason = "a caller must act on each")]
pub enum Recorded {
    /// The work, the entries and the position took effect.
    Committed,
    /// Another process has moved the position or recorded one of the new entries meanwhile, and
    /// nothing was changed. Begin again at the account's [position](SeenEntries::position).
    Overtaken,
    /// The work of `record_with` returned this error and was undone, and nothing was recorded.
    Undone(Box<dyn Error + Send + Sync>),
}

/// Checks the length of the position after a change. This is for engines of [`SeenEntries`].
///
/// # Errors
/// [`StoreErrorKind::Full`] for more than [`MAX_POSITION_BYTES`].
pub fn check_position(change: Option<PositionChange<'_>>) -> Result<(), StoreError> {
    match change
        .and_then(|change| change.after)
        .map(str::len)
        .filter(|found| *found > MAX_POSITION_BYTES)
    {
        Some(found) => Err(StoreError::new(
            StoreErrorKind::Full,
            PositionTooLong { found },
        )),
        None => Ok(()),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("position: expected at most {MAX_POSITION_BYTES} bytes, found {found}")]
struct PositionTooLong {
    found: usize,
}

/// Returns true for each new entry of a page and false for each known one, in their order.
///
/// - This records nothing. A store with transactions imports the new entries and records the page
///   in one step: [`TransactionalSeenEntries::record_with`]. With another store, import the new
///   entries first, under [`SeenEntry::id`], then [`SeenEntries::record`] the whole page with the
///   position after it.
/// - Two processes that walk through an account at once both find the same entries new.
///   `record_with` notices that before the import, `record` after it.
///
/// # Errors
/// [`StoreError`] of the store. Nothing was changed.
pub async fn find_new(
    store: &dyn SeenEntries,
    account: &AccountId,
    page: &[SeenEntry],
) -> Result<Vec<bool>, StoreError> {
    let keys: Vec<EntryKey> = page.iter().map(|entry| entry.key).collect();
    let counts = store.counts(account, &keys).await?;
    let known = counts.into_iter().chain(std::iter::repeat(0));
    Ok(page
        .iter()
        .zip(known)
        .map(|(entry, count)| entry.is_above(count))
        .collect())
}
