//! `Retry-After` (RFC 9110 section 10.2.3).

use bankrail_values::Timestamp;
use http::HeaderMap;
use http::header::RETRY_AFTER;
use std::time::{Duration, SystemTime};

/// How long the receiver asks to be left alone: a number of seconds, or the time until a date in any
/// of HTTP's three spellings. `None` if it does not
/// ask, asks twice, or asks for something else.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let mut values = headers.get_all(RETRY_AFTER).iter();
    let text = values.next().filter(|_| values.next().is_none())?.to_str().ok()?.trim_matches([' ', '\t']);
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        // A number too large for a count of seconds is a long time.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date: SystemTime = httpdate::parse_http_date(text).ok()?;
    Some(Timestamp::from(date).saturating_since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates() {
        let now = "2021-07-29T01:02:03.500Z".parse().unwrap();
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().unwrap());
            retry_after(&headers, now).map(|wait| wait.as_millis())
        };
        assert_eq!(read("120"), Some(120_000));
        assert_eq!(read("0"), Some(0));
        assert_eq!(read("99999999999999999999"), Some(u128::from(u64::MAX) * 1000));
        assert_eq!(read("Thu, 29 Jul 2021 01:03:03 GMT"), Some(59_500));
        // The two obsolete spellings of RFC 9110 section 5.6.7 are still to be read.
        assert_eq!(read("Thursday, 29-Jul-21 01:03:03 GMT"), Some(59_500));
        assert_eq!(read("Thu Jul 29 01:03:03 2021"), Some(59_500));
        assert_eq!(read("Thu, 29 Jul 2021 01:00:00 GMT"), Some(0));
        for other in ["", "-1", "1.5", "soon", "2021-07-29T01:03:03Z", "Thu, 29 Jul 2021 01:03:03 +0000"] {
            assert_eq!(read(other), None, "{other}");
        }
        let mut twice = HeaderMap::new();
        twice.append(RETRY_AFTER, "1".parse().unwrap());
        twice.append(RETRY_AFTER, "2".parse().unwrap());
        assert_eq!(retry_after(&twice, now), None);
    }
}
