//! Faults to order.

use crate::call::Endpoint;
use http::HeaderValue;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What goes wrong with one call of a [`FakeBank`](crate::FakeBank).
///
/// Faults that answer in the bank's place are charged to no limit, as those of a gateway in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// 429, with the endpoint's error body, and with `Retry-After` in whole seconds if there is one.
    TooManyCalls {
        /// The `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// A status of 400 to 599 with the endpoint's error body.
    Status(u16),
    /// Any answer, in place of the bank's.
    Answer {
        /// The status, 200 to 599.
        status: u16,
        /// The `Content-Type`.
        content_type: String,
        /// The body.
        body: Vec<u8>,
    },
    /// The connection is closed without an answer.
    Reset,
    /// The bank's answer breaks off after half of its body.
    HalfBody,
    /// The token is revoked before the call is served: that of a statement call, so that the bank answers 401, or the
    /// one that a token call has just got.
    StaleToken,
    /// Of a statement call: the answer says that there is more, under a cursor that returns to the same page for ever.
    RepeatingCursor,
    /// Of a statement call: narratives are hidden where `includeNarrative` asks for them, and shown where it does not.
    WrongNarrative,
    /// The bank's answer arrives in pieces of this many bytes, with a pause after each. After 60 s the bank breaks the
    /// answer off.
    SlowDrip {
        /// The bytes of a piece, at least 1.
        bytes: usize,
        /// The pause, of real time.
        pause: Duration,
    },
    /// The bank's answer, compressed although nobody asked for it.
    Gzip,
    /// The bank's answer under this content type.
    ContentType(String),
    /// An answer with status 200 and a body of this many spaces.
    Endless {
        /// The length of the body in bytes.
        bytes: u64,
    },
}

impl Fault {
    /// Checks that a call of this endpoint can meet the fault.
    fn check(&self, endpoint: Endpoint) -> Result<(), String> {
        let answerable = |content_type: &str| match HeaderValue::try_from(content_type) {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("expected a content type that a header can carry, found {content_type:?}")),
        };
        match self {
            Self::RepeatingCursor | Self::WrongNarrative if endpoint != Endpoint::Statement => {
                Err(format!("expected a fault of a {endpoint} call, found: {self}"))
            }
            Self::Status(status) if !(400..=599).contains(status) => {
                Err(format!("expected a status of 400 to 599, found {status}"))
            }
            Self::Answer { status, .. } if !(200..=599).contains(status) => {
                Err(format!("expected a status of 200 to 599, found {status}"))
            }
            Self::Answer { content_type, .. } | Self::ContentType(content_type) => answerable(content_type),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::TooManyCalls { .. } => "too many calls",
            Self::Status(_) => "status",
            Self::Answer { .. } => "another answer",
            Self::Reset => "reset",
            Self::HalfBody => "half body",
            Self::StaleToken => "stale token",
            Self::RepeatingCursor => "repeating cursor",
            Self::WrongNarrative => "wrong narrative",
            Self::SlowDrip { .. } => "slow drip",
            Self::Gzip => "gzip",
            Self::ContentType(_) => "another content type",
            Self::Endless { .. } => "endless body",
        })
    }
}

/// The faults that are ordered, by endpoint and number of the call.
#[derive(Debug, Default)]
pub(crate) struct Plan(Mutex<BTreeMap<Endpoint, Ordered>>);

#[derive(Debug, Default)]
struct Ordered {
    /// How many calls there were.
    calls: u64,
    faults: BTreeMap<u64, Fault>,
}

impl Plan {
    /// Orders a fault for the first call from now on that has none.
    #[track_caller]
    pub(crate) fn next(&self, endpoint: Endpoint, fault: Fault) {
        self.order(endpoint, fault, |ordered| {
            (ordered.calls + 1..).find(|call| !ordered.faults.contains_key(call)).unwrap_or(u64::MAX)
        });
    }

    /// Orders a fault for the `nth` call from now on.
    #[track_caller]
    pub(crate) fn nth(&self, endpoint: Endpoint, nth: u64, fault: Fault) {
        assert!(nth > 0, "expected the number of a call from 1 on, found 0");
        self.order(endpoint, fault, |ordered| ordered.calls.saturating_add(nth));
    }

    #[track_caller]
    fn order(&self, endpoint: Endpoint, fault: Fault, call: impl FnOnce(&Ordered) -> u64) {
        fault.check(endpoint).unwrap_or_else(|mistake| panic!("{mistake}"));
        let mut plan = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ordered = plan.entry(endpoint).or_default();
        let call = call(ordered);
        ordered.faults.insert(call, fault);
    }

    /// Counts a call and returns its fault.
    pub(crate) fn take(&self, endpoint: Endpoint) -> Option<Fault> {
        let mut plan = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ordered = plan.entry(endpoint).or_default();
        ordered.calls += 1;
        ordered.faults.remove(&ordered.calls)
    }

    /// The faults that no call has met yet.
    pub(crate) fn left(&self) -> Vec<(Endpoint, Fault)> {
        let plan = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = plan.iter().flat_map(|(endpoint, ordered)| ordered.faults.values().map(|fault| (*endpoint, fault)));
        left.map(|(endpoint, fault)| (endpoint, fault.clone())).collect()
    }

    /// Forgets all faults.
    pub(crate) fn clear(&self) {
        for ordered in self.0.lock().unwrap_or_else(PoisonError::into_inner).values_mut() {
            ordered.faults.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_meet_the_calls_that_they_are_ordered_for() {
        let plan = Plan::default();
        plan.nth(Endpoint::Statement, 2, Fault::Reset);
        plan.next(Endpoint::Statement, Fault::Gzip);
        plan.next(Endpoint::Statement, Fault::HalfBody);
        plan.next(Endpoint::Token, Fault::Status(500));
        let met = || plan.take(Endpoint::Statement);
        assert_eq!([met(), met(), met(), met()], [Some(Fault::Gzip), Some(Fault::Reset), Some(Fault::HalfBody), None]);
        assert_eq!(plan.left(), [(Endpoint::Token, Fault::Status(500))]);
        plan.clear();
        assert_eq!(plan.take(Endpoint::Token), None);
    }

    #[test]
    #[should_panic(expected = "expected a fault of a token call, found: repeating cursor")]
    fn a_token_has_no_cursor() {
        Plan::default().next(Endpoint::Token, Fault::RepeatingCursor);
    }

    #[test]
    fn faults_that_no_call_can_meet_are_refused() {
        let answer = |status, content_type: &str| Fault::Answer {
            status,
            content_type: content_type.to_owned(),
            body: Vec::new(),
        };
        for fault in
            [Fault::Status(200), answer(100, "a/b"), answer(200, "a\nb"), Fault::ContentType("\u{0}".to_owned())]
        {
            assert!(fault.check(Endpoint::Statement).is_err(), "{fault:?}");
        }
        assert_eq!(answer(302, "text/html").check(Endpoint::Token), Ok(()));
    }
}
