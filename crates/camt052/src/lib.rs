//! ISO 20022 camt.052.001.06 account reports: typed model, reader, writer and checks.
//!
//! What it is: the whole message, every one of the schema's types with Rust names, decimals exact with their scale, dates with
//! their own offset and precision. Reading says where something is wrong (element path, line, column, octet), reports
//! every finding and not only the first, and keeps what the schema does not have. Writing is in schema order and loses
//! nothing. What it is not: no other message or version (a camt.053, or version 08, is an error that says so), no
//! network, no clock, no store.
//!
//! ```
//! use bankrail_camt052::{Document, EntryBuilder, ReportBuilder};
//! use bankrail_values::{Date, SimpleUuid};
//!
//! let today = Date::parse("2021-07-29")?;
//! let id = SimpleUuid::parse("44b756ed60c8496391a768af90073f3f")?;
//! let at = "2021-07-29T17:10:05.1750344+10:00".parse()?;
//! let xml = ReportBuilder::new(id, id, at, "CMM", "011222814766538", "1245500.00 AUD".parse()?, today)
//!     .entry(EntryBuilder::new("25.00 AUD".parse()?, today).debtor("JANE CITIZEN").narrative("rent 👍"))
//!     .build()?
//!     .to_xml()?;
//!
//! let parsed = Document::parse(&xml)?;
//! assert!(parsed.findings.is_empty());
//! let entry = &parsed.document.reports[0].entries[0];
//! assert_eq!(entry.signed_amount().unwrap().to_string(), "25.00");
//! assert_eq!(entry.counterparty_name(), Some("JANE CITIZEN"));
//! assert_eq!(entry.narrative(), "rent 👍");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The main names
//!
//! - [`Document`], [`Report`], [`Entry`], [`Transaction`]: the model. The fields are public; each names its element.
//! - [`Document::parse`], [`Document::parse_with`], [`ReadOptions`], [`Mode`], [`Limits`]: reading a whole document.
//! - [`EntryReader`]: reading one entry after the other in bounded memory.
//! - [`Finding`], [`ReadError`]: what was found or wrong, and where.
//! - [`Document::to_xml`], [`Document::write_to`], [`Document::write_json_string`]: writing.
//! - [`Document::check`]: what is not as it should be in a model, by the schema and beyond it.
//! - [`ReportBuilder`], [`EntryBuilder`], [`summary_of`]: making a report.
//! - [`Line`]: one line per transaction, whether an entry is single or a batch.
//!
//! # Tolerant and strict
//!
//! Real documents break the schema. [`Mode::Tolerant`], the default, keeps and reports wrong order, unknown elements,
//! attributes and codes, texts out of bounds, and a missing `GrpHdr`, `CreDtTm`, `Bal/Dt` or `Ccy`; any other missing
//! mandatory part is an error. [`Mode::Strict`] is exactly the schema. In both, another namespace, malformed XML and
//! unreadable amounts, dates and numbers are errors, and so is a year of more than nine digits, which the schema would
//! allow. `deny_findings` also refuses what the schema cannot say: counts and sums that disagree, wrong check digits.
//!
//! Lossless means equal element and attribute values, decimal scale, date precision and offset, supplementary data verbatim;
//! comments, prefixes, `xsi` attributes and spellings such as `+5` may change.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `serde` | JSON of the model with the Rust names |
//! | `arbitrary` | invented, schema-valid values of every type |
//!
//! # Security
//!
//! Document type declarations are refused, so there are no entities to expand. [`Limits`] bounds depth, elements, attributes,
//! texts, tags, what is kept beyond the schema, and findings; the work grows with the length of a document and no faster.
//! [`EntryReader`] holds one entry and what stands beside entries, each within these bounds. Errors and findings quote at most
//! 40 characters of each name or text of a document, 60 of a namespace, and no control characters. There is no `unsafe` code.

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
mod schema;
mod value;
mod write;

pub use access::{Line, summary_of};
pub use build::{BuildError, EntryBuilder, ReportBuilder};
pub use extra::{Extra, ExtraPart, ExtraStep, Extras};
pub use finding::{Finding, FindingKind, Part, Position};
pub use model::*;
pub use read::{EntryReader, LimitKind, Limits, Mode, Parsed, ReadError, ReadErrorKind, ReadOptions, StreamItem};
pub use value::amount::Amount;
pub use value::code::UnknownCode;
pub use value::date::{Date, DateFormatError, DateTime, Offset, YearMonth};
pub use value::identifier::{AlphaNumeric4, Bic, CountryCode, CurrencyCode, Iban, Isin, LanguageCode, PhoneNumber};
pub use value::number::{ImpliedAmount, NonNegativeDecimal, Number, NumberError, PlainDecimal, Rate, WholeNumber};
pub use value::text::{Digits, SignedDays, Text};
pub use write::{WriteError, WriteOptions};

/// The namespace of the message.
pub const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:camt.052.001.06";
