//! Calendar dates as `YYYY-MM-DD`.

use crate::ValueError;
use std::fmt;

/// A calendar date without time or offset, spelled `YYYY-MM-DD`, years 0000 to 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(time::Date);

impl Date {
    /// Reads `YYYY-MM-DD`.
    ///
    /// # Errors
    /// [`ValueError`] for any other spelling and for days that do not exist.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        read(text.as_bytes())
            .map(Self)
            .ok_or_else(|| ValueError::new("a date as YYYY-MM-DD", text))
    }

    /// Returns the date as a `time::Date`.
    #[must_use]
    pub fn to_time(self) -> time::Date {
        self.0
    }

    /// Returns the date of a `time::Date`; `None` outside the years 0000 to 9999.
    #[must_use]
    pub fn from_time(date: time::Date) -> Option<Self> {
        (0..=9999).contains(&date.year()).then_some(Self(date))
    }
}

/// Reads exactly ten bytes `YYYY-MM-DD`.
pub(crate) fn read(text: &[u8]) -> Option<time::Date> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else {
        return None;
    };
    let year = i32::try_from(number(&[y1, y2, y3, y4])?).ok()?;
    let month = u8::try_from(number(&[m1, m2])?).ok()?;
    let day = u8::try_from(number(&[d1, d2])?).ok()?;
    time::Date::from_calendar_date(year, time::Month::try_from(month).ok()?, day).ok()
}

/// Reads ASCII digits. The caller passes at most nine, which cannot overflow.
pub(crate) fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0_u32, |sum, b| {
        b.is_ascii_digit().then(|| sum * 10 + u32::from(b - b'0'))
    })
}

impl fmt::Display for Date {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{:04}-{:02}-{:02}",
            self.0.year(),
            u8::from(self.0.month()),
            self.0.day()
        )
    }
}

crate::impl_parsed_value!(Date, ValueError, Debug);
