//! `Retry-After`.

use bankrail_http::__private::RetryAfter;
use bankrail_values::Timestamp;
use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue};
use std::time::Duration;

fn read(text: &str) -> Option<RetryAfter> {
    RetryAfter::from_headers(&HeaderMap::from_iter([(
        RETRY_AFTER,
        text.parse().unwrap(),
    )]))
}

#[test]
fn seconds_and_dates() {
    let now = "2021-07-29T01:02:03.500Z".parse().unwrap();
    let wait = |text: &str| read(text).map(|asked| asked.wait(now).as_millis());
    assert_eq!(wait("120"), Some(120_000));
    assert_eq!(wait("0"), Some(0));
    assert_eq!(
        wait("99999999999999999999"),
        Some(u128::from(u64::MAX) * 1000)
    );
    assert_eq!(wait("Thu, 29 Jul 2021 01:03:03 GMT"), Some(59_500));
    // The two obsolete spellings of RFC 9110 section 5.6.7 are still to be read.
    assert_eq!(wait("Thursday, 29-Jul-21 01:03:03 GMT"), Some(59_500));
    assert_eq!(wait("Thu Jul 29 01:03:03 2021"), Some(59_500));
    assert_eq!(wait("Thu, 29 Jul 2021 01:00:00 GMT"), Some(0));
    for other in [
        "",
        "-1",
        "+3",
        "1.5",
        "soon",
        "2021-07-29T01:03:03Z",
        "Thu, 29 Jul 2021 01:03:03 +0000",
    ] {
        assert_eq!(wait(other), None, "{other}");
    }
    let mut twice = HeaderMap::new();
    twice.append(RETRY_AFTER, "1".parse().unwrap());
    twice.append(RETRY_AFTER, "2".parse().unwrap());
    assert_eq!(RetryAfter::from_headers(&twice), None);
}

/// The client's clock may be wrong, while one clock made both dates of the answer.
#[test]
fn a_date_is_counted_from_the_date_of_the_answer() {
    let read = |at: &str, answered: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, at.parse().unwrap());
        headers.insert(DATE, answered.parse().unwrap());
        RetryAfter::from_headers(&headers).unwrap()
    };
    let at = "Thu, 29 Jul 2021 01:03:00 GMT";
    let asked = read(at, "Thu, 29 Jul 2021 01:02:00 GMT");
    for now in ["01:02:00", "00:52:00", "01:12:00"] {
        let now = format!("2021-07-29T{now}.000Z").parse().unwrap();
        assert_eq!(asked.wait(now), Duration::from_secs(60), "{now}");
    }
    let past = read(at, "Thu, 29 Jul 2021 01:03:01 GMT");
    assert_eq!(past, RetryAfter::After(Duration::ZERO));
    assert_eq!(
        read(at, "yesterday"),
        RetryAfter::At("2021-07-29T01:03:00.000Z".parse().unwrap())
    );
    assert_eq!(
        read("7", "Thu, 29 Jul 2021 01:02:00 GMT"),
        RetryAfter::After(Duration::from_secs(7))
    );
}

#[test]
fn what_is_written_reads_back_and_is_never_earlier() {
    let written =
        |retry_after: RetryAfter| HeaderValue::from(retry_after).to_str().unwrap().to_owned();
    assert_eq!(written(RetryAfter::After(Duration::from_millis(1001))), "2");
    assert_eq!(written(RetryAfter::After(Duration::from_secs(7))), "7");
    let at = RetryAfter::At("2021-07-29T01:02:03.500Z".parse().unwrap());
    assert_eq!(written(at), "Thu, 29 Jul 2021 01:02:04 GMT");
    assert_eq!(
        read(&written(at)),
        Some(RetryAfter::At("2021-07-29T01:02:04.000Z".parse().unwrap()))
    );
    assert_eq!(
        written(RetryAfter::At(Timestamp::MAX)),
        "Fri, 31 Dec 9999 23:59:59 GMT"
    );
}
