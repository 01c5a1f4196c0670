//! `--fault KIND:RATE`: what goes wrong with a part of the calls, the same part for the same seed.

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use bankrail::client_assertion::token::{TokenErrorBody, TokenErrorCode};
use bankrail::http::RequestKey;
use bankrail::statement::{ErrorCode, StatementErrorBody};
use futures_util::stream;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long a slow answer is held back.
const SLOW: Duration = Duration::from_secs(3);

/// The parts of a whole rate.
const WHOLE: u64 = 1_000_000;

const HTML: &str = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>";

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Status(StatusCode),
    /// A page of a gateway, with the status 502.
    Html,
    /// The right answer, 3 seconds late.
    Slow,
    /// The connection is closed without an answer.
    Reset,
}

/// What goes wrong with which calls, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    name: String,
    kind: Kind,
    /// `token` or `statement`; both without one.
    what: Option<&'static str>,
    /// In millionths.
    rate: u64,
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rate) = text.split_once(':').ok_or("expected KIND:RATE, such as token-500:0.1")?;
        let (what, kind) = match name.split_once('-') {
            Some(("token", kind)) => (Some("token"), kind),
            Some(("statement", kind)) => (Some("statement"), kind),
            _ => (None, name),
        };
        let kind = match kind {
            "429" => Kind::Status(StatusCode::TOO_MANY_REQUESTS),
            "500" => Kind::Status(StatusCode::INTERNAL_SERVER_ERROR),
            "503" => Kind::Status(StatusCode::SERVICE_UNAVAILABLE),
            "html" => Kind::Html,
            "slow" => Kind::Slow,
            "reset" => Kind::Reset,
            _ => {
                return Err(format!(
                    "expected 429, 500, 503, html, slow or reset, or one of them after token- or statement-, found {}",
                    bankrail::values::excerpt(name)
                ));
            }
        };
        Ok(Self { name: name.to_owned(), kind, what, rate: millionths(rate)? })
    }
}

/// `0.1` or `10%`.
fn millionths(text: &str) -> Result<u64, String> {
    let wrong = || format!("expected a rate from 0 to 1 or from 0% to 100%, found {}", bankrail::values::excerpt(text));
    let (number, whole) = match text.strip_suffix('%') {
        Some(number) => (number, WHOLE / 100),
        None => (text, WHOLE),
    };
    let number: rust_decimal::Decimal = number.parse().map_err(|_| wrong())?;
    let parts = number.checked_mul(whole.into()).ok_or_else(wrong)?;
    u64::try_from(parts.trunc()).ok().filter(|parts| *parts <= WHOLE && !number.is_sign_negative()).ok_or_else(wrong)
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the fault {} that --fault ordered", self.name)
    }
}

/// The faults in the order in which they are drawn.
#[derive(Debug)]
pub(super) struct Faults {
    seed: u64,
    faults: Vec<(Fault, AtomicU64)>,
}

impl Faults {
    pub(super) fn new(faults: &[Fault], seed: u64) -> Self {
        Self { seed, faults: faults.iter().map(|fault| (fault.clone(), AtomicU64::new(0))).collect() }
    }

    /// The fault of the next call, if it has one.
    pub(super) fn draw(&self, what: &str) -> Option<&Fault> {
        let mut drawn = None;
        for (at, (fault, calls)) in (0u64..).zip(&self.faults) {
            if fault.what.unwrap_or(what) != what || what == "other" {
                continue;
            }
            let call = calls.fetch_add(1, Ordering::Relaxed);
            let number = mixed(self.seed ^ mixed(at.wrapping_add(1)) ^ call.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            if number % WHOLE < fault.rate {
                drawn = drawn.or(Some(fault));
            }
        }
        drawn
    }
}

/// The finalizer of the generator SplitMix64: each bit of the answer depends on all of the number.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl Fault {
    /// True if the provider serves the call nevertheless.
    pub(super) fn is_served(&self) -> bool {
        self.kind == Kind::Slow
    }

    /// The answer to a call that meets the fault.
    pub(super) async fn answer(&self, what: &str, request: Request, next: Next) -> Response {
        match self.kind {
            Kind::Slow => {
                tokio::time::sleep(SLOW).await;
                next.run(request).await
            }
            Kind::Status(status) => refused(what, status, &request),
            Kind::Html => made(StatusCode::BAD_GATEWAY, "text/html", Body::from(HTML)),
            Kind::Reset => {
                let broken = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
                Response::new(Body::from_stream(stream::once(async { Err::<Vec<u8>, _>(broken) })))
            }
        }
    }
}

/// The error body of the endpoint.
fn refused(what: &str, status: StatusCode, request: &Request) -> Response {
    let body = match (what, RequestKey::of(request.extensions())) {
        ("statement", Some(key)) => {
            let code = match status {
                StatusCode::TOO_MANY_REQUESTS => ErrorCode::for_status(status.as_u16()),
                _ => ErrorCode::INTERNAL,
            };
            StatementErrorBody::new(key.uuid(), code, "A fault that was ordered").to_json()
        }
        _ => {
            let code = match status {
                StatusCode::INTERNAL_SERVER_ERROR => TokenErrorCode::ServerError,
                _ => TokenErrorCode::TemporarilyUnavailable,
            };
            TokenErrorBody::new(code).to_json()
        }
    };
    let mut answer = made(status, "application/json", Body::from(body));
    if status == StatusCode::TOO_MANY_REQUESTS {
        answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    answer
}

fn made(status: StatusCode, content_type: &'static str, body: Body) -> Response {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(seed: u64, rate: &str) -> Vec<bool> {
        let faults = Faults::new(&[format!("token-500:{rate}").parse().unwrap()], seed);
        (0..1000).map(|_| faults.draw("token").is_some()).collect()
    }

    #[test]
    fn a_seed_draws_the_same_calls_and_about_as_many_as_the_rate_says() {
        assert_eq!(drawn(1, "0.1"), drawn(1, "10%"));
        assert_ne!(drawn(1, "0.1"), drawn(2, "0.1"));
        let met = drawn(7, "0.25").iter().filter(|met| **met).count();
        assert!((200..300).contains(&met), "{met}");
        assert!(drawn(3, "1").iter().all(|met| *met) && !drawn(3, "0").contains(&true));
    }

    #[test]
    fn a_fault_meets_the_calls_that_it_is_for() {
        let faults = Faults::new(&["statement-html:1".parse().unwrap()], 0);
        assert!(faults.draw("token").is_none() && faults.draw("other").is_none() && faults.draw("statement").is_some());
        let faults = Faults::new(&["reset:1".parse().unwrap()], 0);
        assert!(faults.draw("token").is_some() && faults.draw("statement").is_some() && faults.draw("other").is_none());
        for wrong in ["token-500", "token-200:1", "token-500:2", "token-500:-1", "token-500:101%", "x:0.1", "slow:x"] {
            assert!(wrong.parse::<Fault>().is_err(), "{wrong}");
        }
    }
}
