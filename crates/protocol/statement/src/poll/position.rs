//! The position of an account between two polls.

use super::day::WalkedDay;
use super::stated::Books;
use super::tracked::TrackedEntries;
use crate::Cursor;
use crate::seen::{EntryIdentity, EntryKey};
use crate::stored::Counts;
use bankrail_values::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// The stored state of an account between two polls. It has the cursor of the next walk, the time
/// of the last full walk, the entries that may be replaced, and the account's balances.
///
/// Its JSON text has less than 1 MiB, with a row of hashes for each of the last 2,000 entries.
/// Protect it like the entries: the hashes are unsalted, so that amounts can be guessed from them,
/// and it has currency, kind, opening balance and balance gap of the account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PollPosition {
    pub(super) full_walk_at: Option<Timestamp>,
    /// The day of the statement in the last full walk.
    pub(super) day: Option<Date>,
    pub(super) resume: Option<Resume>,
    pub(super) tracked: TrackedEntries,
    pub(super) books: Books,
    /// The time at which a walk through the statement of a day was last completed.
    pub(super) walked: Option<WalkedDay>,
    /// The unreadable entries that a notice has reported.
    pub(super) unread: BTreeSet<u64>,
}

/// The last page of a walk: its cursor, and the number of its entries of each content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resume {
    pub(super) cursor: Cursor,
    pub(super) listed: HashMap<EntryKey, u32>,
}

impl Resume {
    /// The maximum number of contents, so that the text stays below 1 MiB. A page of a service has
    /// at most 1000 entries.
    const MAX_CONTENTS: usize = 5_000;

    /// Creates the page of this cursor; `None` if it lists too many contents, so that the next walk
    /// is a full one.
    pub(super) fn new(cursor: &Cursor, entries: &[EntryIdentity]) -> Option<Self> {
        let mut listed: HashMap<EntryKey, u32> = HashMap::new();
        for entry in entries.iter().filter(|entry| !entry.has_reference) {
            let count = listed.entry(entry.key).or_default();
            *count = count.saturating_add(1);
        }
        (listed.len() <= Self::MAX_CONTENTS).then(|| Self {
            cursor: cursor.clone(),
            listed,
        })
    }
}

impl PollPosition {
    /// The maximum number of unreadable entries, which is that of entries on a service's page.
    pub(super) const MAX_UNREAD: usize = 1_000;

    /// Returns the position of an account that was never polled.
    #[must_use]
    pub fn start() -> Self {
        Self::default()
    }

    /// Returns the time at which a full walk was last completed.
    #[must_use]
    pub fn full_walk_at(&self) -> Option<Timestamp> {
        self.full_walk_at
    }

    /// Returns the cursor at which the next partial walk begins; `None` if the next walk is a full
    /// one.
    #[must_use]
    pub fn cursor(&self) -> Option<&Cursor> {
        self.resume.as_ref().map(|resume| &resume.cursor)
    }

    /// Writes the position as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let (entries, parts) = (self.tracked.to_text(), self.tracked.parts_to_text());
        let stored = StoredPosition {
            poll: VERSION,
            full_walk_at: self.full_walk_at,
            day: self.day,
            cursor: self.cursor().map(|cursor| cursor.as_str().into()),
            listed: self
                .resume
                .as_ref()
                .map(|resume| Counts(resume.listed.clone())),
            entries: (!entries.is_empty()).then(|| entries.into()),
            parts: (!parts.is_empty()).then(|| parts.into()),
            account: (self.books != Books::default()).then(|| self.books.clone()),
            walked: self.walked,
            unread: Cow::Borrowed(&self.unread),
        };
        serde_json::to_string(&stored).expect("its members are texts, numbers and arrays")
    }

    /// Reads a position that [`PollPosition::to_json`] wrote.
    ///
    /// # Errors
    /// [`PollPositionError`] for any other text. A caller may then begin at
    /// [`PollPosition::start`], and no entry is handed over twice, because the store has them.
    pub fn from_json(text: &str) -> Result<Self, PollPositionError> {
        Self::read(text).ok_or(PollPositionError)
    }

    fn read(text: &str) -> Option<Self> {
        let stored: StoredPosition<'_> = serde_json::from_str(text).ok()?;
        // The members of another version may have another meaning, and a full walk needs none of
        // them.
        if stored.poll != VERSION {
            return None;
        }
        let resume = match stored.cursor {
            Some(cursor) => Some(Resume {
                cursor: Cursor::parse(&cursor).ok()?,
                listed: stored.listed?.0,
            }),
            None => None,
        };
        let tracked = match stored.entries {
            Some(entries) => {
                TrackedEntries::from_text(&entries, &stored.parts.unwrap_or_default())?
            }
            None => TrackedEntries::default(),
        };
        Some(Self {
            full_walk_at: stored.full_walk_at,
            day: stored.day,
            resume,
            tracked,
            books: stored.account.unwrap_or_default(),
            walked: stored.walked,
            unread: stored.unread.into_owned(),
        })
    }
}

/// The version of stored positions.
const VERSION: u32 = 1;

/// The JSON form of a position. Members of later versions are ignored, and members that an earlier
/// version did not write are absent.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredPosition<'a> {
    poll: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_walk_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    day: Option<Date>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listed: Option<Counts>,
    /// The text of [`TrackedEntries::to_text`].
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Cow<'a, str>>,
    /// The text of [`TrackedEntries::parts_to_text`].
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<Books>,
    #[serde(skip_serializing_if = "Option::is_none")]
    walked: Option<WalkedDay>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unread: Cow<'a, BTreeSet<u64>>,
}

/// The error of a text that is not a position of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the position of a poll")]
#[non_exhaustive]
pub struct PollPositionError;
