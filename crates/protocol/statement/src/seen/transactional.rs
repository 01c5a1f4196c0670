//! Entries that are recorded in one transaction with the work that imports them.

use super::{EntryKey, PositionChange, Recorded, SeenEntries, SeenEntry};
use crate::AccountId;
use bankrail_values::StoreFuture;

/// A store of seen entries whose transaction can include an application's own work, so that each
/// entry is imported exactly once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no transaction for the work of an import",
    label = "not a `TransactionalSeenEntries`",
    note = "`SqliteStore` and `PostgresStore` of `bankrail_stores` have one",
    note = "with another store use `Poller::new`, whose handler may be given an entry twice"
)]
pub trait TransactionalSeenEntries: SeenEntries {
    /// The work in a transaction of this engine: a function of the engine's own transaction type.
    /// Each engine documents how to make one.
    type Work: Send + 'static;

    /// Runs `work` and records a page of the account in one transaction: both take effect, or
    /// neither does. If the future is dropped, either is possible.
    ///
    /// The transaction first checks that the account still has the position before the page, and
    /// that each new entry of the page is still unrecorded, because another process may have
    /// recorded it ([`PageRecord::is_overtaken`]). Transactions on the same account run one after
    /// the other.
    ///
    /// A page with a position that is too long is refused as [`SeenEntries::record`] does, before
    /// the work runs.
    fn record_with<'a>(
        &'a self,
        account: &'a AccountId,
        page: PageRecord<'a>,
        work: Self::Work,
    ) -> StoreFuture<'a, Recorded>;
}

/// The record of one page for [`TransactionalSeenEntries::record_with`].
///
/// ```
/// use bankrail_statement::{EntryKey, PageRecord, PositionChange, SeenEntry};
/// let entry = |number| SeenEntry::new(EntryKey::from([number; 32]), 1, None);
/// let (entries, new) = ([entry(1), entry(2)], [false, true]); // as `find_new` answers
/// let change = PositionChange::new(None, Some(r#"{"version":1}"#));
/// let page = PageRecord::new(&entries, &new).position(change);
/// assert_eq!(page.new_entries().collect::<Vec<_>>(), [&entries[1]]);
/// assert!(!page.is_overtaken(&[0])); // still unrecorded
/// assert!(page.is_overtaken(&[1])); // another process has recorded it
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PageRecord<'a> {
    /// All entries of the page, which the store records.
    pub entries: &'a [SeenEntry],
    /// The marks of `entries`, in their order: true for each new one.
    pub new: &'a [bool],
    /// The change of the account's position; `None` if the position is not compared, and stays.
    pub position: Option<PositionChange<'a>>,
}

impl<'a> PageRecord<'a> {
    /// Creates the record of all entries of a page; `new` is the answer of
    /// [`find_new`](crate::find_new): true for each new one, in their order. An entry without an
    /// answer counts as new, so that it is not imported unchecked.
    #[must_use]
    pub fn new(entries: &'a [SeenEntry], new: &'a [bool]) -> Self {
        Self {
            entries,
            new,
            position: None,
        }
    }

    /// Sets the change of the account's position. Default: the position is not compared, and stays.
    /// Only new entries that another process has recorded are then noticed.
    #[must_use]
    pub fn position(mut self, change: PositionChange<'a>) -> Self {
        self.position = Some(change);
        self
    }

    /// Returns the entries that are new, in their order.
    pub fn new_entries(&self) -> impl Iterator<Item = &'a SeenEntry> + use<'a> {
        let new = self.new.iter().copied().chain(std::iter::repeat(true));
        self.entries
            .iter()
            .zip(new)
            .filter_map(|(entry, new)| new.then_some(entry))
    }

    /// Returns the keys of the new entries, in their order.
    #[must_use]
    pub fn new_keys(&self) -> Vec<EntryKey> {
        self.new_entries().map(|entry| entry.key).collect()
    }

    /// Returns true if one of the new entries was recorded meanwhile. `counts` are the recorded
    /// occurrences of [`PageRecord::new_keys`], in the same order.
    #[must_use]
    pub fn is_overtaken(&self, counts: &[u32]) -> bool {
        self.new_entries()
            .zip(counts)
            .any(|(entry, count)| !entry.is_above(*count))
    }
}
