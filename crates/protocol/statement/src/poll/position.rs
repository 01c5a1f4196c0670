//! The position of an account between two polls.

use super::day::WalkedDay;
use super::memory::Memory;
use super::stated::Books;
use crate::Cursor;
use crate::counts;
use crate::seen::{EntryIdentity, EntryKey};
use bankrail_values::json::{self, JsonLimits, JsonObjectWriter, JsonValue};
use bankrail_values::{Date, Timestamp};
use std::collections::HashMap;

/// What the store keeps of an account between two polls: where the next walk continues, and when a
/// full walk was last completed, which entries may be replaced, and what the statement said of the
/// account.
///
/// As JSON text it has less than 1 MiB, with a row of hashes for each of the last 2,000 entries.
/// Keep it as you keep the entries: the hashes are unsalted, so that amounts can be guessed from
/// them, and of the account there are currency, kind, opening balance and what does not add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PollPosition {
    pub(super) full_walk_at: Option<Timestamp>,
    /// The day of the statement in the last full walk.
    pub(super) day: Option<Date>,
    pub(super) resume: Option<Resume>,
    pub(super) memory: Memory,
    pub(super) books: Books,
    /// When a walk through the statement of a day was last completed.
    pub(super) walked: Option<WalkedDay>,
}

/// The last page of a walk: its cursor, and how many entries of each content it listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resume {
    pub(super) cursor: Cursor,
    pub(super) listed: HashMap<EntryKey, u32>,
}

impl Resume {
    /// The most contents, so that the text stays below 1 MiB. A page of a service has at most 1000
    /// entries.
    const MOST_CONTENTS: usize = 5_000;

    /// The page of this cursor; `None` if it lists too many contents, so that the next walk is a
    /// full one.
    pub(super) fn new(cursor: &Cursor, entries: &[EntryIdentity]) -> Option<Self> {
        let mut listed: HashMap<EntryKey, u32> = HashMap::new();
        for entry in entries.iter().filter(|entry| !entry.has_reference) {
            let count = listed.entry(entry.key).or_default();
            *count = count.saturating_add(1);
        }
        (listed.len() <= Self::MOST_CONTENTS).then(|| Self {
            cursor: cursor.clone(),
            listed,
        })
    }
}

impl PollPosition {
    /// The position of an account that was never polled.
    #[must_use]
    pub fn start() -> Self {
        Self::default()
    }

    /// When a full walk was last completed.
    #[must_use]
    pub fn full_walk_at(&self) -> Option<Timestamp> {
        self.full_walk_at
    }

    /// The cursor at which the next partial walk begins; `None` if the next walk is a full one.
    #[must_use]
    pub fn cursor(&self) -> Option<&Cursor> {
        self.resume.as_ref().map(|resume| &resume.cursor)
    }

    /// Writes the position as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let listed = |resume: &Resume| {
            counts::to_json(resume.listed.iter().map(|(key, count)| (key, *count)))
        };
        JsonObjectWriter::new()
            .raw("poll", 1)
            .optional_string(
                "fullWalkAt",
                self.full_walk_at.map(|at| at.to_string()).as_deref(),
            )
            .optional_string("day", self.day.map(|day| day.to_string()).as_deref())
            .optional_string("cursor", self.cursor().map(Cursor::as_str))
            .optional_raw("listed", self.resume.as_ref().map(listed))
            .optional_string(
                "entries",
                Some(self.memory.to_text())
                    .filter(|text| !text.is_empty())
                    .as_deref(),
            )
            .optional_raw(
                "account",
                Some(self.books.to_json()).filter(|_| self.books != Books::default()),
            )
            .optional_raw("walked", self.walked.map(WalkedDay::to_json))
            .finish()
    }

    /// Reads a position that [`PollPosition::to_json`] wrote.
    ///
    /// # Errors
    /// [`PollPositionError`] for anything else. A caller may begin at [`PollPosition::start`] then:
    /// no entry is handed over twice, because the store knows them.
    pub fn from_json(text: &str) -> Result<Self, PollPositionError> {
        Self::read(text).ok_or(PollPositionError)
    }

    fn read(text: &str) -> Option<Self> {
        let object = json::read_object(text.as_bytes(), &JsonLimits::new()).ok()?;
        let JsonValue::Number(version) = object.get("poll")? else {
            return None;
        };
        if version.as_u64() != Some(1) {
            return None;
        }
        let text = |name| {
            object
                .get(name)
                .map(|value| value.as_str().ok_or(()))
                .transpose()
                .ok()
        };
        let full_walk_at = text("fullWalkAt")?.map(Timestamp::parse).transpose().ok()?;
        let day = text("day")?.map(Date::parse).transpose().ok()?;
        let resume = match text("cursor")?.map(Cursor::parse).transpose().ok()? {
            Some(cursor) => Some(Resume {
                cursor,
                listed: counts::from_json(object.get("listed")?)?
                    .into_iter()
                    .collect(),
            }),
            None => None,
        };
        let memory = text("entries")?.map_or(Some(Memory::default()), Memory::from_text)?;
        let books = object
            .get("account")
            .map_or(Some(Books::default()), Books::from_json)?;
        let walked = object
            .get("walked")
            .map(|value| WalkedDay::from_json(value).ok_or(()))
            .transpose()
            .ok()?;
        Some(Self {
            full_walk_at,
            day,
            resume,
            memory,
            books,
            walked,
        })
    }
}

/// Not a position of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the position of a poll")]
#[non_exhaustive]
pub struct PollPositionError;
