//! ISO 20022 camt.052.001.06 account reports: typed model, reader, writer and checks.

#![forbid(unsafe_code)]

mod access;
mod beyond;
mod build;
mod check;
mod extra;
mod finding;
#[cfg(any(test, feature = "arbitrary"))]
mod invent;
mod model;
mod read;
#[cfg(test)]
mod round_trips;
mod schema;
mod value;
mod write;

pub use access::{Line, summary_of};
pub use build::{BuildError, EntryBuilder, ReportBuilder};
pub use extra::{Extra, ExtraPart, ExtraStep, Extras};
pub use finding::{Finding, FindingKind, Part, Position};
pub use model::*;
pub use read::{EntryReader, StreamItem, LimitKind, Limits, Mode, Parsed, ReadError, ReadErrorKind, ReadOptions};
pub use value::amount::Amount;
pub use value::date::{Date, DateFormatError, DateTime, Offset, YearMonth};
pub use value::identifier::{AlphaNumeric4, Bic, CountryCode, CurrencyCode, Iban, Isin, LanguageCode, PhoneNumber};
pub use value::number::{ImpliedAmount, NonNegativeDecimal, Number, NumberError, PlainDecimal, Rate, WholeNumber};
pub use value::text::{Digits, SignedDays, Text};
pub use write::{WriteError, WriteOptions};

/// The namespace of the message.
pub const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:camt.052.001.06";
