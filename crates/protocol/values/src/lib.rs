#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::iter_over_hash_type
    )
)]

mod causes;
mod clock;
mod code;
mod currency;
mod date;
mod debug;
mod decimal;
mod hash;
#[cfg(feature = "json")]
pub mod json;
mod money;
mod options;
#[cfg(feature = "random")]
mod random;
#[cfg(feature = "http")]
mod request_key;
mod secret;
#[cfg(feature = "simulation")]
#[doc(hidden)]
pub mod simulation;
mod store;
mod text;
mod text_value;
mod time_uuid;
mod timestamp;
mod uuids;

pub use causes::{MainError, causes};
#[cfg(feature = "coarse-clock")]
pub use clock::CoarseClock;
pub use clock::{Clock, ManualClock, SystemClock};
pub use code::UnknownCode;
pub use currency::Currency;
pub use date::Date;
pub use decimal::parse_decimal;
pub use money::{Money, MoneyError};
#[cfg(feature = "random")]
pub use random::RandomnessError;
#[doc(hidden)]
#[cfg(feature = "random")]
pub use random::{fill_random, jitter, random_bytes};
#[cfg(feature = "http")]
pub use request_key::RequestKey;
pub use secret::SecretString;
pub use store::{EXPIRY_GRACE, StoreError, StoreErrorKind, StoreFuture};
#[doc(hidden)]
pub use text::excerpt;
pub use text::{BoundedText, TextError, ValueError};
#[doc(hidden)]
pub use time_uuid::TimeUuidGenerator;
pub use timestamp::Timestamp;
pub use uuids::{HyphenatedUuid, SimpleUuid};

/// The exact decimal of `rust_decimal`. It keeps its scale: `10.0000` stays `10.0000`.
pub use rust_decimal::Decimal;

/// The crate whose header map and extensions [`RequestKey`] is read from.
#[cfg(feature = "http")]
pub use http;
/// The crate of the calendar that [`Timestamp`] and [`Date`] convert to and from.
pub use time;
/// The crate of the UUIDs that [`HyphenatedUuid`] and [`SimpleUuid`] convert to and from.
pub use uuid;

/// The maximum number of bytes of a webhook message's JSON by default: what a sender enqueues and
/// seals, and what a receiver takes and opens (Default: "Webhooks"). The bounds on its sealed form
/// follow from it, in `bankrail-secured-payload`.
pub const MAX_MESSAGE_BYTES: usize = 250_000;

/// The items that the sibling crates of exactly this version share. They change without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::hash::{read_hash, write_hex};
    pub use crate::options::given;
    #[cfg(feature = "serde")]
    pub use serde;
}
