//! Telling entries apart that come again from entries that are new.
//!
//! Statements overlap: each poll of an intraday statement lists the day from its beginning. An entry with a reference
//! of the bank's is known by it; one page does not overlap itself, so if it names one reference twice, as banks do for
//! the parts of a batch, these are two entries. Without a reference, two identical entries can both be real, so they are
//! counted: the n-th entry of one content within one walk through the pages is the same as the n-th of another walk.
//!
//! ```
//! use bankrail_statement::{EntryIdentity, EntryKey, PageWalk, ReceivedPage};
//! let coffee = EntryIdentity::by_content(EntryKey::from([1; 32]), None);
//! let occurrences = |entries: &[EntryIdentity]| -> Vec<u32> {
//!     let mut poll = PageWalk::new();
//!     poll.receive(&ReceivedPage::Last, entries).entries().iter().map(|entry| entry.occurrence).collect()
//! };
//! assert_eq!(occurrences(&[coffee.clone()]), [1]);
//! // The next poll lists it again, and then a second one, just like it, which is new.
//! assert_eq!(occurrences(&[coffee.clone(), coffee]), [1, 2]);
//! ```

use crate::AccountId;
use bankrail_values::{Date, StoreError, StoreFuture};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;

/// What an entry is known by: a hash of its reference or of its content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryKey([u8; 32]);

impl EntryKey {
    /// The hash.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for EntryKey {
    fn from(hash: [u8; 32]) -> Self {
        Self(hash)
    }
}

impl fmt::Debug for EntryKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, ..] = self.0;
        write!(out, "EntryKey({a:02x}{b:02x}{c:02x}{d:02x}…)")
    }
}

/// How an entry is recognised.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct EntryIdentity {
    /// What it is known by.
    pub key: EntryKey,
    /// Its booking day, else its value day. It tells a store when the entry may be forgotten.
    pub day: Option<Date>,
    /// Whether the key comes from a reference of the bank's, so that it names the same entry on every page.
    pub has_reference: bool,
}

impl EntryIdentity {
    /// An entry known by its content: others like it count as other entries.
    #[must_use]
    pub fn by_content(key: EntryKey, day: Option<Date>) -> Self {
        Self { key, day, has_reference: false }
    }

    /// An entry known by a reference: another one like it is the same, unless both are on one page.
    #[must_use]
    pub fn by_reference(key: EntryKey, day: Option<Date>) -> Self {
        Self { key, day, has_reference: true }
    }
}

/// One entry as a [`SeenEntries`] store remembers it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SeenEntry {
    /// What it is known by.
    pub key: EntryKey,
    /// The how-many-th of its key it is, from 1.
    pub occurrence: u32,
    /// When it may be forgotten; see [`EntryIdentity::day`].
    pub day: Option<Date>,
}

impl SeenEntry {
    /// An entry.
    #[must_use]
    pub fn new(key: EntryKey, occurrence: u32, day: Option<Date>) -> Self {
        Self { key, occurrence, day }
    }

    /// An identifier of this entry that is the same in every poll. A consumer who stores entries under it, as a unique
    /// key beside the account, imports each entry exactly once even if a crash repeats a page.
    #[must_use]
    pub fn id(&self) -> [u8; 32] {
        Sha256::new().chain_update(self.key.0).chain_update(self.occurrence.to_be_bytes()).finalize().into()
    }
}

/// Counts the entries of one walk through a statement's pages: what content each of them has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryCounter {
    counts: HashMap<EntryKey, u32>,
}

/// What one page adds to an [`EntryCounter`].
#[derive(Debug, Default)]
pub(crate) struct PageCounts {
    contents: HashMap<EntryKey, u32>,
    /// These begin anew with each page: on another one, a reference names the same entry.
    references: HashMap<EntryKey, u32>,
}

impl EntryCounter {
    /// The entry as it is counted behind those of `page`, which are not part of the counter yet.
    pub(crate) fn count(&self, page: &mut PageCounts, entry: &EntryIdentity) -> SeenEntry {
        let count = if entry.has_reference {
            page.references.entry(entry.key).or_default()
        } else {
            page.contents.entry(entry.key).or_insert_with(|| self.counts.get(&entry.key).copied().unwrap_or(0))
        };
        *count = count.saturating_add(1);
        SeenEntry { key: entry.key, occurrence: *count, day: entry.day }
    }

    pub(crate) fn advance(&mut self, page: &PageCounts) {
        self.counts.extend(&page.contents);
    }

    pub(crate) fn counts(&self) -> impl Iterator<Item = (&EntryKey, u32)> {
        self.counts.iter().map(|(key, count)| (key, *count))
    }

    pub(crate) fn from_counts(counts: impl IntoIterator<Item = (EntryKey, u32)>) -> Self {
        Self { counts: counts.into_iter().collect() }
    }
}

/// Remembers the entries that were imported, by account.
///
/// What is kept of a key is its highest recorded occurrence.
pub trait SeenEntries: fmt::Debug + Send + Sync {
    /// The highest recorded occurrence of each key, in the same order; 0 for an unknown one.
    fn counts<'a>(&'a self, account: &'a AccountId, keys: &'a [EntryKey]) -> StoreFuture<'a, Vec<u32>>;

    /// Records all of these entries or none. Recording an entry again, or a lower occurrence, changes nothing.
    fn record<'a>(&'a self, account: &'a AccountId, entries: &'a [SeenEntry]) -> StoreFuture<'a, ()>;

    /// Forgets the entries of days before `day`, and says how many keys. Those without a day stay.
    ///
    /// A day must stay as long as a statement can still list it.
    fn forget_before<'a>(&'a self, account: &'a AccountId, day: Date) -> StoreFuture<'a, u64>;
}

/// For each entry of a page, in order: whether it is new. Nothing is recorded: import the new ones first, then
/// [`SeenEntries::record`] the whole page, then keep the cursor.
///
/// One process at a time walks through an account; two at once would both find the same entries new.
///
/// # Errors
/// [`StoreError`] of the store. Nothing was changed then.
pub async fn find_new(
    store: &dyn SeenEntries,
    account: &AccountId,
    page: &[SeenEntry],
) -> Result<Vec<bool>, StoreError> {
    let keys: Vec<EntryKey> = page.iter().map(|entry| entry.key).collect();
    let counts = store.counts(account, &keys).await?;
    let known = counts.into_iter().chain(std::iter::repeat(0));
    Ok(page.iter().zip(known).map(|(entry, count)| entry.occurrence > count).collect())
}
