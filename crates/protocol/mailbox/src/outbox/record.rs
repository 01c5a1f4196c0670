//! One delivery, and the state of the entry after it.

use bankrail_values::{Timestamp, ValueError};
use std::str::FromStr;
use std::time::Duration;

/// One delivery, without payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines and workers make them")]
pub struct DeliveryRecord {
    /// The start of the delivery.
    pub started_at: Timestamp,
    /// The duration of the delivery. Engines store whole milliseconds.
    pub duration: Duration,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// A problem of the delivery, if there was one.
    pub note: Option<DeliveryNote>,
}

/// A problem of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeliveryNote {
    /// There was no answer in time.
    TimedOut,
    /// There was no connection.
    NoConnection,
    /// The TLS handshake failed.
    Tls,
    /// The connection broke before the answer was complete.
    Broken,
    /// The answer was a redirection, which is never followed.
    Redirected,
    /// The answer had a status other than 2xx.
    Refused,
    /// The answer had a status 2xx, and its body was no acknowledgement.
    Unacknowledged,
    /// The answer had the status 410, because the endpoint is gone.
    Gone,
    /// The message could not be sealed, because a key is missing or fails.
    NotSealed,
    /// Any other problem.
    Other,
}

impl DeliveryNote {
    /// All notes of deliveries.
    pub const ALL: &'static [Self] = &[
        Self::TimedOut,
        Self::NoConnection,
        Self::Tls,
        Self::Broken,
        Self::Redirected,
        Self::Refused,
        Self::Unacknowledged,
        Self::Gone,
        Self::NotSealed,
        Self::Other,
    ];

    /// Returns the stable name of the note, for stores.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TimedOut => "timed_out",
            Self::NoConnection => "no_connection",
            Self::Tls => "tls",
            Self::Broken => "broken",
            Self::Redirected => "redirected",
            Self::Refused => "refused",
            Self::Unacknowledged => "unacknowledged",
            Self::Gone => "gone",
            Self::NotSealed => "not_sealed",
            Self::Other => "other",
        }
    }
}

impl FromStr for DeliveryNote {
    type Err = ValueError;

    /// Reads a [stable name](Self::as_str).
    fn from_str(name: &str) -> Result<Self, ValueError> {
        let known = Self::ALL.iter().copied().find(|note| note.as_str() == name);
        known.ok_or_else(|| ValueError::new("the name of a note on a delivery", name))
    }
}

/// The new state of an entry after a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "engines act on each")]
pub enum Disposition {
    /// The entry is delivered.
    Delivered,
    /// The entry is due again at this instant.
    RetryAt(Timestamp),
    /// The entry becomes a dead letter.
    DeadLetter,
}
