//! The day of a statement, which can be asked for until its end only.

use super::relation::AccountNotice;
use bankrail_camt052::Report;
use bankrail_values::json::{JsonObjectWriter, JsonValue};
use bankrail_values::{Date, Timestamp};
use std::time::Duration;

/// The day of a statement where the bank is, and when it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatementDay {
    /// The day.
    pub day: Date,
    /// Its midnight; `None` if the offset of the bank's zone is not known.
    pub ends_at: Option<Timestamp>,
}

impl StatementDay {
    /// A day whose end is not known.
    #[must_use]
    pub fn new(day: Date) -> Self {
        Self { day, ends_at: None }
    }

    /// Sets when it ends.
    #[must_use]
    pub fn ends_at(mut self, end: Timestamp) -> Self {
        self.ends_at = Some(end);
        self
    }

    /// The day on which a report was made, in its own offset. It ends in the same offset: no zone
    /// changes it between the last report of a day and midnight.
    #[must_use]
    pub fn of(report: &Report) -> Option<Self> {
        let made = report.created_at.as_ref()?;
        let day = Date::from_time(made.date().to_time()?)?;
        let end = || {
            let at = made
                .to_time(time::UtcOffset::UTC)
                .filter(|_| made.offset().is_some())?;
            let midnight = day
                .to_time()
                .next_day()?
                .midnight()
                .assume_offset(at.offset());
            Timestamp::from_time(midnight)
        };
        Some(Self {
            day,
            ends_at: end(),
        })
    }
}

/// The last day of which a walk was completed, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WalkedDay {
    pub(super) day: Date,
    pub(super) ends_at: Timestamp,
    pub(super) until: Timestamp,
}

impl WalkedDay {
    /// The day of a walk that is complete now; `None` if its end is not known.
    pub(super) fn complete(day: StatementDay, now: Timestamp) -> Option<Self> {
        Some(Self {
            day: day.day,
            ends_at: day.ends_at?,
            until: now,
        })
    }

    /// Whether the day is over at this time and was not walked since.
    pub(super) fn is_left_at(&self, at: Timestamp) -> bool {
        self.until < self.ends_at && self.ends_at <= at
    }

    /// The notice at the first page of a later day, if the last walk was so long before the end of
    /// this one.
    pub(super) fn notice(&self, next: Date, unseen: Duration) -> Option<AccountNotice> {
        let is_incomplete = self.ends_at.saturating_since(self.until) > unseen;
        is_incomplete.then_some(AccountNotice::DayIncomplete {
            day: self.day,
            seen_until: self.until,
            next,
        })
    }

    pub(super) fn to_json(self) -> String {
        let (day, ends_at, until) = (
            self.day.to_string(),
            self.ends_at.to_string(),
            self.until.to_string(),
        );
        JsonObjectWriter::new()
            .string("day", &day)
            .string("endsAt", &ends_at)
            .string("until", &until)
            .finish()
    }

    pub(super) fn from_json(value: &JsonValue<'_>) -> Option<Self> {
        let JsonValue::Object(object) = value else {
            return None;
        };
        let at = |name| Timestamp::parse(object.get(name)?.as_str()?).ok();
        let day = Date::parse(object.get("day")?.as_str()?).ok()?;
        Some(Self {
            day,
            ends_at: at("endsAt")?,
            until: at("until")?,
        })
    }
}
