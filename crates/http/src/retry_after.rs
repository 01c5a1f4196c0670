//! `Retry-After`.

use bankrail_values::Timestamp;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue};
use std::time::{Duration, SystemTime};

/// A `Retry-After` header (RFC 9110 section 10.2.3): a number of seconds or a date.
///
/// ```
/// use bankrail_http::RetryAfter;
/// use http::{HeaderMap, HeaderValue};
/// use std::time::Duration;
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", HeaderValue::from(RetryAfter::After(Duration::from_millis(1500))));
/// assert_eq!(RetryAfter::from_headers(&headers), Some(RetryAfter::After(Duration::from_secs(2))));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums)] // the two forms of the RFC
pub enum RetryAfter {
    /// This long from now.
    After(Duration),
    /// At this time.
    At(Timestamp),
}

impl RetryAfter {
    /// Reads the only `Retry-After` header: digits, or a date in any of HTTP's three spellings. `None` if there is no
    /// such header, more than one, or one with other content. A number of seconds above 2^64 − 1 counts as that.
    #[must_use]
    pub fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(RETRY_AFTER).iter();
        let text = values.next().filter(|_| values.next().is_none())?.to_str().ok()?.trim_matches([' ', '\t']);
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Self::After(Duration::from_secs(text.parse().unwrap_or(u64::MAX))));
        }
        let date: SystemTime = httpdate::parse_http_date(text).ok()?;
        Some(Self::At(date.into()))
    }

    /// How long to wait from `now`; zero for a date that has passed.
    #[must_use]
    pub fn wait(self, now: Timestamp) -> Duration {
        match self {
            Self::After(wait) => wait,
            Self::At(at) => at.saturating_since(now),
        }
    }
}

impl From<RetryAfter> for HeaderValue {
    /// Seconds rounded up, or a date rounded up to a second.
    fn from(retry_after: RetryAfter) -> Self {
        let up = |duration: Duration| duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0));
        match retry_after {
            RetryAfter::After(wait) => Self::from(up(wait)),
            RetryAfter::At(at) => {
                let since = Duration::from_secs(up(at.saturating_since(Timestamp::UNIX_EPOCH)));
                let text = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + since);
                Self::try_from(text).expect("a date is ASCII text")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<RetryAfter> {
        RetryAfter::from_headers(&HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]))
    }

    #[test]
    fn seconds_and_dates() {
        let now = "2021-07-29T01:02:03.500Z".parse().unwrap();
        let wait = |text: &str| read(text).map(|asked| asked.wait(now).as_millis());
        assert_eq!(wait("120"), Some(120_000));
        assert_eq!(wait("0"), Some(0));
        assert_eq!(wait("99999999999999999999"), Some(u128::from(u64::MAX) * 1000));
        assert_eq!(wait("Thu, 29 Jul 2021 01:03:03 GMT"), Some(59_500));
        // The two obsolete spellings of RFC 9110 section 5.6.7 are still to be read.
        assert_eq!(wait("Thursday, 29-Jul-21 01:03:03 GMT"), Some(59_500));
        assert_eq!(wait("Thu Jul 29 01:03:03 2021"), Some(59_500));
        assert_eq!(wait("Thu, 29 Jul 2021 01:00:00 GMT"), Some(0));
        for other in ["", "-1", "+3", "1.5", "soon", "2021-07-29T01:03:03Z", "Thu, 29 Jul 2021 01:03:03 +0000"] {
            assert_eq!(wait(other), None, "{other}");
        }
        let mut twice = HeaderMap::new();
        twice.append(RETRY_AFTER, "1".parse().unwrap());
        twice.append(RETRY_AFTER, "2".parse().unwrap());
        assert_eq!(RetryAfter::from_headers(&twice), None);
    }

    #[test]
    fn what_is_written_reads_back_and_is_never_earlier() {
        let written = |retry_after: RetryAfter| HeaderValue::from(retry_after).to_str().unwrap().to_owned();
        assert_eq!(written(RetryAfter::After(Duration::from_millis(1001))), "2");
        assert_eq!(written(RetryAfter::After(Duration::from_secs(7))), "7");
        let at = RetryAfter::At("2021-07-29T01:02:03.500Z".parse().unwrap());
        assert_eq!(written(at), "Thu, 29 Jul 2021 01:02:04 GMT");
        assert_eq!(read(&written(at)), Some(RetryAfter::At("2021-07-29T01:02:04.000Z".parse().unwrap())));
    }
}
