//! The polling of an account: the choice of the next page, and of the entries that are handed over.

mod day;
mod page;
mod position;
mod relation;
mod stated;
mod tracked;

pub use day::StatementDay;
pub use page::{HandedOver, PageDecision, PollCommit, PolledPage};
pub use position::{PollPosition, PollPositionError};
pub use relation::{AccountNotice, EntryRelation};
pub use stated::StatedAccount;

use crate::seen::{EntryCounter, EntryKey, PageCounts, SeenEntry};
use crate::walk::Cursors;
use crate::{Cursor, EntryLinks, Step, WalkError};
use bankrail_values::{Date, Timestamp};
use stated::Sums;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tracked::{Completions, Numbered, TrackedEntries};

/// The maximum number of walks of one poll: a partial one, a full one, one that confirms it, and
/// two that had to begin again.
const MAX_WALKS: u32 = 5;

/// The number of fruitless pages in a row that ends a walk, because a statement with ever new
/// cursors would have no end.
const MAX_FRUITLESS_PAGES: usize = 5;

/// The time before the end of a day in which no full walk begins.
const LAST_FULL_WALK_BEFORE_END: Duration = Duration::from_secs(300);

/// Decides which page of an account's statement is requested next, and which of the received
/// entries are handed over. This type has no clock, no connection and no store.
///
/// A poll is a walk through the statement's last pages, or through all of them.
///
/// - A **partial walk** begins at the last page of the previous walk, because entries are listed
///   least recent first. It takes one call if there is no new entry.
/// - A **full walk** begins at the first page. The first walk is a full one, and so is the next
///   walk after [`PollOptions::full_walk_every`]. A full walk also begins at once when the service
///   refuses a cursor, when the day of the statement has changed, and when a partial walk leaves it
///   open if an entry is new. A walk through a statement of one page is always full.
///
/// A reference of the bank identifies an entry. Entries without one are counted by content. Number
/// `n` of a content is handed over only if there is evidence for `n` such entries.
///
/// - A page lists no entry twice, so a page that lists `n` of them is evidence.
/// - In a partial walk there is no other evidence, because an entry on its page may have moved
///   past the cursor. The page may list more of a content than last time, while the store has some
///   that were not on this page. Then no entry of the page is handed over, and a full walk follows
///   at once.
/// - A full walk counts over its pages. Pages can shift between two calls, so that one entry is
///   on two of them. Therefore an entry that is new only because the same content was on an earlier
///   page is held back, and a second full walk follows at once. Entries that both have counted are
///   handed over.
///
/// - The bank may later list an entry without a reference in a completed form, with its value
///   date, text or reference, and a booked one in a corrected form under its reference. The walk
///   then no longer lists the earlier form, but only its last page proves that. So a partial walk
///   that may have met such an entry is followed by a full walk, and a full walk of several pages
///   holds the entry back for a second one, which hands it over as [`EntryRelation::Replaces`].
///
/// So an entry that was inserted before the cursor is handed over with the next full walk. An entry
/// with a reference is handed over once, even if pages shift. Entries without a reference are
/// handed over once if pages do not shift during one of both full walks. If pages shift during
/// both, so that both count a content once too often, one entry too many of that content is handed
/// over, because nothing in a statement distinguishes it from a real twin.
///
/// The caller repeats these steps. [`AccountPoll::cursor`] returns the cursor of the page to fetch.
/// [`AccountPoll::judge`] takes the page with the counts of the store
/// ([`SeenEntries::counts`](crate::SeenEntries::counts)). A [`PollCommit`] is recorded together
/// with the effects of its new entries, and then given to [`AccountPoll::committed`]. If that
/// fails, or the process ends, the poll is made again from the stored position.
///
/// ```
/// use bankrail_statement::{
///     AccountPoll, EntryIdentity, EntryKey, PageDecision, PollOptions, PollStep, PolledPage,
///     ReceivedNextPage,
/// };
/// let now = "2021-07-29T07:10:05.000Z".parse()?;
/// let mut poll = AccountPoll::new(None, PollOptions::new());
/// assert_eq!(poll.cursor(now), None); // the first page
///
/// let coffee = EntryIdentity::by_content(EntryKey::from([1; 32]), None);
/// let page = PolledPage::new(ReceivedNextPage::None, vec![coffee.clone(), coffee]);
/// let PageDecision::Commit(commit) = poll.judge(&page, &[1, 1], now) else { panic!("a full walk") };
/// // The store knows one of the two.
/// assert_eq!(commit.new_entries().map(|(index, entry)| (index, entry.occurrence)).collect::<Vec<_>>(), [(1, 2)]);
/// assert_eq!(poll.committed(commit)?, PollStep::Complete { full: true });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AccountPoll {
    options: PollOptions,
    position: PollPosition,
    /// The stored position.
    stored: Option<Arc<str>>,
    unreadable: bool,
    walk: Walk,
    /// The number of walks that this poll has begun.
    walks: u32,
    /// The counts of the contents that the previous full walk held back.
    counted_before: HashMap<EntryKey, u32>,
    /// The later forms that the previous full walk held back; `None` if it held back none.
    completions: Option<Completions>,
}

bankrail_values::options! {
    /// Options of an [`AccountPoll`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct PollOptions {
        /// The time from a full walk to the next one, and so the delay of an entry that the bank
        /// has inserted before the last page. With zero, each walk is a full one. Default: 1 h.
        full_walk_every: Duration = Duration::from_secs(3_600),
        /// The maximum number of pages of a walk. A longer statement fails with
        /// [`WalkError::TooManyPages`](crate::WalkError::TooManyPages). Default: 100.
        max_pages: usize = 100,
        /// The longest time at the end of a day that may stay unseen without a notice
        /// ([`AccountNotice::DayIncomplete`](crate::AccountNotice::DayIncomplete)). Default: 5 min.
        unseen: Duration = Duration::from_secs(300),
    }
}

/// The next action after a page was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a poll continues or is complete")]
pub enum PollStep {
    /// Fetch the page of [`AccountPoll::cursor`].
    Fetch,
    /// The poll is complete.
    Complete {
        /// True if the poll ended with a full walk and all its entries are handed over.
        full: bool,
    },
}

#[derive(Clone, Debug)]
struct Walk {
    full: bool,
    cursors: Cursors,
    /// The contents of the pages so far. A partial walk counts each page separately.
    counter: EntryCounter,
    /// The contents of the entries that were held back.
    held_back: HashSet<EntryKey>,
    /// The entries that were held back because they may be later forms of others.
    undecided: Vec<(Numbered, EntryLinks)>,
    /// The number of entries of each key that the walk's pages have listed.
    listed: HashMap<EntryKey, u32>,
    /// The number of fruitless pages in a row at the end of the walk so far.
    fruitless: usize,
    sums: Sums,
    /// The entries of the walk's pages that could not be read.
    unread: BTreeSet<u64>,
    /// The day of the statement, from the walk's pages.
    day: Option<Date>,
    /// True if the walk's pages are of different days, or a partial walk's day differs from that of
    /// the previous walk.
    day_changed: bool,
}

impl AccountPoll {
    /// Creates a poll that continues at the stored position
    /// ([`SeenEntries::position`](crate::SeenEntries::position)); `None` for an account that was
    /// never polled. If the text is unreadable ([`AccountPoll::is_position_unreadable`]), a full
    /// walk begins.
    #[must_use]
    pub fn new(stored: Option<&str>, options: PollOptions) -> Self {
        let read = stored.map(PollPosition::from_json).transpose();
        let unreadable = read.is_err();
        let position = read.ok().flatten().unwrap_or_else(PollPosition::start);
        let walk = Walk::from(&position, &options);
        Self {
            options,
            position,
            stored: stored.map(Arc::from),
            unreadable,
            walk,
            walks: 1,
            counted_before: HashMap::new(),
            completions: None,
        }
    }

    /// Returns the cursor of the next request; `None` for the first page.
    ///
    /// At the beginning of a poll, `now` decides if its walk is a full one. In the last five
    /// minutes of a day the walk is partial, because a full one takes longer. The first walk after
    /// the end of a day is partial too, because the bank may answer the cursor with the last
    /// entries of that day.
    pub fn cursor(&mut self, now: Timestamp) -> Option<&Cursor> {
        let soon = now.saturating_add(LAST_FULL_WALK_BEFORE_END);
        let is_left = self
            .position
            .walked
            .is_some_and(|walked| walked.is_left_at(soon));
        // The walk may change only before its first page, because later its pages are recorded
        // already.
        if self.walk.cursors.pages() == 0
            && !self.walk.full
            && self.is_full_walk_due(now)
            // A full walk begins at the new day, and the last cursor may lead to the rest of the
            // old one.
            && !is_left
        {
            self.walk = Walk::full(&self.options);
        }
        self.walk.cursors.next()
    }

    /// Returns true if the stored position could not be read, for example because another version
    /// wrote it. The store still has the entries, so none is handed over twice; but an entry that
    /// was completed meanwhile counts as new.
    #[must_use]
    pub fn is_position_unreadable(&self) -> bool {
        self.unreadable
    }

    /// Returns the time at which the last full walk was completed; `None` if there was none.
    #[must_use]
    pub fn last_full_walk(&self) -> Option<Timestamp> {
        self.position.full_walk_at
    }

    /// Returns the end of the day of the last walked statement; `None` if the end is not known.
    #[must_use]
    pub fn day_ends_at(&self) -> Option<Timestamp> {
        self.position.walked.map(|walked| walked.ends_at)
    }

    /// Returns the time for decisions on forgetting entries: `now`, or the end of the last walked
    /// day if that is earlier, because a clock that is ahead would forget entries that the bank
    /// still lists. `None` before the first full walk has ended.
    #[must_use]
    pub fn walked_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.position.full_walk_at?;
        // While the first walk of a new day is under way, only the day before is known.
        let day = || Timestamp::from_time(self.position.day?.to_time().midnight().assume_utc());
        let end = self.day_ends_at().or_else(day);
        Some(end.map_or(now, |end| end.min(now)))
    }

    /// Continues after the recorded page of `commit`.
    ///
    /// # Errors
    /// [`WalkError`] if the statement cannot be read to its end. This page and those before it are
    /// valid. The next poll begins at the first page.
    pub fn committed(&mut self, commit: Box<PollCommit>) -> Result<PollStep, WalkError> {
        let PollCommit {
            delta,
            next,
            position,
            ..
        } = *commit;
        self.position = next;
        self.stored = position.or_else(|| self.stored.take());
        self.walk.take(&delta);
        match delta.after {
            Ok(Step::Fetch(_)) => Ok(PollStep::Fetch),
            Ok(Step::Done) => Ok(self.walked()),
            Err(error) => {
                self.begin_poll();
                // The cursors of a walk that failed are not trusted.
                self.walk = Walk::full(&self.options);
                Err(error)
            }
        }
    }

    /// Begins again at the first page, because the service refused the cursor.
    ///
    /// # Errors
    /// [`WalkError::BeganAgain`] if that happened too often in this poll.
    pub fn cursor_refused(&mut self) -> Result<(), WalkError> {
        self.begin_again()
    }

    fn begin_again(&mut self) -> Result<(), WalkError> {
        let walks = self.walks;
        self.walk = Walk::full(&self.options);
        self.completions = None;
        // Each walk costs calls, which a service that refuses every cursor would use up.
        if walks >= MAX_WALKS {
            self.walks = 1;
            return Err(WalkError::BeganAgain { walks });
        }
        self.walks += 1;
        Ok(())
    }

    fn is_full_walk_due(&self, now: Timestamp) -> bool {
        // A time in the future was written under a wrong clock.
        let recent =
            |at: Timestamp| at <= now && now.saturating_since(at) < self.options.full_walk_every;
        !self.position.full_walk_at.is_some_and(recent)
    }

    /// Ends a walk whose last page was committed.
    #[expect(clippy::disallowed_methods, reason = "collected into a map")]
    fn walked(&mut self) -> PollStep {
        let walk = &self.walk;
        self.counted_before = walk
            .held_back
            .iter()
            .map(|key| (*key, walk.counter.count_of(*key)))
            .collect();
        self.completions = (!walk.undecided.is_empty()).then(|| {
            let mut pairs = if walk.unread.is_empty() {
                self.position
                    .tracked
                    .completions(&walk.undecided, &walk.listed, walk.day)
            } else {
                // An entry that could not be read may be one of those that seem to be completed.
                HashMap::new()
            };
            let held_back = walk.undecided.iter();
            held_back
                .map(|(entry, _)| (*entry, pairs.remove(entry)))
                .collect()
        });
        // An entry that was held back is handed over only if a second walk counts it too.
        let certain = self.counted_before.is_empty() && !walk.day_changed;
        if !certain && self.walks < MAX_WALKS {
            self.walks += 1;
            self.walk = Walk::full(&self.options);
            return PollStep::Fetch;
        }
        let full = certain && walk.full;
        self.begin_poll();
        PollStep::Complete { full }
    }

    fn begin_poll(&mut self) {
        self.walks = 1;
        self.completions = None;
        self.walk = Walk::from(&self.position, &self.options);
    }
}

impl Walk {
    fn from(position: &PollPosition, options: &PollOptions) -> Self {
        match &position.resume {
            Some(resume) => {
                let cursors = Cursors::starting_at(Some(resume.cursor.clone()), options.max_pages);
                Self {
                    full: false,
                    cursors,
                    ..Self::full(options)
                }
            }
            None => Self::full(options),
        }
    }

    fn full(options: &PollOptions) -> Self {
        Self {
            full: true,
            cursors: Cursors::starting_at(None, options.max_pages),
            counter: EntryCounter::default(),
            held_back: HashSet::new(),
            undecided: Vec::new(),
            listed: HashMap::new(),
            fruitless: 0,
            sums: Sums::default(),
            unread: BTreeSet::new(),
            day: None,
            day_changed: false,
        }
    }

    /// Counts a page that is committed.
    fn take(&mut self, delta: &Delta) {
        // A partial walk does not see all pages of the day, so it counts each page separately.
        if self.full {
            self.counter.advance(&delta.counts);
        }
        self.held_back.extend(&delta.held_back);
        self.undecided.extend(&delta.undecided);
        delta
            .listed
            .iter()
            .for_each(|key| *self.listed.entry(*key).or_default() += 1);
        self.fruitless = delta.fruitless;
        self.sums.add(&delta.stated);
        self.unread.extend(&delta.unread);
        self.day = delta.day.or(self.day);
        self.day_changed |= delta.day_changed;
        self.cursors.follow(&delta.after);
    }
}

/// The changes that a page makes to its walk.
#[derive(Clone, Debug)]
struct Delta {
    counts: PageCounts,
    held_back: Vec<EntryKey>,
    undecided: Vec<(Numbered, EntryLinks)>,
    day: Option<Date>,
    day_changed: bool,
    listed: Vec<EntryKey>,
    fruitless: usize,
    stated: StatedAccount,
    unread: Vec<u64>,
    after: Result<Step, WalkError>,
}

impl Default for Delta {
    fn default() -> Self {
        Self {
            counts: PageCounts::default(),
            held_back: Vec::new(),
            undecided: Vec::new(),
            day: None,
            day_changed: false,
            listed: Vec::new(),
            fruitless: 0,
            stated: StatedAccount::default(),
            unread: Vec::new(),
            after: Ok(Step::Done),
        }
    }
}

/// One entry of a page.
struct OnPage<'a> {
    seen: &'a SeenEntry,
    /// The links of the entry. An entry without links is neither remembered nor compared.
    links: Option<&'a EntryLinks>,
    new: bool,
}

impl OnPage<'_> {
    fn numbered(&self) -> Numbered {
        (self.seen.key, self.seen.occurrence)
    }
}

/// The evidence of a walk up to the end of a page.
struct WalkEvidence<'a> {
    /// The number of entries of each key on the walk's pages before this one.
    before: &'a HashMap<EntryKey, u32>,
    /// True if a full walk ends with this page, so that unlisted entries are not in the statement.
    complete: bool,
    /// True if all entries of the walk could be read up to the end of the page. Otherwise an
    /// unlisted entry may be an unreadable one.
    all_read: bool,
    /// True if the walk has one page, so that no entry can have moved between pages meanwhile.
    single: bool,
    /// The day of the statement.
    day: Option<Date>,
    /// The pairs of [`AccountPoll::completions`].
    completions: Option<&'a Completions>,
}

/// The judgement of a page.
#[derive(Clone, Debug, Default)]
struct Judged {
    tracked: TrackedEntries,
    /// The relation of each entry of the page that is handed over.
    relations: Vec<Option<EntryRelation>>,
    notices: Vec<AccountNotice>,
}
