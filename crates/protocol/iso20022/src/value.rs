//! The simple values of messages.

mod boolean;
mod date;
mod envelope;
mod identifier;
mod number;
mod text;

pub use date::{IsoDate, IsoDateTime, IsoYearMonth, Offset};
pub use envelope::Envelope;
pub use identifier::{
    AlphaNumeric4, Bic, CountryCode, CurrencyCode, Iban, Isin, LanguageCode, Lei, PhoneNumber,
    UuidV4,
};
pub use number::{
    Amount, ImpliedAmount, NonNegativeDecimal, Number, NumberError, PlainDecimal, Rate, WholeNumber,
};
pub use text::{Digits, SignedDays, Text};
