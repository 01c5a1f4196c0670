//! The header fields that tell about limits.

use bankrail_rate_limit::{Decision, Window};
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt::Write as _;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// `Retry-After` in whole seconds, rounded up, so that a request at that time is served.
pub(crate) fn write_retry_after(decision: &Decision, out: &mut HeaderMap) {
    if let Some(seconds) = decision.retry_after_seconds() {
        out.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
}

/// `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers): each window with its quota, and what is
/// left of it for how long.
pub(crate) fn write_rate_limit(decision: &Decision, out: &mut HeaderMap) {
    let (mut policy, mut left) = (String::new(), String::new());
    for status in decision.windows() {
        if !policy.is_empty() {
            policy.push_str(", ");
            left.push_str(", ");
        }
        let name = name_of(status.window);
        let seconds = |millis: u128| millis.div_ceil(1000);
        let window = seconds(u128::from(status.window.millis()));
        let reset = seconds(status.ends_at.saturating_since(decision.asked_at()).as_millis());
        write!(policy, "\"{name}\";q={};w={window}", status.window.limit()).expect("a String takes everything");
        write!(left, "\"{name}\";r={};t={reset}", status.remaining).expect("a String takes everything");
    }
    for (header, text) in [(RATE_LIMIT_POLICY, policy), (RATE_LIMIT, left)] {
        if let Some(value) = HeaderValue::try_from(text).ok().filter(|value| !value.is_empty()) {
            out.insert(header, value);
        }
    }
}

/// What a window is called.
pub(crate) fn name_of(window: Window) -> String {
    match window.millis() {
        1_000 => "second".to_owned(),
        60_000 => "minute".to_owned(),
        3_600_000 => "hour".to_owned(),
        86_400_000 => "day".to_owned(),
        millis => format!("{millis}ms"),
    }
}
