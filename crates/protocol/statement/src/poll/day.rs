//! The day of a statement, which can be requested only until the day's end.

use super::relation::AccountNotice;
use bankrail_camt052::Report;
use bankrail_values::{Date, Timestamp};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The day of a statement in the bank's zone, with its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatementDay {
    /// The day.
    pub day: Date,
    /// The midnight at which the day ends; `None` if the offset of the bank's zone is not known.
    pub ends_at: Option<Timestamp>,
}

impl StatementDay {
    /// Creates a day whose end is not known.
    #[must_use]
    pub fn new(day: Date) -> Self {
        Self { day, ends_at: None }
    }

    /// Sets the end of the day.
    #[must_use]
    pub fn ends_at(mut self, end: Timestamp) -> Self {
        self.ends_at = Some(end);
        self
    }

    /// Returns the day on which a report was made, in its own offset. The day ends in the same
    /// offset, because no zone changes its offset between the last report of a day and midnight.
    #[must_use]
    pub fn of(report: &Report) -> Option<Self> {
        let made = report.created_at.as_ref()?;
        let day = Date::from_time(made.date().to_time()?)?;
        let end = || {
            let at = made
                .to_time(time::UtcOffset::UTC)
                // Without an offset, the moment of midnight is not known.
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

/// The last day of which a walk was completed, with the time of completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WalkedDay {
    pub(super) day: Date,
    pub(super) ends_at: Timestamp,
    pub(super) until: Timestamp,
}

impl WalkedDay {
    /// Returns the day of a walk that is complete now; `None` if the day's end is not known.
    pub(super) fn complete(day: StatementDay, now: Timestamp) -> Option<Self> {
        Some(Self {
            day: day.day,
            ends_at: day.ends_at?,
            until: now,
        })
    }

    /// Returns true if the day is over at this time and was not walked since.
    pub(super) fn is_left_at(&self, at: Timestamp) -> bool {
        self.until < self.ends_at && self.ends_at <= at
    }

    /// Returns the notice at the first page of a later day, if the last walk was more than `unseen`
    /// before the end of this one.
    pub(super) fn notice(&self, next: Date, unseen: Duration) -> Option<AccountNotice> {
        let is_incomplete = self.ends_at.saturating_since(self.until) > unseen;
        is_incomplete.then_some(AccountNotice::DayIncomplete {
            day: self.day,
            seen_until: self.until,
            next,
        })
    }
}
