//! One delivery, and the state of the entry after it.

use bankrail_values::Timestamp;
use std::time::Duration;

/// One delivery, without payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "engines and workers make them")]
pub struct DeliveryRecord {
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took. Engines keep whole milliseconds.
    pub duration: Duration,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// A problem of the delivery, if there was one.
    pub note: Option<DeliveryNote>,
}

macro_rules! notes {
    ($( $(#[$doc:meta])* $name:ident = $text:literal, )*) => {
        /// A problem of a delivery.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DeliveryNote { $( $(#[$doc])* $name, )* }

        impl DeliveryNote {
            /// All notes.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// A stable name, for stores.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$name => $text, )* }
            }

            /// The note with this stable name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|note| note.as_str() == name)
            }
        }
    };
}

notes! {
    /// No answer in time.
    TimedOut = "timed_out",
    /// No connection.
    NoConnection = "no_connection",
    /// The TLS handshake failed.
    Tls = "tls",
    /// The connection broke before the answer was complete.
    Broken = "broken",
    /// A redirection, which is never followed.
    Redirected = "redirected",
    /// A status other than 2xx.
    Refused = "refused",
    /// 2xx, with a body that is not an acknowledgement.
    Unacknowledged = "unacknowledged",
    /// 410: the endpoint is gone.
    Gone = "gone",
    /// The message could not be sealed: a key is missing or fails.
    NotSealed = "not_sealed",
    /// Anything else.
    Other = "other",
}

/// What becomes of an entry after a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "engines act on each")]
pub enum Disposition {
    /// It was delivered.
    Delivered,
    /// It is due again at this instant.
    RetryAt(Timestamp),
    /// It becomes a dead letter.
    DeadLetter,
}
