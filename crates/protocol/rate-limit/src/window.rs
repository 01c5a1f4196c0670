//! One window of a policy: a length and a limit.

use std::fmt;
use std::time::Duration;

/// The greatest product of a counter and its window's length in milliseconds. Every intermediate
/// result then fits 2^53, so that an engine whose only numbers are doubles computes the same
/// integers.
pub(crate) const MAX_PRODUCT: u64 = 1 << 52;

/// A length and a limit of calls. Windows begin at multiples of `length` since the UNIX epoch, and
/// at most `limit` calls fit into one (Specification: "Limits", rules 2 and 3).
///
/// - `length`: 1 millisecond to 2^32 − 1 milliseconds (49 days), whole milliseconds;
/// - `limit`: 1 to 2^32 − 1, and `limit` × `length` in milliseconds at most 2^52 (1,250,999,896 an
///   hour).
///
/// ```
/// use bankrail_rate_limit::Window;
/// let window = Window::per_hour(25)?;
/// assert_eq!((window.length().as_secs(), window.limit()), (3600, 25));
/// assert!(Window::per_hour(0).is_err());
/// # Ok::<(), bankrail_rate_limit::WindowError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    millis: u32,
    limit: u32,
}

impl Window {
    /// Makes a window of this length and limit.
    ///
    /// # Errors
    /// [`WindowError`] outside the bounds of the type.
    pub const fn new(length: Duration, limit: u32) -> Result<Self, WindowError> {
        let millis = length.as_millis();
        if !length.subsec_nanos().is_multiple_of(1_000_000) || millis > u32::MAX as u128 {
            return Err(WindowError::Length { found: length });
        }
        #[allow(clippy::cast_possible_truncation)] // compared just above
        Self::from_millis(millis as u32, limit)
    }

    /// Makes a window of at most `limit` in each second.
    ///
    /// # Errors
    /// [`WindowError`] outside the bounds of the type.
    pub const fn per_second(limit: u32) -> Result<Self, WindowError> {
        Self::from_millis(1_000, limit)
    }

    /// Makes a window of at most `limit` in each minute.
    ///
    /// # Errors
    /// [`WindowError`] outside the bounds of the type.
    pub const fn per_minute(limit: u32) -> Result<Self, WindowError> {
        Self::from_millis(60_000, limit)
    }

    /// Makes a window of at most `limit` in each hour. Hours start on UTC hours, also in time zones
    /// with an offset of half an hour.
    ///
    /// # Errors
    /// [`WindowError`] outside the bounds of the type.
    pub const fn per_hour(limit: u32) -> Result<Self, WindowError> {
        Self::from_millis(3_600_000, limit)
    }

    pub(crate) const fn from_millis(millis: u32, limit: u32) -> Result<Self, WindowError> {
        if millis == 0 {
            return Err(WindowError::Length {
                found: Duration::ZERO,
            });
        }
        // The casts only widen; `u64::from` is not `const`.
        if limit == 0 || limit as u64 * millis as u64 > MAX_PRODUCT {
            return Err(WindowError::Limit {
                found: limit,
                length: Duration::from_millis(millis as u64),
            });
        }
        Ok(Self { millis, limit })
    }

    /// Returns the length.
    #[must_use]
    pub const fn length(self) -> Duration {
        Duration::from_millis(self.millis as u64)
    }

    /// Returns the limit.
    #[must_use]
    pub const fn limit(self) -> u32 {
        self.limit
    }

    /// Returns the length in milliseconds.
    #[must_use]
    pub const fn millis(self) -> u32 {
        self.millis
    }

    /// Returns the value at which this window's counters stop: the smaller one of 2^32 − 1 and 2^52
    /// ÷ length.
    #[must_use]
    pub fn ceiling(self) -> u32 {
        u32::try_from(MAX_PRODUCT / u64::from(self.millis)).unwrap_or(u32::MAX)
    }
}

impl fmt::Display for Window {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} per {:?}", self.limit, self.length())
    }
}

/// The error of a length or limit outside the bounds of [`Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// The length is zero, too long, or not in whole milliseconds.
    #[error("expected a window of 1 to 4294967295 whole milliseconds, found {found:?}")]
    Length {
        /// The requested length.
        found: Duration,
    },
    /// The limit is zero, or too large for exact arithmetic over this length.
    #[error(
        "expected a limit of at least 1 whose product with {length:?} in milliseconds is at most 2^52, found {found}"
    )]
    Limit {
        /// The requested limit.
        found: u32,
        /// The window's length.
        length: Duration,
    },
}
