//! The alternatives of choices one by one, and as one text.

use crate::*;
use std::fmt;

/// What a choice prints when the document held none of its alternatives.
pub(crate) const UNKNOWN: &str = "unknown";

/// States choices between a code of a list and a proprietary text or identification.
///
/// ```text
/// code_or_proprietary! {
///     /// What it is.
///     Purpose = "Purpose2Choice" { Text<4> as "ExternalPurpose1Code", Text<35> }
/// }
/// ```
macro_rules! code_or_proprietary {
    ($($(#[$meta:meta])* $Type:ident = $schema:literal { $Code:ty $(as $own:literal)?, $Proprietary:ty })*) => {$(
        choice! {
            $(#[$meta])*
            $Type = $schema {
                Code($Code) = "Cd" $(as $own)?,
                Proprietary($Proprietary) = "Prtry",
            }
        }

        impl $Type {
            /// The code of the list; `None` for a proprietary one.
            #[must_use]
            pub fn code(&self) -> Option<&str> {
                match self {
                    Self::Code(code) => Some(code.as_str()),
                    _ => None,
                }
            }

            /// The proprietary text; `None` for a code of the list.
            #[must_use]
            pub fn proprietary(&self) -> Option<&str> {
                match self {
                    Self::Proprietary(text) => Some(text.as_str()),
                    _ => None,
                }
            }

            /// The code or the proprietary text; `None` when the document held neither.
            #[must_use]
            pub fn as_str(&self) -> Option<&str> {
                self.code().or_else(|| self.proprietary())
            }
        }

        impl std::fmt::Display for $Type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.as_str().unwrap_or(crate::access::choices::UNKNOWN))
            }
        }
    )*};
}
pub(crate) use code_or_proprietary;

/// States accessors of alternatives.
macro_rules! alternatives {
    ($($Type:ident { $($(#[$doc:meta])* $name:ident -> $Value:ty: $Variant:ident($value:ident) => $get:expr,)* })*) => {$(
        impl $Type {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(&self) -> Option<$Value> {
                match self {
                    Self::$Variant($value) => Some($get),
                    _ => None,
                }
            }
        )*}
    )*};
}

alternatives! {
    AccountId {
        /// The IBAN, if it is one.
        iban -> &Iban: Iban(iban) => iban,
        /// The identification that is no IBAN, without its scheme and issuer.
        other -> &Text<34>: Other(other) => &other.id,
    }
    DateOrDateTime {
        /// The date and time, if there is a time.
        date_time -> &DateTime: DateTime(at) => at,
    }
    AvailabilityDate {
        /// The date, if it is one.
        actual -> Date: Actual(date) => *date,
        /// The number of days from now, if it is one.
        days -> &SignedDays: Days(days) => days,
    }
    RateType {
        /// The percentage, if it is one.
        percentage -> Rate: Percentage(rate) => *rate,
        /// The rate in words, if it is.
        other -> &str: Other(text) => text.as_str(),
    }
}

/// States what choices print.
macro_rules! printed {
    ($($Type:ident { $($Variant:ident($value:ident) => $format:literal $(, $part:expr)*;)* })*) => {$(
        impl fmt::Display for $Type {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$Variant($value) => write!(out, $format $(, $part)*),)*
                    Self::Unknown => out.write_str(UNKNOWN),
                }
            }
        }
    )*};
}

printed! {
    AccountId { Iban(iban) => "{iban}"; Other(other) => "{}", other.id; }
    DateOrDateTime { Date(date) => "{date}"; DateTime(at) => "{at}"; }
    AvailabilityDate { Actual(date) => "{date}"; Days(days) => "{days} days"; }
    RateType { Percentage(rate) => "{rate} %"; Other(text) => "{text}"; }
    // First and last with a slash between them, as ISO 8601 writes an interval.
    DateOrDateTimePeriod {
        Date(period) => "{}/{}", period.from, period.to;
        DateTime(period) => "{}/{}", period.from, period.to;
    }
    InstrumentQuantity {
        Unit(units) => "{units} units";
        FaceAmount(amount) => "face amount {amount}";
        AmortisedValue(amount) => "amortised value {amount}";
    }
    PriceType { Yielded(yielded) => "{}", if *yielded { "yield" } else { "no yield" }; Kind(kind) => "{kind}"; }
    PriceValue { Rate(rate) => "{rate} %"; Amount(amount) => "{amount}"; }
}

impl AccountId {
    /// The identification, whichever it is; `None` when the document held neither.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        self.iban()
            .map(Iban::as_str)
            .or_else(|| self.other().map(Text::as_str))
    }
}

impl IssuedId {
    pub(crate) fn as_str(&self) -> &str {
        self.id.as_str()
    }
}

impl DateOrDateTime {
    /// The date, with or without a time; `None` when the document held neither.
    #[must_use]
    pub fn date(&self) -> Option<Date> {
        match self {
            Self::Date(date) => Some(*date),
            Self::DateTime(at) => Some(at.date()),
            Self::Unknown => None,
        }
    }
}
