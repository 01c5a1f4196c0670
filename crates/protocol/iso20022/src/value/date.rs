//! Dates and times of XML Schema, each with its own precision and with or without an offset.

mod spelling;

use std::fmt;

/// Minutes east of UTC, or `Z`. `Z` and `+00:00` are different spellings and not equal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset(OffsetKind);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum OffsetKind {
    Z,
    Minutes(i16),
}

impl Offset {
    /// UTC, spelled `Z`.
    pub const Z: Self = Self(OffsetKind::Z);

    /// Makes an offset of minutes east of UTC, at most 14 hours either way; `None` outside.
    #[must_use]
    pub const fn from_minutes(minutes: i16) -> Option<Self> {
        if minutes >= -840 && minutes <= 840 {
            Some(Self(OffsetKind::Minutes(minutes)))
        } else {
            None
        }
    }

    /// Returns minutes east of UTC.
    #[must_use]
    pub const fn minutes(self) -> i16 {
        match self.0 {
            OffsetKind::Z => 0,
            OffsetKind::Minutes(minutes) => minutes,
        }
    }

    fn read(text: &[u8]) -> Option<Option<Self>> {
        match *text {
            [] => Some(None),
            [b'Z'] => Some(Some(Self::Z)),
            [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
                let (hours, minutes) = (below_100(h1, h2)?, below_100(m1, m2)?);
                let total = i16::from(hours) * 60 + i16::from(minutes);
                if minutes > 59 {
                    return None;
                }
                Self::from_minutes(if sign == b'-' { -total } else { total }).map(Some)
            }
            _ => None,
        }
    }
}

impl fmt::Debug for Offset {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            OffsetKind::Z => out.write_str("Z"),
            OffsetKind::Minutes(minutes) => {
                let (hours, rest) = (minutes.unsigned_abs() / 60, minutes.unsigned_abs() % 60);
                write!(
                    out,
                    "{}{hours:02}:{rest:02}",
                    if minutes < 0 { '-' } else { '+' }
                )
            }
        }
    }
}

/// A calendar date with an optional offset (`ISODate`, `xs:date`).
///
/// [`bankrail_values::Date`] is the date without an offset that JSON messages use.
///
/// - Years have at most nine digits, here and in the other types; XML Schema sets no bound.
/// - Tolerant reading keeps `20210729` as a date, and reports it. Two dates are equal if their
///   spellings are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IsoDate {
    year: i32,
    month: u8,
    day: u8,
    /// True if the date was spelled without hyphens.
    basic: bool,
    offset: Option<Offset>,
}

/// A month of a year with an optional offset (`ISOYearMonth`, `xs:gYearMonth`).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IsoYearMonth {
    year: i32,
    month: u8,
    offset: Option<Offset>,
}

/// A date and time with an optional offset, any number of fraction digits, and 24:00:00 for the end
/// of a day (`ISODateTime`, `xs:dateTime`).
///
/// Two values are equal if their spellings are: `10:00Z` and `20:00+10:00` differ, and so do `.5`
/// and `.50`. [`IsoDateTime::to_time`] gives the instant.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IsoDateTime {
    date: IsoDate,
    hour: u8,
    minute: u8,
    second: u8,
    fraction: Fraction,
}

/// Fraction digits as written.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Fraction {
    // Holds up to nine digits; longer fractions are too rare to make every time larger.
    Short { value: u32, digits: u8 },
    Long(Box<str>),
}

impl IsoDate {
    /// Makes a date; `None` for a day that does not exist, for the year 0 and for years of more
    /// than nine digits.
    #[must_use]
    pub fn new(year: i32, month: u8, day: u8) -> Option<Self> {
        let exists = year != 0
            && year.unsigned_abs() <= MAX_YEAR
            && (1..=12).contains(&month)
            && day >= 1
            && day <= days_in(year, month);
        exists.then_some(Self {
            year,
            month,
            day,
            basic: false,
            offset: None,
        })
    }

    /// Returns the same date with an offset.
    #[must_use]
    pub const fn with_offset(mut self, offset: Option<Offset>) -> Self {
        self.offset = offset;
        self
    }

    /// Returns the year; negative before the common era, never 0.
    #[must_use]
    pub const fn year(&self) -> i32 {
        self.year
    }

    /// Returns the month, 1 to 12.
    #[must_use]
    pub const fn month(&self) -> u8 {
        self.month
    }

    /// Returns the day of the month, from 1.
    #[must_use]
    pub const fn day(&self) -> u8 {
        self.day
    }

    /// Returns the offset, if one was stated.
    #[must_use]
    pub const fn offset(&self) -> Option<Offset> {
        self.offset
    }

    /// Returns the calendar day as a `time::Date`, without the offset; `None` outside its range.
    #[must_use]
    pub fn to_time(&self) -> Option<time::Date> {
        time::Date::from_calendar_date(
            proleptic(self.year),
            time::Month::try_from(self.month).ok()?,
            self.day,
        )
        .ok()
    }
}

impl From<bankrail_values::Date> for IsoDate {
    fn from(date: bankrail_values::Date) -> Self {
        let date = date.to_time();
        Self {
            year: without_zero(date.year()),
            month: u8::from(date.month()),
            day: date.day(),
            basic: false,
            offset: None,
        }
    }
}

impl IsoYearMonth {
    /// Returns the year; negative before the common era, never 0.
    #[must_use]
    pub const fn year(&self) -> i32 {
        self.year
    }

    /// Returns the month, 1 to 12.
    #[must_use]
    pub const fn month(&self) -> u8 {
        self.month
    }
}

impl IsoDateTime {
    /// Makes a date and time with its offset and `digits` fraction digits, at most 9; further
    /// precision is cut. An offset that XML Schema does not have, with seconds or of more than 14
    /// hours, becomes UTC; the instant stays.
    ///
    /// ```
    /// use bankrail_iso20022::IsoDateTime;
    /// let at = time::OffsetDateTime::from_unix_timestamp_nanos(1_627_520_523_450_000_000)?;
    /// assert_eq!(IsoDateTime::from_time(at, 7).to_string(), "2021-07-29T01:02:03.4500000+00:00");
    /// # Ok::<(), time::error::ComponentRange>(())
    /// ```
    #[must_use]
    pub fn from_time(at: time::OffsetDateTime, digits: u8) -> Self {
        let digits = digits.min(9);
        let minutes = Some(at.offset()).filter(|offset| offset.seconds_past_minute() == 0);
        let offset = minutes.and_then(|offset| Offset::from_minutes(offset.whole_minutes()));
        let (at, offset) = match offset {
            Some(offset) => (at, offset),
            None => (
                at.checked_to_offset(time::UtcOffset::UTC).unwrap_or(at),
                Offset(OffsetKind::Minutes(0)),
            ),
        };
        let (year, offset) = (without_zero(at.year()), Some(offset));
        Self {
            date: IsoDate {
                year,
                month: u8::from(at.month()),
                day: at.day(),
                basic: false,
                offset,
            },
            hour: at.hour(),
            minute: at.minute(),
            second: at.second(),
            fraction: Fraction::Short {
                value: at.nanosecond() / 10_u32.pow(9 - u32::from(digits)),
                digits,
            },
        }
    }

    /// Returns the date, with the offset.
    #[must_use]
    pub const fn date(&self) -> IsoDate {
        self.date
    }

    /// Returns the hour, 0 to 24; 24 only as 24:00:00.
    #[must_use]
    pub const fn hour(&self) -> u8 {
        self.hour
    }

    /// Returns the minute.
    #[must_use]
    pub const fn minute(&self) -> u8 {
        self.minute
    }

    /// Returns the second, 0 to 59.
    #[must_use]
    pub const fn second(&self) -> u8 {
        self.second
    }

    /// Returns the number of fraction digits of the second.
    #[must_use]
    pub fn fraction_digits(&self) -> usize {
        match &self.fraction {
            Fraction::Short { digits, .. } => usize::from(*digits),
            Fraction::Long(text) => text.len(),
        }
    }

    /// Returns the nanoseconds of the second; digits beyond the ninth are cut.
    #[must_use]
    pub fn nanosecond(&self) -> u32 {
        match &self.fraction {
            Fraction::Short { value, digits } => value * 10_u32.pow(9 - u32::from(*digits)),
            Fraction::Long(text) => text
                .bytes()
                .take(9)
                .fold(0, |sum, b| sum * 10 + u32::from(b - b'0')),
        }
    }

    /// Returns the offset, if one was stated.
    #[must_use]
    pub const fn offset(&self) -> Option<Offset> {
        self.date.offset
    }

    /// Returns the instant. A time without an offset is assumed to have the offset `assumed`.
    /// Returns `None` outside the range of the crate `time`.
    #[must_use]
    pub fn to_time(&self, assumed: time::UtcOffset) -> Option<time::OffsetDateTime> {
        let date = self.date.to_time()?;
        let (date, hour) = if self.hour == 24 {
            (date.next_day()?, 0)
        } else {
            (date, self.hour)
        };
        let clock =
            time::Time::from_hms_nano(hour, self.minute, self.second, self.nanosecond()).ok()?;
        let offset = match self.date.offset {
            Some(offset) => {
                time::UtcOffset::from_whole_seconds(i32::from(offset.minutes()) * 60).ok()?
            }
            None => assumed,
        };
        Some(time::PrimitiveDateTime::new(date, clock).assume_offset(offset))
    }
}

#[inline]
fn below_100(tens: u8, ones: u8) -> Option<u8> {
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| (tens - b'0') * 10 + (ones - b'0'))
}

/// The greatest year either way: nine digits.
const MAX_YEAR: u32 = 999_999_999;

/// Converts a year of XML Schema 1.0, which has no year 0, to the proleptic calendar, in which the
/// year before 1 is 0.
fn proleptic(year: i32) -> i32 {
    if year < 0 { year + 1 } else { year }
}

/// Converts a year of the proleptic calendar back, as the reverse of `proleptic`.
fn without_zero(year: i32) -> i32 {
    if year <= 0 { year - 1 } else { year }
}

fn days_in(year: i32, month: u8) -> u8 {
    let year = proleptic(year);
    match month {
        2 if year.rem_euclid(4) == 0
            && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0) =>
        {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
