//! The headers `RateLimit` and `RateLimit-Policy`.

use crate::{Decision, Window};
use http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt::Write as _;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Writes `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers): for each
/// window its quota and length, the rest of the quota, and the time until the window's end in
/// seconds, rounded up. Nothing is written for a policy without windows.
#[doc(hidden)]
pub fn write_rate_limit(decision: &Decision, out: &mut HeaderMap) {
    let (mut policy, mut left) = (String::new(), String::new());
    for status in decision.windows() {
        if !policy.is_empty() {
            policy.push_str(", ");
            left.push_str(", ");
        }
        let name = name_of(status.window);
        let seconds = |millis: u128| millis.div_ceil(1000);
        let window = seconds(u128::from(status.window.millis()));
        let reset = seconds(
            status
                .ends_at
                .saturating_since(decision.asked_at())
                .as_millis(),
        );
        write!(policy, "\"{name}\";q={};w={window}", status.window.limit())
            .expect("a String takes everything");
        write!(left, "\"{name}\";r={};t={reset}", status.remaining)
            .expect("a String takes everything");
    }
    for (header, text) in [(RATE_LIMIT_POLICY, policy), (RATE_LIMIT, left)] {
        if let Some(value) = HeaderValue::try_from(text)
            .ok()
            .filter(|value| !value.is_empty())
        {
            out.insert(header, value);
        }
    }
}

/// Returns the name of a window.
pub(super) fn name_of(window: Window) -> String {
    match window.millis() {
        1_000 => "second".to_owned(),
        60_000 => "minute".to_owned(),
        3_600_000 => "hour".to_owned(),
        86_400_000 => "day".to_owned(),
        millis => format!("{millis}ms"),
    }
}
