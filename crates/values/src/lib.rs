//! The shared vocabulary of the bankrail crates: values that exist only if they are well formed.
//!
//! What it is: exact [`Money`] in ISO 4217 [`Currency`], UTC [`Timestamp`]s with milliseconds, calendar [`Date`]s,
//! the two UUID spellings as two types ([`HyphenatedUuid`], [`SimpleUuid`]), text bounded in code points
//! ([`BoundedText`]), secrets that do not print ([`SecretString`]), and two seams that several crates share: a
//! [`Clock`] and the shape of a store's answers ([`StoreFuture`], [`StoreError`]).
//!
//! What it is not: it knows no message, no socket, no database and never reads the time by itself.
//!
//! ```
//! use bankrail_values::{Currency, Money, SimpleUuid, Timestamp};
//!
//! let price: Money = "12.50 AUD".parse()?;
//! assert_eq!(price.currency(), Currency::AUD);
//! assert_eq!(price.checked_add(&"0.5 AUD".parse()?)?.to_string(), "13.00 AUD");
//!
//! let sent: Timestamp = "2021-07-29T01:02:03.450Z".parse()?;
//! assert_eq!(sent.unix_millis(), 1_627_520_523_450);
//!
//! assert!("b1e0a5c2-0000-1000-8000-000000000001".parse::<SimpleUuid>().is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | feature | what it adds |
//! |---|---|
//! | `coarse-clock` | `CoarseClock`, the system's clock as of its last tick, for what asks at every request |
//! | `serde` | wire text in and out for every value, through the value's own check |

#![forbid(unsafe_code)]

mod clock;
mod currency;
mod date;
mod decimal;
#[cfg(feature = "json")]
pub mod json;
mod money;
mod secret;
mod store;
mod text;
mod text_value;
mod time_uuid;
mod timestamp;
mod uuids;

#[cfg(feature = "coarse-clock")]
pub use clock::CoarseClock;
pub use clock::{Clock, ManualClock, SystemClock};
pub use currency::{Currency, CurrencyError};
pub use date::{Date, DateError};
pub use decimal::{DecimalError, parse_decimal};
pub use money::{Money, MoneyError};
pub use secret::SecretString;
pub use store::{StoreError, StoreErrorKind, StoreFuture};
pub use text::{BoundedText, TextError, excerpt};
pub use time_uuid::TimeUuidGenerator;
pub use timestamp::{Timestamp, TimestampError};
pub use uuids::{HyphenatedUuid, SimpleUuid, UuidError};

/// Exact decimals, as `rust_decimal` has them: the scale is kept, so `10.0000` stays `10.0000`.
pub use rust_decimal::Decimal;

#[doc(hidden)]
#[cfg(feature = "serde")]
pub use serde as __serde;
