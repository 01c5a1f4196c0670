//! Polling an account: which page to ask for next, and which of its entries to hand over.

mod day;
mod memory;
mod options;
mod page;
mod position;
mod relation;
mod stated;

pub use day::StatementDay;
pub use options::PollOptions;
pub use page::{HandedOver, PageDecision, PollCommit, PolledPage};
pub use position::{PollPosition, PollPositionError};
pub use relation::{AccountNotice, EntryRelation};
pub use stated::StatedAccount;

use crate::seen::{EntryCounter, EntryIdentity, EntryKey, PageCounts, SeenEntry};
use crate::walk::Cursors;
use crate::{Cursor, Step, WalkError};
use bankrail_values::{Date, Timestamp};
use day::WalkedDay;
use memory::{OnPage, Remembering, Shown};
use page::Delta;
use position::Resume;
use stated::Sums;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// The most walks of one poll: a partial one, a full one, one that confirms it, and two that had to
/// begin again.
const MOST_WALKS: u32 = 5;

/// How many fruitless pages in a row end a walk. The statement has no end then, and its cursors are
/// ever new.
const MOST_FRUITLESS: usize = 5;

/// How long before the end of a day no full walk begins.
const SHORTLY: Duration = Duration::from_secs(300);

/// Decides over and over what to ask for an account's statement, and which of the received entries
/// are handed over. It has no clock, no connection and no store.
///
/// A poll is a walk through the statement's last pages, or through all of them:
///
/// - A **partial walk** begins at the last page of the walk before, because entries are listed
///   least recent first. It takes one call if nothing is new.
/// - A **full walk** begins at the first page. It is made the first time, after
///   [`PollOptions::full_walk_every`], and at once when the service refuses a cursor, when the day
///   of the statement has changed, and when a partial walk cannot tell whether an entry is new. A
///   statement of one page is always walked in full.
///
/// An entry with a reference of the bank is known by it. Entries without one are counted by
/// content, and number `n` of a content is handed over only if there is evidence for `n` such
/// entries:
///
/// - A page lists no entry twice, so a page that lists `n` of them is evidence.
/// - In a partial walk nothing else is. An entry that it meets may be one that has moved past the
///   cursor. So when the page lists more of a content than last time, and the store knows some that
///   were not on this page, nothing of the page is handed over, and a full walk follows at once.
/// - A full walk counts over its pages. But pages can shift between two calls, so that one entry is
///   on two of them. Therefore an entry that is new only because the same content was on an earlier
///   page is held back, and a second full walk follows at once. What both have counted is handed
///   over.
///
/// So an entry that was inserted before the cursor is handed over with the next full walk. An entry
/// with a reference is handed over once, whatever moves. Entries without one are handed over once
/// if the statement stays in place during one of the two full walks. If pages shift during both, so
/// that both count a content once too often, one entry too many of that content is handed over:
/// nothing in a statement tells it from a real twin.
///
/// The caller repeats these steps. [`AccountPoll::cursor`] says what to fetch.
/// [`AccountPoll::judge`] takes the page with the counts that the store knows
/// ([`SeenEntries::counts`](crate::SeenEntries::counts)). A [`PollCommit`] is recorded together
/// with the effects of its new entries, and then given to [`AccountPoll::committed`]. If that
/// fails, or the process ends, the poll is made again from the position that the store has.
///
/// ```
/// use bankrail_statement::{
///     AccountPoll, EntryIdentity, EntryKey, PageDecision, PollOptions, PollPosition, PollStep, PolledPage,
///     ReceivedPage,
/// };
/// let now = "2021-07-29T07:10:05.000Z".parse()?;
/// let mut poll = AccountPoll::new(PollPosition::start(), PollOptions::new());
/// assert_eq!(poll.cursor(now), None); // the first page
///
/// let coffee = EntryIdentity::by_content(EntryKey::from([1; 32]), None);
/// let page = PolledPage::new(ReceivedPage::Last, vec![coffee.clone(), coffee]);
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
    walk: Walk,
    /// How many walks this poll has begun.
    walks: u32,
    /// What the full walk before counted of the contents that it held back.
    claims: HashMap<EntryKey, u32>,
}

/// What to do after a page was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a poll continues or is complete")]
pub enum PollStep {
    /// Fetch the page of [`AccountPoll::cursor`].
    Fetch,
    /// The poll is complete.
    Complete {
        /// Whether it ended with a full walk whose every entry is handed over.
        full: bool,
    },
}

#[derive(Clone, Debug)]
struct Walk {
    full: bool,
    cursors: Cursors,
    /// The contents of the pages so far. A partial walk counts each page by itself.
    counter: EntryCounter,
    /// The contents of which entries were held back.
    doubts: HashSet<EntryKey>,
    /// How many entries of each key its pages have listed.
    listed: HashMap<EntryKey, u32>,
    /// How many of its last pages, one after the other, were fruitless.
    fruitless: usize,
    sums: Sums,
    /// The day of the statement, as its pages say.
    day: Option<Date>,
    /// Whether pages of different days were met, or a partial walk has met another day than the
    /// walk before.
    day_changed: bool,
}

impl AccountPoll {
    /// Polls that continue at the position that the store has.
    #[must_use]
    pub fn new(position: PollPosition, options: PollOptions) -> Self {
        let walk = Walk::from(&position, &options);
        Self {
            options,
            position,
            walk,
            walks: 1,
            claims: HashMap::new(),
        }
    }

    /// The cursor of the next request; `None` for the first page.
    ///
    /// If a poll begins with it, `now` decides whether its walk is a full one. In the last five
    /// minutes of a day it is not, because that takes longer; nor at the first poll after the end,
    /// because the bank may answer the cursor with the last entries of that day.
    pub fn cursor(&mut self, now: Timestamp) -> Option<&Cursor> {
        let soon = now.saturating_add(SHORTLY);
        let is_left = self
            .position
            .walked
            .is_some_and(|walked| walked.is_left_at(soon));
        if self.walk.cursors.pages() == 0
            && !self.walk.full
            && self.is_full_walk_due(now)
            && !is_left
        {
            self.walk = Walk::full(&self.options);
        }
        self.walk.cursors.next()
    }

    /// When the last full walk was completed; `None` if there was none.
    #[must_use]
    pub fn last_full_walk(&self) -> Option<Timestamp> {
        self.position.full_walk_at
    }

    /// When the day of the statement ends that was walked last; `None` if that is not known.
    #[must_use]
    pub fn day_ends_at(&self) -> Option<Timestamp> {
        self.position.walked.map(|walked| walked.ends_at)
    }

    /// Decides about the page that was received for [`AccountPoll::cursor`]. `known` is what the
    /// store knows of the page's entries: the count of each key, in the order of the entries.
    ///
    /// If the decision is [`PageDecision::Commit`], the poll is unchanged, and the page can be
    /// judged again with newer counts.
    pub fn judge(&mut self, page: &PolledPage, known: &[u32], now: Timestamp) -> PageDecision {
        let walk = &self.walk;
        let alone = EntryCounter::default();
        let before = if walk.full { &walk.counter } else { &alone };
        let mut counts = PageCounts::default();
        let numbered: Vec<SeenEntry> = page
            .entries
            .iter()
            .map(|entry| before.count(&mut counts, entry))
            .collect();
        let mut commit = PollCommit::default();
        let mut doubts = Vec::new();
        let known = known.iter().copied().chain(std::iter::repeat(0));
        for (index, ((entry, seen), known)) in
            page.entries.iter().zip(numbered).zip(known).enumerate()
        {
            let new = seen.occurrence > known;
            if !entry.has_reference && !walk.full && self.is_ambiguous(&counts, entry.key, known) {
                // A partial walk is the first of its poll, so this is not one walk too many.
                (self.walks, self.walk) = (self.walks.saturating_add(1), Walk::full(&self.options));
                return PageDecision::BeginAgain;
            }
            let earlier = walk.counter.count_of(entry.key);
            if !entry.has_reference && new && earlier > 0 && !self.has_claimed(&seen) {
                doubts.push(entry.key);
            } else {
                commit.push(index, seen, new);
            }
        }
        let day = page.day.map(|day| day.day);
        let day_changed = day.is_some_and(|day| self.known_day().is_some_and(|known| known != day));
        let fruitless = if walk.is_fruitless(page) {
            walk.fruitless.saturating_add(1)
        } else {
            0
        };
        let after = match walk.cursors.after(&page.page) {
            Ok(Step::Fetch(_)) if fruitless >= MOST_FRUITLESS => {
                Err(WalkError::NothingMore { pages: fruitless })
            }
            after => after,
        };
        let stated = page.stated.clone();
        commit.delta = Delta {
            counts,
            doubts,
            day,
            day_changed,
            fruitless,
            stated,
            after,
            ..Delta::default()
        };
        commit.next = self.position_after(page, &commit.delta, now);
        self.relate(page, now, &mut commit);
        // Within a full walk most pages change nothing that is worth a record.
        commit.position = (self.moves(&commit.delta) || commit.next != self.position)
            .then(|| commit.next.to_json());
        PageDecision::Commit(Box::new(commit))
    }

    /// Adds to a commit and to the position after it what the entries are to those before, and what
    /// the page says about the account.
    fn relate(&self, page: &PolledPage, now: Timestamp, commit: &mut PollCommit) {
        let complete = self.completes(&commit.delta);
        let day = commit.delta.day.or(self.walk.day);
        let on_page: Vec<OnPage<'_>> = commit
            .all()
            .map(|(index, seen, new)| OnPage {
                seen,
                new,
                links: page.links.get(index),
            })
            .collect();
        let single = self.walk.cursors.pages() == 0;
        let shown = Shown {
            before: &self.walk.listed,
            complete,
            single,
            day,
        };
        let Remembering {
            memory,
            relations,
            mut notices,
        } = self.position.memory.judge(&on_page, &shown);
        commit.delta.listed = on_page.iter().map(|entry| entry.seen.key).collect();
        commit.relations = relations;
        commit.next.memory = memory;
        notices.extend(commit.next.books.page(&page.stated));
        if let Some(day) = day.filter(|_| complete) {
            let mut sums = self.walk.sums.clone();
            sums.add(&page.stated);
            notices.extend(commit.next.books.complete(&sums, day));
        }
        if let Some(next) = commit.delta.day
            && let Some(last) = commit.next.walked.take_if(|last| last.day < next)
            // After the end, the last cursor may still lead to that day's entries.
            && (self.walk.full || !page.entries.iter().any(|entry| entry.day == Some(last.day)))
        {
            notices.extend(last.notice(next, self.options.unseen));
        }
        if matches!(commit.delta.after, Ok(Step::Done)) {
            commit.next.walked = page.day.and_then(|day| WalkedDay::complete(day, now));
        }
        let is_booked = |index: usize| page.links.get(index).is_none_or(|links| links.booked);
        commit.late = commit
            .all()
            .map(|(index, seen, new)| new && is_booked(index) && self.is_late(seen, now))
            .collect();
        commit.notices = notices;
    }

    /// Whether a full walk through the statement of a later day was completed before. A day that
    /// has yet to come, by more than zones differ, was written under a wrong clock.
    fn is_late(&self, entry: &SeenEntry, now: Timestamp) -> bool {
        let tomorrow = now.saturating_add(Duration::from_secs(86_400)).date();
        let complete = self.position.day.filter(|day| *day <= tomorrow);
        entry
            .day
            .zip(complete)
            .is_some_and(|(own, complete)| own < complete)
    }

    /// Whether a full walk ends with this page that shows the whole statement of one day.
    fn completes(&self, delta: &Delta) -> bool {
        let walk = &self.walk;
        let certain = walk.doubts.is_empty() && delta.doubts.is_empty();
        walk.full
            && matches!(delta.after, Ok(Step::Done))
            && certain
            && !walk.day_changed
            && !delta.day_changed
    }

    /// Continues after the page of `commit`, which is recorded.
    ///
    /// # Errors
    /// [`WalkError`] if the statement cannot be read to its end. This page and those before it are
    /// valid. The next poll begins at the first page.
    pub fn committed(&mut self, commit: Box<PollCommit>) -> Result<PollStep, WalkError> {
        let PollCommit { delta, next, .. } = *commit;
        self.position = next;
        self.walk.take(&delta);
        match delta.after {
            Ok(Step::Fetch(_)) => Ok(PollStep::Fetch),
            Ok(Step::Done) => Ok(self.walked()),
            Err(error) => {
                self.begin_poll();
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
        if walks >= MOST_WALKS {
            self.walks = 1;
            return Err(WalkError::BeganAgain { walks });
        }
        self.walks += 1;
        Ok(())
    }

    fn is_full_walk_due(&self, now: Timestamp) -> bool {
        // A time that is yet to come was written under a wrong clock.
        let recent =
            |at: Timestamp| at <= now && now.saturating_since(at) < self.options.full_walk_every;
        !self.position.full_walk_at.is_some_and(recent)
    }

    /// Whether a partial walk cannot tell how many entries of this content are new: the page lists
    /// more of them than last time, and the store knows some that were not on this page, which may
    /// have moved onto it.
    fn is_ambiguous(&self, counts: &PageCounts, key: EntryKey, known: u32) -> bool {
        let resumed = (self.walk.cursors.pages() == 0)
            .then_some(self.position.resume.as_ref())
            .flatten();
        let last_time = resumed
            .and_then(|resume| resume.listed.get(&key))
            .copied()
            .unwrap_or(0);
        let listed = counts.contents().get(&key).copied().unwrap_or(0);
        listed > last_time && known > last_time
    }

    fn has_claimed(&self, seen: &SeenEntry) -> bool {
        self.claims
            .get(&seen.key)
            .is_some_and(|claimed| seen.occurrence <= *claimed)
    }

    /// The day of the statement as this walk, or the walk that it continues, has met it.
    fn known_day(&self) -> Option<Date> {
        self.walk.day.or(if self.walk.full {
            None
        } else {
            self.position.day
        })
    }

    /// Whether the place in the statement changes with a page. A full walk leaves it as it is up to
    /// its last page, because it begins anew if it is interrupted: meanwhile, what it has counted
    /// may have moved.
    fn moves(&self, delta: &Delta) -> bool {
        !(self.walk.full && matches!(delta.after, Ok(Step::Fetch(_))))
    }

    /// The position after a page.
    fn position_after(&self, page: &PolledPage, delta: &Delta, now: Timestamp) -> PollPosition {
        let walk = &self.walk;
        let before = self.position.clone();
        if !self.moves(delta) {
            return before;
        }
        let ends = !matches!(delta.after, Ok(Step::Fetch(_)));
        let certain = walk.doubts.is_empty() && delta.doubts.is_empty();
        let trusted = delta.after.is_ok()
            && page.ordered
            && certain
            && !(ends && (walk.day_changed || delta.day_changed));
        let resume = walk
            .cursors
            .next()
            .filter(|_| trusted)
            .and_then(|cursor| Resume::new(cursor, &page.entries));
        PollPosition {
            full_walk_at: if self.completes(delta) {
                Some(now)
            } else {
                before.full_walk_at
            },
            day: if walk.full {
                delta.day.or(walk.day)
            } else {
                before.day
            },
            resume,
            ..before
        }
    }

    /// The last page of a walk is committed.
    fn walked(&mut self) -> PollStep {
        let walk = &self.walk;
        self.claims = walk
            .doubts
            .iter()
            .map(|key| (*key, walk.counter.count_of(*key)))
            .collect();
        let certain = self.claims.is_empty() && !walk.day_changed;
        if !certain && self.walks < MOST_WALKS {
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
            doubts: HashSet::new(),
            listed: HashMap::new(),
            fruitless: 0,
            sums: Sums::default(),
            day: None,
            day_changed: false,
        }
    }

    /// Whether the page lists no entry that this walk has not met, as far as references say.
    fn is_fruitless(&self, page: &PolledPage) -> bool {
        let is_known =
            |entry: &EntryIdentity| entry.has_reference && self.listed.contains_key(&entry.key);
        page.others == 0 && page.entries.iter().all(is_known)
    }

    /// Counts a page that is committed.
    fn take(&mut self, delta: &Delta) {
        if self.full {
            self.counter.advance(&delta.counts);
        }
        self.doubts.extend(&delta.doubts);
        delta
            .listed
            .iter()
            .for_each(|key| *self.listed.entry(*key).or_default() += 1);
        self.fruitless = delta.fruitless;
        self.sums.add(&delta.stated);
        self.day = delta.day.or(self.day);
        self.day_changed |= delta.day_changed;
        self.cursors.follow(&delta.after);
    }
}
