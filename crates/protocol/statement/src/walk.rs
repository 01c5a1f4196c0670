//! The client's paging, in which a walk skips no page and always ends.

use crate::seen::{EntryCounter, EntryIdentity, PageCounts, SeenEntry};
use crate::stored::Counts;
use crate::{Cursor, ReceivedNextPage};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::HashSet;

/// A walk through the pages of one statement.
///
/// - [`PageWalk::receive`] turns a received page into a [`PendingPage`].
/// - [`PendingPage::stored`] advances the walk. If the pending page is dropped instead, the walk
///   is unchanged and [`PageWalk::cursor`] returns the cursor of the same page again.
/// - A repeated cursor is an error, and so is a next page after the maximum number of pages of the
///   walk ([`PageWalk::DEFAULT_MAX_PAGES`] unless set by [`PageWalk::max_pages`]).
///
/// ```
/// use bankrail_statement::{Cursor, PageWalk, ReceivedNextPage, Step};
/// let mut walk = PageWalk::new();
/// assert_eq!(walk.cursor(), None); // the first request has no cursor
/// let received = ReceivedNextPage::At { cursor: Cursor::parse("eA==")? };
///
/// drop(walk.receive(&received, &[])); // storing failed: the walk is unchanged
/// assert_eq!(walk.cursor(), None);
///
/// assert_eq!(walk.receive(&received, &[]).stored()?, Step::Fetch(Cursor::parse("eA==")?));
/// assert!(walk.receive(&received, &[]).stored().is_err()); // the same cursor again
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PageWalk {
    cursors: Cursors,
    counter: EntryCounter,
}

impl PageWalk {
    /// The maximum number of pages of one walk by default.
    pub const DEFAULT_MAX_PAGES: usize = 10_000;

    /// Creates a walk that starts with the first page.
    #[must_use]
    pub fn new() -> Self {
        Self {
            cursors: Cursors::starting_at(None, Self::DEFAULT_MAX_PAGES),
            counter: EntryCounter::default(),
        }
    }

    /// Returns a walk that continues after the page of a checkpoint.
    #[must_use]
    pub fn resume(checkpoint: Checkpoint) -> Self {
        let cursors = Cursors::starting_at(Some(checkpoint.cursor), Self::DEFAULT_MAX_PAGES);
        Self {
            cursors,
            counter: checkpoint.counter,
        }
    }

    /// Sets the maximum number of pages of this walk.
    #[must_use]
    pub fn max_pages(mut self, pages: usize) -> Self {
        self.cursors.max_pages = pages;
        self
    }

    /// Returns the cursor of the next request; `None` for the first page.
    #[must_use]
    pub fn cursor(&self) -> Option<&Cursor> {
        self.cursors.next()
    }

    /// Returns the number of pages of this walk that were stored.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.cursors.pages()
    }

    /// Accepts the page that was received for [`PageWalk::cursor`], with the identities of its
    /// entries in their order.
    pub fn receive(
        &mut self,
        page: &ReceivedNextPage,
        entries: &[EntryIdentity],
    ) -> PendingPage<'_> {
        let mut counts = PageCounts::default();
        let entries = entries
            .iter()
            .map(|entry| self.counter.count(&mut counts, entry))
            .collect();
        PendingPage {
            walk: self,
            page: page.clone(),
            entries,
            counts,
        }
    }
}

impl Default for PageWalk {
    fn default() -> Self {
        Self::new()
    }
}

/// A page that was received and not yet stored.
#[derive(Debug)]
#[must_use = "the walk advances only when `stored` is called"]
pub struct PendingPage<'a> {
    walk: &'a mut PageWalk,
    page: ReceivedNextPage,
    entries: Vec<SeenEntry>,
    counts: PageCounts,
}

impl PendingPage<'_> {
    /// Returns the page's entries, counted over the whole walk. Pass them to
    /// [`find_new`](crate::find_new), then to
    /// [`record_with`](crate::TransactionalSeenEntries::record_with) or, after the import, to
    /// [`SeenEntries::record`](crate::SeenEntries::record), with the checkpoint as the position.
    #[must_use]
    pub fn entries(&self) -> &[SeenEntry] {
        &self.entries
    }

    /// Returns the checkpoint to store with the page or after it, from which the walk continues
    /// after a crash; `None` if there is no next page.
    #[must_use]
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        let ReceivedNextPage::At { cursor } = &self.page else {
            return None;
        };
        let mut counter = self.walk.counter.clone();
        counter.advance(&self.counts);
        Some(Checkpoint {
            cursor: cursor.clone(),
            counter,
        })
    }

    /// Confirms that the page's entries are stored, and advances the walk.
    ///
    /// # Errors
    /// [`WalkError`] if the statement cannot be read to its end. This page and those before it are
    /// valid.
    pub fn stored(self) -> Result<Step, WalkError> {
        self.walk.counter.advance(&self.counts);
        self.walk.cursors.advance(&self.page)
    }
}

/// The cursors of one walk, none of which is used twice, within a maximum number of pages.
#[derive(Clone, Debug)]
pub(crate) struct Cursors {
    next: Option<Cursor>,
    used: HashSet<[u8; 32]>,
    pages: usize,
    max_pages: usize,
}

impl Cursors {
    /// Returns a walk whose first request has this cursor.
    pub(crate) fn starting_at(first: Option<Cursor>, max_pages: usize) -> Self {
        Self {
            // Hashes are stored, because each of many cursors may have 4 KiB.
            used: first.iter().map(digest).collect(),
            next: first,
            pages: 0,
            max_pages,
        }
    }

    /// Returns the cursor of the next request.
    pub(crate) fn next(&self) -> Option<&Cursor> {
        self.next.as_ref()
    }

    /// Returns the number of pages that were stored.
    pub(crate) fn pages(&self) -> usize {
        self.pages
    }

    /// Returns the step after this page.
    pub(crate) fn after(&self, page: &ReceivedNextPage) -> Result<Step, WalkError> {
        let pages = self.pages.saturating_add(1);
        match page {
            ReceivedNextPage::None => Ok(Step::Done),
            ReceivedNextPage::WithoutCursor => Err(WalkError::MoreWithoutCursor),
            ReceivedNextPage::At { cursor } if self.used.contains(&digest(cursor)) => {
                Err(WalkError::RepeatedCursor { page: pages })
            }
            ReceivedNextPage::At { .. } if pages >= self.max_pages => {
                Err(WalkError::TooManyPages {
                    limit: self.max_pages,
                })
            }
            ReceivedNextPage::At { cursor } => Ok(Step::Fetch(cursor.clone())),
        }
    }

    /// Advances the walk after storing this page.
    pub(crate) fn advance(&mut self, page: &ReceivedNextPage) -> Result<Step, WalkError> {
        let step = self.after(page);
        self.follow(&step);
        step
    }

    /// Advances the walk after a stored page.
    pub(crate) fn follow(&mut self, step: &Result<Step, WalkError>) {
        self.pages = self.pages.saturating_add(1);
        if let Ok(Step::Fetch(cursor)) = step {
            self.used.insert(digest(cursor));
            self.next = Some(cursor.clone());
        }
    }
}

/// The next step of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a walk continues or is complete")]
pub enum Step {
    /// Fetch the page of this cursor.
    Fetch(Cursor),
    /// The walk is complete.
    Done,
}

/// The reason why a statement cannot be read to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WalkError {
    /// `moreTransactionsAvailable` is true, but there is no cursor.
    #[error("expected a cursor because there are more transactions, found none")]
    MoreWithoutCursor,
    /// The cursor was used before in this walk, which would never end with it.
    #[error("expected a new cursor after page {page}, found one that was used before")]
    RepeatedCursor {
        /// The page that had the cursor, counted from 1.
        page: usize,
    },
    /// The walk has more pages than allowed.
    #[error("expected the statement to end within {limit} pages")]
    TooManyPages {
        /// The maximum number of pages of the walk.
        limit: usize,
    },
    /// Several pages in a row list no entry, or only entries that were on earlier pages of the
    /// walk. Only polls ([`AccountPoll`](crate::AccountPoll)) detect this.
    #[error("expected another entry on one of {pages} pages in a row, found none and a next page")]
    NothingMore {
        /// The number of pages.
        pages: usize,
    },
    /// Too many walks of one poll had to begin again at the first page, because the service refused
    /// their cursors.
    #[error("expected a walk to reach the last page, found {walks} that had to begin again")]
    BeganAgain {
        /// The number of walks.
        walks: u32,
    },
}

/// The state of a walk that a client stores between two pages: the cursor and the counts of the
/// entries so far. Without the counts, a resumed walk would mistake the second of two entries with
/// the same content for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    cursor: Cursor,
    counter: EntryCounter,
}

impl Checkpoint {
    /// Returns the cursor of the next page.
    #[must_use]
    pub fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// Writes the checkpoint as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let stored = StoredCheckpoint {
            version: VERSION,
            cursor: self.cursor.as_str().into(),
            counts: Counts(self.counter.counts().clone()),
        };
        serde_json::to_string(&stored).expect("its members are texts and numbers")
    }

    /// Reads a checkpoint that [`Checkpoint::to_json`] wrote.
    ///
    /// # Errors
    /// [`CheckpointError`] for any other text.
    pub fn from_json(text: &str) -> Result<Self, CheckpointError> {
        let stored: StoredCheckpoint<'_> =
            serde_json::from_str(text).map_err(|_| CheckpointError)?;
        if stored.version != VERSION {
            return Err(CheckpointError);
        }
        Ok(Self {
            cursor: Cursor::parse(&stored.cursor).map_err(|_| CheckpointError)?,
            counter: EntryCounter::from_counts(stored.counts.0),
        })
    }
}

/// The version of stored checkpoints.
const VERSION: u32 = 1;

/// The JSON form of a checkpoint.
#[derive(Serialize, Deserialize)]
struct StoredCheckpoint<'a> {
    version: u32,
    cursor: Cow<'a, str>,
    counts: Counts,
}

fn digest(cursor: &Cursor) -> [u8; 32] {
    Sha256::digest(cursor.as_str()).into()
}

/// The error of a text that is not a checkpoint of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a checkpoint")]
#[non_exhaustive]
pub struct CheckpointError;
