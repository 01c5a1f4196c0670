//! Paging on the client's side. A walk skips no page and always ends.

use crate::seen::{EntryCounter, EntryIdentity, EntryKey, PageCounts, SeenEntry};
use crate::{Cursor, ReceivedPage};
use bankrail_values::json::{self, JsonLimits, JsonValue};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// A walk through the pages of one statement.
///
/// - [`PageWalk::receive`] turns a received page into a [`PendingPage`].
/// - [`PendingPage::stored`] advances the walk. If the pending page is dropped instead, the walk is unchanged and
///   [`PageWalk::cursor`] asks for the same page again.
/// - A repeated cursor is an error, and so is a next page after the most pages of the walk
///   ([`PageWalk::DEFAULT_MAX_PAGES`] unless set by [`PageWalk::max_pages`]).
///
/// ```
/// use bankrail_statement::{Cursor, PageWalk, ReceivedPage, Step};
/// let mut walk = PageWalk::new();
/// assert_eq!(walk.cursor(), None); // the first request has no cursor
/// let received = ReceivedPage::More { cursor: Cursor::parse("eA==")? };
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
    next: Option<Cursor>,
    used: HashSet<[u8; 32]>,
    pages: usize,
    max_pages: usize,
    counter: EntryCounter,
}

impl PageWalk {
    /// The most pages of one walk by default.
    pub const DEFAULT_MAX_PAGES: usize = 10_000;

    /// A walk that starts with the first page.
    #[must_use]
    pub fn new() -> Self {
        Self {
            next: None,
            used: HashSet::new(),
            pages: 0,
            max_pages: Self::DEFAULT_MAX_PAGES,
            counter: EntryCounter::default(),
        }
    }

    /// A walk that continues after the page of a checkpoint.
    #[must_use]
    pub fn resume(checkpoint: Checkpoint) -> Self {
        let used = HashSet::from([digest(&checkpoint.cursor)]);
        Self { next: Some(checkpoint.cursor), used, counter: checkpoint.counter, ..Self::new() }
    }

    /// Sets the most pages of this walk.
    #[must_use]
    pub fn max_pages(mut self, pages: usize) -> Self {
        self.max_pages = pages;
        self
    }

    /// The cursor of the next request; `None` for the first page.
    #[must_use]
    pub fn cursor(&self) -> Option<&Cursor> {
        self.next.as_ref()
    }

    /// How many pages of this walk were stored.
    #[must_use]
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Takes the page that was received for [`PageWalk::cursor`], with the identities of its entries in their order.
    pub fn receive(&mut self, page: &ReceivedPage, entries: &[EntryIdentity]) -> PendingPage<'_> {
        let mut counts = PageCounts::default();
        let entries = entries.iter().map(|entry| self.counter.count(&mut counts, entry)).collect();
        PendingPage { walk: self, page: page.clone(), entries, counts }
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
    page: ReceivedPage,
    entries: Vec<SeenEntry>,
    counts: PageCounts,
}

impl PendingPage<'_> {
    /// The page's entries, counted over the whole walk. Pass them to [`find_new`](crate::find_new), then to
    /// [`record_with`](crate::TransactionalSeenEntries::record_with) or, after the import, to
    /// [`SeenEntries::record`](crate::SeenEntries::record), with the checkpoint as the position.
    #[must_use]
    pub fn entries(&self) -> &[SeenEntry] {
        &self.entries
    }

    /// The checkpoint to store with the page or after it, from which the walk continues after a crash; `None` if there
    /// is no next page.
    #[must_use]
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        let ReceivedPage::More { cursor } = &self.page else { return None };
        let mut counter = self.walk.counter.clone();
        counter.advance(&self.counts);
        Some(Checkpoint { cursor: cursor.clone(), counter })
    }

    /// Confirms that the page's entries are stored, and advances the walk.
    ///
    /// # Errors
    /// [`WalkError`] if the statement cannot be read to its end. This page and those before it are valid.
    pub fn stored(self) -> Result<Step, WalkError> {
        let walk = self.walk;
        walk.counter.advance(&self.counts);
        walk.pages = walk.pages.saturating_add(1);
        let cursor = match self.page {
            ReceivedPage::Last => return Ok(Step::Done),
            ReceivedPage::MoreWithoutCursor => return Err(WalkError::MoreWithoutCursor),
            ReceivedPage::More { cursor } => cursor,
        };
        if !walk.used.insert(digest(&cursor)) {
            return Err(WalkError::RepeatedCursor { page: walk.pages });
        }
        if walk.pages >= walk.max_pages {
            return Err(WalkError::TooManyPages { limit: walk.max_pages });
        }
        walk.next = Some(cursor.clone());
        Ok(Step::Fetch(cursor))
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

/// Why a statement cannot be read to its end.
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
    /// There is a next page after the most pages of the walk.
    #[error("expected the statement to end within {limit} pages")]
    TooManyPages {
        /// The most pages of the walk.
        limit: usize,
    },
}

/// What a client stores between two pages: the cursor and the counts of the entries so far. Without the counts, a
/// resumed walk would mistake the second of two entries with the same content for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    cursor: Cursor,
    counter: EntryCounter,
}

impl Checkpoint {
    /// The cursor of the next page.
    #[must_use]
    pub fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    /// Writes the checkpoint as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let hex = |key: &EntryKey| key.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let counts = self.counter.counts().map(|(key, count)| format!(r#"["{}",{count}]"#, hex(key)));
        let mut counts: Vec<String> = counts.collect();
        counts.sort_unstable();
        let mut json = r#"{"version":1,"cursor":"#.to_owned();
        json::write_string(self.cursor.as_str(), &mut json);
        json + r#","counts":["# + &counts.join(",") + "]}"
    }

    /// Reads a checkpoint that [`Checkpoint::to_json`] wrote.
    ///
    /// # Errors
    /// [`CheckpointError`] for anything else.
    pub fn from_json(text: &str) -> Result<Self, CheckpointError> {
        Self::read(text).ok_or(CheckpointError)
    }

    fn read(text: &str) -> Option<Self> {
        // No limits: the text is from a trusted store and may have any number of counts.
        let limits = JsonLimits::new().max_bytes(usize::MAX).max_values(usize::MAX);
        let object = json::read_object(text.as_bytes(), &limits).ok()?;
        let (JsonValue::Number(version), JsonValue::Array(counts)) = (object.get("version")?, object.get("counts")?)
        else {
            return None;
        };
        let counts = counts.iter().map(read_count).collect::<Option<Vec<_>>>()?;
        let cursor = Cursor::parse(object.get("cursor")?.as_str()?).ok()?;
        (version.as_u64() == Some(1)).then(|| Self { cursor, counter: EntryCounter::from_counts(counts) })
    }
}

fn read_count(pair: &JsonValue<'_>) -> Option<(EntryKey, u32)> {
    let JsonValue::Array(pair) = pair else { return None };
    let [JsonValue::String(key), JsonValue::Number(count)] = pair.as_slice() else { return None };
    Some((EntryKey::from(unhex(key)?), count.as_u64()?.try_into().ok()?))
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut key = [0; 32];
    let pairs = text.as_bytes().chunks_exact(2);
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in key.iter_mut().zip(pairs) {
        let [high, low] = pair else { return None };
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(key)
}

fn digest(cursor: &Cursor) -> [u8; 32] {
    Sha256::digest(cursor.as_str()).into()
}

/// Not a checkpoint of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a checkpoint")]
#[non_exhaustive]
pub struct CheckpointError;
