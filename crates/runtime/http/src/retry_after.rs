//! The `Retry-After` header.

use crate::content;
use bankrail_values::Timestamp;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue};
use std::time::{Duration, SystemTime};

/// A `Retry-After` header (RFC 9110 section 10.2.3): a number of seconds or a date.
///
/// ```
/// use bankrail_http::__private::RetryAfter;
/// use http::{HeaderMap, HeaderValue};
/// use std::time::Duration;
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", HeaderValue::from(RetryAfter::After(Duration::from_millis(1500))));
/// assert_eq!(RetryAfter::from_headers(&headers), Some(RetryAfter::After(Duration::from_secs(2))));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)] // the two forms of the RFC
pub enum RetryAfter {
    /// The wait from now.
    After(Duration),
    /// The time at which to try again.
    At(Timestamp),
}

impl RetryAfter {
    /// Reads the only `Retry-After` header: digits, or a date in any of HTTP's three spellings.
    /// `None` if there is no such header, more than one, or one with other content. A number of
    /// seconds above 2^64 − 1 counts as 2^64 − 1. A date becomes the time after the answer's own
    /// `Date`, if there is one, because the clocks of the two sides differ.
    #[must_use]
    pub fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let text = content::only(headers, &RETRY_AFTER)?
            .to_str()
            .ok()?
            .trim_matches([' ', '\t']);
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Self::After(Duration::from_secs(
                // Digits beyond 64 bits are a long wait, not a malformed one.
                text.parse().unwrap_or(u64::MAX),
            )));
        }
        let at = Timestamp::from(httpdate::parse_http_date(text).ok()?);
        Some(match content::date(headers) {
            Some(answered) => Self::After(at.saturating_since(answered)),
            None => Self::At(at),
        })
    }

    /// Returns the time to wait from `now`; zero for a date that has passed.
    #[must_use]
    pub fn wait(self, now: Timestamp) -> Duration {
        match self {
            Self::After(wait) => wait,
            Self::At(at) => at.saturating_since(now),
        }
    }
}

impl From<RetryAfter> for HeaderValue {
    /// Writes the wait in seconds, or the date; either is rounded up to a second.
    fn from(retry_after: RetryAfter) -> Self {
        let up = |duration: Duration| {
            duration
                .as_secs()
                .saturating_add(u64::from(duration.subsec_nanos() > 0))
        };
        match retry_after {
            RetryAfter::After(wait) => Self::from(up(wait)),
            RetryAfter::At(at) => {
                // A date has four digits for the year, also in the last second of 9999.
                let since = |at: Timestamp| at.saturating_since(Timestamp::UNIX_EPOCH);
                let since = Duration::from_secs(up(since(at)).min(since(Timestamp::MAX).as_secs()));
                let text = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + since);
                Self::try_from(text).expect("a date is ASCII text")
            }
        }
    }
}
