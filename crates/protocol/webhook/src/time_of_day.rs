//! Times of day in UTC.

use bankrail_values::{Timestamp, ValueError};
use std::fmt;

/// The form, in words.
const EXPECTED: &str = "a UTC time of day as hh:mm:ss.sssZ";

/// A time of day in UTC with milliseconds, spelled `hh:mm:ss.sssZ` (Specification:
/// "QueryNotification message", `payment_execute_not_before_time`).
///
/// ```
/// use bankrail_webhook::TimeOfDay;
/// assert_eq!(TimeOfDay::parse("09:30:00.000Z")?.to_string(), "09:30:00.000Z");
/// assert!(TimeOfDay::parse("24:00:00.000Z").is_err());
/// # Ok::<(), bankrail_values::ValueError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay(Timestamp);

impl TimeOfDay {
    /// Reads exactly `hh:mm:ss.sssZ`.
    ///
    /// # Errors
    /// [`ValueError`] for any other spelling and for times that do not exist.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        match Self::parse_with_precision(text)? {
            (time, 3) => Ok(time),
            _ => Err(ValueError::new(EXPECTED, text)),
        }
    }

    /// Reads `hh:mm:ssZ` with 0 to 3 fractional digits, and also returns the number of digits.
    ///
    /// # Errors
    /// [`ValueError`] for any other spelling and for times that do not exist.
    #[doc(hidden)]
    pub fn parse_with_precision(text: &str) -> Result<(Self, u8), ValueError> {
        // The time is parsed as an instant of 1970-01-01: a timestamp has the same spelling after
        // its date.
        match Timestamp::parse_with_precision(&format!(
            "1970-01-01T{}",
            // Cuts the text to the maximum length of a time, so that a long text is not copied.
            text.get(..13).unwrap_or(text)
        )) {
            Ok((instant, digits)) if text.len() <= 13 => Ok((Self(instant), digits)),
            _ => Err(ValueError::new(EXPECTED, text)),
        }
    }

    /// Returns the time `millis` milliseconds after midnight; `None` from 24 hours on.
    #[must_use]
    #[doc(hidden)]
    pub fn from_millis(millis: u32) -> Option<Self> {
        if millis >= 86_400_000 {
            return None;
        }
        Timestamp::from_unix_millis(i64::from(millis)).map(Self)
    }

    /// Returns the milliseconds since midnight.
    #[must_use]
    #[doc(hidden)]
    pub fn millis(self) -> u32 {
        // Lossless: a day has 86,400,000 milliseconds.
        u32::try_from(self.0.unix_millis()).unwrap_or_default()
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.millis();
        let (seconds, millis) = (millis / 1000, millis % 1000);
        write!(
            out,
            "{:02}:{:02}:{:02}.{millis:03}Z",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        )
    }
}

bankrail_values::impl_parsed_value!(TimeOfDay, ValueError, Debug);
