//! Dates and times as XML Schema has them: with their own offset, or none, and their own precision.

use crate::schema::{Fault, Simple, Unreadable, simple_nodes};
use crate::write::Output;
use bankrail_values::excerpt;
use std::fmt;

/// Minutes east of UTC, or `Z`. `Z` and `+00:00` are two spellings and are kept apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset(pub(crate) OffsetKind);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum OffsetKind {
    Z,
    Minutes(i16),
}

impl Offset {
    /// UTC, spelled `Z`.
    pub const Z: Self = Self(OffsetKind::Z);

    /// Minutes east of UTC, at most 14 hours either way; `None` outside.
    #[must_use]
    pub const fn from_minutes(minutes: i16) -> Option<Self> {
        if minutes >= -840 && minutes <= 840 { Some(Self(OffsetKind::Minutes(minutes))) } else { None }
    }

    /// Minutes east of UTC.
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
                let (hours, minutes) = (two(h1, h2)?, two(m1, m2)?);
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
                write!(out, "{}{hours:02}:{rest:02}", if minutes < 0 { '-' } else { '+' })
            }
        }
    }
}

/// A calendar date with an optional offset (`ISODate`, `xs:date`).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Date {
    year: i32,
    month: u8,
    day: u8,
    offset: Option<Offset>,
}

/// A month of a year with an optional offset (`ISOYearMonth`, `xs:gYearMonth`).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct YearMonth {
    year: i32,
    month: u8,
    offset: Option<Offset>,
}

/// A date and time with an optional offset, any number of fraction digits, and 24:00:00 for the end of a day
/// (`ISODateTime`, `xs:dateTime`).
///
/// Equality is that of the spelling: `10:00Z` and `20:00+10:00` differ, and so do `.5` and `.50`.
/// [`DateTime::to_time`] gives the instant.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct DateTime {
    date: Date,
    hour: u8,
    minute: u8,
    second: u8,
    fraction: Fraction,
}

/// Fraction digits as written.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Fraction {
    Short { value: u32, digits: u8 },
    Long(Box<str>),
}

impl Date {
    /// A date; `None` for a day that does not exist and for the year 0.
    #[must_use]
    pub fn new(year: i32, month: u8, day: u8) -> Option<Self> {
        let exists = year != 0 && (1..=12).contains(&month) && day >= 1 && day <= days_in(year, month);
        exists.then_some(Self { year, month, day, offset: None })
    }

    /// The same date with an offset.
    #[must_use]
    pub const fn with_offset(mut self, offset: Option<Offset>) -> Self {
        self.offset = offset;
        self
    }

    /// Reads an `xs:date`, white space around it allowed.
    ///
    /// # Errors
    /// [`DateFormatError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, DateFormatError> {
        read_date(trim(text).as_bytes()).ok_or_else(|| DateFormatError { expected: DATE, found: excerpt(text) })
    }

    /// The year; negative before the common era, never 0.
    #[must_use]
    pub const fn year(&self) -> i32 {
        self.year
    }

    /// The month, 1 to 12.
    #[must_use]
    pub const fn month(&self) -> u8 {
        self.month
    }

    /// The day of the month, from 1.
    #[must_use]
    pub const fn day(&self) -> u8 {
        self.day
    }

    /// The offset, if one was stated.
    #[must_use]
    pub const fn offset(&self) -> Option<Offset> {
        self.offset
    }

    /// The calendar day as `time` has it, without the offset; `None` outside its range.
    #[must_use]
    pub fn to_time(&self) -> Option<time::Date> {
        let year = if self.year < 0 { self.year + 1 } else { self.year };
        time::Date::from_calendar_date(year, time::Month::try_from(self.month).ok()?, self.day).ok()
    }
}

impl From<bankrail_values::Date> for Date {
    fn from(date: bankrail_values::Date) -> Self {
        let date = date.to_time();
        // XML Schema 1.0 has no year 0; the year before 1 is -1.
        let year = if date.year() == 0 { -1 } else { date.year() };
        Self { year, month: u8::from(date.month()), day: date.day(), offset: None }
    }
}

impl YearMonth {
    /// Reads an `xs:gYearMonth`, white space around it allowed.
    ///
    /// # Errors
    /// [`DateFormatError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, DateFormatError> {
        read_year_month(trim(text).as_bytes())
            .ok_or_else(|| DateFormatError { expected: YEAR_MONTH, found: excerpt(text) })
    }

    /// The year; negative before the common era, never 0.
    #[must_use]
    pub const fn year(&self) -> i32 {
        self.year
    }

    /// The month, 1 to 12.
    #[must_use]
    pub const fn month(&self) -> u8 {
        self.month
    }
}

impl DateTime {
    /// Reads an `xs:dateTime`, white space around it allowed.
    ///
    /// # Errors
    /// [`DateFormatError`] for any other text.
    pub fn parse(text: &str) -> Result<Self, DateFormatError> {
        read_date_time(trim(text)).ok_or_else(|| DateFormatError { expected: DATE_TIME, found: excerpt(text) })
    }

    /// A date and time with its offset and `digits` fraction digits, at most 9; further precision is cut.
    ///
    /// ```
    /// use bankrail_camt052::DateTime;
    /// let at = time::OffsetDateTime::from_unix_timestamp_nanos(1_627_520_523_450_000_000)?;
    /// assert_eq!(DateTime::from_time(at, 7).to_string(), "2021-07-29T01:02:03.4500000+00:00");
    /// # Ok::<(), time::error::ComponentRange>(())
    /// ```
    #[must_use]
    pub fn from_time(at: time::OffsetDateTime, digits: u8) -> Self {
        let digits = digits.min(9);
        let year = if at.year() <= 0 { at.year() - 1 } else { at.year() };
        let offset = Offset::from_minutes(at.offset().whole_minutes().clamp(-840, 840));
        Self {
            date: Date { year, month: u8::from(at.month()), day: at.day(), offset },
            hour: at.hour(),
            minute: at.minute(),
            second: at.second(),
            fraction: Fraction::Short { value: at.nanosecond() / 10_u32.pow(9 - u32::from(digits)), digits },
        }
    }

    /// The date, with the offset.
    #[must_use]
    pub const fn date(&self) -> Date {
        self.date
    }

    /// The hour, 0 to 24; 24 only as 24:00:00.
    #[must_use]
    pub const fn hour(&self) -> u8 {
        self.hour
    }

    /// The minute.
    #[must_use]
    pub const fn minute(&self) -> u8 {
        self.minute
    }

    /// The second, 0 to 59.
    #[must_use]
    pub const fn second(&self) -> u8 {
        self.second
    }

    /// How many fraction digits the second has.
    #[must_use]
    pub fn fraction_digits(&self) -> usize {
        match &self.fraction {
            Fraction::Short { digits, .. } => usize::from(*digits),
            Fraction::Long(text) => text.len(),
        }
    }

    /// The nanoseconds of the second; digits beyond the ninth are cut.
    #[must_use]
    pub fn nanosecond(&self) -> u32 {
        match &self.fraction {
            Fraction::Short { value, digits } => value * 10_u32.pow(9 - u32::from(*digits)),
            Fraction::Long(text) => text.bytes().take(9).fold(0, |sum, b| sum * 10 + u32::from(b - b'0')),
        }
    }

    /// The offset, if one was stated.
    #[must_use]
    pub const fn offset(&self) -> Option<Offset> {
        self.date.offset
    }

    /// The instant, reading a time without offset as `assumed`; `None` outside the range of `time`.
    #[must_use]
    pub fn to_time(&self, assumed: time::UtcOffset) -> Option<time::OffsetDateTime> {
        let date = self.date.to_time()?;
        let (date, hour) = if self.hour == 24 { (date.next_day()?, 0) } else { (date, self.hour) };
        let clock = time::Time::from_hms_nano(hour, self.minute, self.second, self.nanosecond()).ok()?;
        let offset = match self.date.offset {
            Some(offset) => time::UtcOffset::from_whole_seconds(i32::from(offset.minutes()) * 60).ok()?,
            None => assumed,
        };
        Some(time::PrimitiveDateTime::new(date, clock).assume_offset(offset))
    }
}

/// Not a date or time in the form of XML Schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
#[non_exhaustive]
pub struct DateFormatError {
    /// What was expected.
    pub expected: &'static str,
    /// The text, cut and escaped.
    pub found: String,
}

const DATE: &str = "a date such as 2021-07-29";
const YEAR_MONTH: &str = "a year and month such as 2021-07";
const DATE_TIME: &str = "a date and time such as 2021-07-29T17:10:05+10:00";

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

fn two(tens: u8, ones: u8) -> Option<u8> {
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| (tens - b'0') * 10 + (ones - b'0'))
}

fn days_in(year: i32, month: u8) -> u8 {
    // Years before the common era count from -1, which is leap year 0 of the proleptic calendar.
    let year = if year < 0 { year + 1 } else { year };
    match month {
        2 if year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Reads `-?YYYY+-MM` and returns what follows.
fn read_month(text: &[u8]) -> Option<(i32, u8, &[u8])> {
    let (negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at_checked(length)?;
    if !(4..=9).contains(&length) || (length > 4 && digits.first() == Some(&b'0')) {
        return None;
    }
    let year = digits.iter().fold(0_i32, |sum, b| sum * 10 + i32::from(b - b'0'));
    match *rest {
        [b'-', m1, m2, ref rest @ ..] => {
            let month = two(m1, m2).filter(|month| (1..=12).contains(month))?;
            (year != 0).then_some((if negative { -year } else { year }, month, rest))
        }
        _ => None,
    }
}

fn read_day(text: &[u8]) -> Option<(Date, &[u8])> {
    let (year, month, rest) = read_month(text)?;
    match *rest {
        [b'-', d1, d2, ref rest @ ..] => Some((Date::new(year, month, two(d1, d2)?)?, rest)),
        _ => None,
    }
}

fn read_date(text: &[u8]) -> Option<Date> {
    let (date, rest) = read_day(text)?;
    Some(date.with_offset(Offset::read(rest)?))
}

fn read_year_month(text: &[u8]) -> Option<YearMonth> {
    let (year, month, rest) = read_month(text)?;
    Some(YearMonth { year, month, offset: Offset::read(rest)? })
}

fn read_date_time(text: &str) -> Option<DateTime> {
    let (date, rest) = read_day(text.as_bytes())?;
    let &[b'T', h1, h2, b':', m1, m2, b':', s1, s2, ref rest @ ..] = rest else { return None };
    let (hour, minute, second) = (two(h1, h2)?, two(m1, m2)?, two(s1, s2)?);
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => {
            let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            let (digits, rest) = rest.split_at_checked(length)?;
            (read_fraction(digits)?, rest)
        }
        _ => (Fraction::Short { value: 0, digits: 0 }, rest),
    };
    let zero = match &fraction {
        Fraction::Short { value, .. } => *value == 0,
        Fraction::Long(text) => text.bytes().all(|b| b == b'0'),
    };
    let end_of_day = hour == 24 && minute == 0 && second == 0 && zero;
    if !(hour <= 23 || end_of_day) || minute > 59 || second > 59 {
        return None;
    }
    Some(DateTime { date: date.with_offset(Offset::read(rest)?), hour, minute, second, fraction })
}

fn read_fraction(digits: &[u8]) -> Option<Fraction> {
    match u8::try_from(digits.len()) {
        Ok(0) => None,
        Ok(length @ ..=9) => {
            let value = digits.iter().fold(0_u32, |sum, b| sum * 10 + u32::from(b - b'0'));
            Some(Fraction::Short { value, digits: length })
        }
        _ => Some(Fraction::Long(std::str::from_utf8(digits).ok()?.into())),
    }
}

macro_rules! spelled {
    ($($Type:ident $expected:ident |$value:ident, $out:ident| $write:block)*) => {$(
        impl fmt::Display for $Type {
            fn fmt(&self, $out: &mut fmt::Formatter<'_>) -> fmt::Result {
                let $value = self;
                $write
            }
        }

        impl fmt::Debug for $Type {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, out)
            }
        }

        impl std::str::FromStr for $Type {
            type Err = DateFormatError;
            fn from_str(text: &str) -> Result<Self, DateFormatError> {
                Self::parse(text)
            }
        }

        simple_nodes! { [] $Type }

        impl Simple for $Type {
            fn parse(text: &str) -> Result<Self, Unreadable> {
                $Type::parse(text).map_err(|_| Unreadable { expected: $expected })
            }

            fn append(&self, out: &mut Output<'_>) {
                out.display(self);
            }

            fn fault(&self) -> Option<Fault> {
                None
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $Type {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.collect_str(self)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

spelled! {
    Date DATE |date, out| {
        write_year(date.year, out)?;
        write!(out, "-{:02}-{:02}", date.month, date.day)?;
        date.offset.map_or(Ok(()), |offset| fmt::Display::fmt(&offset, out))
    }
    YearMonth YEAR_MONTH |month, out| {
        write_year(month.year, out)?;
        write!(out, "-{:02}", month.month)?;
        month.offset.map_or(Ok(()), |offset| fmt::Display::fmt(&offset, out))
    }
    DateTime DATE_TIME |at, out| {
        write!(out, "{}T{:02}:{:02}:{:02}", at.date.with_offset(None), at.hour, at.minute, at.second)?;
        match &at.fraction {
            Fraction::Short { digits: 0, .. } => {}
            Fraction::Short { value, digits } => write!(out, ".{value:0width$}", width = usize::from(*digits))?,
            Fraction::Long(digits) => write!(out, ".{digits}")?,
        }
        at.offset().map_or(Ok(()), |offset| fmt::Display::fmt(&offset, out))
    }
}

fn write_year(year: i32, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(out, "{}{:04}", if year < 0 { "-" } else { "" }, year.unsigned_abs())
}
