//! One bounded HTTP exchange: no redirects, an answer read up to a limit, never a secret in an error.

mod error;
mod tls;

pub use error::TransportError;
pub(crate) use error::cause;
pub use tls::{TlsError, TlsRoots};

pub(crate) use tls::configuration;

use crate::endpoint::Endpoint;
use bankrail_values::{HyphenatedUuid, Timestamp};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use std::time::{Duration, SystemTime};
use zeroize::Zeroizing;

/// Sends requests and reads bounded answers.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    pub(crate) http: reqwest::Client,
    /// For the whole exchange, from connecting to the last octet.
    pub(crate) timeout: Duration,
}

/// An answer, read to its end.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) request_key: Option<HyphenatedUuid>,
    pub(crate) retry_after: Option<RetryAfter>,
    pub(crate) is_json: bool,
    /// A token's answer is a secret; the others cost little to overwrite.
    pub(crate) body: Zeroizing<Vec<u8>>,
}

/// What a `Retry-After` field asks for (RFC 9110 section 10.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryAfter {
    In(Duration),
    At(Timestamp),
}

impl RetryAfter {
    /// The longest that is believed. A slip of the peer must not silence a client for years.
    const LONGEST: Duration = Duration::from_secs(24 * 3600);

    pub(crate) fn instant(self, now: Timestamp) -> Timestamp {
        let at = match self {
            Self::In(delay) => now.saturating_add(delay),
            Self::At(at) => at,
        };
        at.clamp(now, now.saturating_add(Self::LONGEST))
    }
}

impl Transport {
    /// Posts `body` and reads at most `limit` octets of the answer.
    pub(crate) async fn post(
        &self,
        to: &Endpoint,
        headers: HeaderMap,
        body: Vec<u8>,
        limit: usize,
    ) -> Result<Reply, TransportError> {
        let exchange = async {
            let request = self.http.post(to.url().clone()).headers(headers).body(body);
            let mut response = request.send().await.map_err(TransportError::from_send)?;
            let too_large = || TransportError::TooLarge { limit, status: response.status().as_u16() };
            let announced = response.content_length().unwrap_or(0);
            if usize::try_from(announced).unwrap_or(usize::MAX) > limit {
                return Err(too_large());
            }
            let mut reply = Reply::without_body(response.status(), response.headers());
            while let Some(chunk) = response.chunk().await.map_err(TransportError::from_read)? {
                if chunk.len() > limit - reply.body.len() {
                    return Err(TransportError::TooLarge { limit, status: reply.status.as_u16() });
                }
                reply.body.extend_from_slice(&chunk);
            }
            Ok(reply)
        };
        match tokio::time::timeout(self.timeout, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(TransportError::TimedOut { after: self.timeout }),
        }
    }
}

impl Reply {
    fn without_body(status: StatusCode, headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            status,
            request_key: headers
                .get("x-requestkey")
                .and_then(|value| value.to_str().ok())
                .and_then(|text| HyphenatedUuid::parse(text.trim()).ok()),
            retry_after: text(RETRY_AFTER).and_then(read_retry_after),
            is_json: text(CONTENT_TYPE).is_some_and(is_json),
            body: Zeroizing::new(Vec::new()),
        }
    }
}

fn read_retry_after(text: &str) -> Option<RetryAfter> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit()) {
        return Some(RetryAfter::In(Duration::from_secs(text.parse().unwrap_or(u64::MAX))));
    }
    let at: SystemTime = httpdate::parse_http_date(text).ok()?;
    Some(RetryAfter::At(Timestamp::from(at)))
}

/// `application/json` or `application/….+json`, with or without parameters.
fn is_json(text: &str) -> bool {
    let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date_and_never_believed_beyond_a_day() {
        let now: Timestamp = "2026-11-21T06:00:00.000Z".parse().unwrap();
        let at = |text| read_retry_after(text).map(|wait| wait.instant(now).to_string());
        assert_eq!(at("90").as_deref(), Some("2026-11-21T06:01:30.000Z"));
        assert_eq!(at("Sat, 21 Nov 2026 06:02:00 GMT").as_deref(), Some("2026-11-21T06:02:00.000Z"));
        assert_eq!(at("Saturday, 21-Nov-26 06:02:00 GMT").as_deref(), Some("2026-11-21T06:02:00.000Z"));
        assert_eq!(at("Sat Nov 21 06:02:00 2026").as_deref(), Some("2026-11-21T06:02:00.000Z"));
        assert_eq!(at("Sat, 21 Nov 2020 06:02:00 GMT").as_deref(), Some("2026-11-21T06:00:00.000Z"));
        assert_eq!(at("99999999999999999999999").as_deref(), Some("2026-11-22T06:00:00.000Z"));
        for bad in ["", "-1", "1.5", "soon", "+3"] {
            assert_eq!(at(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn json_has_several_names() {
        assert!(is_json("application/json") && is_json("Application/JSON; charset=UTF-8"));
        assert!(is_json("application/problem+json"));
        assert!(!is_json("text/html") && !is_json("text/json") && !is_json("application/jsonp"));
    }
}
