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

// `message` and `value` use `node`, `read` and `check`. A `node` is read by `read` and checked by
// `check`, which know nodes by their traits only.
mod check;
mod extra;
#[allow(clippy::exhaustive_structs)] // made by the derives
mod field;
mod finding;
#[cfg(feature = "arbitrary")]
mod invent;
#[allow(clippy::missing_errors_doc)] // the derives document what they make of these functions
mod message;
#[allow(clippy::missing_errors_doc)] // called by the derives only, as is what follows
mod node;
mod output;
#[allow(clippy::exhaustive_structs, clippy::missing_errors_doc)]
mod read;
mod value;
mod version;
mod watch;
mod xml;

pub use bankrail_derive::{Choice, Code, Element, Message};
pub use bankrail_values::{UnknownCode, ValueError};
pub use extra::{Extra, ExtraPart, ExtraStep, Extras};
pub use finding::{BrokenRule, Finding, FindingKind, FurtherFindings, Position};
pub use message::{Parsed, Source, StreamItem, UnitReader, WriteError, WriteOptions};
pub use read::{
    AppHeader, Around, LimitKind, Mode, ReadError, ReadErrorKind, ReadLimits, ReadOptions,
};
pub use value::{
    AlphaNumeric4, Amount, Bic, CountryCode, CurrencyCode, Digits, Envelope, Iban, ImpliedAmount,
    Isin, IsoDate, IsoDateTime, IsoYearMonth, LanguageCode, Lei, NonNegativeDecimal, Number,
    NumberError, Offset, PhoneNumber, PlainDecimal, Rate, SignedDays, Text, UuidV4, WholeNumber,
};
pub use version::Version;

/// The exact decimal of [`Amount`] and [`Number`].
pub use rust_decimal::Decimal;
/// The crate of the calendar that [`IsoDate`] and [`IsoDateTime`] convert to and from.
pub use time;

/// The parts that the derives expand to. They change without notice, so a crate with a message
/// depends on exactly this version.
#[doc(hidden)]
pub mod __private {
    pub use crate::check::Checker;
    pub use crate::extra::{Extras, KeptParts};
    pub use crate::field::{Fault, Field, MANY, Tag, Unreadable};
    pub use crate::finding::{Finding, shown};
    #[cfg(feature = "arbitrary")]
    pub use crate::invent::{Invent, InventField, Inventor, invented};
    pub use crate::message::{
        Documents, Message, Parsed, Progress, Source, WriteError, WriteOptions,
        append_json_content, check, check_schema, finish, options_for, parse, parse_any,
        parse_counting, read, read_counting, to_version, to_xml, write_json_string, write_to,
    };
    pub use crate::node::{
        Alternative, Content, Node, Record, SchemaElement, SchemaType, Simple, Slot, check_field,
        check_simple, is_plain_field, is_sound, simple_faults, write_field, write_field_kept,
        write_kept, write_simple,
    };
    pub use crate::output::Output;
    pub use crate::read::{
        Ahead, Cursor, CursorOver, Halt, Mark, NotPlain, ReadError, ReadOptions, Scanner, Shape,
        StreamTokens, TextTokens, Tokens,
    };
    pub use crate::value::Text;
    pub use crate::version::Version;
    pub use crate::watch::{Memory, Watch};
    #[cfg(feature = "arbitrary")]
    pub use arbitrary::{self, Result as Invented, Unstructured};
    pub use bankrail_values::{UnknownCode, ValueError};
}
