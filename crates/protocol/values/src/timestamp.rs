//! UTC timestamps with milliseconds.

use crate::ValueError;
use crate::date::{self, number};
use std::fmt;
use std::time::{Duration, SystemTime};

/// The form, in words.
const EXPECTED: &str = "a UTC timestamp as YYYY-MM-DDThh:mm:ss.sssZ";

/// An instant in UTC with milliseconds, years 0000 to 9999, spelled `YYYY-MM-DDThh:mm:ss.sssZ`
/// (Specification: "Common formats in webhook messages").
///
/// - Accepted: `2021-07-29T01:02:03.450Z`.
/// - Refused: `2021-07-29T01:02:03Z` (see [`Timestamp::parse_with_precision`]), an offset other
///   than `Z`, second 60, and a day that does not exist.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

const MIN_MILLIS: i64 = -62_167_219_200_000;
const MAX_MILLIS: i64 = 253_402_300_799_999;

impl Timestamp {
    /// The UNIX epoch: 1970-01-01T00:00:00.000Z.
    pub const UNIX_EPOCH: Self = Self(0);
    /// The earliest timestamp: 0000-01-01T00:00:00.000Z.
    pub const MIN: Self = Self(MIN_MILLIS);
    /// The latest timestamp: 9999-12-31T23:59:59.999Z.
    pub const MAX: Self = Self(MAX_MILLIS);

    /// Reads exactly `YYYY-MM-DDThh:mm:ss.sssZ`.
    ///
    /// # Errors
    /// [`ValueError`] for any other spelling and for instants that do not exist.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        match Self::parse_with_precision(text)? {
            (timestamp, 3) => Ok(timestamp),
            _ => Err(ValueError::new(EXPECTED, text)),
        }
    }

    /// Reads `YYYY-MM-DDThh:mm:ssZ` with zero to three fractional digits, and returns their number.
    ///
    /// # Errors
    /// [`ValueError`] for any other spelling and for instants that do not exist.
    pub fn parse_with_precision(text: &str) -> Result<(Self, u8), ValueError> {
        read(text.as_bytes()).ok_or_else(|| ValueError::new(EXPECTED, text))
    }

    /// Returns the instant `millis` milliseconds after the UNIX epoch; `None` outside the years
    /// 0000 to 9999.
    #[must_use]
    pub const fn from_unix_millis(millis: i64) -> Option<Self> {
        if millis < MIN_MILLIS || millis > MAX_MILLIS {
            None
        } else {
            Some(Self(millis))
        }
    }

    /// Returns the instant `millis` milliseconds after the UNIX epoch, cut to [`Timestamp::MIN`]
    /// and [`Timestamp::MAX`].
    #[must_use]
    #[inline]
    pub fn saturating_from_unix_millis(millis: i64) -> Self {
        Self(millis.clamp(MIN_MILLIS, MAX_MILLIS))
    }

    /// Returns the instant `seconds` and `nanos` after the UNIX epoch, cut to milliseconds, and to
    /// the range from [`Timestamp::MIN`] to [`Timestamp::MAX`].
    #[inline]
    pub(crate) fn from_unix_parts(seconds: i64, nanos: u32) -> Self {
        // 64 bits hold every year of a timestamp, and are faster than 128: clocks are read at each
        // request.
        Self::saturating_from_unix_millis(
            seconds
                .saturating_mul(1000)
                .saturating_add(i64::from(nanos / 1_000_000)),
        )
    }

    /// Returns the milliseconds since the UNIX epoch.
    #[must_use]
    pub const fn unix_millis(self) -> i64 {
        self.0
    }

    /// Returns the whole seconds since the UNIX epoch, rounded down.
    #[must_use]
    pub const fn unix_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Returns this instant plus `step` cut to milliseconds, at most [`Timestamp::MAX`].
    #[must_use]
    pub fn saturating_add(self, step: Duration) -> Self {
        let step = i64::try_from(step.as_millis()).unwrap_or(i64::MAX);
        Self::saturating_from_unix_millis(self.0.saturating_add(step))
    }

    /// Returns this instant less `step` cut to milliseconds, at least [`Timestamp::MIN`].
    #[must_use]
    pub fn saturating_sub(self, step: Duration) -> Self {
        let step = i64::try_from(step.as_millis()).unwrap_or(i64::MAX);
        Self::saturating_from_unix_millis(self.0.saturating_sub(step))
    }

    /// Returns the time since `earlier`; zero if this instant is before it.
    #[must_use]
    pub fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }

    /// Returns the calendar day in UTC.
    #[must_use]
    pub fn date(self) -> crate::Date {
        crate::Date::from_time(self.to_time().date())
            .expect("the years 0000 to 9999 are a timestamp's range too")
    }

    /// Returns the instant as a `time::OffsetDateTime` in UTC.
    #[must_use]
    pub fn to_time(self) -> time::OffsetDateTime {
        time::OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .expect("the years 0000 to 9999 are within time's range")
    }

    /// Returns the instant of a `time::OffsetDateTime`, cut to milliseconds; `None` outside the
    /// years 0000 to 9999.
    #[must_use]
    pub fn from_time(instant: time::OffsetDateTime) -> Option<Self> {
        Self::from_unix_millis(
            i64::try_from(instant.unix_timestamp_nanos().div_euclid(1_000_000)).ok()?,
        )
    }
}

fn read(text: &[u8]) -> Option<(Timestamp, u8)> {
    let (day, rest) = text.split_at_checked(10)?;
    let day = date::read(day)?;
    let (clock, rest) = rest.split_at_checked(9)?;
    let &[b'T', h1, h2, b':', m1, m2, b':', s1, s2] = clock else {
        return None;
    };
    let two = |tens, ones| u8::try_from(number(&[tens, ones])?).ok();
    let (millis, precision) = match *rest {
        [b'Z'] => (0, 0),
        [b'.', a, b'Z'] => (number(&[a])? * 100, 1),
        [b'.', a, b, b'Z'] => (number(&[a, b])? * 10, 2),
        [b'.', a, b, c, b'Z'] => (number(&[a, b, c])?, 3),
        _ => return None,
    };
    let clock = time::Time::from_hms_milli(
        two(h1, h2)?,
        two(m1, m2)?,
        two(s1, s2)?,
        u16::try_from(millis).ok()?,
    );
    Some((
        Timestamp::from_time(day.with_time(clock.ok()?).assume_utc())?,
        precision,
    ))
}

impl From<SystemTime> for Timestamp {
    /// Cuts the instant to milliseconds, and to the range from [`Timestamp::MIN`] to
    /// [`Timestamp::MAX`].
    #[inline]
    fn from(instant: SystemTime) -> Self {
        match instant.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Self::from_unix_parts(
                i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
                after.subsec_nanos(),
            ),
            Err(before) => Self::UNIX_EPOCH.saturating_sub(before.duration()),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.to_time();
        let (hour, minute, second, milli) = at.time().as_hms_milli();
        write!(
            out,
            "{}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z",
            self.date()
        )
    }
}

crate::impl_parsed_value!(Timestamp, ValueError, Debug);
