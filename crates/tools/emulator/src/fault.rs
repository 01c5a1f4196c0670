//! The kinds of faults: their effects, the calls that can meet them, and their names on a command
//! line.

use crate::call::Endpoint;
use bankrail_values::ValueError;
use http::HeaderValue;
use std::fmt;
use std::mem::discriminant;
use std::str::FromStr;
use std::time::Duration;

/// A fault of one call to an [`Emulator`](crate::Emulator) or a [`FakeBank`](crate::FakeBank), or
/// of one delivery of theirs.
///
/// Faults that answer in the bank's place are charged to no limit, as those of a gateway in front
/// of it.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum Fault {
    /// The answer 429 with the endpoint's error body, and with a `Retry-After` in whole seconds if
    /// one is given.
    TooManyCalls {
        /// The `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// An answer with a status of 400 to 599 and the endpoint's error body.
    Status(u16),
    /// Any given answer, in place of the bank's.
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
    /// The bank's answer arrives this much later, in real time.
    Late(Duration),
    /// The bank's answer breaks off after half of its body.
    HalfBody,
    /// The token is revoked before the call is served: for a statement call, the token that it
    /// uses, so that the bank answers 401; for a token call, the token that the answer contains.
    StaleToken,
    /// A statement answer that promises more entries under a cursor that always returns to the same
    /// page.
    RepeatingCursor,
    /// Statement calls: narratives are hidden if `includeNarrative` is true, and shown otherwise.
    WrongNarrative,
    /// The bank's answer arrives in pieces of this many bytes, with a pause after each. After 60 s
    /// the bank breaks the answer off.
    SlowDrip {
        /// The bytes of a piece, at least 1.
        bytes: usize,
        /// The pause, of real time.
        pause: Duration,
    },
    /// The bank's answer is compressed, although the client did not accept that.
    Gzip,
    /// The bank's answer has this content type.
    ContentType(String),
    /// An answer with status 200 and a body of this many spaces.
    Endless {
        /// The length of the body in bytes.
        bytes: u64,
    },
    /// The bank's answer is complete for HTTP, but its JSON ends in the middle.
    CutAnswer,
    /// The bank's answer has texts in place of numbers, true and false.
    WrongType,
    /// Statement calls: the second page leads back to the first, as long as all calls meet the
    /// fault.
    CirclingCursor,
    /// Statement calls: the answer is about another account.
    AnotherAccount,
    /// Statement calls: the page lacks its first entry, which the next call contains again.
    MissingEntry,
    /// Statement calls: the entries are pending under references that they lose when they are
    /// booked.
    PendingEntries,
    /// Statement calls: the page is of the next day, as if the day had changed in the middle of the
    /// walk.
    NextDay,
    /// The bank's clock is an hour ahead for this call.
    ClockAhead,
    /// Deliveries: the message is delivered twice.
    Doubled,
    /// Deliveries: the message is delivered 50 times at once.
    Flood,
    /// Deliveries: the message is held back for two seconds, so that later messages overtake it.
    Reordered,
    /// Deliveries: the message is held back for a day. The outbox shows it as one that was answered
    /// 409.
    LateByADay,
    /// Deliveries: the bank misses the receiver's answer, and delivers the message again.
    LostAcknowledgement,
    /// Deliveries: a second message follows, with the same id and duplicate key and other content.
    Changed,
    /// Deliveries: the signature is not of the key that the message names.
    BadSignature,
    /// Deliveries: the message names a signing key that nobody knows.
    UnknownKid,
    /// Deliveries: the message is encrypted for a key other than the one that it names.
    WrongKey,
}

const HTML: &str =
    "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>";

const ANY: &[Endpoint] = &[Endpoint::Token, Endpoint::Statement, Endpoint::Other];
const STATEMENT: &[Endpoint] = &[Endpoint::Statement];
const WEBHOOK: &[Endpoint] = &[Endpoint::Webhook];

/// A name that orders a fault, the fault, and the endpoints whose calls can meet it.
type Named = (&'static str, fn() -> Fault, &'static [Endpoint]);

/// All kinds, in their order; those with something to set as the name sets it.
const NAMED: [Named; 31] = [
    (
        "429",
        || Fault::TooManyCalls {
            retry_after: Some(Duration::from_secs(1)),
        },
        ANY,
    ),
    ("500", || Fault::Status(500), ANY),
    ("503", || Fault::Status(503), ANY),
    (
        "html",
        || Fault::Answer {
            status: 502,
            content_type: "text/html".to_owned(),
            body: HTML.into(),
        },
        ANY,
    ),
    ("slow", || Fault::Late(Duration::from_secs(3)), ANY),
    ("reset", || Fault::Reset, ANY),
    ("half-body", || Fault::HalfBody, ANY),
    ("stale-token", || Fault::StaleToken, ANY),
    ("repeating-cursor", || Fault::RepeatingCursor, STATEMENT),
    ("wrong-narrative", || Fault::WrongNarrative, STATEMENT),
    (
        "slow-drip",
        || Fault::SlowDrip {
            bytes: 256,
            pause: Duration::from_millis(200),
        },
        ANY,
    ),
    ("gzip", || Fault::Gzip, ANY),
    (
        "content-type",
        || Fault::ContentType("text/plain".to_owned()),
        ANY,
    ),
    ("endless", || Fault::Endless { bytes: 1 << 30 }, ANY),
    ("cut-answer", || Fault::CutAnswer, ANY),
    ("wrong-type", || Fault::WrongType, ANY),
    ("circling-cursor", || Fault::CirclingCursor, STATEMENT),
    ("another-account", || Fault::AnotherAccount, STATEMENT),
    ("missing-entry", || Fault::MissingEntry, STATEMENT),
    ("pending-entries", || Fault::PendingEntries, STATEMENT),
    ("next-day", || Fault::NextDay, STATEMENT),
    ("clock-ahead", || Fault::ClockAhead, ANY),
    ("doubled", || Fault::Doubled, WEBHOOK),
    ("flood", || Fault::Flood, WEBHOOK),
    ("reordered", || Fault::Reordered, WEBHOOK),
    ("late-by-a-day", || Fault::LateByADay, WEBHOOK),
    (
        "lost-acknowledgement",
        || Fault::LostAcknowledgement,
        WEBHOOK,
    ),
    ("changed", || Fault::Changed, WEBHOOK),
    ("bad-signature", || Fault::BadSignature, WEBHOOK),
    ("unknown-kid", || Fault::UnknownKid, WEBHOOK),
    ("wrong-key", || Fault::WrongKey, WEBHOOK),
];

impl Fault {
    /// The names that [`Fault`] is parsed from, in the order of the kinds.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, ..)| *name)
    }

    /// Returns true if a call of this endpoint can meet the fault.
    pub(crate) fn concerns(&self, endpoint: Endpoint) -> bool {
        let mut rows = NAMED.iter();
        let row = rows.find(|(_, make, _)| discriminant(&make()) == discriminant(self));
        row.is_some_and(|(.., endpoints)| endpoints.contains(&endpoint))
    }

    /// Checks that a call of this endpoint can meet the fault.
    pub(crate) fn check(&self, endpoint: Endpoint) -> Result<(), String> {
        match self {
            _ if !self.concerns(endpoint) => Err(format!(
                "expected a fault of a {endpoint} call, found: {self}"
            )),
            Self::Status(status) if !(400..=599).contains(status) => {
                Err(format!("expected a status of 400 to 599, found {status}"))
            }
            Self::Answer { status, .. } if !(200..=599).contains(status) => {
                Err(format!("expected a status of 200 to 599, found {status}"))
            }
            Self::Answer { content_type, .. } | Self::ContentType(content_type)
                if HeaderValue::try_from(content_type).is_err() =>
            {
                Err(format!(
                    "expected a content type that a header can carry, found {content_type:?}"
                ))
            }
            _ => Ok(()),
        }
    }
}

impl FromStr for Fault {
    type Err = ValueError;

    /// Reads a name such as `500`, `html` or `half-body`, for a command line: there are one or more
    /// for each kind. The name of a kind, as the journal shows it, is its first fault.
    fn from_str(name: &str) -> Result<Self, ValueError> {
        let mut rows = NAMED.iter();
        let known = rows.find(|(known, make, _)| *known == name || <&str>::from(&make()) == name);
        let fault = known.map(|(_, make, _)| make());
        fault.ok_or_else(|| ValueError::new("the name of a fault", name))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn faults_that_no_call_can_meet_are_refused() {
        let answer = |status, content_type: &str| Fault::Answer {
            status,
            content_type: content_type.to_owned(),
            body: Vec::new(),
        };
        for fault in [
            Fault::Status(200),
            answer(100, "a/b"),
            answer(200, "a\nb"),
            Fault::ContentType("\u{0}".to_owned()),
        ] {
            assert!(fault.check(Endpoint::Statement).is_err(), "{fault:?}");
        }
        assert_eq!(answer(302, "text/html").check(Endpoint::Token), Ok(()));
    }

    #[test]
    fn each_kind_has_a_name_and_each_name_a_fault_of_a_statement_call_or_a_delivery() {
        let kinds: HashSet<_> = Fault::names()
            .map(|name| discriminant(&name.parse::<Fault>().unwrap()))
            .collect();
        assert_eq!(kinds.len(), 30, "a kind without a name");
        for name in Fault::names() {
            let fault = name.parse::<Fault>().unwrap();
            let [statement, webhook] =
                [Endpoint::Statement, Endpoint::Webhook].map(|of| fault.check(of).is_ok());
            assert!(statement != webhook, "{name}");
        }
        assert!("200".parse::<Fault>().is_err());
    }
}
